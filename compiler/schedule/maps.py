"""Movement as index maps: for a position in the result, which operand is read there, and where.

Each map answers with a `Source`: the operand, the position in it, and the ranges outside of which it must not be read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..graph import Node
from ..sizes.claims import below
from .index import ZERO, Index, bounded, divided, flattened, released, unflattened

Position = tuple[Index, ...]


@dataclass(frozen=True)
class Range:
    """True where ``low <= index < high`` and, with a step, where ``(index - low) % step == 0``."""

    index: Index
    low: int
    high: int
    step: int = 1

    @property
    def always(self) -> bool:
        within = below(self.low - 1, self.index.lowest) and below(self.index.highest, self.high)
        return within and self.step == 1


@dataclass(frozen=True)
class Source:
    """Operand number `operand` at `position`, where every range holds."""

    operand: int
    position: Position
    ranges: tuple[Range, ...] = ()


def _inside(position: Position, ranges: tuple[Range, ...]) -> tuple[Position, tuple[Range, ...]]:
    """A position that is read where its ranges, which begin at 0, hold, and those that do not always."""
    inner = tuple(bounded(index, range.high) for index, range in zip(position, ranges, strict=True))
    return inner, _told(ranges)


def _told(ranges: Sequence[Range]) -> tuple[Range, ...]:
    return tuple(replace(range, index=released(range.index)) for range in ranges if not range.always)


def sources(node: Node, position: Position) -> tuple[Source, ...]:
    """What a movement node shows at `position`: the first source whose ranges hold (the last has none or is a pad)."""
    return _MAPS[node.op.lower.kind](node, position)  # type: ignore[union-attr]


def broadcast_position(position: Position, shape: tuple[int, ...]) -> Position:
    """The position of an operand of `shape` in an implicit or explicit broadcast."""
    kept = position[len(position) - len(shape) :]
    return tuple(ZERO if extent == 1 else index for index, extent in zip(kept, shape, strict=True))


def _reshape(node: Node, position: Position) -> tuple[Source, ...]:
    return (Source(0, unflattened(flattened(position, node.type.shape), node.args[0].type.shape)),)


def _transpose(node: Node, position: Position) -> tuple[Source, ...]:
    permutation = node.param("permutation")
    back = [position[permutation.index(axis)] for axis in range(len(position))]
    return (Source(0, tuple(back)),)


def _broadcast(node: Node, position: Position) -> tuple[Source, ...]:
    return (Source(0, broadcast_position(position, node.args[0].type.shape)),)


def _slice(node: Node, position: Position) -> tuple[Source, ...]:
    steps = zip(position, node.param("starts"), node.param("steps"), strict=True)
    return (Source(0, tuple(index * step + start for index, start, step in steps)),)


def _flip(node: Node, position: Position) -> tuple[Source, ...]:
    shape, axes = node.type.shape, node.param("axes")
    return (Source(0, tuple(i * -1 + (shape[a] - 1) if a in axes else i for a, i in enumerate(position))),)


def _pad(node: Node, position: Position) -> tuple[Source, ...]:
    shape, low = node.args[0].type.shape, node.param("low")
    inner = tuple(index + -before for index, before in zip(position, low, strict=True))
    ranges = tuple(Range(index, 0, extent) for index, extent in zip(inner, shape, strict=True))
    return (Source(0, *_inside(inner, ranges)),)


def _concatenate(node: Node, position: Position) -> tuple[Source, ...]:
    axis, start, found = node.param("axis"), 0, []
    for operand, arg in enumerate(node.args):
        extent = arg.type.shape[axis]
        along, ranges = _inside((position[axis] + -start,), (Range(position[axis] + -start, 0, extent),))
        found.append(Source(operand, (*position[:axis], *along, *position[axis + 1 :]), ranges))
        start += extent
    return tuple(found)


def _update_slice(node: Node, position: Position) -> tuple[Source, ...]:
    part = node.args[1].type.shape
    inner, ranges = [], []
    for index, start, step, extent in zip(position, node.param("starts"), node.param("steps"), part, strict=True):
        ranges.append(Range(index, start, start + (extent - 1) * step + 1 if extent else start, step))
        inner.append(divided(bounded(index + -start, ranges[-1].high - start), step))
    return (Source(1, tuple(inner), _told(ranges)), Source(0, position))


def _strided(node: Node, position: Position) -> tuple[Source, ...]:
    place = ZERO + node.param("offset")
    for index, step in zip(position, node.param("strides"), strict=True):
        place = place + index * step
    return (Source(0, (place,)),)


def _unfold(node: Node, position: Position) -> tuple[Source, ...]:
    *windows, within = position
    axis = node.param("axis")
    place = windows[axis] * node.param("step") + within
    return (Source(0, (*windows[:axis], place, *windows[axis + 1 :])),)


def _diagonal(node: Node, position: Position) -> tuple[Source, ...]:
    *lead, place = position
    offset = node.param("offset")
    return (Source(0, (*lead, place + max(-offset, 0), place + max(offset, 0))),)


def _window(node: Node, position: Position) -> tuple[Source, ...]:
    batch, kernel, space = _of_windows(node, position)
    along = zip(space, kernel, node.param("steps"), node.param("gaps"), node.param("low"), strict=True)
    inner = tuple(o * step + k * gap + -low for o, k, step, gap, low in along)
    extents = node.args[0].type.shape[-len(inner) :]
    inner, ranges = _inside(inner, tuple(Range(i, 0, n) for i, n in zip(inner, extents, strict=True)))
    return (Source(0, (*batch, *kernel, *inner), ranges),)


def _spread(node: Node, position: Position) -> tuple[Source, ...]:
    batch, kernel, space = _of_windows(node, position)
    extents = node.args[0].type.shape[-len(space) :]
    inner, ranges = [], []
    params = node.param("steps"), node.param("gaps"), node.param("low")
    for i, k, extent, step, gap, low in zip(space, kernel, extents, *params, strict=True):
        place = i + k * -gap + low
        ranges.append(Range(place, 0, (extent - 1) * step + 1 if extent else 0, step))
        inner.append(divided(bounded(place, ranges[-1].high), step))
    return (Source(0, (*batch, *kernel, *inner), _told(ranges)),)


def _of_windows(node: Node, position: Position) -> tuple[Position, Position, Position]:
    axes = len(node.param("steps"))
    batch = len(position) - 2 * axes
    return position[:batch], position[batch : batch + axes], position[batch + axes :]


_MAPS: dict[str, Callable[[Node, Position], tuple[Source, ...]]] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "broadcast": _broadcast,
    "slice": _slice,
    "flip": _flip,
    "pad": _pad,
    "concatenate": _concatenate,
    "update_slice": _update_slice,
    "window": _window,
    "spread": _spread,
    "strided": _strided,
    "unfold": _unfold,
    "diagonal": _diagonal,
}

#: Movements whose result is one value wherever no operand is read: their parameter `value`, or 0.
PADDED = ("pad", "window", "spread")
