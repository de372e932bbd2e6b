"""Activations that draw random numbers, PyTorch's in PyTorch's order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...ops import elementary, indexing, movement
from ...ops import reductions as folds
from ...ops.comparison import eq, where
from ...ops.pointwise import cast
from ...ops.scans import cumsum
from ...ops.sources import full, iota
from ...ops.types import float64, int64
from ...tape.grad_mode import no_grad
from ...tensors.arguments import axis_of
from ...tensors.calling.kernels import KERNELS, OF_OPTIONS
from ...tensors.composite import composite
from ...tensors.random import exponential, uniform
from ...tracing.user_warning import warn_user
from ..activations import finished, leaky_relu
from ..normalizing.softmax import softmax

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def rrelu(
    input: Tensor, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """`input` where it is positive, else times a slope: drawn uniformly from `lower` ... `upper`, one for each such
    element, in training; their mean otherwise. Compiled calls that draw are re-recorded: how many is data.

    Shape and type are those of `input`. RuntimeError for bounds that are infinite or in wrong order,
    NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.rrelu(tg.tensor([-1., 2.]), lower=0.25, upper=0.75)
    tensor([-0.5000,  2.0000])
    """
    for name, bound in (("lower", lower), ("upper", upper)):
        if not math.isfinite(bound):
            raise RuntimeError(f"rrelu: {name} bound must be finite, got {bound}")
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound, got {lower} > {upper}")
    (OF_OPTIONS["drawn slopes"] if training else KERNELS["leaky_relu"]).require(input)
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    return finished(input, _sloped(input, _slopes(input, lower, upper)), inplace)


@composite("RreluWithNoiseBackward0", {"input": ("input",)}, zero=True)
def _sloped(input: Any, slopes: Any) -> Any:
    return input * slopes


@no_grad()
def _slopes(input: Any, lower: float, upper: float) -> Any:
    """1 where `input` is positive or NaN; drawn for the other elements, in the order of rows."""
    flat = movement.reshape(input, (input.ndarray.size,))
    is_drawn = flat <= 0
    order = cumsum(cast(is_drawn, int64), 0)
    count = int(folds.sum(cast(is_drawn, int64), (0,)).item())
    if not count:
        return full(input.ndarray.shape, 1.0, input.dtype)
    drawn = cast(uniform((count,), float64, lower, upper), input.dtype)
    taken = indexing.take(drawn, where(is_drawn, order - 1, 0))
    return movement.reshape(where(is_drawn, taken, 1.0), input.ndarray.shape)


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """A sample of categorical distributions over `dim` that gradients pass through (Jang et al. 2017).

    ``softmax((logits + g) / tau)``, where g are drawn from Gumbel's distribution; with `hard` the one-hot vector of the
    largest element, with the gradient of the softmax. `eps` does nothing (PyTorch warns of another one).

    >>> import tracegrad as tg
    >>> tg.nn.functional.gumbel_softmax(tg.tensor([0., 100.]), hard=True)
    tensor([0., 1.])
    """
    if eps != 1e-10:
        warn_user("`eps` parameter is deprecated and has no effect.")
    axis = axis_of(dim, logits.ndarray.ndim)
    with no_grad():
        drawn = -elementary.log(exponential(logits.ndarray.shape, logits.dtype))
    soft = softmax((logits + drawn) / tau, dim)
    if not hard:
        return soft
    with no_grad():
        value = soft.detach()
        largest = folds.argmax(value, axis) if value.ndarray.ndim else full((), 0, int64)
        shape = value.ndarray.shape
        at = movement.reshape(largest, (*shape[:axis], 1, *shape[axis + 1 :])) if shape else largest
        place = iota(shape, axis, int64) if shape else at
        one = cast(eq(place, at), value.dtype)
    return one - value + soft
