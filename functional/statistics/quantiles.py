"""Quantiles: values between which given shares of the elements lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops import indexing, movement, rounding, scans
from ...ops import reductions as folds
from ...ops.comparison import isnan, where
from ...ops.logic import logical_not
from ...ops.pointwise import cast
from ...ops.requirements import Requirement, require
from ...ops.sources import full
from ...ops.types import int64
from ...tape.grad_mode import no_grad
from ...tensors.arguments import axis_of
from ...tensors.autocasting import full_precision
from ...tensors.tensor import Tensor
from ..arithmetic import lerp

WITHIN = Requirement(
    lambda q: (q >= 0, q <= 1), RuntimeError, "quantile() q values must be in the range [0, 1]: they are shares"
)
#: The place among the elements, for each kind of interpolation, from the place that the share has.
_PLACES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda place: place,
    "lower": rounding.floor,
    "higher": rounding.ceil,
    "midpoint": lambda place: place,
    "nearest": rounding.round,
}
#: The kinds of which both neighbours have a part in the result.
_BETWEEN = frozenset({"linear", "midpoint"})


@full_precision
def quantile(
    input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The values below which the shares `q` of the elements along `dim` lie (of all elements without `dim`).

    `q` is a number, or a tensor of the input's type with at most one axis, which becomes the first axis of the result.
    Between two elements `interpolation` decides: "linear", "lower", "higher", "midpoint" or "nearest". A row with NaN
    gives NaN. RuntimeError for integers, for no elements, and for shares outside [0, 1].

    >>> import tracegrad as tg
    >>> tg.quantile(tg.tensor([1., 2., 4.]), 0.75)
    tensor(3.)
    """
    return _quantile(input, q, dim, keepdim, interpolation, ignore_nan=False)


@full_precision
def nanquantile(
    input: Tensor, q: Tensor | float, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """`quantile` of the elements that are not NaN; NaN where there are no others.

    >>> import tracegrad as tg
    >>> tg.nanquantile(tg.tensor([1., float("nan"), 2.]), 0.5)
    tensor(1.5000)
    """
    return _quantile(input, q, dim, keepdim, interpolation, ignore_nan=True)


def _quantile(input: Any, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool) -> Any:
    q = _shares(input, q, interpolation)
    ndim = input.ndarray.ndim
    axis = 0 if dim is None else axis_of(dim, ndim)
    require(q, WITHIN)
    rows = movement.reshape(input, (input.ndarray.size,)) if dim is None or not ndim else input
    order = (*(a for a in range(rows.ndarray.ndim) if a != axis), axis)
    rows = movement.transpose(rows, order)
    lead = rows.ndarray.shape[:-1]
    count = q.ndarray.size
    shares = q if interpolation == "linear" else q.detach()  # otherwise the quantile does not move with them
    places = _places(rows, movement.reshape(shares, (*(1,) * len(lead), count)), interpolation, ignore_nan)
    with no_grad():
        below = rounding.floor(places)
        ends = (below, rounding.ceil(places)) if interpolation in _BETWEEN else (below,)
        positions = [movement.broadcast(cast(end, int64), (*lead, count)) for end in ends]
        sorting = scans.argsort(rows, len(lead))
    ranked = indexing.gather(rows, sorting, len(lead))
    low, *above = (indexing.gather(ranked, at, len(lead)) for at in positions)
    # Also where the place is that of one element: infinity, interpolated with itself, is NaN in PyTorch.
    share = places - below if interpolation == "linear" else full((), 0.5, input.dtype)
    found = lerp(low, above[0], share) if above else low
    return _arranged(found, q, input.ndarray.shape, None if dim is None else axis, keepdim)


def _shares(input: Any, q: Any, interpolation: str) -> Any:
    """`q` as a tensor; RuntimeError in PyTorch's words where the arguments do not fit."""
    if not input.ndarray.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if not input.dtype.is_floating_point:
        raise RuntimeError("quantile() input tensor must be either float or double dtype; call .float()")
    if interpolation not in _PLACES:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got "
            f"{interpolation}"
        )
    if not isinstance(q, Tensor):
        if not 0 <= q <= 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
        return full((), float(q), input.dtype)
    if q.ndarray.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if q.dtype is not input.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    return q


def _places(rows: Any, q: Any, interpolation: str, ignore_nan: bool) -> Any:
    """Where in the sorted rows the quantiles stand; NaNs come last, and a row that has one ends there."""
    axis, extent = rows.ndarray.ndim - 1, rows.ndarray.shape[-1]
    numbers = folds.sum(cast(logical_not(isnan(rows)), q.dtype), (axis,))
    numbers = movement.reshape(numbers, (*rows.ndarray.shape[:-1], 1))
    if ignore_nan:
        last = where(numbers > 0, numbers - 1, 0)
        return _PLACES[interpolation](q * last)
    return where(numbers == extent, _PLACES[interpolation](q * (extent - 1)), extent - 1)


def _arranged(found: Any, q: Any, shape: tuple[int, ...], axis: int | None, keepdim: bool) -> Any:
    """The quantiles, last axis of `found`, as the first one; none for a number."""
    ndim = found.ndarray.ndim
    found = movement.transpose(found, (ndim - 1, *range(ndim - 1)))
    rest = found.ndarray.shape[1:]
    if keepdim and shape:
        rest = (1,) * len(shape) if axis is None else (*rest[:axis], 1, *rest[axis:])
    return movement.reshape(found, (*q.ndarray.shape, *rest))
