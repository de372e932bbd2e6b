"""Padding by constants, and by the input itself: reflected, repeated at the border, or wrapped around."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ops import movement
from ...ops.types import NUMBERS, bool_
from ...tensors.autocasting import full_precision
from ...tensors.calling.kernels import OF_OPTIONS
from ...tensors.composite import relabel
from ...tensors.data import fitting
from ...tensors.layouts.kept_formats import keeps_format
from ...tensors.tensor import Tensor
from ..shapes import clone, contiguous, ordered_copy

Shape = tuple[int, ...]


def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """More elements around: (before, behind) for the last axis, then for the one before it, ...; negative ones cut.

    `mode` "constant" fills with `value` (0); "reflect" mirrors at the border element, "replicate" repeats it and
    "circular" goes on at the other end, over the last one to three axes of an input with one or two axes before them.
    The type stays. RuntimeError for paddings that do not fit, NotImplementedError for another mode or number of axes.

    >>> import tracegrad as tg
    >>> tg.nn.functional.pad(tg.tensor([[1, 2, 3]]), (1, 2))
    tensor([[0, 1, 2, 3, 0, 0]])
    >>> tg.nn.functional.pad(tg.tensor([[1, 2, 3]]), (1, 2), mode="reflect")
    tensor([[2, 1, 2, 3, 2, 1]])
    """
    if len(pad) % 2:
        raise RuntimeError(f"Padding length must be divisible by 2, got {list(pad)}: before and behind each axis")
    if len(pad) > 2 * input.ndarray.ndim:
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {input.ndarray.ndim}"
        )
    if mode == "constant":
        return _constant(input, pad, value)
    if mode not in _SIDES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    _require_axes(input.ndarray.ndim, len(pad))
    ndim = input.ndarray.ndim
    for i in range(len(pad) // 2):
        _require_extent(mode, input.ndarray.shape, ndim - 1 - i, pad[2 * i : 2 * i + 2])
    if mode not in _TITLES:
        return contiguous(_from_itself(input, pad, mode))
    return (_bordered if (mode, len(pad)) == ("reflect", 6) else _in_full_precision)(input, pad, mode)


def _bordered(input: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    """Padding by elements of the input, as one node of the graph."""
    OF_OPTIONS[f"{mode} {len(pad) // 2}"].require(input)
    out = _by_borders(input, pad, mode)
    relabel(out, f"{_TITLES[mode]}{len(pad) // 2}DBackward0", (input,), [input], zero=True)
    return out


#: All but reflection along three axes is on PyTorch's list.
_in_full_precision = full_precision(_bordered)

#: What PyTorch calls the paddings that keep their input.
_TITLES = {"reflect": "ReflectionPad", "replicate": "ReplicationPad"}


def _from_itself(input: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    """Padding by elements of the input, of one mode along all axes."""
    out = input
    for i in range(len(pad) // 2):
        out = _along(out, input.ndarray.ndim - 1 - i, pad[2 * i], pad[2 * i + 1], mode)
    return _owned(out, pad)


_by_borders = keeps_format("pad by borders")(_from_itself)


def _owned(x: Tensor, pad: Sequence[int]) -> Tensor:
    """A copy of what may be a part of the input, or the input."""
    return ordered_copy(x) if min(pad, default=0) < 0 or not any(pad) else x


def _constant(input: Tensor, pad: Sequence[int], value: float | None) -> Tensor:
    low, high = [0] * input.ndarray.ndim, [0] * input.ndarray.ndim
    for i in range(len(pad) // 2):
        low[-1 - i], high[-1 - i] = pad[2 * i], pad[2 * i + 1]
    if min(pad, default=0) < 0:
        input, low, high = _cut(input, low, high)
    if max(pad, default=0) <= 0:
        return clone(input)
    if isinstance(value, str) or isinstance(value, Tensor) and value.ndarray.ndim:
        raise TypeError(f"pad(): argument 'value' must be Number, not {type(value).__name__}")
    value = fitting(value, input.dtype) if isinstance(value, NUMBERS) else value
    filler = bool(value) if input.dtype is bool_ else 0 if value is None else value
    return movement.pad(input, tuple(low), tuple(high), filler)


def _cut(x: Tensor, low: list[int], high: list[int]) -> tuple[Any, list[int], list[int]]:
    """x without what negative paddings take away, and the paddings that are left."""
    shape = x.ndarray.shape
    for axis, (extent, before, behind) in enumerate(zip(shape, low, high, strict=True)):
        if extent + before + behind < 0 or min(before, 0) + min(behind, 0) < -extent:
            raise RuntimeError(
                f"Padding ({before}, {behind}) takes away more than the {extent} elements of axis {axis}"
            )
    starts = tuple(max(-n, 0) for n in low)
    stops = tuple(extent + min(n, 0) for extent, n in zip(shape, high, strict=True))
    return movement.slice(x, starts, stops, (1,) * len(shape)), [max(n, 0) for n in low], [max(n, 0) for n in high]


def _require_axes(ndim: int, size: int) -> None:
    if size // 2 not in (1, 2, 3) or ndim - size // 2 not in (1, 2):
        raise NotImplementedError(
            f"Padding size {size} is not supported for {ndim}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )


def _require_extent(mode: str, shape: Shape, axis: int, pad: Sequence[int]) -> None:
    extent = shape[axis]
    if mode == "reflect" and max(pad) >= extent:
        raise RuntimeError(
            f"Argument #4: Padding size should be less than the corresponding input dimension, but got: padding "
            f"{tuple(pad)} at dimension {axis} of input {list(shape)}"
        )
    if mode == "circular" and max(pad) > extent + sum(min(n, 0) for n in pad):
        raise RuntimeError("Padding value causes wrapping around more than once.")
    if extent == 0 or extent + sum(pad) < 0:
        raise RuntimeError(f"pad: axis {axis} of input {list(shape)} has nothing left to pad with {tuple(pad)}")


def _part(x: Tensor, axis: int, start: int, stop: int) -> Tensor:
    shape = x.ndarray.shape
    starts = tuple(start if a == axis else 0 for a in range(len(shape)))
    stops = tuple(stop if a == axis else extent for a, extent in enumerate(shape))
    return movement.slice(x, starts, stops, (1,) * len(shape))


def _reflected(x: Tensor, axis: int, before: int, behind: int) -> tuple[Tensor, Tensor]:
    extent = x.ndarray.shape[axis]
    first, last = _part(x, axis, 1, 1 + before), _part(x, axis, extent - 1 - behind, extent - 1)
    return movement.flip(first, (axis,)), movement.flip(last, (axis,))


def _repeated(x: Tensor, axis: int, before: int, behind: int) -> tuple[Tensor, Tensor]:
    shape = x.ndarray.shape
    sides = ((_part(x, axis, 0, 1), before), (_part(x, axis, shape[axis] - 1, shape[axis]), behind))
    first, last = (movement.broadcast(side, (*shape[:axis], n, *shape[axis + 1 :])) for side, n in sides)
    return first, last


def _wrapped(x: Tensor, axis: int, before: int, behind: int) -> tuple[Tensor, Tensor]:
    extent = x.ndarray.shape[axis]
    return _part(x, axis, extent - before, extent), _part(x, axis, 0, behind)


_Sides = Callable[[Any, int, int, int], tuple[Any, Any]]
_SIDES: dict[str, _Sides] = {"reflect": _reflected, "replicate": _repeated, "circular": _wrapped}


def _along(x: Tensor, axis: int, before: int, behind: int, mode: str) -> Tensor:
    """x with more elements before and behind along one axis. Negative numbers cut: what wraps around, before that."""
    if mode == "circular":
        x, before, behind = _trimmed(x, axis, before, behind), max(before, 0), max(behind, 0)
    low, high = max(before, 0), max(behind, 0)
    first, last = _SIDES[mode](x, axis, low, high)
    parts = [part for part, n in ((first, low), (x, 1), (last, high)) if n]
    return _trimmed(movement.concatenate(parts, axis) if len(parts) > 1 else x, axis, before, behind)


def _trimmed(x: Tensor, axis: int, before: int, behind: int) -> Tensor:
    """x without what negative numbers take away at both ends of an axis."""
    return _part(x, axis, max(-before, 0), x.ndarray.shape[axis] + min(behind, 0))
