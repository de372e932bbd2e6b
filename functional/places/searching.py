"""Where values stand in ascending rows, and which values occur among others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops import indexing, movement
from ...ops.comparison import eq
from ...ops.logic import logical_and, logical_not
from ...ops.places import searching
from ...ops.pointwise import cast, converted
from ...ops.requirements import Requirement, require
from ...ops.scans import argsort
from ...ops.sources import full
from ...ops.types import DIMENSIONED, INTEGER, NUMBER, bool_, int32, int64, number_dtype, result_dtype
from ...tensors.tensor import Tensor
from ..selecting import nonzero, sort
from ..shapes import flatten
from ..statistics.extremes import along

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number


SORTER = Requirement(
    lambda places, extent: (places >= 0, places < extent),
    RuntimeError,
    "torch.searchsorted(): sorter index out of range: {value} is not one of {0} places",
)


def searchsorted(
    sorted_sequence: Tensor,
    input: Tensor | Number,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """For each value of `input` the first place in the ascending `sorted_sequence` that is not below it.

    The sequence is a vector, or rows for rows of values: all axes but the last are equal. With `right` (or `side`
    ``"right"``) it is the first place that is above the value. `sorter` says in which order the sequence ascends, as
    `argsort` does. The result is int64, or int32 with `out_int32`; a number counts as a 0-d tensor. RuntimeError for
    what does not fit.

    >>> import tracegrad as tg
    >>> tg.searchsorted(tg.tensor([1, 3, 5]), tg.tensor([3, 6]))
    tensor([1, 3])
    """
    if side not in (None, "left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    values = _tensor_of(input)
    shape, wanted = sorted_sequence.ndarray.shape, values.ndarray.shape
    _check_rows(shape, wanted)
    if sorter is not None:
        sorted_sequence = along(sorted_sequence, _checked_sorter(sorter, sorted_sequence), -1)
    dtype = result_dtype([(sorted_sequence.dtype, DIMENSIONED), (values.dtype, DIMENSIONED)])
    rows = 1 if len(shape) == 1 else _product(shape[:-1])
    table = movement.reshape(converted(sorted_sequence, dtype), (rows, shape[-1]))
    of = movement.reshape(converted(values, dtype), (rows, _product(wanted) // rows if rows else 0))
    search = searching.search_right if right or side == "right" else searching.search
    places = movement.reshape(search(table.detach(), of.detach()), wanted)
    return cast(places, int32) if out_int32 else places


def _product(extents: tuple[int, ...]) -> int:
    total = 1
    for extent in extents:
        total *= extent
    return total


def _tensor_of(value: Any) -> Any:
    return value if isinstance(value, Tensor) else full((), value, number_dtype(value))


def _check_rows(sequence: tuple[int, ...], values: tuple[int, ...]) -> None:
    if not sequence:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension"
        )
    if len(sequence) == 1:
        return
    if not values:
        raise RuntimeError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({len(sequence)}) and input value's dim(0) numel(1)"
        )
    if sequence[:-1] != values[:-1]:
        raise RuntimeError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(sequence)} and input value "
            f"tensor {list(values)}"
        )


def _checked_sorter(sorter: Tensor, sequence: Tensor) -> Tensor:
    if sorter.ndarray.shape != sequence.ndarray.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(sequence.shape)} and got sorter tensor {list(sorter.shape)}"
        )
    if sorter.dtype is not int64:
        raise RuntimeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.title}"
        )
    require(sorter, SORTER, sequence.ndarray.shape[-1])
    return sorter


def bucketize(input: Tensor | Number, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    """For each value of `input` how many of the ascending `boundaries` (a vector) are below it; see `searchsorted`.

    With `right`, those that equal it count, too. RuntimeError for boundaries that are no vector.

    >>> import tracegrad as tg
    >>> tg.bucketize(tg.tensor([[0, 3], [4, 9]]), tg.tensor([1, 3, 5]))
    tensor([[0, 1],
            [2, 3]])
    """
    if boundaries.ndarray.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndarray.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


# --------------------------------------------------------------------------------------------- values among others


def isin(
    elements: Tensor | Number, test_elements: Tensor | Number, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Whether each of `elements` is one of `test_elements` (with `invert`, is none of them), as bool.

    One of both may be a number. NaN is nowhere. RuntimeError for truth values. `assume_unique`, that no element occurs
    twice, changes nothing.

    >>> import tracegrad as tg
    >>> tg.isin(tg.tensor([1, 2, 3]), tg.tensor([3, 1]))
    tensor([ True, False,  True])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise TypeError("isin() expects a tensor as 'elements' or as 'test_elements', got two numbers")
    given = [_tensor_of(x) for x in (elements, test_elements)]
    for x in given:
        if x.dtype is bool_:
            raise RuntimeError("Unsupported input type encountered for isin(): Bool. Convert it first: .int()")
    ranks = [DIMENSIONED if isinstance(x, Tensor) else NUMBER for x in (elements, test_elements)]
    dtype = result_dtype([(x.dtype, rank) for x, rank in zip(given, ranks, strict=True)])
    shape = given[0].ndarray.shape
    values, tests = (flatten(converted(x, dtype)).detach() for x in given)
    if not tests.ndarray.size:
        return full(shape, invert, bool_)
    table = indexing.take(tests, argsort(tests, 0))
    count = table.ndarray.size
    places = searching.search(*(movement.reshape(x, (1, x.ndarray.size)) for x in (table, values)))
    places = movement.reshape(places, (values.ndarray.size,))
    within = places < count
    found = logical_and(within, eq(indexing.take(table, cast(within, int64) * places), values))
    return movement.reshape(logical_not(found) if invert else found, shape)


def msort(input: Tensor) -> Tensor:
    """`input` sorted along axis 0; see `sort`.

    >>> import tracegrad as tg
    >>> tg.msort(tg.tensor([[2, 1], [1, 3]]))
    tensor([[1, 1],
            [2, 3]])
    """
    return sort(input, 0).values


# ------------------------------------------------------------------------------------------------------ positions


def argwhere(input: Tensor) -> Tensor:
    """The positions of the elements that are not 0, as rows of int64. How many is data.

    >>> import tracegrad as tg
    >>> tg.argwhere(tg.tensor([0, 5, 6]))
    tensor([[1],
            [2]])
    """
    return nonzero(input)


def nonzero_static(input: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """The first `size` positions of `nonzero`; rows of `fill_value` where there are fewer. The shape is no data.

    RuntimeError for a negative `size`.

    >>> import tracegrad as tg
    >>> tg.nonzero_static(tg.tensor([0, 5, 6]), size=3)
    tensor([[ 1],
            [ 2],
            [-1]])
    """
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, got {size}")
    shape = input.ndarray.shape
    if not shape:
        return full((size, 0), 0, int64)
    flat = flatten(input).detach()
    there = logical_not(eq(flat, False if input.dtype is bool_ else 0))
    count = flat.ndarray.size
    order = argsort(cast(there, int32), 0, True)
    kept = min(size, count)
    first = movement.slice(order, (0,), (kept,), (1,))
    found = indexing.take(there, first) if count else full((0,), False, bool_)
    columns = unravel_index(first, shape)
    filled = [movement.pad(_chosen(found, column, fill_value), (0,), (size - kept,), fill_value) for column in columns]
    return movement.concatenate([movement.reshape(column, (size, 1)) for column in filled], 1)


def _chosen(found: Tensor, column: Tensor, fill_value: int) -> Tensor:
    return column * cast(found, int64) + cast(logical_not(found), int64) * fill_value


def unravel_index(indices: Tensor, shape: int | Sequence[int]) -> tuple[Tensor, ...]:
    """For places in a tensor of that `shape`, its elements in a row, the positions along each axis.

    TypeError for indices that are no integers, ValueError for negative extents.

    >>> import tracegrad as tg
    >>> tg.unravel_index(tg.tensor([5, 7]), (3, 3))
    (tensor([1, 2]), tensor([2, 1]))
    """
    if indices.dtype.category != INTEGER:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype!r}")
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in extents):
        raise ValueError(f"'shape' cannot have negative values, but got {extents}")
    found: list[Any] = []
    indices = converted(indices, int64)
    for extent in reversed(extents):
        found.append(indices % extent if extent else indices)
        indices = indices // extent if extent else indices
    return tuple(reversed(found))
