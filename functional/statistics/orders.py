"""Elements by their rank, and extremes: kthvalue, mode, nanmedian, aminmax, cummax, cummin."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ops import indexing, logic, movement, scans
from ...ops import reductions as folds
from ...ops.comparison import eq, isnan, ne, where
from ...ops.identity import copy
from ...ops.pointwise import cast
from ...ops.sources import full, iota
from ...ops.types import bool_, int64
from ...tape.grad_mode import no_grad
from ...tensors.arguments import axis_of
from ...tensors.composite import relabel
from .. import return_types
from ..shapes import flatten
from ..statistics.extremes import amax, amin

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _lined_up(function: str, input: Any, dim: int) -> tuple[Any, int]:
    """`input` with at least one axis, and the axis. IndexError where there is nothing along it."""
    axis = axis_of(dim, input.ndarray.ndim)
    x = input if input.ndarray.ndim else movement.reshape(input, (1,))
    if not x.ndarray.shape[axis]:
        raise IndexError(f"{function}(): Expected reduction dim {axis} to have non-zero size. Leave empty tensors out.")
    return x, axis


def _selected(
    function: str, title: str, input: Any, dim: int, keepdim: bool, places: Callable[[Any, int], Any]
) -> tuple[Any, Any]:
    """The elements along `dim` at the `places` of a row, and these; a gradient goes where they stand."""
    x, axis = _lined_up(function, input, dim)
    with no_grad():
        indices = places(x, axis)
    values = indexing.gather(x, indices, axis)
    shape = x.ndarray.shape
    kept = tuple(1 if a == axis else n for a, n in enumerate(shape)) if keepdim else shape[:axis] + shape[axis + 1 :]
    values, indices = (movement.reshape(v, kept if input.ndarray.ndim else ()) for v in (values, indices))
    relabel(values, title, (input,))
    return values, indices


def _part(x: Any, axis: int, start: int, stop: int) -> Any:
    """The elements from `start` to before `stop` along `axis`."""
    shape = x.ndarray.shape
    starts = tuple(start if a == axis else 0 for a in range(len(shape)))
    stops = tuple(stop if a == axis else n for a, n in enumerate(shape))
    return movement.slice(x, starts, stops, (1,) * len(shape))


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the `k`-th smallest elements along `dim`; NaN counts as the largest.

    RuntimeError for a `k` that is not between 1 and the extent, NotImplementedError for bool.

    >>> import tracegrad as tg
    >>> tg.kthvalue(tg.tensor([3., 1., 2.]), 2).values
    tensor(2.)
    """
    if input.dtype is bool_:
        raise NotImplementedError("\"kthvalue_cpu\" not implemented for 'Bool'. Convert it first, e.g. with .int().")

    def places(x: Any, axis: int) -> Any:
        if not 1 <= k <= x.ndarray.shape[axis]:
            raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {axis}")
        return copy(_part(scans.argsort(x, axis, count=k), axis, k - 1, k))

    return return_types.kthvalue(*_selected("kthvalue", "KthvalueBackward0", input, dim, keepdim, places))


def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """(values, indices) of the elements that occur most often along `dim`: the smallest of several, its last place.

    NotImplementedError for complex numbers. Difference: NaN counts as the largest number, where PyTorch's order of
    numbers among NaN is that of its sort.

    >>> import tracegrad as tg
    >>> tg.mode(tg.tensor([2, 1, 2, 1])).indices
    tensor(3)
    """
    if input.dtype.is_complex:
        raise NotImplementedError(f"\"mode_cpu\" not implemented for '{input.dtype.title}'. Take its .real or .abs().")
    return return_types.mode(*_selected("mode", "ModeBackward0", input, dim, keepdim, _most_frequent))


def _most_frequent(x: Any, axis: int) -> Any:
    """In sorted rows, the last place of the first longest run of equal elements."""
    order = scans.argsort(x, axis)
    ranked = indexing.gather(x, order, axis)
    shape, extent = ranked.ndarray.shape, x.ndarray.shape[axis]
    before, behind = _part(ranked, axis, 0, extent - 1), _part(ranked, axis, 1, extent)
    first = full(tuple(1 if a == axis else n for a, n in enumerate(shape)), True, bool_)
    begins = movement.concatenate([first, ne(before, behind)], axis)
    lengths = iota(shape, axis, int64) - scans.running_argmax(cast(begins, int64), axis)
    longest = folds.argmax(lengths, axis)
    kept = tuple(1 if a == axis else n for a, n in enumerate(shape))
    return indexing.gather(order, movement.reshape(longest, kept), axis)


def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor | tuple[Tensor, Tensor]:
    """The lower median of the elements that are not NaN; with `dim`, (values, indices) along it. NaN if all are.

    >>> import tracegrad as tg
    >>> tg.nanmedian(tg.tensor([1., float("nan"), 3., 2.]))
    tensor(2.)
    """
    if input.dtype is bool_:
        raise NotImplementedError("\"nanmedian_cpu\" not implemented for 'Bool'. Convert it first, e.g. with .int().")
    if dim is None:
        return _overall_nanmedian(input)
    return return_types.nanmedian(*_selected("nanmedian", "NanmedianBackward1", input, dim, keepdim, _middle_number))


def _middle_number(x: Any, axis: int) -> Any:
    """Where the lower median of the numbers among the elements stands; the first place where there are none."""
    shape = x.ndarray.shape
    kept = tuple(1 if a == axis else n for a, n in enumerate(shape))
    count = movement.reshape(folds.sum(cast(logic.logical_not(isnan(x)), int64), (axis,)), kept)
    rank = where(count > 0, (count - 1) // 2, 0)
    return indexing.gather(scans.argsort(x, axis), rank, axis)


def _overall_nanmedian(input: Any) -> Any:
    """Elements equal to the median share the gradient evenly."""
    flat = flatten(input)
    if not flat.ndarray.size:
        return folds.sum(flat, (0,)) + float("nan") if input.dtype.is_floating_point else folds.sum(flat, (0,))
    with no_grad():
        value = indexing.gather(flat, _middle_number(flat, 0), 0)
    if not input.dtype.is_floating_point:
        return movement.reshape(value, ())
    hit = logic.logical_or(eq(flat, value), logic.logical_and(isnan(flat), isnan(value)))
    count = folds.sum(cast(hit, input.dtype), (0,))
    out = folds.sum(where(hit, flat / count, 0.0), (0,))
    relabel(out, "NanmedianBackward0", (input,), [input, out])
    return out


def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """(min, max) of all elements, or along `dim`. Equal extremes share the gradient; NaN is both.

    >>> import tracegrad as tg
    >>> tg.aminmax(tg.tensor([3., 1., 2.])).max
    tensor(3.)
    """
    shape = input.ndarray.shape
    if dim is None and not input.ndarray.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    if dim is not None and shape and not shape[axis_of(dim, len(shape))]:
        raise IndexError(f"aminmax: Expected reduction dim {axis_of(dim, len(shape))} to have non-zero size.")
    axes = () if dim is None else dim
    low, high = (fold(input, axes, keepdim) for fold in (amin, amax))
    for out in (low, high):
        relabel(out, "AminmaxBackward0", (input,))
    return return_types.aminmax(low, high)


def _running(name: str, places: Callable[[Any, int], Any], input: Any, dim: int) -> Any:
    axis = axis_of(dim, input.ndarray.ndim)
    x = input if input.ndarray.ndim else movement.reshape(input, (1,))
    with no_grad():
        indices = places(x, axis)
    values = indexing.gather(x, indices, axis)
    if not input.ndarray.ndim:
        values, indices = (movement.reshape(v, ()) for v in (values, indices))
    relabel(values, f"{name.capitalize()}Backward0", (input,), [input])
    return getattr(return_types, name)(values, indices)


def cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """(values, indices) of the largest of each element and those before it along `dim`: the last one of equals.

    >>> import tracegrad as tg
    >>> tg.cummax(tg.tensor([1., 3., 2., 3.]), 0).indices
    tensor([0, 1, 1, 3])
    """
    return _running("cummax", scans.running_argmax, input, dim)


def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """(values, indices) of the smallest of each element and those before it along `dim`: the last one of equals.

    >>> import tracegrad as tg
    >>> tg.cummin(tg.tensor([3., 1., 2., 1.]), 0).values
    tensor([3., 1., 1., 1.])
    """
    return _running("cummin", scans.running_argmin, input, dim)
