"""Histograms: how many values fall between edges."""

from __future__ import annotations

import builtins
import functools
import operator
from collections.abc import Sequence
from typing import Any

from ...ops import indexing, movement
from ...ops import reductions as folds
from ...ops.arithmetic import minimum
from ...ops.comparison import eq, where
from ...ops.identity import copy
from ...ops.logic import logical_and
from ...ops.places.searching import search_right
from ...ops.pointwise import cast
from ...ops.requirements import Requirement, require
from ...ops.sources import full, iota, zeros
from ...ops.types import INTEGER, Type, int64
from ...tensors.tensor import Tensor
from .. import return_types
from ..checks.derivatives import refusing_derivatives
from ..checks.shapes import check_not_integers
from ..shapes import flatten

FINITE = Requirement(lambda ends: (ends - ends >= 0,), RuntimeError, "range is not finite: it goes to {value}")
FINITE_OF_HISTC = Requirement(
    FINITE.conditions, RuntimeError, "torch.histc: range of [min, max] is not finite: {value}"
)


def _ends(x: Any, given: Sequence[float] | None, margin: float, finite: Requirement) -> tuple[Any, Any]:
    """Where the histogram begins and ends, 0-d: those given, or those of the values. Equal ones move apart."""
    if given is None and x.ndarray.size:
        every = tuple(range(x.ndarray.ndim))
        low, high = folds.amin(x, every), folds.amax(x, every)
    else:
        low, high = (full((), end, x.dtype) for end in (given or (0, 1)))
    require(low, finite)
    require(high, finite)
    equal = eq(low, high)
    return where(equal, low - margin, low), where(equal, high + margin, high)


def _check_bins(bins: int) -> int:
    bins = operator.index(bins)
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    return bins


def _counted(places: Tensor, inside: Any, count: int, weights: Any) -> Tensor:
    """The sum of the weights at each place; what is not inside is left out."""
    places = where(inside, places, count)
    sums = indexing.index_add(zeros(Type(weights.dtype, (count + 1,))), places, weights)
    return movement.slice(sums, (0,), (count,), (1,))


def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements fall in each of `bins` equal parts from `min` to `max`, in `input`'s type.

    If `min` equals `max`, they are the smallest and the largest element. What lies outside is not counted.
    RuntimeError where `min` is above `max`, for infinite ranges and no bins, NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> tg.histc(tg.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3)
    tensor([0., 2., 1., 0.])
    """
    check_not_integers("histogram_cpu", input)
    bins = _check_bins(bins)
    if min > max:
        raise RuntimeError(f"torch.histc: max must be larger than min, got {min} and {max}")
    x = flatten(input).detach()
    of_values = min == max and x.ndarray.size
    low, high = _ends(x, None if of_values else (min, max), 1, FINITE_OF_HISTC)
    inside = logical_and(x >= low, x <= high)
    scaled = (where(inside, x, low) - low) * bins / (high - low)  # in this order, for short floats
    places = minimum(cast(scaled, int64), full((), bins - 1, int64))
    return _counted(places, inside, bins, full(x.ndarray.shape, 1, x.dtype))


def _spaced(low: Any, high: Any, bins: int) -> Any:
    """Edges at equal distances, computed from both ends as in `linspace`."""
    place = cast(iota((bins + 1,), 0, int64), low.dtype)
    step = (high - low) / bins
    return where(iota((bins + 1,), 0, int64) < (bins + 1) // 2, low + step * place, high - step * (bins - place))


def _checked_edges(x: Tensor, edges: Any, axis: int) -> Tensor:
    if edges.ndarray.ndim != 1:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have one dimension, but got {edges.ndarray.ndim} dimensions in the "
            f"bins tensor for dimension {axis}"
        )
    if not edges.ndarray.size:
        raise RuntimeError(
            f"torch.histogramdd: bins tensor should have at least 1 element, but got 0 for dimension {axis}"
        )
    if edges.dtype is not x.dtype:
        raise RuntimeError(
            "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
            f"{x.dtype.title} and bins for dimension {axis} with dtype {edges.dtype.title}"
        )
    return edges.detach()


def _require_numbers(range: Any) -> None:
    """TypeError for a range that is no tuple or list of numbers."""
    if range is None:
        return
    if not isinstance(range, (tuple, list)) or not all(isinstance(end, (int, float)) for end in range):
        raise TypeError(f"histogram(): argument 'range' must be tuple of floats, not {range!r:.80}")


def _edges(columns: Sequence[Any], bins: Sequence[Any], range: Sequence[float] | None) -> list[Any]:
    """For each axis the edges: those given, or so many at equal distances."""
    _require_numbers(range)
    found = []
    for axis, (x, wanted) in enumerate(zip(columns, bins, strict=True)):
        if isinstance(wanted, Tensor):
            found.append(_checked_edges(x, wanted, axis))
            continue
        given = None if range is None else range[2 * axis : 2 * axis + 2]
        if given is not None and given[0] > given[1]:
            raise RuntimeError(
                f"torch.histogramdd: min should not exceed max, but got min {given[0]} max {given[1]} for dimension "
                f"{axis}"
            )
        low, high = _ends(x, given, 0.5, FINITE)
        found.append(_spaced(low, high, _check_bins(wanted)))
    return found


def _binned(columns: Sequence[Tensor], edges: Sequence[Tensor], weight: Tensor | None, density: bool) -> Tensor:
    counts = [each.ndarray.size - 1 for each in edges]
    shape, inside, joint = columns[0].ndarray.shape, None, full(columns[0].ndarray.shape, 0, int64)
    for x, of, count in zip(columns, edges, counts, strict=True):
        places, within = _bins_of(x, of, count)
        joint = joint * count + places
        inside = within if inside is None else logical_and(inside, within)
    total = functools.reduce(operator.mul, counts, 1)
    weights = full(shape, 1, columns[0].dtype) if weight is None else weight
    hist = movement.reshape(_counted(joint, inside, total, weights), tuple(counts))
    return _as_density(hist, edges) if density else hist


def _bins_of(x: Tensor, edges: Any, count: int) -> tuple[Tensor, Tensor]:
    """The bin of each value, and whether it is in one: the last bin includes its end."""
    found = search_right(*(movement.reshape(each, (1, each.ndarray.size)) for each in (edges, x)))
    places = movement.reshape(found, x.ndarray.shape) - 1
    first, last = (movement.slice(edges, (i,), (i + 1,), (1,)) for i in (0, count))
    inside = logical_and(x >= first, x <= last)
    return where(inside, minimum(places, full((), max(count - 1, 0), int64)), 0), inside


def _as_density(hist: Tensor, edges: Sequence[Tensor]) -> Tensor:
    axes = tuple(range(hist.ndarray.ndim))
    out = hist / folds.sum(hist, axes)
    for axis, of in zip(axes, edges, strict=True):
        count = of.ndarray.size - 1
        widths = movement.slice(of, (1,), (count + 1,), (1,)) - movement.slice(of, (0,), (count,), (1,))
        out = out / movement.reshape(widths, tuple(count if a == axis else 1 for a in axes))
    return out


def _weight_of(weight: Any, input: Any, shape: tuple[int, ...]) -> Any:
    if weight is None:
        return None
    if weight.ndarray.shape != shape:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor "
            f"excluding its innermost dimension, but got input with shape {list(input.shape)} and weight with shape "
            f"{list(weight.shape)}"
        )
    if weight.dtype is not input.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same "
            f"dtype, but got input({input.dtype.title}), and weight({weight.dtype.title})"
        )
    return flatten(weight).detach()


def histogram(
    input: Tensor,
    bins: int | Tensor = 100,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> return_types.histogram:
    """(hist, bin_edges): how many elements lie between edges, in `input`'s type.

    `bins` is a vector of ascending edges, or how many equal parts there are of `range` (default: from the smallest to
    the largest element); the last one includes its end. With `weight`, of `input`'s shape, its elements are added up
    instead; with `density` the integral over all is 1. NotImplementedError for integers and for the derivative,
    RuntimeError for what does not fit.

    >>> import tracegrad as tg
    >>> tg.histogram(tg.tensor([1.0, 2.0, 1.0]), bins=2, range=(0.0, 3.0)).hist
    tensor([2., 1.])
    """
    check_not_integers("histogramdd", input)
    _check_range(range, 1)
    weights = _weight_of(weight, input, input.ndarray.shape)
    columns = [flatten(input).detach()]
    edges = _edges(columns, [bins], range)
    found = _binned(columns, edges, weights, density), copy(edges[0])
    return return_types.histogram(*refusing_derivatives("histogram", found, (input, bins, weight)))


def _check_range(range: Sequence[float] | None, count: int) -> None:
    """RuntimeError unless there are two numbers for each of `count` coordinates."""
    _require_numbers(range)
    if range is not None and len(range) != 2 * count:
        raise RuntimeError(
            f"torch.histogramdd: for a {count}-dimensional histogram range should have {2 * count} elements, but got "
            f"{len(range)}"
        )


def _wanted_bins(bins: Any, count: int) -> list[Any]:
    """For each coordinate how many bins, or a vector of edges. TypeError for what is neither a number nor a list."""
    if isinstance(bins, int) or isinstance(bins, Tensor) and not bins.ndarray.ndim:
        return [operator.index(bins)] * count
    if not isinstance(bins, (tuple, list)) or isinstance(next(iter(bins), 0), bool):
        raise TypeError(f"histogramdd(): argument 'bins' must be int, tuple of ints or of tensors, not {bins!r}")
    given = list(bins)
    return [operator.index(each) if _is_number(each) else each for each in given]


def _is_number(x: Any) -> bool:
    """Whether a tensor is a number of bins, no vector of edges."""
    return isinstance(x, Tensor) and not x.ndarray.ndim and x.dtype.category == INTEGER


def histogramdd(
    input: Tensor,
    bins: int | Sequence[int] | Sequence[Tensor],
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> return_types.histogramdd:
    """(hist, bin_edges): how many rows of `input`, points along its last axis, lie between edges in each coordinate.

    `bins` is a number of bins for all coordinates, or for each of them a number or a vector of edges; `range` has two
    numbers for each. See `histogram`.

    >>> import tracegrad as tg
    >>> tg.histogramdd(tg.tensor([[0.0, 1.0], [1.0, 0.0]]), [2, 2]).hist
    tensor([[0., 1.],
            [1., 0.]])
    """
    check_not_integers("histogramdd", input)
    if input.ndarray.ndim < 2:
        raise RuntimeError(
            f"torch.histogramdd: input tensor should have at least 2 dimensions, got {input.ndarray.ndim}"
        )
    *lead, count = input.ndarray.shape
    wanted = _wanted_bins(bins, count)
    if len(wanted) != count:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    weights = _weight_of(weight, input, tuple(lead))
    points = movement.reshape(input.detach(), (functools.reduce(operator.mul, lead, 1), count))
    rows = points.ndarray.shape[0]
    columns = [
        movement.reshape(movement.slice(points, (0, i), (rows, i + 1), (1, 1)), (rows,)) for i in builtins.range(count)
    ]
    _check_range(range, count)
    edges = _edges(columns, wanted, range)
    found = _binned(columns, edges, weights, density), *edges
    hist, *made = refusing_derivatives("_histogramdd_from_bin_cts", found, (input, *wanted, weight))
    own = (bins if isinstance(bins, Tensor) else edge for bins, edge in zip(wanted, made, strict=True))
    return return_types.histogramdd(hist, tuple(own))
