"""Single elements written, added or folded into places along one axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ops import indexing, movement
from ...ops.comparison import eq, where
from ...ops.division import floor_divide
from ...ops.places import folding
from ...ops.pointwise import cast
from ...ops.requirements import require
from ...ops.sources import full
from ...ops.types import FLOATING, bool_, int64
from ...tensors.arguments import axis_of
from ...tensors.calling.kernels import OF_OPTIONS
from ...tensors.composite import relabel
from ...tensors.data import fitting
from ...tensors.tensor import Tensor
from ..checks.shapes import check_count
from ..index_requirements import PLACES
from .arguments import as_row, as_shaped, long_index

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number


Fold = Callable[[Any, Any, Any, int, bool], Any]


def scatter(
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | Number | None = None,
    *,
    value: Number | None = None,
    reduce: str | None = None,
) -> Tensor:
    """`input` with ``out[index[i][j]][j] = src[i][j]`` along `dim` 0.

    `index` (int64 or int32) has as many axes as `input` and is not larger except along `dim`; `src`, a tensor of
    `input`'s type or a number (also called `value`), is at least as large as `index`. Where an index occurs twice, the
    last one stays. `reduce` may be ``"add"`` or ``"multiply"``. RuntimeError for what does not fit.
    Difference: with `reduce` the result can be differentiated.

    >>> import tracegrad as tg
    >>> tg.zeros(3).scatter(0, tg.tensor([2, 0]), tg.tensor([5.0, 6.0]))
    tensor([6., 0., 5.])
    """
    if src is None and value is None:
        raise TypeError("scatter(): argument 'src' (position 3) must be Tensor or a number, not NoneType")
    if reduce not in (None, "add", "multiply"):
        raise RuntimeError(f"reduce argument must be either add or multiply. Got {reduce!r}; see scatter_reduce()")
    of = {None: _written, "add": _added, "multiply": folding.scatter_prod}[reduce]
    return _scattered("scatter", input, dim, index, value if src is None else src, of)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`input` with ``out[index[i][j]][j] += src[i][j]`` along `dim` 0, every occurrence counted; see `scatter`.

    >>> import tracegrad as tg
    >>> tg.zeros(3).scatter_add(0, tg.tensor([2, 2]), tg.tensor([5.0, 6.0]))
    tensor([ 0.,  0., 11.])
    """
    return _scattered("scatter_add", input, dim, index, src, _added)


def _written(x: Tensor, index: Tensor, src: Tensor, axis: int, include_self: bool) -> Tensor:
    return indexing.scatter(x, index, src, axis)


def _added(x: Tensor, index: Tensor, src: Tensor, axis: int, include_self: bool) -> Tensor:
    x = x if include_self else indexing.scatter(x, index, _filled(index, 0, x), axis)
    return indexing.scatter_add(x, index, src, axis)


def _filled(of: Any, number: int, like: Any) -> Any:
    return full(of.ndarray.shape, number, like.dtype)


def _scattered(
    name: str,
    input: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | Number | None,
    fold: Fold,
    include_self: bool = True,
) -> Tensor:
    """`fold` of rows where numbers stand, and of the part of `src` that `index` covers."""
    axis = axis_of(dim, input.ndarray.ndim)
    places = as_row(long_index(name, index) if index.ndarray.size else cast(index, int64))
    x = as_row(input)
    return as_shaped(fold(x, places, _source(x, places, src), axis, include_self), input.ndarray.shape)


def _source(input: Any, index: Any, src: Any) -> Any:
    """What to scatter: a number everywhere, or the part of `src` that `index` covers."""
    shape = index.ndarray.shape
    if not isinstance(src, Tensor):
        return full(shape, fitting(src, input.dtype), input.dtype)
    if src.dtype is not input.dtype:
        raise RuntimeError(
            f"scatter(): Expected self.dtype to be equal to src.dtype, self and source expected to have the same dtype,"
            f" but got (self) {input.dtype.title} and (source) {src.dtype.title}. Convert the source with .to(input)."
        )
    src = as_row(src)
    if src.ndarray.shape == shape:
        return src
    _check_source(input, index, src)
    return movement.slice(src, (0,) * len(shape), shape, (1,) * len(shape))


def _check_source(input: Any, index: Any, src: Any) -> None:
    """RuntimeError unless `src` has a value for each index."""
    if src.ndarray.ndim != index.ndarray.ndim:
        raise RuntimeError(
            f"Index tensor must have the same number of dimensions as src tensor: {list(index.shape)} and "
            f"{list(src.shape)}"
        )
    if any(wanted > there for wanted, there in zip(index.ndarray.shape, src.ndarray.shape, strict=True)):
        raise RuntimeError(
            f"Expected index {list(index.shape)} to be no larger than self {list(input.shape)} and to be no larger "
            f"size than src {list(src.shape)}"
        )


# ------------------------------------------------------------------------------------------------------------ folds


def _mean(x: Tensor, index: Tensor, src: Tensor, axis: int, include_self: bool) -> Tensor:
    total = _added(x, index, src, axis, include_self)
    counts = indexing.scatter_add(_filled(x, int(include_self), x), index, _filled(src, 1, x), axis)
    counts = where(eq(counts, 0), 1, counts)
    return total / counts if x.dtype.category >= FLOATING else floor_divide(total, counts)


_EXTREMES = ("amax", "amin")
_FOLDS: dict[str, Fold] = {
    "sum": _added,
    "prod": folding.scatter_prod,
    "mean": _mean,
    "amax": folding.scatter_amax,
    "amin": folding.scatter_amin,
}


def _folded(kind: str, x: Tensor, index: Tensor, src: Tensor, axis: int, include_self: bool) -> Tensor:
    """A fold of truth values is one of 0 and 1, except that there is no mean of them."""
    if x.dtype is not bool_:
        return _FOLDS[kind](x, index, src, axis, include_self)
    if kind == "mean":
        raise NotImplementedError("\"scatter_gather_tensor_cpu_reduce_mean\" not implemented for 'Bool'; call .float()")
    return cast(_FOLDS[kind](cast(x, int64), index, cast(src, int64), axis, include_self), bool_)


def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`input` with all ``src[i][j]`` folded into ``out[index[i][j]][j]`` along `dim` 0; see `scatter` for the shapes.

    `reduce` is ``"sum"``, ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``. Without `include_self` what is named begins
    without its element of `input`. An extreme's gradient is shared evenly by all that equal it; means of integers are
    rounded down. RuntimeError for another `reduce` and for what does not fit.
    Difference: where several zeros are multiplied, the second derivative by them is NaN (PyTorch: an error).

    >>> import tracegrad as tg
    >>> x, index = tg.tensor([1.0, 2.0]), tg.tensor([0, 0, 1])
    >>> x.scatter_reduce(0, index, tg.tensor([3.0, 4.0, 5.0]), "prod")
    tensor([12., 10.])
    """
    if reduce not in _FOLDS:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")

    if reduce in _EXTREMES:
        OF_OPTIONS[f"scatter {reduce}"].require(input)

    def fold(x: Tensor, places: Tensor, source: Tensor, axis: int, included: bool) -> Tensor:
        return _folded(reduce, x, places, source, axis, included)

    out = _scattered("scatter_reduce", input, dim, index, src, fold, include_self)
    relabel(out, "ScatterReduceBackward0", (input, src), [input, src, out])
    return out


def index_reduce(
    input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`input` with the parts of `source` along `dim` folded into its parts at the positions `index`.

    `index` is a vector or a number, with a position for each part of `source`, which otherwise has `input`'s shape and
    type. `reduce` is ``"prod"``, ``"mean"``, ``"amax"`` or ``"amin"``; see `scatter_reduce`. RuntimeError for what does
    not fit, IndexError for a position outside.

    >>> import tracegrad as tg
    >>> tg.ones(2, 2).index_reduce(0, tg.tensor([1, 1]), tg.tensor([[2.0, 3.0], [4.0, 5.0]]), "amax")
    tensor([[1., 1.],
            [4., 5.]])
    """
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    axis = axis_of(dim, input.ndarray.ndim)
    if input.ndarray.ndim < 2:
        OF_OPTIONS["index of vectors"].require(input)
    elif reduce in _EXTREMES:
        OF_OPTIONS[f"index {reduce}"].require(input)
    places = long_index("index_reduce", _checked_index(input, index, source, axis, dim))
    x, rows = as_row(input), as_row(source)
    require(places, PLACES, x.ndarray.shape[axis])
    places = movement.reshape(places, tuple(places.ndarray.size if a == axis else 1 for a in range(x.ndarray.ndim)))
    out = _folded(reduce, x, movement.broadcast(places, rows.ndarray.shape), rows, axis, include_self)
    out = as_shaped(out, input.ndarray.shape)
    relabel(out, "IndexReduceBackward0", (input, source), [input, source, out])
    return out


def _checked_index(input: Tensor, index: Tensor, source: Tensor, axis: int, dim: int) -> Tensor:
    """`index`, which has a position for each part of `source` along an axis."""
    if index.ndarray.ndim > 1:
        raise IndexError(f"index_reduce_(): Index is supposed to be a vector, but got dim: {index.ndarray.ndim}")
    if source.dtype is not input.dtype:
        raise RuntimeError(
            f"index_reduce_(): self ({input.dtype.title}) and source ({source.dtype.title}) must have the same scalar "
            "type. Convert the source, e.g. with .to(input)."
        )
    check_count("index_reduce_", RuntimeError, index, source, axis, f": ({{}}), for dim: {dim}")
    check_other_sizes(input, source, axis)
    return index


def check_other_sizes(input: Tensor, source: Tensor, axis: int) -> None:
    """RuntimeError unless `source` has `input`'s shape but for `axis`."""
    shapes = input.ndarray.shape, source.ndarray.shape
    but_for = [(*shape[:axis], *shape[axis + 1 :]) for shape in shapes]
    if len(shapes[0]) != len(shapes[1]) or but_for[0] != but_for[1]:
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(shapes[0])} source.shape = {list(shapes[1])}"
        )
