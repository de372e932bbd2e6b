"""Maxima of windows that stand at random, unevenly spaced places (Graham 2014), over two or three axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...ops import movement
from ...ops.indexing import gather
from ...ops.pointwise import cast
from ...ops.rounding import trunc
from ...ops.sources import full, iota
from ...ops.types import int64
from ...tape.grad_mode import no_grad
from ...tensors.autocasting import full_precision
from ...tensors.calling.kernels import require_floating
from ...tensors.composite import relabel
from ...tensors.random import rand
from ...tensors.tensor import Tensor
from ..checks.derivatives import require_constants
from .max_pooling import place_of_maximum
from .sliding import Numbers, Shape, block, per_axis


def _sizes(name: str, input: Tensor, output_size: Any, output_ratio: Any, axes: int) -> Shape:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        return per_axis(output_size, axes, "output_size")
    ratios = tuple(output_ratio) if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * axes
    if len(ratios) != axes:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
    return tuple(int(n * ratio) for n, ratio in zip(input.ndarray.shape[-axes:], ratios, strict=True))


def _check(name: str, input: Tensor, kernel: Shape, sizes: Shape, samples: Tensor) -> None:
    shape, axes = input.ndarray.shape, len(kernel)
    if len(shape) not in (axes + 1, axes + 2) or 0 in shape[-axes - 1 :]:
        raise RuntimeError(f"{name}(): Expected {axes + 1}D or {axes + 2}D tensor, but got: {list(shape)}")
    names = ("time", "height", "width")[-axes:]
    spare, caller = (1, f"{name}_out") if axes == 3 else (0, name)  # of three axes PyTorch wants a place to spare
    for what, extent, window, count in zip(names, shape[-axes:], kernel, sizes, strict=True):
        if count + window - 1 + spare > extent:
            raise RuntimeError(f"{caller}(): pool {what} {window} too large relative to input {what} {extent}")
    given = samples.ndarray.shape
    require_constants(name, random_samples=samples)
    if samples.dtype is not input.dtype:
        raise RuntimeError("Expect _random_samples to have the same dtype as input")
    if len(given) != 3:
        raise RuntimeError(f"Expect _random_samples to have 3 dimensions, got {len(given)}")
    batch = shape[0] if len(shape) == axes + 2 else 1
    if given[0] < batch:
        raise RuntimeError("Expect _random_samples.size(0) no less then input batch size.")
    if given[1] != shape[-axes - 1]:
        raise RuntimeError("Expect _random_samples.size(1) equals to input channel size.")
    if given[2] != axes:
        raise RuntimeError(f"Expect _random_samples.size(2) equals to {axes}; got {given[2]}.")


def _starts(sample: Tensor, extent: int, window: int, count: int) -> Tensor:
    """Where the windows of each channel begin along one axis: ``[*sample.shape, count]``."""
    shape = (*sample.ndarray.shape, 1)
    last = iota((*shape[:-1], 1), len(shape) - 1, int64) + (extent - window)
    if count == 1:
        return last
    step = (extent - window) / (count - 1)
    u = movement.reshape(sample, shape)
    number = cast(iota((*shape[:-1], count - 1), len(shape) - 1, int64), sample.dtype)
    between = cast(trunc((number + u) * step), int64) - cast(trunc(u * step), int64)
    return movement.concatenate([between, last], len(shape) - 1)


def _windows(samples: Tensor, space: Shape, kernel: Shape, sizes: Shape) -> Tensor:
    """The place in space, counted row by row, of each element of each window: [batch, channels, *sizes, kernel]."""
    axes, (batch, channels, _) = len(space), samples.ndarray.shape
    flat = None
    for axis, (extent, window, count) in enumerate(zip(space, kernel, sizes, strict=True)):
        # PyTorch's samples are for the last axis first where there are two, for the first axis first of three.
        number = axes - 1 - axis if axes == 2 else axis
        sample = movement.slice(samples, (0, 0, number), (batch, channels, number + 1), (1, 1, 1))
        starts = _starts(movement.reshape(sample, (batch, channels)), extent, window, count)
        along = [1] * (2 * axes)
        along[axis] = count
        at = movement.reshape(starts, (batch, channels, *along))
        along = [1] * (2 * axes)
        along[axes + axis] = window
        at = at + movement.reshape(iota((window,), 0, int64), tuple(along))
        flat = at if flat is None else flat * extent + at
    return movement.reshape(flat, (batch, channels, math.prod(sizes), math.prod(kernel)))


def _drawn(input: Tensor, axes: int) -> Tensor:
    """A uniform number for each axis of each channel."""
    shape = input.ndarray.shape
    if len(shape) <= axes:
        expected = f"[{-len(shape)}, {len(shape) - 1}]"
        raise IndexError(f"Dimension out of range (expected to be in range of {expected}, but got {-axes - 1})")
    batch = 1 if len(shape) == axes + 1 else shape[0]
    return rand((batch, shape[-axes - 1], axes), input.dtype)


def _pooled(axes: int, input: Any, kernel_size: Any, output_size: Any, output_ratio: Any, samples: Any) -> Any:
    """The maxima, and where they stand in the space."""
    name = f"fractional_max_pool{axes}d"
    sizes = _sizes(name, input, output_size, output_ratio, axes)
    kernel = per_axis(kernel_size, axes, "kernel_size")
    samples = _drawn(input, axes) if samples is None else samples
    require_floating(f"{name}_out_frame", input)
    _check(name, input, kernel, sizes, samples)
    out, places = _maxima(input, kernel, sizes, samples)
    relabel(out, f"FractionalMaxPool{axes}DBackward0", (input,), [input], zero=True)
    return out, places


def _maxima(input: Tensor, kernel: Shape, sizes: Shape, samples: Tensor) -> tuple[Tensor, Tensor]:
    axes = len(kernel)
    shape, space = input.ndarray.shape[:-axes], input.ndarray.shape[-axes:]
    batch, channels = shape if len(shape) == 2 else (1, *shape)
    rows = movement.reshape(input, (batch, channels, math.prod(space)))
    places = _places(rows, space, kernel, sizes, samples)
    out = gather(rows, places, 2)
    return movement.reshape(out, (*shape, *sizes)), movement.reshape(places, (*shape, *sizes))


def _places(rows: Tensor, space: Shape, kernel: Shape, sizes: Shape, samples: Tensor) -> Tensor:
    """Where the maxima stand in the space, counted row by row: [batch, channels, windows]."""
    batch, channels, _ = rows.ndarray.shape
    if 0 in sizes:
        return full((batch, channels, 0), 0, int64)
    with no_grad():
        used = movement.slice(samples, (0, 0, 0), (batch, channels, len(space)), (1, 1, 1))
        windows = _windows(used, space, kernel, sizes)
        count, members = windows.ndarray.shape[2:]
        flat = movement.reshape(windows, (batch, channels, count * members))
        seen = movement.reshape(gather(rows, flat, 2), windows.ndarray.shape)
        chosen = movement.reshape(place_of_maximum(seen, 3), (batch, channels, count, 1))
        return movement.reshape(gather(windows, chosen, 3), (batch, channels, count))


def _fractional_max_pool(axes: int) -> Callable[..., Any]:
    def fractional_max_pool(
        input: Tensor,
        kernel_size: Numbers,
        output_size: Numbers | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        found = _pooled(axes, input, kernel_size, output_size, output_ratio, _random_samples)
        return found if return_indices else found[0]

    fractional_max_pool.__name__ = fractional_max_pool.__qualname__ = f"fractional_max_pool{axes}d"
    fractional_max_pool.__doc__ = f"""The maxima of windows at random places, over the last {axes} axes (Graham 2014).

    ``[batch, channels, *space]`` (or without batch) gives ``[batch, channels, *output_size]``; with `output_ratio` that
    part of each axis. `_random_samples` [batch, channels, {axes}] says where windows stand; it is drawn, one uniform
    number for each axis of each channel, if it is not given. `return_indices` as in ``max_pool{axes}d``.
    ValueError where neither size nor ratio is given, RuntimeError for windows that do not fit. Difference: an
    `output_ratio` of one number is for all axes; PyTorch's function takes a tuple only.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> tg.nn.functional.fractional_max_pool{axes}d(x, 1, output_size=1).item()
    {2**axes - 1.0}
    """
    return fractional_max_pool


def _with_indices(axes: int) -> Callable[..., Any]:
    def with_indices(
        input: Tensor,
        kernel_size: Numbers,
        output_size: Numbers | None = None,
        output_ratio: float | Sequence[float] | None = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        return _pooled(axes, input, kernel_size, output_size, output_ratio, _random_samples)

    with_indices.__name__ = with_indices.__qualname__ = f"fractional_max_pool{axes}d_with_indices"
    with_indices.__doc__ = f"""(maxima, places): ``fractional_max_pool{axes}d`` with ``return_indices=True``.

    Shapes, types and errors are the same; places (int64) are counted row by row in the space.

    >>> import tracegrad as tg
    >>> x = {block(axes)}
    >>> out, places = tg.nn.functional.fractional_max_pool{axes}d_with_indices(x, 1, output_size=1)
    >>> out.item(), places.item()
    ({2**axes - 1.0}, {2**axes - 1})
    """
    return with_indices


fractional_max_pool2d, fractional_max_pool3d = map(full_precision, map(_fractional_max_pool, (2, 3)))
fractional_max_pool2d_with_indices, fractional_max_pool3d_with_indices = map(full_precision, map(_with_indices, (2, 3)))
