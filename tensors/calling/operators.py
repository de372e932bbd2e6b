"""Tensors' operators: what stands on the other side, and what is left to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import Array
from ...ops.types import NUMBERS, bfloat16
from ...tracing.tracebacks import boundary, fold
from ..operands import NO_NUMBERS, number_of
from ..overriding import ask, overloaded, subclasses
from .nonfinite import checking

if TYPE_CHECKING:
    from ..tensor import Tensor

Operator = Callable[[Any, Any], Any]
_TAKEN = (Array, *NUMBERS)


def binary_operator(op: Operator, name: str = "", method: str = "") -> Callable[[Any, Any], Tensor]:
    """A method for ``x + y`` that leaves what is no operand to the other side.

    `name` is the method that objects with ``__torch_function__`` are asked for, if it is not called as `op`; `method`
    is what the class has it under, if that is another name.
    """
    name = name or op.__name__
    method = method or (name if name[:2] == "__" else f"__{name}__")

    @boundary
    def operator(self: Any, other: Any) -> Any:
        try:
            if not isinstance(self, Array):
                return through_class(op, method, self, other)
            if isinstance(other, _TAKEN):
                if subclasses.exist and overloaded((self, other)):
                    return _asked(self, other, name)
                return op(self, other)
            if isinstance(other, np.generic) and (other.dtype.kind not in NO_NUMBERS or other.dtype == bfloat16.numpy):
                return op(self, number_of(other))
            return _asked(self, other, name)
        except Exception as error:
            fold(error)
            raise

    operator.__name__ = operator.__qualname__ = name
    return checking(operator, name)


def reflected_operator(op: Operator, name: str = "") -> Callable[[Any, Any], Tensor]:
    """The same for ``y + x``, where y is no tensor."""
    method = name or f"__r{op.__name__}__"
    return binary_operator(lambda self, other: op(other, self), name or op.__name__, method)


#: Operators that PyTorch has in Python: called through the class, they compute with a number as self, or leave it to
#: the other side; those in C take tensors alone.
_OF_NUMBERS = frozenset("__rpow__ __rmod__ __floordiv__ __rfloordiv__ __rlshift__ __rrshift__".split())
_LEFT_TO_OTHERS = _OF_NUMBERS | frozenset("__rsub__ __rmatmul__ __pow__ __ipow__".split())


def through_class(op: Operator, method: str, self: Any, other: Any) -> Any:
    """What ``Tensor.__add__(2, x)`` is: `self` is no tensor. Python itself never calls an operator so."""
    kind = type(self).__name__
    if method in _OF_NUMBERS and isinstance(self, NUMBERS):
        return op(self, other)
    if method in _LEFT_TO_OTHERS:
        return NotImplemented
    if method in ("__rtruediv__", "__rdiv__"):
        raise AttributeError(f"{kind!r} object has no attribute 'reciprocal'")
    method = "__idiv__" if method == "__itruediv__" else method
    raise TypeError(f"descriptor '{method}' for 'tracegrad.Tensor' objects doesn't apply to a '{kind}' object")


def product_operator(op: Operator, name: str = "") -> Operator:
    """A method for ``x @ y``, in which numbers are no operands."""
    general = binary_operator(op, name)

    @boundary
    def operator(self: Any, other: Any) -> Any:
        try:
            is_number = isinstance(self, Array) and isinstance(other, (*NUMBERS, np.generic))
            return NotImplemented if is_number else general(self, other)
        except Exception as error:
            fold(error)
            raise

    operator.__name__ = operator.__qualname__ = name or op.__name__
    return operator


def _asked(self: Any, other: Any, name: str) -> Any:
    """What `other` makes of an operation with a tensor; NotImplemented if it overrides nothing."""
    found = overloaded((self, other))
    if not found:
        return NotImplemented
    try:
        return ask(getattr(self.tensor_class, name), f"tracegrad.Tensor.{name}", found, (self, other), {})
    except TypeError:
        return NotImplemented
