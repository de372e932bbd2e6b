"""Sums, means and maxima of rows of a table, bag by bag."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ...ops import indexing, movement
from ...ops import reductions as folds
from ...ops.arithmetic import maximum
from ...ops.comparison import eq, ne, where
from ...ops.logic import logical_and
from ...ops.pointwise import cast
from ...ops.requirements import Requirement, require
from ...ops.scans import cumsum
from ...ops.sources import full, iota
from ...ops.types import bool_, int32, int64, promote_types
from ...tape.grad_mode import no_grad
from ...tensors.calling.kernels import require_floating
from ...tensors.composite import composite, whole
from ...tensors.short_floats import rounded_once
from ..embedding import bound_rows, by_frequency
from ..index_requirements import PLACES
from .sparse_gradients import sparse_rows

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.tensor import Tensor


_MODES = ("sum", "mean", "max")
ROWS = Requirement(
    PLACES.conditions, RuntimeError, "Index of input takes value {value} which is not in the valid range [0, {0})"
)
FIRST = Requirement(
    lambda first: (first >= 0, first <= 0),
    RuntimeError,
    "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
    "{value}",
)
WITHIN = Requirement(
    lambda offsets, count: (offsets >= 0, offsets <= count),
    RuntimeError,
    "offsets[-1] can not be greater than input's length: an offset is {value}, the input has {0} places",
)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """The "sum", "mean" or "max" of the rows of `weight` [rows, columns] in each bag: [bags, columns].

    The bags are the rows of `input`, integers [bags, places], or begin in `input` [places] at `offsets` [bags], whose
    last one is the end with `include_last_offset`. An empty bag gives zeros. Places equal to `padding_idx` do not
    count; `per_sample_weights`, of the shape of `input`, multiply rows before they are summed. `max_norm`, `norm_type`
    `scale_grad_by_freq` and `sparse` as in `embedding`.

    ValueError for shapes and modes that do not go together, NotImplementedError for weights of a
    mean or maximum, RuntimeError for other types, places and offsets. Differences: the memory
    that "max" with `offsets` takes is in proportion to bags times places; `scale_grad_by_freq` divides by how often the
    row itself is met (PyTorch 2.13 takes another row's count where rows repeat).

    >>> import tracegrad as tg
    >>> tg.nn.functional.embedding_bag(tg.tensor([[0, 1], [1, 1]]), tg.tensor([[1.0], [3.0]]), mode="mean")
    tensor([[2.],
            [3.]])
    """
    _check_shapes(input, weight, offsets, per_sample_weights)
    _check_mode(mode, scale_grad_by_freq, sparse, per_sample_weights)
    _check_types(input, weight, offsets, per_sample_weights)
    rows = weight.ndarray.shape[0]
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1} but got {padding_idx}"
        )
    places = input if input.dtype is int64 else cast(input, int64)
    require(places, ROWS, rows)
    if max_norm is not None:
        bound_rows(weight, places, max_norm, norm_type)
    padding = None if padding_idx is None else padding_idx % rows
    bags = None if offsets is None else _bags(cast(offsets, int64), input.ndarray.size, include_last_offset)
    if sparse:
        table = sparse_rows(weight, places, padding, scale_grad_by_freq)
        return _bagged(table, places, bags, per_sample_weights, mode, padding)
    return _combined(weight, places, bags, per_sample_weights, mode, scale_grad_by_freq, padding)


def _check_shapes(input: Tensor, weight: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None) -> None:
    if per_sample_weights is not None and per_sample_weights.ndarray.shape != input.ndarray.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the "
            f"same shape as the input ({input.shape})"
        )
    if weight.ndarray.ndim != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.ndarray.ndim}")
    if input.ndarray.ndim not in (1, 2):
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.ndarray.ndim}")
    if input.ndarray.ndim == 2 and offsets is not None:
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length "
            f"sequences. However, found offsets of type {type(offsets)}"
        )
    if input.ndarray.ndim == 1 and (offsets is None or offsets.ndarray.ndim != 1):
        raise ValueError(f"offsets has to be a 1D Tensor{' but got None' if offsets is None else ''}")


def _check_mode(mode: str, scale_grad_by_freq: bool, sparse: bool, per_sample_weights: Tensor | None) -> None:
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}')."
        )


def _check_types(input: Tensor, weight: Tensor, offsets: Tensor | None, per_sample_weights: Tensor | None) -> None:
    if offsets is None and input.dtype is bool_:
        raise NotImplementedError("\"arange_cpu\" not implemented for 'Bool': places in an embedding bag are integers")
    common = input.dtype if offsets is None else promote_types(input.dtype, offsets.dtype)
    if common not in (int64, int32):
        raise RuntimeError(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
            f"{common.title} instead (while checking arguments for embedding_bag)"
        )
    require_floating("embedding_bag", weight)
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise RuntimeError(
            f"expected weight and per_sample_weights to have the same dtype, but got {weight.dtype!r} and "
            f"{per_sample_weights.dtype!r}"
        )


class _Bags(NamedTuple):
    """The bag of each place, and how many bags there are."""

    of_place: Any
    bags: int


def _bags(offsets: Any, places: int, include_last_offset: bool) -> _Bags:
    count = offsets.ndarray.size
    if include_last_offset and not count:
        raise RuntimeError("include_last_offset: number of offsets should be at least 1")
    with no_grad():
        require(offsets, WITHIN, places)
        if count:
            require(movement.slice(offsets, (0,), (1,), (1,)), FIRST)
        count -= include_last_offset
        first = movement.slice(offsets, (0,), (count,), (1,))
        begun = indexing.index_add(full((places + 1,), 0, int64), first, full((count,), 1, int64))
        of_place = movement.slice(cumsum(begun, 0), (0,), (places,), (1,)) - 1
    return _Bags(of_place, count)


@whole
@rounded_once
@composite("EmbeddingBagBackward0", {"weight": ("weight",), "per_sample_weights": ("weight",)})
def _combined(
    weight: Tensor,
    places: Tensor,
    bags: _Bags | None,
    per_sample_weights: Tensor | None,
    mode: str,
    by_freq: bool,
    padding: int | None,
) -> Tensor:
    rows = indexing.take(weight, places)
    if by_freq:
        rows = by_frequency(rows, places, weight.ndarray.shape[0])
    return _of_rows(rows, places, bags, per_sample_weights, mode, padding)


@composite("EmbeddingBagBackward0", {"per_sample_weights": ("rows",)})
def _bagged(
    rows: Tensor, places: Tensor, bags: _Bags | None, per_sample_weights: Tensor | None, mode: str, padding: int | None
) -> Tensor:
    return _of_rows(rows, places, bags, per_sample_weights, mode, padding)


def _of_rows(
    rows: Tensor, places: Tensor, bags: _Bags | None, per_sample_weights: Tensor | None, mode: str, padding: int | None
) -> Tensor:
    counted = None if padding is None else ne(places, padding)
    if mode == "max":
        return _maxima(rows, counted, bags)
    if per_sample_weights is not None:
        rows = rows * movement.reshape(per_sample_weights, (*places.ndarray.shape, 1))
    if counted is not None:
        rows = where(movement.reshape(counted, (*places.ndarray.shape, 1)), rows, 0.0)
    total = _sums(rows, bags)
    return total if mode == "sum" else total / _counts(places, counted, bags, rows.dtype)


def _sums(rows: Tensor, bags: _Bags | None) -> Tensor:
    if bags is None:
        return folds.sum(rows, (1,))
    of_place, count = bags
    columns = rows.ndarray.shape[1]
    return indexing.index_add(full((count, columns), 0.0, rows.dtype), of_place, rows)


def _counts(places: Tensor, counted: Tensor | None, bags: _Bags | None, dtype: DType) -> Any:
    """How many places of each bag count, and at least 1."""
    if bags is None and counted is None:
        return float(max(places.ndarray.shape[1], 1))
    ones = full(places.ndarray.shape, 1.0, dtype) if counted is None else cast(counted, dtype)
    return maximum(_sums(movement.reshape(ones, (*places.ndarray.shape, 1)), bags), 1.0)


def _maxima(rows: Tensor, counted: Tensor | None, bags: _Bags | None) -> Tensor:
    """The largest of each column; of equal ones the first has the gradient."""
    columns = rows.ndarray.shape[-1]
    if bags is not None:
        of_place, count = bags
        places = rows.ndarray.shape[0]
        number = iota((count, places), 0, int64)
        inside = eq(number, movement.reshape(of_place, (1, places)))
        inside = inside if counted is None else logical_and(inside, movement.reshape(counted, (1, places)))
        rows = movement.broadcast(movement.reshape(rows, (1, places, columns)), (count, places, columns))
    else:
        inside = counted
    if not rows.ndarray.shape[1]:
        return folds.sum(rows, (1,))
    count, places, _ = rows.ndarray.shape
    with no_grad():
        seen = rows.detach()
        some = None
        if inside is not None:
            seen = where(movement.reshape(inside, (count, places, 1)), seen, -math.inf)
            some = movement.reshape(folds.any(inside, (1,)), (count, 1))
        place = movement.reshape(folds.argmax(seen, 1), (count, 1, columns))
    out = movement.reshape(indexing.gather(rows, place, 1), (count, columns))
    return out if some is None else where(some, out, 0.0)
