"""Maxima of windows over one to three axes. The element that a maximum is taken from gets its whole gradient."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from ...ops import movement
from ...ops import reductions as folds
from ...ops.arithmetic import maximum, minimum
from ...ops.comparison import isnan, where
from ...ops.division import floor_divide, remainder
from ...ops.indexing import scatter, take
from ...ops.logic import logical_and
from ...ops.sources import full, iota
from ...ops.spatial.pooling import pick, window_argmax
from ...ops.types import bool_, int64
from ...tensors.autocasting import full_precision
from ...tensors.composite import composite
from ...tensors.layouts.kept_formats import KEEPS
from ...tensors.tensor import Tensor
from ..checks.shapes import check_not_integers
from .sliding import (
    Numbers,
    Shape,
    Sliding,
    Targets,
    adaptive_space,
    block,
    counts_of,
    plural,
    pool_sizes,
    space_of,
    targets_of,
    uniform,
)
from .unpooled_sizes import unpooled_space

if TYPE_CHECKING:
    from .signatures import AdaptiveMaxPooling, AdaptivePoolingWithIndices, MaxPooling, PoolingWithIndices, Unpooling

F = TypeVar("F", bound=Callable[..., Any])


def _lowest(x: Tensor) -> float | int:
    if x.dtype.is_floating_point:
        return -math.inf
    return False if x.dtype is bool_ else -(2 ** (8 * x.dtype.itemsize - 1))


def place_of_maximum(x: Tensor, axis: int) -> Tensor:
    """Where along `axis` the largest element stands first, or the last NaN (PyTorch)."""
    place = folds.argmax(x, axis)
    if not x.dtype.is_floating_point:
        return place
    last = folds.amax(where(isnan(x), iota(x.ndarray.shape, axis, int64), full((), -1, int64)), (axis,))
    return where(last < 0, place, last)


def _ravelled(positions: Sequence[Any], shape: Shape) -> Any:
    flat = positions[0]
    for position, extent in zip(positions[1:], shape[1:], strict=True):
        flat = flat * extent + position
    return flat


def _sees_nothing(space: Shape, sliding: Sliding, counts: Shape) -> bool:
    """True where all places of some window lie in the padding: the dilation steps over the whole axis."""
    along = zip(space, counts, sliding.stride, sliding.dilation, sliding.padding, strict=True)
    return any(
        (o * step - low) % gap >= extent
        for extent, count, step, gap, low in along
        for o in range(min(count, -(-low // step)))
    )


def _padded_maxima(x: Tensor, sliding: Sliding, counts: Shape) -> tuple[Tensor, Tensor]:
    """The same with padding that is part of the array. Where a window sees nothing else, its place is cut off to one
    of the space."""
    axes = sliding.axes
    space, low = x.ndarray.shape[x.ndarray.ndim - axes :], sliding.padding
    reach = zip(space, counts, sliding.stride, sliding.span, low, strict=True)
    high = tuple(max((o - 1) * step + span - low - n, 0) for n, o, step, span, low in reach)
    none = (0,) * (x.ndarray.ndim - axes)
    padded = movement.pad(x, (*none, *low), (*none, *high), _lowest(x))
    out, places = _maxima(padded, replace(sliding, padding=(0,) * axes, behind=(0,) * axes), counts)
    found: list[Any] = []
    for extent, before, whole in reversed(list(zip(space, low, padded.ndarray.shape[-axes:], strict=True))):
        found.insert(0, minimum(maximum(remainder(places, whole) - before, 0), extent - 1))
        places = floor_divide(places, whole)
    return out, _ravelled(found, space)


def _maxima(x: Tensor, sliding: Sliding, counts: Shape) -> tuple[Tensor, Tensor]:
    """The maximum of each window of ``x [*batch, *space]``, and where it stands in the space, counted row by row."""
    shape = x.ndarray.shape
    if _sees_nothing(shape[len(shape) - sliding.axes :], sliding, counts):
        return _padded_maxima(x, sliding, counts)
    batch, space = shape[: len(shape) - sliding.axes], shape[len(shape) - sliding.axes :]
    places = window_argmax(x, sliding.kernel, counts, sliding.stride, sliding.dilation, sliding.padding)
    rows = math.prod(batch)
    flat = movement.reshape(places, (rows, math.prod(counts)))
    out = pick(movement.reshape(x, (rows, math.prod(space))), flat)
    return movement.reshape(out, (*batch, *counts)), places


def _check_axes(name: str, input: Tensor, axes: int) -> None:
    """RuntimeError, in the words that PyTorch has for each number of axes, for inputs of other shapes."""
    shape = input.ndarray.shape
    if axes > 1 and len(shape) not in (axes + 1, axes + 2):
        raise RuntimeError(
            f"non-empty {axes + 1}D or {axes + 2}D (batch mode) tensor expected for input, but got {list(shape)}"
        )
    if axes == 3 and 0 in shape[-4:]:
        raise RuntimeError(
            f"{name}(): Expected input's non-batch dimensions to have positive length, but input has a shape of "
            f"{list(shape)}"
        )


def _max_pool(axes: int) -> MaxPooling:
    name = f"max_pool{axes}d"

    @composite(f"MaxPool{axes}DWithIndicesBackward0", {"input": ("input",)}, True, KEEPS.get(name))
    def max_pool(
        input: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Tensor | tuple[Tensor, Tensor]:
        sliding = pool_sizes(name, axes, kernel_size, stride, padding, dilation)
        _check_axes(name, input, axes)
        space = space_of(name, input, axes)
        if axes == 1 and not return_indices:
            check_not_integers("max_pool1d_impl", input)
        if input.dtype is bool_:
            raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'; convert it, e.g. with .int()")
        counts = counts_of(name, space, sliding, input.ndarray.shape[-axes - 1], ceil_mode)
        out, places = _maxima(input, sliding, counts)
        return (out, places) if return_indices else out

    max_pool.__name__ = max_pool.__qualname__ = name
    max_pool.__doc__ = f"""The maximum of each window of `kernel_size` over the last {plural(axes)}.

    ``[batch, channels, *space]`` (or without batch) gives ``[batch, channels, *windows]``; the default stride is the
    kernel's size, outside is smaller than any number, `ceil_mode` keeps a last window that is not full. With
    `return_indices` also where the maxima stand in the space, counted row by row (int64). The first of equal elements
    gets the gradient, NaN is the largest. RuntimeError for sizes that do not fit, NotImplementedError for bool.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> tg.nn.functional.{name}(x, 2).item()
    {2**axes - 1.0}
    """
    return max_pool  # type: ignore[return-value]


max_pool1d, max_pool2d, max_pool3d = _max_pool(1), _max_pool(2), full_precision(_max_pool(3))


def _pool_with_indices(max_pool: Callable[..., Any]) -> PoolingWithIndices:
    def with_indices(
        input: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]:
        return max_pool(input, kernel_size, stride, padding, dilation, ceil_mode, True)

    return _always_with_indices(with_indices, max_pool.__name__)


def _always_with_indices(function: F, name: str) -> F:
    axes = int(name[-2])
    function.__name__ = function.__qualname__ = f"{name}_with_indices"
    kernel = "1" if name.startswith("adaptive") else "2"
    function.__doc__ = f"""(maxima, places): ``nn.functional.{name}`` with ``return_indices=True``.

    Shapes, types and errors are the same; places (int64) are counted row by row in the space.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> out, places = tg.nn.functional.{name}_with_indices(x, {kernel})
    >>> out.item(), places.item()
    ({2**axes - 1.0}, {2**axes - 1})
    """
    return function


max_pool1d_with_indices, max_pool2d_with_indices, max_pool3d_with_indices = map(
    _pool_with_indices, (max_pool1d, max_pool2d, max_pool3d)
)


def _max_unpool(axes: int) -> Unpooling:
    name = f"max_unpool{axes}d"

    @composite(f"MaxUnpool{axes}DBackward0", keeps=KEEPS.get(name))
    def max_unpool(
        input: Tensor,
        indices: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor:
        space = space_of(name, input, axes)
        if indices.dtype is not int64:
            raise RuntimeError(f"elements in indices should be type int64 but got: {indices.dtype.title}")
        if indices.ndarray.shape != input.ndarray.shape:
            raise RuntimeError(
                f"Expected shape of indices to be same as that of the input tensor ({list(input.shape)}) but got "
                f"indices tensor with shape: {list(indices.shape)}"
            )
        sliding = pool_sizes(name, axes, kernel_size, stride, padding)
        places = unpooled_space(space, sliding, output_size)
        batch = input.ndarray.shape[:-axes]
        rows = (math.prod(batch), math.prod(space))
        empty = full((rows[0], math.prod(places)), 0, input.dtype)
        filled = scatter(empty, movement.reshape(indices, rows), movement.reshape(input, rows), 1)
        return movement.reshape(filled, (*batch, *places))

    max_unpool.__name__ = max_unpool.__qualname__ = name
    max_unpool.__doc__ = f"""Maxima back at the places that ``max_pool{axes}d`` took them from, zeros elsewhere.

    `input` and `indices` (int64) of one shape ``[batch, channels, *windows]`` (or without batch) give ``[batch,
    channels, *space]``; the space is the one that the windows just cover, unless `output_size` says it (whole shapes
    fit, too). RuntimeError for other shapes and types, and for places outside of the space.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> maxima, places = tg.nn.functional.max_pool{axes}d(x, 2, return_indices=True)
    >>> tg.nn.functional.{name}(maxima, places, 2).flatten()
    tensor([{"0., " * (2**axes - 1)}{2**axes - 1}.])
    """
    return max_unpool


max_unpool1d, max_unpool2d, max_unpool3d = map(full_precision, map(_max_unpool, (1, 2, 3)))


# ------------------------------------------------------------------------------------------------------- adaptive


def _uneven_places(space: Shape, targets: Shape) -> tuple[Any, Any]:
    """For windows that are not alike, [longest window, *targets]: the place of each element, and whether it is one."""
    axes = len(space)
    longest = tuple(max(_lengths(extent, n)) for extent, n in zip(space, targets, strict=True))
    shape, places, inside = (*longest, *targets), [], []
    for a, (extent, n) in enumerate(zip(space, targets, strict=True)):
        number, step = iota(shape, axes + a, int64), iota(shape, a, int64)
        start = floor_divide(number * extent, n)
        within = start + step < floor_divide((number + 1) * extent + (n - 1), n)
        places.append(where(within, start + step, start))
        inside.append(within)
    flat = (math.prod(longest), *targets)
    is_one = functools.reduce(logical_and, inside)
    return movement.reshape(_ravelled(places, space), flat), movement.reshape(is_one, flat)


def _lengths(extent: int, windows: int) -> list[int]:
    """Of windows that cover `extent` places about evenly; neighbours may share a place."""
    return [-(-(o + 1) * extent // windows) - o * extent // windows for o in range(windows)]


def _adaptive_maxima(input: Tensor, space: Shape, targets: Shape) -> tuple[Tensor, Tensor]:
    """Each window is looked at as far as the longest reaches, and masked behind its end."""
    batch = input.ndarray.shape[: input.ndarray.ndim - len(space)]
    places, inside = _uneven_places(space, targets)
    lines = movement.reshape(movement.by_rows(input), (math.prod(batch), math.prod(space)))
    taken = take(movement.transpose(lines.detach(), (1, 0)), places)  # [longest, *targets, batch]
    last = taken.ndarray.ndim - 1
    seen = movement.reshape(movement.transpose(taken, (last, *range(last))), (*batch, *places.ndarray.shape))
    within = where(inside, seen, full((), _lowest(input), input.dtype))
    found = _places_in_space(place_of_maximum(within, len(batch)), space, targets)
    out = pick(lines, movement.reshape(found, (math.prod(batch), math.prod(targets))))
    return movement.reshape(out, (*batch, *targets)), found


def _places_in_space(chosen: Any, space: Shape, targets: Shape) -> Any:
    """Where the elements of uneven windows stand that are `chosen` in the longest."""
    positions: list[Any] = []
    shape, first = chosen.ndarray.shape, chosen.ndarray.ndim - len(space)
    for a, (extent, n) in reversed(list(enumerate(zip(space, targets, strict=True)))):
        longest, number = max(_lengths(extent, n)), iota(shape, first + a, int64)
        positions.insert(0, floor_divide(number * extent, n) + remainder(chosen, longest))
        chosen = floor_divide(chosen, longest)
    return _ravelled(positions, space)


def _adaptive_max_pool(axes: int) -> AdaptiveMaxPooling:
    name = f"adaptive_max_pool{axes}d"

    @composite(f"AdaptiveMaxPool{axes}DBackward0", {"input": ("input",)}, True, KEEPS.get(name))
    def adaptive_max_pool(
        input: Tensor, output_size: Targets, return_indices: bool = False
    ) -> Tensor | tuple[Tensor, Tensor]:
        space = adaptive_space(name, input, axes, output_size)
        check_not_integers("adaptive_max_pool3d_cpu" if axes == 3 else "adaptive_max_pool2d", input)
        targets = targets_of(name, output_size, space)
        sliding = uniform(space, targets)
        if sliding is not None:
            out, places = _maxima(input, sliding, targets)
        else:
            out, places = _adaptive_maxima(input, space, targets)
        return (out, places) if return_indices else out

    adaptive_max_pool.__name__ = adaptive_max_pool.__qualname__ = name
    adaptive_max_pool.__doc__ = f"""The maxima of `output_size` windows that cover the last {plural(axes)} about evenly.

    ``[batch, channels, *space]`` (or without batch) gives ``[batch, channels, *output_size]``: a number, or one for
    each axis (None keeps the axis). The windows are those of ``adaptive_avg_pool{axes}d``, `return_indices` is as in
    ``max_pool{axes}d``. RuntimeError for inputs of other shapes, NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> tg.nn.functional.{name}(x, 1).item()
    {2**axes - 1.0}
    """
    return adaptive_max_pool  # type: ignore[return-value]


adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = (_adaptive_max_pool(n) for n in (1, 2, 3))
adaptive_max_pool3d = full_precision(adaptive_max_pool3d)


def _adaptive_with_indices(adaptive_max_pool: Callable[..., Any]) -> AdaptivePoolingWithIndices:
    def with_indices(input: Tensor, output_size: Targets, return_indices: bool = False) -> tuple[Tensor, Tensor]:
        return adaptive_max_pool(input, output_size, True)

    return _always_with_indices(with_indices, adaptive_max_pool.__name__)


adaptive_max_pool1d_with_indices, adaptive_max_pool2d_with_indices, adaptive_max_pool3d_with_indices = map(
    _adaptive_with_indices, (adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d)
)
