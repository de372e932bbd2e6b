"""Pickling under PyTorch's names: tensors as views of storages, which stand beside the pickle."""

from __future__ import annotations

import io
import pickletools
from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.callers.class_homes import home_of
from ..ops.types import DType, dtype_of
from ..tensors.generator import Generator
from ..tensors.layouts import formats
from ..tensors.meta.meta_tensor import is_meta
from ..tensors.tensor import Size, Tensor
from . import rebuilding, torch_names
from .saved import CLASSES
from .storages import TypedStorage
from .torch_paths import torch_path
from .untyped_storage import UntypedStorage, extent

_PACKAGE = __name__.partition(".")[0]
#: What the library keeps in a tensor's `__dict__` for itself.
_OWN = frozenset({"is_parameter"})


class Storages:
    """The storages that one file has named, by key, and what it says about tensors."""

    def __init__(self, persistent: Callable[[str, TypedStorage | UntypedStorage], tuple[Any, ...]]) -> None:
        self._persistent = persistent
        self.memory: dict[str, np.ndarray] = {}
        self._keys: dict[tuple[int, int], str] = {}
        self._types: dict[int, DType | None] = {}
        self.types: dict[str, DType | None] = {}

    # ---------------------------------------------------------------------------------------------------- persistent

    def persistent_id(self, value: Any) -> tuple[Any, ...] | None:
        """What stands for a storage; None for anything else."""
        if isinstance(value, TypedStorage):
            return self._named(value, value.untyped(), value.dtype)
        return self._named(value, value, None) if isinstance(value, UntypedStorage) else None

    def _named(self, value: Any, storage: UntypedStorage, dtype: DType | None) -> tuple[Any, ...]:
        address = storage.data_ptr()
        if storage.nbytes() and self._types.setdefault(address, dtype) is not dtype:
            raise RuntimeError(
                "Cannot save multiple tensors or storages that view the same data as different types. clone() one."
            )
        place = (address, storage.nbytes())
        if not storage.nbytes():
            place = (id(storage), 0)
        key = self._keys.setdefault(place, str(len(self._keys)))
        self.types[key] = dtype
        self.memory.setdefault(key, storage.bytes)  # kept alive, so that its address stays its own
        return self._persistent(key, value)

    # -------------------------------------------------------------------------------------------------------- reduced

    def reduced(self, value: Any) -> Any:
        """What pickle makes of a value whose form in files is PyTorch's; NotImplemented for all others."""
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, DType):
            return "bool_" if value.name == "bool" and DType.__module__ == home_of(DType) else value.name
        if isinstance(value, Size):
            return Size, (tuple(value),)
        if type(value) is Generator:
            return Generator, (value.device,), (value.initial_seed(), None, value.get_state())
        if value is formats.strided:
            return torch_names._get_layout, ("torch.strided",)
        return _with_plain_state(value) if _is_watched(getattr(value, "__dict__", None)) else _reduced_container(value)

    def _tensor(self, value: Tensor) -> Any:
        kind = type(value)
        if is_meta(value):
            return self._without_numbers(value)
        if kind not in CLASSES.values() and _has_form_of_its_own(kind):
            return NotImplemented
        attributes = {name: kept for name, kept in vars(value).items() if name not in _OWN}
        if kind is CLASSES.get(rebuilding.PARAMETER):
            hooks: OrderedDict[Any, Any] = OrderedDict()
            if not attributes:
                return rebuilding._rebuild_parameter, (_Shown(value), value.requires_grad, hooks)
            arguments = (_Shown(value), value.requires_grad, hooks, attributes)
            return rebuilding._rebuild_parameter_with_state, arguments
        call = self._view(value, value.requires_grad)
        if kind is Tensor and not attributes:
            return call
        function, arguments = call
        return rebuilding._rebuild_from_type_v2, (function, kind, arguments, attributes)

    def shown(self, value: _Shown) -> Any:
        """The numbers of a parameter, which are a tensor of their own."""
        return self._without_numbers(value.of) if is_meta(value.of) else self._view(value.of, False)

    def _without_numbers(self, value: Tensor) -> Any:
        arguments = (value.dtype, tuple(value.shape), value.stride(), value.requires_grad)
        return rebuilding._rebuild_meta_tensor_no_storage, arguments

    def _view(self, value: Tensor, requires_grad: bool) -> tuple[Any, tuple[Any, ...]]:
        array = eager().read(value.detach(), "tracegrad.save()")
        memory = extent(array, value.buffer.whole)
        if array.size and not np.may_share_memory(memory, array):
            array = memory.reshape(array.shape)
        storage = TypedStorage(wrap_storage=UntypedStorage(memory.view(np.uint8)), dtype=dtype_of(memory))
        offset = (array.ctypes.data - memory.ctypes.data) // array.itemsize
        offset = offset if array.size or 0 <= offset <= memory.size else 0
        strides = tuple(step // array.itemsize for step in array.strides)
        arguments: tuple[Any, ...] = (storage, offset, tuple(array.shape), strides, requires_grad, OrderedDict())
        return rebuilding._rebuild_tensor_v2, arguments


def _has_form_of_its_own(kind: type[Tensor]) -> bool:
    """Whether a class says itself how its tensors are pickled."""
    if hasattr(kind, "cls_to_become"):  # no memory yet
        return True
    bases = [base for base in kind.__mro__ if home_of(base).partition(".")[0] not in (_PACKAGE, "builtins")]
    return any(name in vars(base) for base in bases for name in ("__reduce__", "__reduce_ex__"))


class _Shown:
    """A parameter's numbers."""

    def __init__(self, of: Tensor) -> None:
        self.of = of


def _is_watched(value: Any) -> bool:
    """Whether it is a dict or list whose class is the library's, which only watches it."""
    return isinstance(value, (dict, list)) and home_of(type(value)).partition(".")[0] == _PACKAGE


def _reduced_container(value: Any) -> Any:
    """A watched dict or list as PyTorch has it."""
    if not _is_watched(value):
        return NotImplemented
    if isinstance(value, list):
        return list, (), None, iter(list(value))
    return OrderedDict, (), None, None, iter(list(dict.items(value)))


def _with_plain_state(value: Any) -> Any:
    """A module or an optimizer, whose state holds no watched containers, as in PyTorch."""
    reduced = value.__reduce_ex__(2)
    if not isinstance(reduced, tuple) or len(reduced) < 3 or not isinstance(reduced[2], dict):
        return reduced
    return (*reduced[:2], {name: _plain(held) for name, held in reduced[2].items()}, *reduced[3:])


def _plain(value: Any) -> Any:
    """A copy of a watched dict or list, and of those in it; hooks (handles name the dict) and else as it is."""
    if not _is_watched(value) or isinstance(value, OrderedDict):
        return value
    if isinstance(value, list):
        return [_plain(held) for held in value]
    return {key: _plain(held) for key, held in dict.items(value)}


def pickled(obj: Any, pickle_module: Any, protocol: int, storages: Storages) -> bytes:
    """The pickle of `obj` under PyTorch's names."""

    class Pickler(pickle_module.Pickler):
        def persistent_id(self, value: Any) -> Any:
            return storages.persistent_id(value)

        def reducer_override(self, value: Any) -> Any:
            reduced = storages.shown(value) if type(value) is _Shown else storages.reduced(value)
            inherited = getattr(super(), "reducer_override", None)
            return reduced if reduced is not NotImplemented or inherited is None else inherited(value)

    file = io.BytesIO()
    Pickler(file, protocol).dump(obj)
    return renamed(file.getvalue())


# ---------------------------------------------------------------------------------------------------------- renaming


def renamed(data: bytes) -> bytes:
    """A pickle whose names are those that PyTorch has, where it has the same thing.

    pickle writes where it finds a class or function, which cannot be PyTorch's path when PyTorch is not there.
    """
    if _PACKAGE.encode() not in data:
        return data
    parts, done = [], 0
    for begin, end, replacement in _replacements(data):
        parts += [data[done:begin], replacement]
        done = end
    return b"".join((*parts, data[done:]))


def _replacements(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(begin, end, what stands there instead), in order. Frames, whose lengths would change, are left out."""
    texts: list[str | None] = []  # what the last operations put on the stack, as far as it is text
    memo: dict[int, str | None] = {}
    argument: Any
    at: Any
    for opcode, argument, at in pickletools.genops(data):
        name = opcode.name
        if name == "GLOBAL":
            module, _, qualified = argument.partition(" ")
            yield at, at + len(argument.encode()) + 2, _global(module, qualified)
        elif name == "STACK_GLOBAL":
            module, qualified = texts[-2:]
            yield at, at + 1, b"\x93" if not module or not qualified else b"00" + _global(module, qualified)
        elif name == "FRAME":
            yield at, at + 9, b""
        if name in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
            memo[len(memo) if name == "MEMOIZE" else argument] = texts[-1] if texts else None
        elif name not in ("PROTO", "FRAME"):
            got = memo.get(argument) if name in ("GET", "BINGET", "LONG_BINGET") else argument
            texts = [*texts[-1:], got if isinstance(got, str) and name != "GLOBAL" else None]


def _global(module: str, name: str) -> bytes:
    module, name = torch_names.WRITTEN.get((module, name)) or torch_path(module, name)
    return b"c%b\n%b\n" % (module.encode(), name.encode())
