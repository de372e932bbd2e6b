"""Tensors under Python's copy and pickle protocols."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ..ops.array import Array, Buffer, eager
from ..ops.complex_numbers.conjugated import bit_of
from ..ops.layouts.orders import kept_order
from ..tensors.blank import blank
from ..tensors.shared_memory import Memory
from ..tensors.tensor import Tensor


def attributes_of(tensor: Tensor) -> dict[str, Any]:
    """The attributes that a program has given a tensor."""
    return {name: value for name, value in vars(tensor).items() if name != "is_parameter"}


def _rebuilt(
    kind: type[Tensor],
    values: np.ndarray,
    requires_grad: bool,
    is_parameter: bool = False,
    strides: tuple[int, ...] | None = None,
) -> Tensor:
    tensor: Tensor = blank(kind)
    if strides is not None and values.strides != strides:  # in memory that processes share, elements lie so already
        values = laid_out(values, strides)
    Array.__init__(tensor, values)
    return _with_flags(tensor, requires_grad, is_parameter)


def laid_out(values: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """`values` in new memory in which its elements have these distances, in bytes; places of several elements (0), and
    those that no element has, are there as well."""
    if not values.size:
        return np.lib.stride_tricks.as_strided(values, strides=strides)
    before = sum((n - 1) * -stride for n, stride in zip(values.shape, strides, strict=True) if stride < 0)
    extent = sum((n - 1) * abs(stride) for n, stride in zip(values.shape, strides, strict=True)) + values.itemsize
    shown = np.ndarray(values.shape, values.dtype, bytearray(extent), before, strides)
    np.copyto(shown, values)
    return shown


def _with_flags(tensor: Tensor, requires_grad: bool, is_parameter: bool) -> Tensor:
    if is_parameter:
        tensor.is_parameter = True
    return tensor.requires_grad_() if requires_grad else tensor


def reduce_ex(self: Tensor, protocol: Any) -> Any:
    """Pickled as numbers, class, `requires_grad` and the program's own attributes; the history stays behind."""
    eager().read(self.detach(), "pickling")
    arguments: tuple[Any, ...] = (type(self), Memory(self), self.requires_grad)
    marked = self.is_parameter and not type(self).is_parameter
    if not (self.ndarray.flags.c_contiguous and self.ndarray.size):
        arguments += (marked, self.ndarray.strides)
    elif marked:
        arguments += (True,)
    own = attributes_of(self)
    return (_rebuilt, arguments, own) if own else (_rebuilt, arguments)


def shallow(self: Tensor) -> Tensor:
    """``copy.copy``: another tensor over the same memory."""
    copied: Tensor = blank(type(self))
    Array.__init__(copied, self.ndarray, self.buffer, self.steps)
    eager().read(self.detach(), "copy.copy()")
    vars(copied).update(attributes_of(self))
    return _with_flags(copied, self.requires_grad, self.is_parameter)


def deepcopy(self: Tensor, memo: dict[int, Any]) -> Tensor:
    """A leaf with memory of its own; tensors that share memory have copies that do. RuntimeError where there is a
    history."""
    if id(self) in memo:
        return memo[id(self)]
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment. "
            "Use detach().clone(), or clone() to stay in the graph."
        )
    _require_copied_class(self)
    eager().read(self.detach(), "copy.deepcopy()")
    copied: Tensor = blank(type(self))
    Array.__init__(copied, *copied_memory(self, memo))
    memo[id(self)] = copied
    _with_flags(copied, self.requires_grad, self.is_parameter)
    if self.grad is not None:
        copied.grad = deepcopy(self.grad, memo)
    vars(copied).update(copy.deepcopy(attributes_of(self), memo))
    return copied


def _require_copied_class(self: Tensor) -> None:
    """RuntimeError unless what is made of a tensor of a subclass is of that class, as PyTorch asks."""
    kind = type(self)
    if kind is not Tensor and type(self.new_empty(())) is not kind:
        raise RuntimeError(
            "The default implementation of __deepcopy__() for non-wrapper subclasses only works for subclass types "
            "that implement new_empty() and for which that function returns another instance of the same subclass. You "
            "should either properly implement new_empty() for your subclass or override __deepcopy__() if it is "
            "intended behavior for new_empty() to return an instance of a different type."
        )


def copied_memory(tensor: Tensor, memo: dict[int, Any]) -> tuple[Any, ...]:
    """What `Array` is made of for a copy of `tensor`: each piece of memory is copied once, as a whole."""
    buffer = tensor.buffer
    whole = buffer.whole
    order = kept_order(whole)
    rows = whole.transpose(order)
    if not rows.flags.c_contiguous or bit_of(tensor.ndarray, buffer):
        return (np.array(tensor.ndarray, order="C"),)
    if id(whole) not in memo:
        memo[id(whole)] = rows.copy()
        memo.setdefault(id(memo), []).append(whole)  # what `memo` knows by its identity must live as long
    if id(buffer) not in memo:
        memo[id(buffer)] = Buffer(memo[id(whole)].transpose(np.argsort(order)))
        memo.setdefault(id(memo), []).append(buffer)
    copied = memo[id(buffer)]
    shown = copied.whole if tensor.ndarray is whole else _shown_alike(tensor.ndarray, whole, memo[id(whole)])
    return shown, copied, tensor.steps


def _shown_alike(view: np.ndarray, whole: np.ndarray, copied: np.ndarray) -> np.ndarray:
    """The part of `copied` that `view` is of `whole`."""
    offset = view.ctypes.data - whole.ctypes.data
    shown = np.ndarray(view.shape, view.dtype, copied, offset, view.strides)
    shown.flags.writeable = view.flags.writeable
    return shown
