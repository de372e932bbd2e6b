"""In-place methods, generated from the functions that compute their results."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.arithmetic import abs as absolute
from ..ops.array import Array, eager, repeated_axes
from ..ops.complex_numbers.parts import view_as_complex
from ..ops.core import current
from ..ops.places.overlaps import refuse_overlap
from ..ops.pointwise import common_dtype
from ..ops.types import NUMBERS, bool_, real_of
from ..tape.first_shapes import require_followed
from ..tape.grad_mode import is_recording
from ..tape.selected import declare_write_to_picked
from ..tensors.arguments import Shape
from ..tensors.calling.operators import through_class
from ..tensors.drawing.integers import randint, random
from ..tensors.in_place import assign, copy_into, refuse_inference, require_castable, store
from ..tensors.operands import number_of
from ..tensors.overriding import ask, overloaded, subclasses
from ..tensors.random import bernoulli, bernoulli_with, exponential, geometric, normal, uniform
from ..tensors.rejection import cauchy, log_normal
from ..tensors.subclass import KNOWN_AS
from ..tensors.tensor import Tensor
from ..tensors.written.repeated import each_once, filled_once, warn_of_repeated
from ..tracing.watch import unserved
from .naming.descriptions import described, in_place_form, view_form

if TYPE_CHECKING:
    from ..tensors.calling.annotations import Number
    from ..tensors.generator import Generator


def in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    """The method that computes `function` and stores the result in the tensor's own memory.

    Where the function has an attribute ``directly``, that may do all of it: it tells whether it has. Of products that
    are added, ``fits_in_place`` refuses a tensor and two factors of which the result has another size; where the
    function has ``resizes_in_place``, the tensor becomes as large as the result.
    """
    directly, fits = getattr(function, "directly", None), getattr(function, "fits_in_place", None)
    put = _stored_in_any_size if hasattr(function, "resizes_in_place") else store

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if subclasses.exist and (found := overloaded((self, *args, *kwargs.values()))):
            return ask(method, f"tracegrad.Tensor.{name}_", found, (self, *args), kwargs)
        declare_write_to_picked(self.buffer)
        whole = self.buffer.whole
        for other in (*args, *kwargs.values()) if kwargs else args:
            if isinstance(other, Array) and other.buffer.whole is whole and not is_late:
                refuse_overlap(self, (*args, *kwargs.values())[:reads], in_steps)
        if directly is not None and directly(self, *args, **kwargs):
            return self
        value = _computed(function, self, *args, **kwargs)
        if is_late:  # by then, what does not fit together has been refused
            refuse_overlap(self, (*args, *kwargs.values())[:reads], in_steps)
        if fits is not None:
            fits(self, *(x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)))
        if fills and repeated_axes(self.ndarray) and value.ndarray.shape == self.ndarray.shape:
            if name in _DEPRECATED:
                warn_of_repeated(f"{name}_")
            put(each_once(self), filled_once(self, value), ())
            return self
        return put(self, value, (*args, *kwargs.values()))

    fills = function.__name__ in _FILLS
    name = getattr(function, "__name__", "op").lstrip("_")
    reads, in_steps = _READS.get(name, _ALL), name in _IN_STEPS
    is_late = in_steps and name != "index_copy"
    return described(method, function, f"{name}_", in_place_form(function, f"{name}_", True))


#: What may write to an element that is shown several times: it is the same number each time.
_FILLS = frozenset("fill_diagonal index_fill masked_fill tril triu".split())
_DEPRECATED = frozenset("index_fill masked_fill".split())


#: Methods that write element by element what they find through places: nothing of the tensor may be read.
_IN_STEPS = frozenset("index_add index_copy index_fill index_reduce put scatter scatter_add scatter_reduce".split())
#: How many operands may not overlap with the tensor in part, where it is not all of them.
_READS = {
    **dict.fromkeys("addbmm addmm addmv addr baddbmm masked_scatter".split(), 0),
    **{"masked_fill": 1, "index_fill": 2},
}
_ALL = sys.maxsize


def _stored_in_any_size(self: Any, value: Any, others: Sequence[Any]) -> Any:
    """`store`; where `value` has another size, the tensor gets that first, in its memory if that is large enough."""
    if value.ndarray.shape == self.ndarray.shape:
        return store(self, value, others)
    if is_recording() and self.requires_grad and self.is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. Use the form without _."
        )
    self.data = assign(self.detach().resize_(value.ndarray.shape), value.detach())
    if is_recording() and value.requires_grad:
        self.rebase(value)
    return self


def _computed(function: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """What is to be stored in `self`. A result type that cannot be stored is told before one that does not exist."""
    try:
        return unserved(function, self, *args, **kwargs)
    except NotImplementedError:
        if hasattr(function, "of_one_type"):
            raise
        numbers = (number_of(value) if isinstance(value, np.generic) else value for value in args)
        operands = [value for value in numbers if isinstance(value, (Tensor, *NUMBERS))]
        require_castable(common_dtype([self, *operands]), self.dtype)
        raise


def view_in_place(function: Callable[..., Any], called: str = "") -> Callable[..., Any]:
    """The method that turns the tensor itself into a view of its memory: ``unsqueeze_``."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        refuse_inference(self)
        if self.requires_grad and is_recording():
            require_followed(self)
        self.become(function(self, *args, **kwargs))
        return self

    name = called or f"{function.__name__}_"
    return described(method, function, name, view_form(function, name))


def in_place_operator(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """``x += y`` and the like: NotImplemented for what is no operand."""

    def operator(self: Any, other: Any) -> Any:
        if not isinstance(self, Tensor):
            return through_class(function, name, self, other)
        if subclasses.exist and (found := overloaded((self, other))):
            known_as = KNOWN_AS.get(name, name)
            return ask(getattr(Tensor, known_as), f"tracegrad.Tensor.{known_as}", found, (self, other), {})
        declare_write_to_picked(self.buffer)
        if isinstance(other, Array) and other.buffer.whole is self.buffer.whole:
            refuse_overlap(self, (other,))
        out = _computed(function, self, other)
        return out if out is NotImplemented else store(self, out, (other,))

    operator.__name__ = operator.__qualname__ = name
    return operator


def copy_(self: Tensor, src: Tensor | Number, non_blocking: bool = False) -> Tensor:
    """Store the numbers of `src`, converted to this tensor's type and broadcast to its shape; returns the tensor.

    Gradients go to `src`. `non_blocking` is about devices that are not here. RuntimeError for a shape that does not fit
    and for a leaf that requires a gradient.

    >>> import tracegrad as tg
    >>> tg.zeros(2).copy_(tg.tensor([1, 2]))
    tensor([1., 2.])
    """
    declare_write_to_picked(self.buffer)
    if isinstance(src, Array) and src.buffer.whole is self.buffer.whole:
        refuse_overlap(self, (src,))
    return copy_into(self, src)


def fill_(self: Tensor, value: Tensor | Number) -> Tensor:
    """Store one number, or the element of a 0-d tensor, everywhere; returns the tensor.

    TypeError for what is no number and no tensor, RuntimeError for a tensor with axes.

    >>> import tracegrad as tg
    >>> tg.zeros(2).fill_(3)
    tensor([3., 3.])
    """
    if not isinstance(value, (Tensor, *NUMBERS, np.generic)):
        raise TypeError(
            f"fill_() received an invalid combination of arguments - got ({builtins.type(value).__name__}), but "
            "takes a number or a 0-d tensor. Use copy_() for several."
        )
    if isinstance(value, Tensor) and value.ndarray.ndim:
        axes = value.ndarray.ndim
        raise RuntimeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {axes} dimensions. Use copy_()."
        )
    copy_into(each_once(self), value, "FillBackward3" if isinstance(value, Tensor) else "FillBackward2")
    return self


def zero_(self: Tensor) -> Tensor:
    """Store zeros everywhere; returns the tensor.

    >>> import tracegrad as tg
    >>> tg.ones(2).zero_()
    tensor([0., 0.])
    """
    assign(each_once(self), current().constant(0, self.dtype), "ZeroBackward0")
    return self


def detach_(self: Tensor) -> Tensor:
    """Cut this tensor off from its history: it becomes a leaf that requires no gradient. Returns it.

    RuntimeError for a view, which shares its history with others.

    >>> import tracegrad as tg
    >>> x = tg.ones(2, requires_grad=True) * 2
    >>> x.detach_().requires_grad
    False
    """
    if self.base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead.")
    eager().cut(self)
    self.forget_history()
    return self


def abs_(self: Tensor) -> Tensor:
    """`abs`, stored in this tensor's memory; returns it. RuntimeError for complex numbers, whose sizes are real.

    >>> import tracegrad as tg
    >>> tg.tensor([-1., 2.]).abs_()
    tensor([1., 2.])
    """
    if self.dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors. Write x = x.abs().")
    return store(self, absolute(self), ())


# ----------------------------------------------------------------------------------------------------- random numbers


def _strides(x: Any) -> Shape:
    return tuple(x.ndarray.strides)


def _require_kernel(x: Tensor, kernel: str, truth_too: bool = True) -> None:
    """NotImplementedError for complex numbers, and for truth values unless they are drawn, too."""
    if x.dtype.is_complex or (x.dtype is bool_ and not truth_too):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{x.dtype.title}'. Draw another type.")


def uniform_(
    self: Tensor, from_: float = 0.0, to: float = 1.0, *, generator: Generator | None = None, **named: float
) -> Tensor:
    """Store numbers drawn evenly from [from, to); returns the tensor. PyTorch calls the first bound ``from``.

    `generator` is the default one unless given. RuntimeError where the bounds are in wrong order and for integers.

    >>> import tracegrad as tg
    >>> tg.zeros(2).uniform_(3, 3)
    tensor([3., 3.])
    """
    low = named.pop("from", from_)
    if named:
        raise TypeError(f"uniform_() got an unexpected keyword argument '{next(iter(named))}'")
    if self.dtype.is_complex:  # the parts, one after the other
        shape, parts = self.ndarray.shape, real_of(self.dtype)
        return assign(self, view_as_complex(uniform((*shape, 2), parts, low, to, generator)))
    return assign(self, uniform(self.ndarray.shape, self.dtype, low, to, generator, _strides(self)))


def normal_(self: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Store normal numbers; both parts of complex ones around `mean`, with half the variance each. Returns the tensor.

    `generator` is the default one unless given. RuntimeError for a negative `std`.

    >>> import tracegrad as tg
    >>> tg.zeros(2).normal_(5., 0.)
    tensor([5., 5.])
    """
    if self.dtype.is_complex:
        shape, parts = self.ndarray.shape, real_of(self.dtype)
        return assign(self, view_as_complex(normal((*shape, 2), parts, mean, std * 2**-0.5, generator)))
    return assign(self, normal(self.ndarray.shape, self.dtype, mean, std, generator, _strides(self)))


def exponential_(self: Tensor, lambd: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Store numbers with the density ``lambd * exp(-lambd * x)``; returns the tensor.

    `generator` is the default one unless given. RuntimeError unless `lambd` is positive.

    >>> import tracegrad as tg
    >>> (tg.zeros(2).exponential_() >= 0).all()
    tensor(True)
    """
    return assign(self, exponential(self.ndarray.shape, self.dtype, lambd, generator, _strides(self)))


def bernoulli_(self: Tensor, p: Tensor | float = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Store ones with probability `p` (a number, or a tensor of probabilities that is broadcast), else zeros.

    Returns the tensor, of any type but the complex ones (NotImplementedError). `generator` is the default one unless
    given. RuntimeError for a probability outside [0, 1].

    >>> import tracegrad as tg
    >>> tg.zeros(2).bernoulli_(1.0)
    tensor([1., 1.])
    """
    is_number = isinstance(p, (int, float))
    _require_kernel(self, "bernoulli_scalar_cpu_" if is_number else "bernoulli_tensor_cpu_self_")
    shape, strides = self.ndarray.shape, _strides(self)
    if is_number:
        return assign(self, bernoulli_with(p, shape, self.dtype, generator, strides))
    return assign(self, bernoulli(p, generator, shape, self.dtype, strides))


def random_(
    self: Tensor, from_: int | None = None, to: int | None = None, *, generator: Generator | None = None
) -> Tensor:
    """Store random integers: any that the type holds, those below one bound, or those in [from, to).

    Returns the tensor. Floating types get the integers that they hold without rounding. `generator` is the default one
    unless given. RuntimeError for an empty range; complex numbers are refused.

    >>> import tracegrad as tg
    >>> tg.zeros(2).random_(3, 4)
    tensor([3., 3.])
    """
    shape, strides = self.ndarray.shape, _strides(self)
    if from_ is None:
        _require_kernel(self, "random_kernel_cpu")
        return assign(self, random(shape, self.dtype, generator, strides))
    if self.dtype.is_complex:
        raise RuntimeError(
            "check_random_bounds handles only integral, floating-point and boolean types, and random_() got a complex "
            "one. Fill .real and .imag."
        )
    low, high = (0, from_) if to is None else (from_, to)
    return assign(self, randint(low, high, shape, self.dtype, generator, strides))


def geometric_(self: Tensor, p: float, *, generator: Generator | None = None) -> Tensor:
    """Store how many trials it takes to succeed once with probability `p`; returns the tensor.

    `generator` is the default one unless given. RuntimeError unless `p` is between 0 and 1, NotImplementedError for
    truth values and complex numbers.

    >>> import tracegrad as tg
    >>> (tg.zeros(3).geometric_(0.5) >= 1).all()
    tensor(True)
    """
    _require_kernel(self, "geometric_cpu", truth_too=False)
    return assign(self, geometric(self.ndarray.shape, self.dtype, p, generator, _strides(self)))


def cauchy_(self: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Generator | None = None) -> Tensor:
    """Store numbers with the density ``sigma / (pi * (sigma**2 + (x - median)**2))``; returns the tensor.

    `generator` is the default one unless given. RuntimeError unless `sigma` is positive.

    >>> import tracegrad as tg
    >>> tg.zeros(2).cauchy_().shape
    tracegrad.Size([2])
    """
    return assign(self, cauchy(self.ndarray.shape, self.dtype, median, sigma, generator, _strides(self)))


def log_normal_(self: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Generator | None = None) -> Tensor:
    """Store exponentials of normal numbers with `mean` and `std`; returns the tensor.

    `generator` is the default one unless given. RuntimeError unless `std` is positive.

    >>> import tracegrad as tg
    >>> (tg.zeros(2).log_normal_() > 0).all()
    tensor(True)
    """
    return assign(self, log_normal(self.ndarray.shape, self.dtype, mean, std, generator, _strides(self)))
