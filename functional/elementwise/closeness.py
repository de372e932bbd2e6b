"""Whether tensors are equal, or equal but for rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops import arithmetic as ops
from ...ops import comparison, logic
from ...ops.comparison import eq
from ...ops.types import FLOATING

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Where ``|input - other| <= atol + rtol * |other|``, as bool; equal infinities are close, NaNs if `equal_nan`.

    Shapes are broadcast. RuntimeError for operands of different types and for negative tolerances.

    >>> import tracegrad as tg
    >>> tg.isclose(tg.tensor([1., 2.]), tg.tensor([1.000001, 2.1]))
    tensor([ True, False])
    """
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.title} did not match {other.dtype.title}: convert one, e.g. with .to(other)")
    for name, tolerance in (("rtol", rtol), ("atol", atol)):
        if tolerance < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {tolerance}")
    same = eq(input, other)
    if equal_nan:
        same = logic.logical_or(same, logic.logical_and(comparison.isnan(input), comparison.isnan(other)))
    if input.dtype.category < FLOATING:
        input, other = input.double(), other.double()
    distance = ops.abs(input - other)
    near = distance <= atol + rtol * ops.abs(other)
    return logic.logical_or(same, logic.logical_and(comparison.isfinite(distance), near))


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether all elements are close, as one Python bool; arguments and errors are those of `isclose`.

    >>> import tracegrad as tg
    >>> tg.allclose(tg.tensor([1., 2.]), tg.tensor([1.000001, 2.]))
    True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether both have the same shape and the same elements, as one Python bool; nothing is broadcast.

    >>> import tracegrad as tg
    >>> tg.equal(tg.tensor([1, 2]), tg.tensor([1, 2])), tg.equal(tg.zeros(2), tg.zeros(1, 2))
    (True, False)
    """
    return input.shape == other.shape and bool(eq(input, other).all())
