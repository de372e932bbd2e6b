"""The largest and smallest elements, and where they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...autograd.function import Operation
from ...ops import arithmetic, comparison, indexing, logic, movement, scans
from ...ops import reductions as ops
from ...ops.comparison import eq, where
from ...ops.complex_numbers.refusals import refuse_complex
from ...ops.core import is_plain_now
from ...ops.types import bool_
from ...tensors.arguments import Shape, axes_of, axis_of
from ...tensors.composite import composite, part, relabel
from ...tensors.tensor import Tensor
from .. import return_types
from ..reductions import folded, kept, sum
from .at_once import extreme_at_once, is_only_computed

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Axes


@composite("AmaxBackward0")
def amax(input: Tensor, dim: Axes | tuple[()] = (), keepdim: bool = False) -> Tensor:
    """The largest element over the axes `dim` (all of them by default), NaN if there is any.

    Ties share the gradient evenly. With `keepdim` the axes stay, with an extent of 1. RuntimeError for no elements
    without `dim`, NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.amax(tg.tensor([[1., 5.], [3., 2.]]), dim=0)
    tensor([3., 5.])
    """
    _refuse_nothing("amax", input, dim)
    return folded(ops.amax, input, dim, keepdim)


@composite("AminBackward0")
def amin(input: Tensor, dim: Axes | tuple[()] = (), keepdim: bool = False) -> Tensor:
    """The smallest element over the axes `dim` (all of them by default), NaN if there is any.

    Ties share the gradient evenly. With `keepdim` the axes stay, with an extent of 1. RuntimeError for no elements
    without `dim`, NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.amin(tg.tensor([[1., 5.], [3., 2.]]), dim=0)
    tensor([1., 2.])
    """
    _refuse_nothing("amin", input, dim)
    return folded(ops.amin, input, dim, keepdim)


def _refuse_nothing(name: str, input: Any, dim: Any) -> None:
    """RuntimeError for the extreme of no elements at all."""
    if not input.ndarray.size and (dim is None or (isinstance(dim, (tuple, list)) and not dim)):
        raise RuntimeError(
            f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )


class _Overall(Operation):
    """The extreme of all elements. Ties share the gradient evenly; so do NaNs, where `amax` gives NaN."""

    @staticmethod
    def forward(ctx: Any, x: Any, fold: Callable[[Any, Shape], Any]) -> Any:
        out = fold(x, axes_of(None, x.ndarray.ndim))
        ctx.save_for_backward(x, out)
        return out

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        x, out = ctx.saved_tensors
        hit = logic.logical_or(eq(x, out), comparison.isnan(x))
        return where(hit, g / sum(hit, dtype=g.dtype), 0), None


_PROMPT = ">>>"
_EXAMPLES = {
    "max": "(tensor([5., 3.]), tensor([1, 0]))",
    "min": "(tensor([1., 2.]), tensor([0, 1]))",
}


_POSITIONS = {"max": ops.argmax_primitive, "min": ops.argmin_primitive}


def _extreme(name: str, fold: Any, position: Any, pairwise: Any) -> Callable[..., Any]:
    title, primitive = name.capitalize(), _POSITIONS[name]

    def with_places(input: Any, axis: Any, keepdim: bool) -> tuple[Any, Any]:
        indices = _position(position, input, axis, True, name)
        values = along(input, indices, axis)
        if not keepdim and input.ndarray.ndim:
            place = axis_of(axis, input.ndarray.ndim)
            return _without(values, place), _without(indices, place)
        return values, indices

    with_places.__name__ = with_places.__qualname__ = f"_{name}_with_places"
    as_one = part(with_places)

    def extreme(
        input: Tensor, dim: int | Tensor | None = None, keepdim: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        refuse_complex(f"{name}_all", input.dtype)
        if dim is None:
            _refuse_nothing(name, input, dim)
            if is_only_computed(input):
                return fold(input, axes_of(None, input.ndarray.ndim))
            out = _Overall.apply(input, fold)
            relabel(out, f"{title}Backward1", (input,))
            return out
        if isinstance(dim, Tensor):
            return pairwise(input, dim)
        found = input.ndarray.ndim and extreme_at_once(
            primitive, f"{title}Backward0", input, axis_of(dim, input.ndarray.ndim), bool(keepdim)
        )
        if not found:
            found = (with_places if is_plain_now(input) else as_one)(input, dim, keepdim)
            relabel(found[0], f"{title}Backward0", (input,))
        return getattr(return_types, name)(*found)

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = f"""The {name}imum of all elements, NaN if there is any; with an axis, (values, indices) along it.

    With a tensor in the place of `dim` it is ``{name}imum(input, other)``. Indices are int64, those of the first such
    element. With `keepdim` the axis stays, with an extent of 1. Of all elements ties share the gradient, along an axis
    the first gets it. RuntimeError for no elements without `dim`, NotImplementedError for complex numbers.

    {_PROMPT} import tracegrad as tg
    {_PROMPT} tuple(tg.{name}(tg.tensor([[1.0, 5.0], [3.0, 2.0]]), 1))
    {_EXAMPLES[name]}
    """
    return extreme


def _without(x: Any, axis: int) -> Any:
    return movement.reshape(x, x.ndarray.shape[:axis] + x.ndarray.shape[axis + 1 :])


def along(x: Any, indices: Any, dim: int) -> Any:
    """The elements of `x` at `indices` along `dim`; both may be 0-d, which counts as a row of one element."""
    if x.ndarray.ndim <= 1 and indices.ndarray.ndim <= 1 and not (x.ndarray.ndim and indices.ndarray.ndim):
        axis_of(dim, x.ndarray.ndim)
        row, places = (movement.reshape(each, (each.ndarray.size,)) for each in (x, indices))
        return movement.reshape(indexing.gather(row, places, 0), indices.ndarray.shape)
    return indexing.gather(x, indices, axis_of(dim, x.ndarray.ndim))


def _refuse_truth(name: str, x: Any) -> None:
    if x.dtype is bool_:
        raise RuntimeError(f"{name}(): does not support bool input. Convert it first, e.g. with .int().")


def _position(op: Callable[[Any, int], Any], x: Any, dim: int | None, keepdim: bool, name: str = "") -> Any:
    shape = x.ndarray.shape
    if dim is None and not x.ndarray.size:
        raise IndexError(
            f"{op.__name__}(): Expected reduction dim to be specified for input.numel() == 0. "
            "Specify the reduction dim with the 'dim' argument."
        )
    if dim is None or not shape:
        axis_of(dim or 0, len(shape))
        found = op(movement.reshape(x, (x.ndarray.size,)), 0)
        return kept(found, shape, tuple(range(len(shape)))) if keepdim else found
    axis = axis_of(dim, len(shape))
    if not shape[axis]:
        raise IndexError(f"{name or op.__name__}(): Expected reduction dim {axis} to have non-zero size.")
    found = op(x, axis)
    return kept(found, shape, (axis,)) if keepdim else found


max = _extreme("max", ops.amax, ops.argmax, arithmetic.maximum)


min = _extreme("min", ops.amin, ops.argmin, arithmetic.minimum)


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the largest element stands first along `dim`, as int64; without `dim`, in the flattened tensor.

    NaN counts as the largest. With `keepdim` the axes stay, with an extent of 1. IndexError for no elements without
    `dim`, RuntimeError for bool and complex numbers.

    >>> import tracegrad as tg
    >>> tg.argmax(tg.tensor([[1., 5.], [3., 2.]]), dim=1)
    tensor([1, 0])
    """
    _refuse_truth("argmax", input)
    return _position(ops.argmax, input, dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Where the smallest element stands first along `dim`, as int64; without `dim`, in the flattened tensor.

    NaN counts as the smallest. With `keepdim` the axes stay, with an extent of 1. IndexError for no elements without
    `dim`, RuntimeError for bool and complex numbers.

    >>> import tracegrad as tg
    >>> tg.argmin(tg.tensor([[1., 5.], [3., 2.]]), dim=1)
    tensor([0, 1])
    """
    _refuse_truth("argmin", input)
    return _position(ops.argmin, input, dim, keepdim)


def lower_median(x: Tensor, axis: int) -> Tensor:
    """The position of the lower median along `axis`, with extent 1; of a NaN where there is one."""
    order = scans.argsort(x, axis, False)
    extent = x.ndarray.shape[axis]
    starts, stops = [0] * x.ndarray.ndim, list(x.ndarray.shape)
    starts[axis], stops[axis] = (extent - 1) // 2, (extent - 1) // 2 + 1
    middle = movement.slice(order, tuple(starts), tuple(stops), (1,) * x.ndarray.ndim)
    starts[axis], stops[axis] = extent - 1, extent
    last = movement.slice(order, tuple(starts), tuple(stops), (1,) * x.ndarray.ndim)
    shape = middle.ndarray.shape
    has_nan = movement.reshape(ops.any(comparison.isnan(x), (axis,)), shape)
    return comparison.where(has_nan, last, middle)
