"""The arguments of ``to``, in PyTorch's three forms: of a tensor, of a module."""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

from ...ops.types import DType, bool_, complex128, dtype_from, float64
from ..device import device
from ..layouts.formats import memory_format
from ..tensor import Tensor

_FLAGS = ("non_blocking", "copy")
_BY_PLACE = ("device", "dtype", *_FLAGS)
_BY_TYPE = ("dtype", *_FLAGS)
_BY_TENSOR = ("tensor", *_FLAGS)
_KINDS: dict[str, tuple[type, ...]] = {
    "device": (str, int, device, type(None)),
    "dtype": (DType, type(None)),
    "tensor": (Tensor,),
    "non_blocking": (bool,),
    "copy": (bool, type(None)),
    "memory_format": (memory_format, type(None)),
}
#: What Python's numbers are as tensors; an int is the number of a device.
_NUMBERS = {bool: bool_, float: float64, complex: complex128}


class Conversion(NamedTuple):
    """What ``to`` is asked for; None for what is not said."""

    device: Any = None
    tensor: Any = None
    dtype: DType | None = None
    non_blocking: bool = False
    copy: bool | None = None
    memory_format: Any = None


def conversion(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Conversion:
    """What the arguments mean: ``(device, dtype)``, ``(dtype)`` or ``(tensor)``, each with `non_blocking` and `copy`.

    TypeError for any other combination.
    """
    if not kwargs and len(args) == 1:  # the usual forms
        (what,) = args
        if type(what) is DType:
            return Conversion(dtype=what)
        if type(what) is str or type(what) is device:
            return Conversion(device=what)
    given = _by_name(args, kwargs)
    for name, value in given.items():
        if not isinstance(value, _KINDS[name]) or (isinstance(value, bool) and name == "device"):
            _refuse(args, kwargs)
    return Conversion(**given)


def _by_name(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by their names in the form that the first of them tells."""
    first = args[0] if args else kwargs.get("tensor")
    if type(first) in _NUMBERS:
        args, first = (_NUMBERS[type(first)], *args[1:]), _NUMBERS[type(first)]
    elif args:
        args = (dtype_from(first), *args[1:])
        first = args[0]
    names = _BY_TENSOR if isinstance(first, Tensor) else _BY_TYPE if isinstance(first, DType) else _BY_PLACE
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(names) or len(given) < len(args) + len(kwargs) or not given.keys() <= {*names, "memory_format"}:
        _refuse(args, kwargs)
    if "dtype" in given:
        given["dtype"] = dtype_from(given["dtype"])
    return given


def _refuse(args: tuple[Any, ...], kwargs: dict[str, Any]) -> NoReturn:
    got = [type(arg).__name__ for arg in args] + [f"{name}={type(value).__name__}" for name, value in kwargs.items()]
    raise TypeError(
        f"to() received an invalid combination of arguments - got ({', '.join(got)}), but takes a device and a dtype, "
        "a dtype such as tracegrad.float32, or another tensor, each with non_blocking, copy and memory_format"
    )
