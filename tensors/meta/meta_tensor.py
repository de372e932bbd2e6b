"""Tensors on the device meta: what programs compute with them are shapes, types and graphs, in no memory.

They are a subclass of Tensor that takes part in functions by ``__torch_function__``: the function runs as always, by an
interpreter that computes nothing. The class is made when the first one is; plain tensors pay nothing while there is no
tensor without numbers.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ...ops.array import Array, Buffer
from ...ops.core import Params, Primitive, Step, interpreted
from ...ops.locks import new_lock
from ...ops.types import get_default_dtype
from ...tape.plain import PlainTape
from ...tape.tape import Tape
from ...tracing.watch import forbid
from ..device import as_device, chosen, device, remaking, require_cpu
from ..overriding import DisableTorchFunctionSubclass, subclasses
from ..subclass import in_class
from ..tensor import EAGER, Tensor, make
from .interpreter import ShapesOnly
from .memory import NO_DATA, Blank, blank_array, blank_like

META = device("meta")
_NO_NUMPY = (
    "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first. (It has "
    "no numbers: make one with torch.empty_like(x, device='cpu').)"
)

_memory = vars(Array)["ndarray"]  # below the property by which uninitialised parameters refuse to show it


def is_meta(value: object) -> bool:
    """Whether `value` is a tensor without numbers."""
    return isinstance(value, Tensor) and isinstance(_memory.__get__(value), Blank)


def any_meta(values: Iterable[object]) -> bool:
    """Whether a tensor without numbers is among `values`, or in lists and tuples there."""
    if not remaking.alive or chosen.computes_shapes:
        return False
    return any(any_meta(value) if isinstance(value, (list, tuple)) else is_meta(value) for value in values)


def loses_numbers(tensor: Any, places: Iterable[Any]) -> bool:
    """Whether ``tensor.to(...)`` goes to the device meta from elsewhere. Other devices than
    these two are refused. None among `places` says nothing."""
    found = False
    for place in places:
        if place is not None and as_device(place).type == "meta":
            found = True
        elif place is not None:
            require_cpu(place)
    return found and not is_meta(tensor)


def meta_like(tensor: Any, dtype: Any = None) -> Any:
    """A tensor on the device meta with the layout of `tensor`, and its type unless `dtype` is given."""
    return _made(blank_like(tensor.ndarray, (dtype or tensor.dtype).numpy))


def meta_strided(size: tuple[int, ...], stride: tuple[int, ...], dtype: Any) -> Any:
    """A tensor on the device meta whose axes lie in the order of `stride`, side by side."""
    order = sorted(range(len(size)), key=lambda axis: -stride[axis])
    back = sorted(range(len(size)), key=order.__getitem__)
    return _made(blank_array(tuple(size[axis] for axis in order), dtype.numpy).transpose(back))


def meta_shown(count: int, dtype: Any, offset: int, size: tuple[int, ...], stride: tuple[int, ...]) -> Any:
    """A tensor on the device meta that shows a storage of `count` elements by an offset and strides that lie in it."""
    part = blank_array((count,), dtype.numpy)[offset:]
    steps = [step * dtype.itemsize for step in stride]
    return _made(np.lib.stride_tricks.as_strided(part, size, steps, subok=True))


def without_numbers(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``, where tensors that it makes are on the device meta."""
    forbid("a tensor on the device meta", "Ask for shapes outside.")
    before = chosen.computes_shapes
    try:
        chosen.computes_shapes = True
        with DisableTorchFunctionSubclass():
            return _placed(interpreted(_INTERPRETER, function, *args, **kwargs), args, kwargs)
    finally:
        chosen.computes_shapes = before


def _made(array: np.ndarray, buffer: Buffer | None = None, steps: tuple[Step, ...] = ()) -> Any:
    if not isinstance(array, Blank):
        array, buffer, steps = blank_like(array, array.dtype), None, ()
    return in_class(make(array, buffer, steps), meta_class())


_INTERPRETER = Tape(ShapesOnly(make), _made)
remaking.on_meta = without_numbers


class AttentiveTape(PlainTape):
    """Plain eager mode while there are tensors without numbers: the library's own Python hands them to ops, too."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        if not remaking.alive:
            _attend_no_more()
            return PlainTape.apply(self, primitive, operands, params)  # `super()` would look at the class that it had
        for operand in operands:
            if isinstance(operand, Array) and isinstance(operand.ndarray, Blank):
                return _INTERPRETER.apply(primitive, operands, params)
        return PlainTape.apply(self, primitive, operands, params)

    def computes_only(self, *values: Any) -> bool:
        return not any(isinstance(value.ndarray, Blank) for value in values) and PlainTape.computes_only(self, *values)


#: Held while plain eager mode is made to look for tensors without numbers, or no more to.
_attending = new_lock()


def _attend() -> None:
    """Let plain eager mode look for tensors without numbers; called when memory without numbers is there already."""
    with _attending:
        EAGER.__class__ = AttentiveTape
        subclasses.exist = True


def _attend_no_more() -> None:
    with _attending:
        if not remaking.alive:  # looked at here again: other threads make tensors meanwhile
            EAGER.__class__ = PlainTape
            subclasses.exist = subclasses.of_program


def _placed(result: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A result, with new tensors in it on the device meta."""
    if type(result) in (tuple, list) or hasattr(result, "_make"):
        items = [_placed(item, args, kwargs) for item in result]
        return type(result)._make(items) if hasattr(result, "_make") else type(result)(items)
    if type(result) is not Tensor or any(result is value for value in (*args, *kwargs.values())):
        return result
    if isinstance(result.ndarray, Blank):
        return in_class(result, meta_class())
    return meta_like(result).requires_grad_(result.requires_grad)


# --------------------------------------------------------------------------------------------- what functions refuse


#: Functions that take tensors of two devices: they look at the layout of the one, or at indices.
_OF_TWO_DEVICES = frozenset("copy_ to type_as __getitem__ __setitem__ expand_as view_as reshape_as".split())


def require_one_device(args: Iterable[Any]) -> None:
    """RuntimeError where tensors with axes are on the CPU, and others on the device meta."""
    expected: Any = None
    for value in args:
        for tensor in value if type(value) in (tuple, list) else (value,):
            here = "meta" if is_meta(tensor) else "cpu"
            if not isinstance(tensor, Tensor) or (here == "cpu" and not tensor.ndarray.ndim):
                continue
            if expected is not None and here != expected:
                raise RuntimeError(f"Tensor on device {here} is not on the expected device {expected}!")
            expected = here


def _on_the_cpu(func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """``zeros_like(x, device="cpu")`` and the like: numbers in the layout of a tensor that has none."""
    like, *rest = args if args else (kwargs["input"],)
    of = make(np.empty(like.ndarray.shape, like.ndarray.dtype))
    return func(of, *rest, **{name: value for name, value in kwargs.items() if name != "input"})


def _makes_numbers(name: str, kwargs: Mapping[str, Any]) -> bool:
    where = kwargs.get("device")
    if where is None or as_device(where).type == "meta" or not (name.endswith("_like") or name.startswith("new_")):
        return False
    require_cpu(where)
    return True


def _no_data(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(NO_DATA)


def _read_by(name: str) -> Callable[[Any], Any]:
    """A method that Python calls for the one number of a tensor: as `item` refuses it, where there is but one."""

    def number(self: Any) -> Any:
        return self.item() if self.ndarray.size == 1 else getattr(Tensor, name)(self)

    return number


def _no_numpy(*args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(_NO_NUMPY)


# ------------------------------------------------------------------------------------------------------- the class


class OnMeta:
    """What tensors without numbers do in another way."""

    __slots__ = ()
    device = META
    _of_library = True
    is_meta, is_cpu = True, False
    cpu = tolist = _no_data
    numpy = to_numpy = __array__ = _no_numpy
    __bool__, __float__, __int__, __complex__ = map(_read_by, ("__bool__", "__float__", "__int__", "__complex__"))

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if _makes_numbers(name, kwargs):
            return _on_the_cpu(func, args, kwargs)
        if name not in _OF_TWO_DEVICES:
            require_one_device((*args, *kwargs.values()))
        return without_numbers(func, *args, **kwargs)

    def to(self: Any, *args: Any, **kwargs: Any) -> Any:
        """`Tensor.to`; NotImplementedError for another device."""
        for given in (*args, kwargs.get("device"), kwargs.get("tensor")):
            place = given.device if isinstance(given, Tensor) else given
            if isinstance(place, (str, int, device)) and not isinstance(place, bool):
                if as_device(place).type != "meta":
                    require_cpu(place)
                    _no_data()
        with DisableTorchFunctionSubclass():
            return without_numbers(Tensor.to, self, *args, **kwargs)

    def _alias(self: Any, buffer: Buffer) -> Any:
        return in_class(Tensor._alias(self, buffer), meta_class())

    def data_ptr(self) -> int:
        """0."""
        return 0

    def __repr__(self: Any, **ignored: Any) -> str:
        parts = ["...", "device='meta'", f"size={tuple(self.shape)}"]
        if self.dtype is not get_default_dtype():
            parts.append(f"dtype={self.dtype!r}")
        if self.grad_fn is not None:
            parts.append(f"grad_fn=<{self.grad_fn.title}>")
        elif self.requires_grad:
            parts.append("requires_grad=True")
        return f"{'Parameter containing:' + chr(10) if self.is_parameter else ''}tensor({', '.join(parts)})"

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            if not self.is_leaf:
                raise RuntimeError(
                    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
                    "moment. Use detach().clone(), or clone() to stay in the graph."
                )
            copied = memo[id(self)] = _restored(self.ndarray.shape, self.ndarray.dtype, self.requires_grad, {})
            vars(copied).update(copy.deepcopy(vars(self), memo))
            if self.grad is not None:
                copied.grad = copy.deepcopy(self.grad, memo)
        return memo[id(self)]

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return _restored, (self.ndarray.shape, self.ndarray.dtype, self.requires_grad, dict(vars(self)))


def _restored(shape: tuple[int, ...], dtype: np.dtype, requires_grad: bool, attributes: dict[str, Any]) -> Any:
    made = _made(blank_array(shape, dtype)).requires_grad_(requires_grad)
    vars(made).update(attributes)
    return made


def meta_class() -> Any:
    """The class of tensors without numbers, for one that has its memory."""
    _attend()
    return _meta_class()


@functools.cache
def _meta_class() -> Any:
    return type(Tensor)("Tensor", (OnMeta, Tensor), {"__module__": Tensor.__module__, "__qualname__": "Tensor"})
