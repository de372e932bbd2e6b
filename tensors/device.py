"""The one device there is: names that programs write for portability, and a clear refusal of any other."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .calling.annotations import DeviceLike

#: What PyTorch calls a device.
TYPES = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
    "privateuseone"
)
_KNOWN = frozenset(TYPES.split(", "))
NO_ACCELERATOR = "Cannot access accelerator device when none is available."
_NO_META = (
    "PyTorch is not linked with support for meta devices: this function makes tensors on the CPU only. Make an empty "
    "tensor of its shape with torch.empty(shape, device='meta')."
)
_ADVICE = 'Choose the device by tg.cuda.is_available() (it is False), or write "cpu".'

_NOTHING = object()


class device:
    """``device("cpu")``, ``device("cuda:0")``, ``device("cuda", 0)``. Others than the CPU can be named, not used.

    RuntimeError for another string, and for a number alone, which means an accelerator. In a ``with`` block it is the
    device of new tensors.

    >>> import tracegrad as tg
    >>> tg.device("cuda:1").index, tg.device("cpu")
    (1, device(type='cpu'))
    """

    __slots__ = ("_before", "index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any = _NOTHING, index: int | None = None) -> None:
        if isinstance(type, device):
            self.type, self.index = type.type, type.index
            return
        if isinstance(type, int) and not isinstance(type, bool):
            raise RuntimeError(f"{NO_ACCELERATOR} {_ADVICE}")
        if not isinstance(type, str):
            got = "" if type is _NOTHING else _class(type)
            raise TypeError(
                f"device() received an invalid combination of arguments - got ({got}), but expected a string"
            )
        if index is not None and not isinstance(index, int):
            raise TypeError(f"device(): argument 'index' (position 2) must be int, not {_class(index)}")
        self.type, self.index = _parsed(type)
        if index is not None:
            if self.index is not None:
                raise RuntimeError(
                    f"type (string) must not include an index because index was passed explicitly: {type}"
                )
            if index < 0:
                raise RuntimeError(f"Device index must not be negative, got {index}")
            self.index = index

    def __enter__(self) -> device:
        self._before = [*getattr(self, "_before", ()), chosen.device]
        chosen.device = self
        return self

    def __exit__(self, *exc_info: object) -> None:
        chosen.device = self._before.pop()

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return device, (str(self),)


def _class(value: object) -> str:
    return type(value).__name__


def _parsed(text: str) -> tuple[str, int | None]:
    name, colon, number = text.partition(":")
    if not text:
        raise RuntimeError("Device string must not be empty")
    if name not in _KNOWN:
        raise RuntimeError(f"Expected one of {TYPES} device type at start of device string: {name}")
    if colon and not (number.isascii() and number.isdigit() and number == str(int(number))):
        raise RuntimeError(f"Invalid device string: '{text}'")
    return name, int(number) if colon else None


CPU = device("cpu")


class _Chosen(threading.local):
    """The device of new tensors whose maker names none, in this thread."""

    device = CPU
    computes_shapes = False  # whether nothing that is made has numbers: tensors are on the device meta


class OnMeta(NotImplementedError):
    """Raised by a function that was asked for a tensor on the device meta, before it has done anything. Those that can
    are called again, by `remaking.on_meta`."""


class _Remaking:
    """How functions that make tensors are called for the device meta."""

    on_meta: Any = None

    def __init__(self) -> None:
        #: A weak reference to each memory without numbers, by its own identity: where there is none, nobody has to
        #: look for tensors on the device meta.
        self.alive: dict[int, weakref.ref[Any]] = {}

    def without_numbers(self, memory: Any) -> None:
        """Note that `memory` has no numbers, until it is given back."""
        reference = weakref.ref(memory, self._ended)
        self.alive[id(reference)] = reference

    def _ended(self, reference: weakref.ref[Any]) -> None:
        self.alive.pop(id(reference), None)


remaking = _Remaking()
chosen = _Chosen()


def get_default_device() -> device:
    """The device of new tensors: the CPU, unless `set_default_device` or a ``with device(...)`` block names another.

    >>> import tracegrad as tg
    >>> tg.get_default_device()
    device(type='cpu')
    """
    return chosen.device


def set_default_device(device: DeviceLike | None) -> None:
    """Let new tensors be made on `device` (None: the CPU). Making one is an error where that is not the CPU.

    >>> import tracegrad as tg
    >>> tg.set_default_device("cpu")
    """
    chosen.device = CPU if device is None else as_device(device)


def as_device(where: DeviceLike) -> device:
    """`where`, a name or a device, as a device."""
    return where if isinstance(where, device) else device(where)


def require_cpu(where: DeviceLike | None) -> None:
    """Refuse any device but the CPU, with the class of PyTorch's error; None means the default device."""
    if where is None:
        if chosen.device is CPU:
            return
        where = chosen.device
    kind = as_device(where).type
    if kind == "cpu":
        return
    if kind == "meta":
        if chosen.computes_shapes:
            return
        raise OnMeta(_NO_META)
    what = f"tracegrad computes on the CPU only, got device {str(where)!r}. {_ADVICE}"
    if kind in ("cuda", "xpu", "mtia"):
        raise AssertionError(f"Torch not compiled with {kind.upper()} enabled: {what}")
    # of this class for the functions that make tensors; it is a RuntimeError, as others raise
    raise NotImplementedError(f"PyTorch is not linked with support for {kind} devices: {what}")


def require_cuda_name(where: DeviceLike | None) -> None:
    """What ``cuda(where)`` refuses before it finds that there is no such device."""
    if where is not None and as_device(where).type != "cuda":
        raise RuntimeError(f"Invalid device, must be cuda device, got {str(where)!r}")
    require_cpu("cuda")
