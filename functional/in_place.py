"""In-place methods, generated from the functions that compute their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.array import eager
from ..ops.core import current
from ..tensors.arguments import Shape
from ..tensors.in_place import assign, copy_into, refuse_inference, store
from ..tensors.overriding import ask, overloaded, subclasses
from ..tensors.random import bernoulli, bernoulli_with, exponential, normal, randint, random, uniform
from ..tensors.subclass import KNOWN_AS
from ..tensors.tensor import Tensor


def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that computes `function` and stores the result in the tensor's own memory."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if subclasses.exist and (found := overloaded((self, *args, *kwargs.values()))):
            return ask(method, f"tracegrad.Tensor.{name}_", found, (self, *args), kwargs)
        return store(self, function(self, *args, **kwargs), (*args, *kwargs.values()))

    name = getattr(function, "__name__", "op").lstrip("_")
    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"`{name}`, stored in this tensor's memory; returns the tensor."
    return method


def view_in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that turns the tensor itself into a view of its memory: ``unsqueeze_``."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_inference(self)
        self.become(function(self, *args, **kwargs))
        return self

    name = function.__name__
    method.__name__ = method.__qualname__ = f"{name}_"
    method.__doc__ = f"`{name}` of the tensor itself; returns it."
    return method


def in_place_operator(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """``x += y`` and the like: NotImplemented for what is no operand."""

    def operator(self: Any, other: Any) -> Any:
        if subclasses.exist and (found := overloaded((self, other))):
            known_as = KNOWN_AS.get(name, name)
            return ask(getattr(Tensor, known_as), f"tracegrad.Tensor.{known_as}", found, (self, other), {})
        out = function(self, other)
        return out if out is NotImplemented else store(self, out, (other,))

    operator.__name__ = operator.__qualname__ = name
    return operator


def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Store the numbers of `src`, converted and broadcast."""
    return copy_into(self, src)


def fill_(self: Any, value: Any) -> Any:
    """Store one number everywhere."""
    return copy_into(self, value)


def zero_(self: Any) -> Any:
    """Store zeros."""
    return assign(self, current().constant(0, self.dtype))


def detach_(self: Any) -> Any:
    """Cut this tensor off from its history."""
    if self.base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead.")
    eager().cut(self)
    self.forget_history()
    return self


# ----------------------------------------------------------------------------------------------------- random numbers


def _strides(x: Any) -> Shape:
    return tuple(x.ndarray.strides)


def uniform_(self: Any, from_: float = 0.0, to: float = 1.0, *, generator: Any = None, **named: float) -> Any:
    """Store uniform numbers in [from, to)."""
    low = named.pop("from", from_)
    return assign(self, uniform(self.ndarray.shape, self.dtype, low, to, generator, _strides(self)))


def normal_(self: Any, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Any:
    """Store normal numbers."""
    return assign(self, normal(self.ndarray.shape, self.dtype, mean, std, generator, _strides(self)))


def exponential_(self: Any, lambd: float = 1.0, *, generator: Any = None) -> Any:
    """Store exponential numbers of rate `lambd`."""
    return assign(self, exponential(self.ndarray.shape, self.dtype, lambd, generator, _strides(self)))


def bernoulli_(self: Any, p: Any = 0.5, *, generator: Any = None) -> Any:
    """Store ones with probability `p` (a number, or a tensor of probabilities), else zeros."""
    shape, strides = self.ndarray.shape, _strides(self)
    if isinstance(p, (int, float)):
        return assign(self, bernoulli_with(p, shape, self.dtype, generator, strides))
    return assign(self, bernoulli(p, generator, shape, self.dtype, strides))


def random_(self: Any, from_: int | None = None, to: int | None = None, *, generator: Any = None) -> Any:
    """Store random integers: any that the type holds, those below one bound, or those between two."""
    shape, strides = self.ndarray.shape, _strides(self)
    if from_ is None:
        return assign(self, random(shape, self.dtype, generator, strides))
    low, high = (0, from_) if to is None else (from_, to)
    return assign(self, randint(low, high, shape, self.dtype, generator, strides))
