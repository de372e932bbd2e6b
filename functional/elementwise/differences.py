"""Differences, gradients of sampled functions, integrals by trapezoids, and running sums of exponentials."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops import logic, movement, scans
from ...ops import reductions as folds
from ...ops.comparison import where
from ...ops.elementwise.special import log_of_sum
from ...ops.identity import copy
from ...ops.pointwise import cast
from ...ops.sources import full
from ...ops.types import bool_, get_default_dtype
from ...tensors.arguments import axis_of
from ...tensors.composite import relabel
from ...tensors.short_floats import rounded_once
from ...tensors.tensor import Tensor
from .complex_sums import LOGCUMSUMEXP

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Axes, Number


def _part(x: Any, axis: int, start: int, stop: int) -> Any:
    """The elements from `start` to before `stop` along `axis`, as far as there are any."""
    shape = x.ndarray.shape
    start = min(start, shape[axis])
    starts = tuple(start if a == axis else 0 for a in range(len(shape)))
    stops = tuple(min(max(stop, start), n) if a == axis else n for a, n in enumerate(shape))
    return movement.slice(x, starts, stops, (1,) * len(shape))


def _step(x: Any, axis: int) -> Any:
    """Each element less the one before it; of truth values whether they differ."""
    extent = x.ndarray.shape[axis]
    behind, before = _part(x, axis, 1, extent), _part(x, axis, 0, extent - 1)
    return logic.logical_xor(behind, before) if x.dtype is bool_ else behind - before


def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The `n`-th differences of neighbours along `dim`, after `prepend` and `append` were put at its ends.

    RuntimeError for a 0-d `input`, for a negative `n`, and for ends that do not fit.

    >>> import tracegrad as tg
    >>> tg.diff(tg.tensor([1, 4, 9]), prepend=tg.tensor([0]))
    tensor([1, 3, 5])
    """
    if not input.ndarray.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    axis = axis_of(dim, input.ndarray.ndim)
    for end in (prepend, append):
        if end is not None:
            _check_end(input, end, axis)
    if n == 0:
        return copy(input)
    parts = [part for part in (prepend, input, append) if part is not None]
    x = movement.concatenate(parts, axis) if len(parts) > 1 else input
    for _ in range(min(n, x.ndarray.shape[axis])):
        x = _step(x, axis)
    return x


def _check_end(input: Any, end: Any, axis: int) -> None:
    if end.ndarray.ndim != input.ndarray.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for a, (n, wanted) in enumerate(zip(end.ndarray.shape, input.ndarray.shape, strict=True)):
        if a != axis and n != wanted:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({a}) = {wanted}, but got tensor.size({a}) = {n}"
            )


# ----------------------------------------------------------------------------------------------------------- gradient


def gradient(
    input: Tensor,
    *,
    spacing: Number | Sequence[Number] | Sequence[Tensor] | None = None,
    dim: Axes | None = None,
    edge_order: int = 1,
) -> tuple[Tensor, ...]:
    """How the function sampled in `input` grows along each of `dim` (all axes without it), a tensor for each.

    `spacing` is the distance of the samples: a number, one for each axis, or tensors of coordinates with one axis.
    Inside, differences are central, of second order; at the ends one-sided, of `edge_order` 1 or 2.

    >>> import tracegrad as tg
    >>> tg.gradient(tg.tensor([1., 4., 9., 16.]))
    (tensor([3., 4., 6., 7.]),)
    """
    ndim = input.ndarray.ndim
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    axes = _axes_of(dim, ndim)
    spacings = _spacings(spacing, len(axes), dim is not None)
    for axis, distance in zip(axes, spacings, strict=True):
        if input.ndarray.shape[axis] < edge_order + 1:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
        if isinstance(distance, Tensor):
            _check_coordinates(distance, input.ndarray.shape[axis])
    kept = input.dtype.is_floating_point or input.dtype.is_complex or input.dtype is bool_  # of which there is none
    x = input if kept else cast(input, get_default_dtype())
    return tuple(_slope(x, axis, distance, edge_order) for axis, distance in zip(axes, spacings, strict=True))


def _axes_of(dim: Any, ndim: int) -> list[int]:
    if dim is None:
        return list(range(ndim))
    axes = [axis_of(d, ndim) for d in ([dim] if isinstance(dim, int) else dim)]
    for axis in axes:
        if axes.count(axis) > 1:
            raise RuntimeError(f"dim {axis} appears multiple times in the list of dims")
    return axes


def _spacings(spacing: Any, count: int, chosen: bool) -> list[Any]:
    if spacing is None or isinstance(spacing, (bool, int, float)):
        return [1.0 if spacing is None else float(spacing)] * count
    given = list(spacing)
    if len(given) != count:
        what = "it's spacing and dim arguments" if chosen else "its spacing argument and input's dimensions"
        end = f"a dim argument of length {count}" if chosen else f"input of dimension {count}"
        raise RuntimeError(
            f"torch.gradient expected spacing to be unspecified, a scalar or {what} to have the same length, but got a "
            f"spacing argument of length {len(given)} and {end}."
        )
    return [x if isinstance(x, Tensor) else float(x) for x in given]


def _check_coordinates(coordinates: Any, extent: int) -> None:
    if coordinates.ndarray.ndim != 1:
        raise RuntimeError(
            "torch.gradient expected each element of spacing to have one dimension, but got an element with "
            f"{coordinates.ndarray.ndim} dimensions"
        )
    if coordinates.ndarray.shape[0] != extent:
        raise RuntimeError(
            f"torch.gradient expected each coordinate tensor to have {extent} elements, "
            f"but got {coordinates.ndarray.shape[0]}"
        )


def _slope(x: Any, axis: int, spacing: Any, edge_order: int) -> Any:
    extent = x.ndarray.shape[axis]
    if isinstance(spacing, Tensor):
        shape = tuple(extent - 1 if a == axis else 1 for a in range(x.ndarray.ndim))
        steps: Any = movement.reshape(_step(spacing, 0), shape)
    else:
        steps = spacing
    first, last = (_end_slope(x, axis, steps, edge_order, at_start) for at_start in (True, False))
    if extent == 2:
        return movement.concatenate([first, last], axis)
    return movement.concatenate([first, _inner_slope(x, axis, steps), last], axis)


def _inner_slope(x: Any, axis: int, steps: Any) -> Any:
    n = x.ndarray.shape[axis]
    before, here, behind = _part(x, axis, 0, n - 2), _part(x, axis, 1, n - 1), _part(x, axis, 2, n)
    if isinstance(steps, float):
        return (behind - before) / (2 * steps)
    left, right = _part(steps, axis, 0, n - 2), _part(steps, axis, 1, n - 1)
    both = left + right
    return -right / (left * both) * before + (right - left) / (left * right) * here + left / (right * both) * behind


def _end_slope(x: Any, axis: int, steps: Any, order: int, at_start: bool) -> Any:
    """The one-sided slope at one end; `steps` are a number or the distances of neighbours."""
    n = x.ndarray.shape[axis]

    def sample(k: int) -> Any:
        place = k if at_start else n - 1 - k
        return _part(x, axis, place, place + 1)

    def step(k: int) -> Any:
        place = k if at_start else n - 2 - k
        return steps if isinstance(steps, float) else _part(steps, axis, place, place + 1)

    sign = 1.0 if at_start else -1.0
    if order == 1:
        return (sample(1) - sample(0)) * sign / step(0)
    near, far = step(0), step(1)
    both = near + far
    change = -(2 * near + far) / (near * both) * sample(0) + both / (near * far) * sample(1)
    return sign * (change - near / (far * both) * sample(2))


# ------------------------------------------------------------------------------------------------------- trapezoids


def _steps_of(name: str, y: Any, x: Any, dim: int) -> Any:
    """The distances of the samples at `x`, which has one axis or is broadcast to `y`."""
    axis = axis_of(dim, y.ndarray.ndim)
    if x.dtype is bool_:
        raise RuntimeError(f"{name}: received a bool input for `x`, but bool is not supported")
    if x.ndarray.ndim == 1:
        if x.ndarray.shape[0] != y.ndarray.shape[axis]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        shape = tuple(x.ndarray.shape[0] if a == axis else 1 for a in range(y.ndarray.ndim))
        x = movement.reshape(x, shape)
    elif x.ndarray.ndim < y.ndarray.ndim:
        x = movement.reshape(x, (1,) * (y.ndarray.ndim - x.ndarray.ndim) + x.ndarray.shape)
    return _step(x, axis_of(dim, x.ndarray.ndim))


def _areas(name: str, y: Any, x: Any, dx: Any, dim: int) -> tuple[Any, int]:
    """The areas between neighbouring samples, and the axis."""
    if y.dtype is bool_:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if x is not None and not isinstance(x, Tensor):
        raise TypeError(f"{name}(): argument 'x' (position 2) must be Tensor, not {type(x).__name__}")
    axis = axis_of(dim, y.ndarray.ndim) if y.ndarray.ndim else _no_axis(dim)
    extent = y.ndarray.shape[axis]
    steps = dx if x is None else _steps_of(name, y, x, dim)
    sums = _part(y, axis, 1, extent) + _part(y, axis, 0, extent - 1)
    areas = steps * sums / 2
    return areas, axis + areas.ndarray.ndim - y.ndarray.ndim


def _no_axis(dim: int) -> int:
    raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")


def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Tensor | Number = 1.0, dim: int = -1) -> Tensor:
    """The integral along `dim` of the function sampled in `y`, at distances `dx` or at `x`, by trapezoids.

    `x` has one axis with a value for each sample, or is broadcast to `y`. RuntimeError for bool.

    >>> import tracegrad as tg
    >>> tg.trapezoid(tg.tensor([1., 2., 3.]), tg.tensor([0., 1., 3.]))
    tensor(6.5000)
    """
    if y.ndarray.ndim and x is None and not y.ndarray.shape[axis_of(dim, y.ndarray.ndim)]:
        axis = axis_of(dim, y.ndarray.ndim)
        shape = y.ndarray.shape
        return full(shape[:axis] + shape[axis + 1 :], 0.0, y.dtype)
    areas, axis = _areas("trapezoid", y, x, dx, dim)
    return folds.sum(areas, (axis,))


def cumulative_trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Tensor | Number = 1.0, dim: int = -1) -> Tensor:
    """The integrals along `dim` from the first to each further sample, see `trapezoid`.

    >>> import tracegrad as tg
    >>> tg.cumulative_trapezoid(tg.tensor([1., 2., 3.]))
    tensor([1.5000, 4.0000])
    """
    areas, axis = _areas("cumulative_trapezoid", y, x, dx, dim)
    return scans.cumsum(areas, axis)


# ---------------------------------------------------------------------------------------------------- exponentials


def _log_of_sum(x: Any, y: Any) -> Any:
    """``log(exp(x) + exp(y))``; where both are minus infinity, neither has a share in it."""
    nothing = logic.logical_and(x == -math.inf, y == -math.inf)
    return where(nothing, x.detach(), log_of_sum(where(nothing, 0, x), where(nothing, 0, y)))


@rounded_once
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """The logarithm of the sum of the exponentials of each element and those before it along `dim`.

    In doubling steps, each of which adds what came before, so that nothing overflows or is lost. NotImplementedError
    for integers.

    >>> import tracegrad as tg
    >>> tg.logcumsumexp(tg.tensor([0., 0., 1000.]), 0)
    tensor([0.0000e+00, 6.9315e-01, 1.0000e+03])
    """
    if not input.dtype.is_floating_point and not input.dtype.is_complex:
        raise NotImplementedError(
            f"\"logcumsumexp_out_cpu\" not implemented for '{input.dtype.title}'; convert with .float()"
        )
    axis = axis_of(dim, input.ndarray.ndim)
    if not input.ndarray.ndim:
        return copy(input)
    if input.dtype.is_complex:
        return LOGCUMSUMEXP(input, axis=axis)
    extent, distance, out = input.ndarray.shape[axis], 1, copy(input)
    while distance < extent:
        sums = _log_of_sum(_part(out, axis, distance, extent), _part(out, axis, 0, extent - distance))
        out = movement.concatenate([_part(out, axis, 0, distance), sums], axis)
        distance *= 2
    relabel(out, "LogcumsumexpBackward0", (input,), [input, out])
    return out
