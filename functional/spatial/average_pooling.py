"""Means of windows over one to three axes."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from typing import TYPE_CHECKING, Any

from ...ops import movement
from ...ops import reductions as folds
from ...ops.comparison import eq, where
from ...ops.division import trunc_divide
from ...ops.pointwise import cast
from ...ops.sources import full, iota
from ...ops.types import float32, int64
from ...tensors.autocasting import full_precision
from ...tensors.composite import composite
from ...tensors.layouts.kept_formats import KEEPS
from ...tensors.short_floats import rounded_once
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
    require_room,
    space_of,
    targets_of,
    uniform,
    windows_of,
)

if TYPE_CHECKING:
    from ...ops.types import DType
    from .signatures import AdaptiveAveragePooling, AveragePooling


def _members(space: Shape, sliding: Sliding, counts: Shape, with_padding: bool) -> tuple[Shape, ...]:
    """How many elements each window has along each axis."""
    along = zip(space, sliding.kernel, sliding.stride, sliding.padding, counts, strict=True)
    return tuple(
        tuple(_members_at(o * step - low, k, n, low if with_padding else 0) for o in range(count))
        for n, k, step, low, count in along
    )


def _members_at(start: int, kernel: int, extent: int, padding: int) -> int:
    return min(start + kernel, extent + padding) - max(start, -padding)


def _divided(x: Tensor, members: tuple[Shape, ...]) -> Tensor:
    """Each window's sum by the number of its elements."""
    if all(len(set(along)) == 1 for along in members):
        return x / math.prod(along[0] for along in members)
    for axis, along in enumerate(members):
        x = x / _row(along, axis, len(members), x.dtype)
    return x


def _truncated(x: Tensor, divisor: Any, members: tuple[Shape, ...]) -> Tensor:
    """Means of integers, rounded towards 0."""
    if divisor is None:
        rows = [_row(along, axis, len(members), int64) for axis, along in enumerate(members)]
        divisor = functools.reduce(operator.mul, rows)
    return cast(trunc_divide(x, divisor), int64)


def _row(numbers: Shape, axis: int, axes: int, dtype: Any) -> Any:
    """A few numbers along one of `axes` axes: the usual one, and others where they differ."""
    shape = tuple(len(numbers) if a == axis else 1 for a in range(axes))
    usual = max(set(numbers), key=numbers.count)
    row, place = full(shape, usual, dtype), iota(shape, axis, int64)
    for at, number in enumerate(numbers):
        if number != usual:
            row = where(eq(place, at), full((), number, dtype), row)
    return row


def _sums(input: Tensor, sliding: Sliding, counts: Shape) -> Tensor:
    """The sum of each window. Those that stand side by side are blocks of the input, whose elements need not be laid
    out once for each place of a window."""
    shape, axes = input.ndarray.shape, sliding.axes
    batch, space, kernel = len(shape) - axes, shape[len(shape) - axes :], sliding.kernel
    covered = tuple(n * k for n, k in zip(counts, kernel, strict=True))
    is_apart = sliding.stride == kernel and not any(sliding.padding) and max(sliding.dilation) == 1
    if not (is_apart and covered == space):
        return folds.sum(windows_of(input, sliding, counts), tuple(range(batch, batch + axes)))
    # By rows: so is the gradient, which programs may see.
    blocks = movement.reshape(
        movement.by_rows(input), (*shape[:batch], *itertools.chain(*zip(counts, kernel, strict=True)))
    )
    return folds.sum(blocks, tuple(range(batch + 1, batch + 2 * axes, 2)))


@rounded_once
def _average(name: str, input: Tensor, sliding: Sliding, ceil_mode: bool, with_padding: bool, divisor: Any) -> Tensor:
    axes = sliding.axes
    space = space_of(name, input, axes)
    if input.dtype is not int64:
        check_not_integers("avg_pool2d" if axes == 1 else name, input)
    if axes == 3:
        require_room(space, sliding)
    counts = counts_of(name, space, sliding, input.ndarray.shape[-axes - 1], ceil_mode)
    total = _sums(input, sliding, counts)
    if input.dtype is int64:
        return _truncated(total, divisor, _members(space, sliding, counts, with_padding))
    if divisor is not None:
        return total / divisor
    return _divided(total, _members(space, sliding, counts, with_padding))


def _avg_pool(axes: int) -> AveragePooling:
    name = f"avg_pool{axes}d"

    @composite(
        "MeanBackward1" if axes == 1 else f"AvgPool{axes}DBackward0", {"input": ("input",)}, True, KEEPS.get(name)
    )
    def avg_pool(
        input: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor:
        if divisor_override is not None and axes == 1:
            raise TypeError("avg_pool1d() got an unexpected keyword argument 'divisor_override'")
        if divisor_override == 0:
            raise RuntimeError("divisor must be not zero")
        sliding = pool_sizes(name, axes, kernel_size, stride, padding)
        return _average(name, input, sliding, ceil_mode, count_include_pad, divisor_override)

    avg_pool.__name__ = avg_pool.__qualname__ = name
    avg_pool.__doc__ = f"""The mean of each window of `kernel_size` over the last {plural(axes)}.

    ``[batch, channels, *space]`` (or without batch) gives ``[batch, channels, *windows]``; the default stride is the
    kernel's size. Padding is zeros that count as elements unless ``count_include_pad=False``; `ceil_mode` keeps a last
    window that is not full{"; `divisor_override` is divided by instead" if axes > 1 else ""}. Floating-point numbers,
    or int64 (means rounded towards 0): NotImplementedError for others. RuntimeError for sizes that do not fit.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> tg.nn.functional.{name}(x, 2).item()
    {(2**axes - 1) / 2}
    """
    return avg_pool


avg_pool1d, avg_pool2d, avg_pool3d = _avg_pool(1), _avg_pool(2), full_precision(_avg_pool(3))


# ------------------------------------------------------------------------------------------------------- adaptive


def _averaging(extent: int, windows: int, dtype: DType) -> Any:
    """A matrix [extent, windows] whose columns average the places of a window."""
    wide = dtype if dtype.is_floating_point else float32
    place, number = iota((extent, windows), 0, int64), iota((extent, windows), 1, int64)
    inside = cast((place * windows < (number + 1) * extent) & ((place + 1) * windows > number * extent), wide)
    return inside / folds.sum(inside, (0,))


def _is_one(output_size: Targets) -> bool:
    """Whether there is one window, which is a plain mean in PyTorch: its derivative needs nothing of the input."""
    sizes = output_size if isinstance(output_size, (tuple, list)) else (output_size,)
    return all(type(size) is int and size == 1 for size in sizes)


def _adaptive_avg_pool(axes: int) -> AdaptiveAveragePooling:
    name = f"adaptive_avg_pool{axes}d"

    def means(input: Tensor, output_size: Targets) -> Tensor:
        space = adaptive_space(name, input, axes, output_size)
        check_not_integers("adaptive_avg_pool2d" if axes == 1 else name, input)
        targets = targets_of(name, output_size, space)
        sliding = uniform(space, targets)
        ndim = input.ndarray.ndim
        if sliding is not None:
            return _sums(input, sliding, targets) / math.prod(sliding.kernel)
        input = movement.by_rows(input)
        for axis, (extent, windows) in enumerate(zip(space, targets, strict=True), ndim - axes):
            last = movement.transpose(input, (*(a for a in range(ndim) if a != axis), axis))
            mean = last @ _averaging(extent, windows, input.dtype)
            input = movement.transpose(mean, (*range(axis), ndim - 1, *range(axis, ndim - 1)))
        return input.contiguous()

    of_windows = composite(f"AdaptiveAvgPool{axes}DBackward0", {"input": ("input",)}, True, KEEPS.get(name))(means)
    of_all = composite("MeanBackward1", keeps=KEEPS.get(name))(means)

    @rounded_once
    def adaptive_avg_pool(input: Tensor, output_size: Targets) -> Tensor:
        return (of_all if _is_one(output_size) else of_windows)(input, output_size)

    adaptive_avg_pool.__name__ = adaptive_avg_pool.__qualname__ = name
    adaptive_avg_pool.__doc__ = f"""The means of `output_size` windows that cover the last {plural(axes)} about evenly.

    ``[batch, channels, *space]`` (or without batch) gives ``[batch, channels, *output_size]``: a number, or one for
    each axis (None keeps the axis). Of n places window i of k has those from ``floor(i n / k)`` to before ``ceil((i +
    1) n / k)``. RuntimeError for inputs of other shapes, NotImplementedError for integers. Difference: where windows do
    not divide the input, a NaN or an infinity makes NaN of all means of its row, which is multiplied by a matrix.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> tg.nn.functional.{name}(x, 1).item()
    {(2**axes - 1) / 2}
    """
    return adaptive_avg_pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = (_adaptive_avg_pool(n) for n in (1, 2, 3))
adaptive_avg_pool3d = full_precision(adaptive_avg_pool3d)
