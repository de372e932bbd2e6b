"""Resizing over one to three axes: ``nn.functional.interpolate`` and its old spellings."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops import movement
from ...ops import reductions as folds
from ...ops.array import eager
from ...ops.indexing import take
from ...ops.types import uint8
from ...tensors.composite import part, relabel
from ...tensors.layouts.kept_formats import keeps_format
from ...tensors.short_floats import rounded_once
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_user
from ..checks.shapes import check_not_integers
from ..spatial.average_pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from . import filters
from .bytes import of_bytes
from .filters import Taps

Shape = tuple[int, ...]
Factors = tuple[float | None, ...]

_NEAREST = ("nearest", "nearest-exact")
#: The modes that weigh neighbours, and the number of axes for which each is.
_AXES = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2, "lanczos": 2}
_MODES = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"
_AREA = {1: adaptive_avg_pool1d, 2: adaptive_avg_pool2d, 3: adaptive_avg_pool3d}
#: Up to this extent the taps of an axis are a matrix; a longer axis is read at the places themselves.
_LONGEST_MATRIX = 128
#: Up to this height plus width PyTorch takes its kernel for small images.
_SMALL_IMAGE = 128


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """`input` [batch, channels, *space] resized to [batch, channels, *size], or to `scale_factor` times its space.

    `mode` is "nearest" (PyTorch's old rounding), "nearest-exact", "area" (means), "linear" (three axes in all),
    "bilinear", "bicubic" (four; with `antialias` as wide as the results stand apart, then "lanczos", too) or
    "trilinear" (five). With `align_corners` the outermost elements stay where they are; otherwise borders of elements
    do. Without `recompute_scale_factor` a given factor, not the ratio of the sizes, says where results stand.

    ValueError for arguments that do not go together, NotImplementedError for a mode that is not for so many axes, and
    for integers other than uint8 (images, which are resized in whole numbers as in PyTorch). Difference: an infinity or
    a NaN makes NaN of more results of its row than in PyTorch, since rows are multiplied by a matrix.

    >>> import tracegrad as tg
    >>> tg.nn.functional.interpolate(tg.tensor([[[1.0, 3.0]]]), scale_factor=2, mode="linear")
    tensor([[[1.0000, 1.5000, 2.5000, 3.0000]]])
    """
    _check_corners(mode, align_corners)
    if isinstance(scale_factor, Tensor) and scale_factor.ndarray.ndim:
        raise TypeError("interpolate(): argument 'scale_factors' must be tuple of floats, not Tensor")
    sizes, factors = _asked(input, size, scale_factor)
    if not (recompute_scale_factor or mode == "area") and any(isinstance(factor, Tensor) for factor in factors):
        raise TypeError(
            "interpolate(): argument 'scale_factors' must be tuple of floats, but found Tensor; use .item()"
        )
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if recompute_scale_factor or mode == "area":
        factors = (None,) * len(sizes)
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and input.ndarray.ndim == 4):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    _check_mode(mode, input.ndarray.ndim)
    _check_lanczos(mode, bool(align_corners), antialias)
    if mode == "area":
        return _AREA[len(sizes)](input, sizes)
    _check_sizes(input, sizes)
    if input.dtype is uint8 and mode in ("bilinear", "bicubic", "lanczos"):
        return of_bytes(input, [_taps(mode, *each) for each in _forms(input, sizes, factors, align_corners, antialias)])
    if not (mode in _NEAREST and input.dtype is uint8):
        check_not_integers(f"upsample_{mode}{len(sizes)}d".replace("-", "_"), input)
    return _resized(input, mode, sizes, factors, bool(align_corners), antialias)


def _check_corners(mode: str, align_corners: bool | None) -> None:
    if mode in (*_NEAREST, "area") and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | "
            "trilinear | lanczos"
        )


def _check_lanczos(mode: str, align_corners: bool, antialias: bool) -> None:
    if mode == "lanczos" and align_corners:
        raise ValueError("Lanczos mode does not support align_corners=True")
    if mode == "lanczos" and not antialias:
        raise ValueError("Lanczos mode requires antialias=True")


def _asked(input: Tensor, size: Any, scale_factor: Any) -> tuple[Shape, Factors]:
    """The sizes that the axes of space get, and by how much each is to grow where that was said."""
    space = input.ndarray.shape[2:]
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        sizes = _for_each("output", "output size of", "output size in (o1, o2, ...,oK)", size, space)
        try:
            return tuple(map(operator.index, sizes)), (None,) * len(space)
        except TypeError:
            text = f"expected size to be one of int or Tuple[int] or List[int], but got size with {sizes}"
            raise TypeError(text) from None
    factors = _for_each(
        "scale_factor", "scale_factor of shape", "scale_factor in (s1, s2, ...,sK)", scale_factor, space
    )
    return tuple(filters.truncated(n, factor) for n, factor in zip(space, factors, strict=True)), factors


def _for_each(name: str, what: str, wanted: str, given: Any, space: Shape) -> tuple[Any, ...]:
    if not isinstance(given, (tuple, list)):
        return (given,) * len(space)
    if len(given) != len(space):
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with spatial dimensions "
            f"of {list(space)} and {what} {given}. Please provide input tensor in (N, C, d1, d2, ...,dK) format "
            f"and {wanted} format."
        )
    return tuple(given)


def _check_mode(mode: str, ndim: int) -> None:
    if ndim not in (3, 4, 5) or mode not in (*_NEAREST, "area", *_AXES):
        raise NotImplementedError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {ndim}D) for the modes: {_MODES} (got "
            f"{mode})"
        )
    if mode in _AXES and _AXES[mode] != ndim - 2:
        raise NotImplementedError(f"Got {ndim}D input, but {mode} mode needs {_AXES[mode] + 2}D input")


def _check_sizes(input: Tensor, sizes: Shape) -> None:
    shape = input.ndarray.shape
    if min((*shape[2:], *sizes)) <= 0:
        letters = "DHW"[-len(sizes) :]
        given, found = (", ".join(f"{a}: {n}" for a, n in zip(letters, ns, strict=True)) for ns in (shape[2:], sizes))
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input ({given}) and output ({found})"
        )
    if 0 in shape[1:]:
        raise RuntimeError(f"Non-empty {len(shape)}D data tensor expected but got a tensor with sizes {list(shape)}")


Form = tuple[int, int, bool, float | None, bool, Any]


def _forms(
    input: Tensor, sizes: Shape, factors: Factors, align_corners: bool | None, antialias: bool, kind: Any = np.float64
) -> list[Form]:
    """What the taps of each axis of space depend on."""
    space = input.ndarray.shape[2:]
    return [(n, m, bool(align_corners), f, antialias, kind) for n, m, f in zip(space, sizes, factors, strict=True)]


def _taps(mode: str, extent: int, count: int, corners: bool, factor: float | None, antialias: bool, kind: Any) -> Taps:
    if antialias:
        return filters.antialiased(mode, extent, count, corners, factor, kind)
    return (filters.cubic if mode == "bicubic" else filters.linear)(extent, count, corners, factor, kind)


@rounded_once
@part
def _resized(input: Tensor, mode: str, sizes: Shape, factors: Factors, align_corners: bool, antialias: bool) -> Tensor:
    by_rows = mode == "bicubic" or (mode in _NEAREST and len(sizes) == 3)  # PyTorch's gradients
    resized = _resampled_by_rows if by_rows else _resampled_alike
    return resized(input, mode, sizes, factors, align_corners, antialias)


def _resampled(
    input: Tensor, mode: str, sizes: Shape, factors: Factors, align_corners: bool, antialias: bool
) -> Tensor:
    out = movement.by_rows(input)
    forms = _forms(input, sizes, factors, align_corners, antialias, input.ndarray.dtype.type)
    for axis, form in enumerate(forms, 2):
        extent, count, _, factor, *_ = form
        if mode in _NEAREST:
            by_sizes = len(sizes) == 2 and sum(sizes) <= _SMALL_IMAGE
            out = _shown(out, axis, filters.nearest(extent, count, factor, mode == "nearest-exact", by_sizes))
        else:
            out = _weighed(out, axis, _taps(mode, *form))
    out = out.contiguous()
    out = out * 1 if out.buffer is input.buffer else out  # nothing to resize: memory of its own all the same
    name = mode.title().replace("-", "") + f"{len(sizes)}D" + "Aa" * antialias
    relabel(out, f"Upsample{name}Backward0", (input,))
    return out


_resampled_alike = keeps_format("interpolate")(_resampled)
_resampled_by_rows = keeps_format("interpolate by one kernel")(_resampled)


def _in_front(x: Tensor, axis: int) -> Tensor:
    return movement.transpose(x, (axis, *(a for a in range(x.ndarray.ndim) if a != axis)))


def _back(x: Tensor, axis: int) -> Tensor:
    return movement.transpose(x, (*range(1, axis + 1), 0, *range(axis + 1, x.ndarray.ndim)))


def _shown(x: Tensor, axis: int, places: np.ndarray) -> Tensor:
    """`x` read at places of an axis: each place several times in a row is a broadcast."""
    shape = x.ndarray.shape
    times = filters.is_repeated(places, shape[axis])
    if times:
        before, behind = shape[: axis + 1], shape[axis + 1 :]
        once = movement.reshape(x, (*before, 1, *behind))
        again = movement.broadcast(once, (*before, times, *behind))
        return movement.reshape(again, (*shape[:axis], len(places), *behind))
    return _back(take(_in_front(x, axis), eager().literal(places)), axis)


def _weighed(x: Tensor, axis: int, taps: Taps) -> Tensor:
    """Weighted sums of places of an axis."""
    shape = x.ndarray.shape
    count, windows = taps.places.shape
    if shape[axis] <= _LONGEST_MATRIX:
        matrix = np.zeros((shape[axis], windows), taps.weights.dtype)
        np.add.at(matrix, (taps.places, np.arange(windows)), taps.weights)
        last = movement.transpose(x, (*(a for a in range(len(shape)) if a != axis), axis))
        made = last @ eager().literal(matrix)
        return movement.transpose(made, (*range(axis), len(shape) - 1, *range(axis, len(shape) - 1)))
    read = take(_in_front(x, axis), eager().literal(taps.places))  # [taps, windows, ...]
    weights = eager().literal(taps.weights.reshape(count, windows, *(1,) * (len(shape) - 1)))
    return _back(folds.sum(read * weights, (0,)), axis)


def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The old name of `interpolate`, with its first arguments, results and errors; it warns, as PyTorch does.

    >>> import tracegrad as tg
    >>> tg.nn.functional.upsample(tg.tensor([[[1.0, 3.0]]]), scale_factor=2)
    tensor([[[1., 1., 3., 3.]]])
    """
    warn_user("`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """The old name of `interpolate` with ``mode="nearest"``, its results and errors; it warns, as PyTorch does.

    >>> import tracegrad as tg
    >>> tg.nn.functional.upsample_nearest(tg.tensor([[[1.0, 3.0]]]), size=4)
    tensor([[[1., 1., 3., 3.]]])
    """
    warn_user("`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor, size: int | Sequence[int] | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """The old name of `interpolate` with ``mode="bilinear", align_corners=True``; it warns, as PyTorch does.

    >>> import tracegrad as tg
    >>> tg.nn.functional.upsample_bilinear(tg.tensor([[[[1.0, 3.0]]]]), size=(1, 3))
    tensor([[[[1., 2., 3.]]]])
    """
    warn_user("`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
