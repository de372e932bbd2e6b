"""Images read at places that are data: ``grid_sample``, and the grids of affine maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import movement
from ...ops.arithmetic import abs as absolute
from ...ops.array import eager
from ...ops.comparison import where
from ...ops.division import fmod
from ...ops.indexing import take
from ...ops.logic import logical_and
from ...ops.pointwise import cast
from ...ops.products import dot, transposed
from ...ops.rounding import floor, round
from ...ops.types import int64
from ...tape.grad_mode import no_grad
from ...tensors.autocasting import full_precision
from ...tensors.composite import composite, part
from ...tracing.user_warning import warn_user
from ..checks.shapes import check_not_integers
from .filters import cubic_weights

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


_MODES = ("bilinear", "nearest", "bicubic")
_PADDINGS = ("zeros", "border", "reflection")


@full_precision
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """`input` [batch, channels, *space] at the places `grid` [batch, *places, axes]: [batch, channels, *places].

    Two axes of space, or three. A place is (x, y) or (x, y, z), the last axis of `input` first, in -1 ... 1: from the
    first element's centre to the last one's with `align_corners`, else (the default, with a warning) from border to
    border. `mode` is "bilinear" (of three axes: trilinear), "nearest" (halves go to the even place) or "bicubic" (two
    axes). Outside are zeros, or by `padding_mode` the "border"'s element or the "reflection" at the border. Both have
    one floating type. ValueError for an unknown mode, RuntimeError for shapes or types that do not fit together.

    >>> import tracegrad as tg
    >>> image = tg.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> grid = tg.tensor([[[[-1.0, -1.0], [0.0, 0.0]]]])
    >>> tg.nn.functional.grid_sample(image, grid, align_corners=True)
    tensor([[[[1.0000, 2.5000]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            "nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: "
            f"'{padding_mode}'"
        )
    if align_corners is None:
        warn_user(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
            "specify align_corners=True if the old behavior is desired."
        )
    _check_grid(input, grid, mode)
    return _sampled(input, grid, mode, padding_mode, bool(align_corners))


def _check_grid(input: Tensor, grid: Tensor, mode: str) -> None:
    shape, places = input.ndarray.shape, grid.ndarray.shape
    text = f"expected grid to have size {len(shape) - 2} in last dimension, but got grid with sizes {list(places)}"
    if input.dtype is not grid.dtype:
        raise RuntimeError(
            f"expected scalar type {input.dtype.title} but found {grid.dtype.title}: the "
            "grid has the input's type, use .to(input)"
        )
    if not shape or not places or shape[0] != places[0]:
        raise RuntimeError(
            "grid_sampler(): expected grid and input to have same batch size, but got input with sizes "
            f"{list(shape)} and grid with sizes {list(places)}"
        )
    if places[-1] != len(shape) - 2:
        raise RuntimeError(f"grid_sampler(): {text}")
    if 0 in shape[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(shape)}"
        )
    if len(shape) not in (4, 5) or len(shape) != len(places):
        raise RuntimeError(
            "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got input with sizes "
            f"{list(shape)} and grid with sizes {list(places)}"
        )
    if len(shape) == 5 and mode == "bicubic":
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    check_not_integers(f"grid_sampler_{len(shape) - 2}d_cpu", input)


# ------------------------------------------------------------------------------------------------------ coordinates


def _unnormalized(at: Any, extent: int, align_corners: bool) -> Any:
    return (at + 1) / 2 * (extent - 1) if align_corners else ((at + 1) * extent - 1) / 2


def _clipped(x: Tensor, extent: int) -> Tensor:
    """`x` within the axis; no gradient at its ends or beyond, and NaN is 0."""
    return where(x > 0, where(x >= extent - 1, float(extent - 1), x), 0.0)


def _reflected(x: Tensor, extent: int, align_corners: bool) -> Tensor:
    """`x` reflected until it is inside: at the outermost centres, or at the borders of the outermost elements."""
    low, width = (0.0, float(extent - 1)) if align_corners else (-0.5, float(extent))
    if not width:
        return x * 0
    distance = absolute(x - low)
    with no_grad():
        turns = floor(distance.detach() / width)
        is_even = fmod(turns, 2) < 1
        whole = turns * width
    extra = distance - whole
    return where(is_even, extra + low, (width + low) - extra)


def _within(x: Tensor, extent: int, padding_mode: str, align_corners: bool) -> Tensor:
    if padding_mode == "zeros":
        return x
    return _clipped(_reflected(x, extent, align_corners) if padding_mode == "reflection" else x, extent)


def _taps(at: Any, extent: int, mode: str, padding_mode: str, align_corners: bool) -> list[tuple[Any, Any]]:
    """Places along one axis (floating, whole numbers) and their weights; a weight of None is 1."""
    x = _unnormalized(at, extent, align_corners)
    if mode == "bicubic":
        with no_grad():
            first = floor(x.detach())
        weights = cubic_weights(x - first)
        with no_grad():
            places = [_within(first + shift, extent, padding_mode, align_corners) for shift in (-1, 0, 1, 2)]
        return list(zip(places, weights, strict=True))
    x = _within(x, extent, padding_mode, align_corners)
    with no_grad():
        first = round(x.detach()) if mode == "nearest" else floor(x.detach())
    if mode == "nearest":
        return [(first, _ones_of(x, extent) if at.requires_grad else None)]
    share = x - first
    return [(first, 1 - share), (first + 1, share)]


def _ones_of(x: Tensor, extent: int) -> Tensor:
    """Ones whose derivative by `x` is there, and zero."""
    return floor(where(logical_and(x > -1, x < extent), x, 0.0)) * 0 + 1


@part
@composite("GridSamplerBackward0", {"input": ("input", "grid"), "grid": ("input", "grid")})
def _sampled(input: Tensor, grid: Tensor, mode: str, padding_mode: str, align_corners: bool) -> Tensor:
    batch, channels, *space = input.ndarray.shape
    axes, places = len(space), grid.ndarray.shape[1:-1]
    along = []
    for axis, extent in enumerate(space):
        starts = (*(0,) * (axes + 1), axes - 1 - axis)
        stops = (batch, *places, axes - axis)
        at = movement.reshape(movement.slice(grid, starts, stops, (1,) * (axes + 2)), (batch, *places))
        along.append(_taps(at, extent, mode, padding_mode, align_corners))
    last = (0, *range(2, axes + 2), 1)
    rows = movement.reshape(movement.transpose(movement.by_rows(input), last), (batch * int(np.prod(space)), channels))
    out = None
    for taps in _products(along):
        index, inside, weight = _joined(taps, space, batch)
        read = where(movement.reshape(inside, (*inside.ndarray.shape, 1)), take(rows, index), 0.0)
        term = read if weight is None else read * movement.reshape(weight, (*weight.ndarray.shape, 1))
        out = term if out is None else out + term
    return movement.transpose(out, (0, axes + 1, *range(1, axes + 1))).contiguous()


def _products(along: Sequence[list[tuple[Any, Any]]]) -> list[list[tuple[Any, Any]]]:
    """One tap of each axis, in all combinations."""
    found: list[list[tuple[Any, Any]]] = [[]]
    for taps in along:
        found = [[*before, tap] for before in found for tap in taps]
    return found


def _joined(taps: Sequence[tuple[Any, Any]], space: Sequence[int], batch: int) -> tuple[Any, Any, Any]:
    """Which row of all images the taps of all axes are, whether that is inside, and its weight."""
    shape = taps[0][0].ndarray.shape
    first = np.arange(batch).reshape(batch, *(1,) * (len(shape) - 1))
    with no_grad():
        index, inside = None, None
        for (place, _), extent in zip(taps, space, strict=True):
            fits = logical_and(place >= 0, place <= extent - 1)
            inside = fits if inside is None else logical_and(inside, fits)
            number = cast(where(fits, place, 0.0), int64)
            index = number if index is None else index * extent + number
        index = index + eager().literal(first * int(np.prod(space)))
    weight = None
    for _, share in taps:
        if share is not None:
            weight = share if weight is None else weight * share
    return index, inside, weight


# ------------------------------------------------------------------------------------------------------------ grids


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The places that `grid_sample` is to read for an affine map of images: ``theta @ (x, y, 1)`` for each place.

    `theta` [batch, 2, 3] and `size` (batch, channels, height, width) give [batch, height, width, 2]; [batch, 3, 4] and
    five sizes the same in space. `align_corners` as in `grid_sample`. ValueError for shapes or types that do not fit,
    NotImplementedError for other numbers of sizes.

    >>> import tracegrad as tg
    >>> identity = tg.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> tg.nn.functional.affine_grid(identity, (1, 1, 1, 2), align_corners=False)
    tensor([[[[-0.5000,  0.0000],
              [ 0.5000,  0.0000]]]])
    """
    size = tuple(size)
    if not theta.dtype.is_floating_point:
        raise ValueError(f"Expected theta to have floating point type, but got {theta.dtype!r}")
    _check_affine(theta, size)
    if align_corners is None:
        warn_user(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. Please "
            "specify align_corners=True if the old behavior is desired."
        )
    elif align_corners and min(size[2:]) == 1:
        warn_user(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when align_corners=True. This "
            "is not an intended use case of affine_grid. See the documentation of affine_grid for details."
        )
    return _mapped(theta, size, bool(align_corners))


def _check_affine(theta: Tensor, size: Sequence[int]) -> None:
    shape, axes = theta.ndarray.shape, len(size) - 2
    if axes in (2, 3):
        if len(shape) != 3 or shape[1:] != (axes, axes + 1):
            raise ValueError(
                f"Expected a batch of {axes}D affine matrices of shape Nx{axes}x{axes + 1} for size {tuple(size)}. Got "
                f"{list(shape)}."
            )
    else:
        raise NotImplementedError(
            "affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size "
            f"{tuple(size)}."
        )
    if min(size) <= 0:
        raise ValueError(f"Expected non-zero, positive output size. Got {tuple(size)}")
    if shape[0] != size[0]:
        raise RuntimeError(f"Expected theta to have one matrix for each of {size[0]} images, got {list(shape)}")


@composite("AffineGridGeneratorBackward0")
def _mapped(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    batch, space = size[0], tuple(size[2:])
    kind, axes = theta.ndarray.dtype, len(space)
    base = np.ones((*space, axes + 1), kind)
    for axis, extent in enumerate(space):
        row = np.linspace(-1, 1, extent, dtype=kind) if extent > 1 else np.zeros(1, kind)
        row = row if align_corners else row * kind.type((extent - 1) / extent)
        base[..., axes - 1 - axis] = row.reshape(extent, *(1,) * (axes - 1 - axis))
    flat = eager().literal(base.reshape(-1, axes + 1))
    return movement.reshape(_times(flat, theta), (batch, *space, axes))


def _times(flat: Tensor, theta: Tensor) -> Tensor:
    """``flat @ theta[n].T`` for each n, as one product."""
    batch, axes, more = theta.ndarray.shape
    rows = movement.reshape(theta, (batch * axes, more))
    made = movement.reshape(dot(flat, transposed(rows)), (flat.ndarray.shape[0], batch, axes))
    return movement.transpose(made, (1, 0, 2)).contiguous()
