"""How a kernel slides over an array, as the contraction of a convolution reads it: taps at fixed offsets.

The array that a contraction reads is packed channel by channel: padded with zeros and, under a stride, parted into the
places of equal remainder, so that neighbouring results read neighbouring places. Each tap of the kernel is then one
offset, whatever stride, padding, dilation and number of axes are. Where the *result* has a stride (the gradient of a
strided convolution's input), its places of equal remainder are *phases*: each has taps of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod

Shape = tuple[int, ...]

#: Loops are written for this many axes; missing ones have one place.
AXES = 3


@dataclass(frozen=True)
class Tap:
    """Place `kernel` of the kernel along one axis: it reads part `part` at `shift` places behind the result's own."""

    kernel: int
    part: int
    shift: int


@dataclass(frozen=True)
class AxisPhase:
    """The results at ``first + i * step`` along one axis, for i < count, and the taps that they are made of."""

    first: int
    step: int
    count: int
    taps: tuple[Tap, ...]


@dataclass(frozen=True)
class Axis:
    """One axis: part r of the packed array has `places` places, place q of it is ``q * step + parts[r]`` in the array
    of `extent` places, and 0 outside of it."""

    extent: int
    places: int
    step: int
    parts: Shape
    phases: tuple[AxisPhase, ...]

    def inside(self, part: int) -> range:
        """The places of a part that are in the array."""
        first = -(self.parts[part] // self.step)
        last = (self.extent - 1 - self.parts[part]) // self.step
        return range(max(first, 0), max(min(last, self.places - 1) + 1, max(first, 0)))


def reading(extent: int, kernel: int, count: int, step: int, gap: int, low: int, apart: bool = False) -> Axis:
    """An axis of a convolution's input: result o reads ``o * step + k * gap - low``. Kept `apart`, each place of the
    kernel has a part of its own."""
    distances = [k * gap for k in range(kernel)]
    remainders = distances if apart else sorted({d % step for d in distances})
    part = {r: place for place, r in enumerate(remainders)}
    if apart:
        taps = tuple(Tap(k, k, 0) for k in range(kernel))
    else:
        taps = tuple(Tap(k, part[d % step], d // step) for k, d in enumerate(distances))
    places = count + max(tap.shift for tap in taps)
    return Axis(extent, places, step, tuple(r - low for r in remainders), (AxisPhase(0, 1, count, taps),))


def spreading(extent: int, kernel: int, count: int, step: int, gap: int, low: int) -> Axis:
    """An axis of a convolution's result, read for its input with `extent` places: i is made of the results
    ``(i + low - k * gap) / step`` that are whole numbers."""
    firsts = range(min(step, extent))
    behind = [[(k, i + low - k * gap) for k in range(kernel)] for i in firsts]
    found = [[(k, n // step) for k, n in taps if n % step == 0] for taps in behind]
    before = max([0, *(-shift for taps in found for _, shift in taps)])
    phases = tuple(
        AxisPhase(i, step, -(-(extent - i) // step), tuple(Tap(k, 0, shift + before) for k, shift in taps))
        for i, taps in zip(firsts, found, strict=True)
    )
    places = max(phase.count + tap.shift for phase in phases for tap in (*phase.taps, Tap(0, 0, 0)))
    return Axis(count, places, 1, (-before,), phases)


@dataclass(frozen=True)
class Phase:
    """Results with the same taps, three axes together; `first_tap` counts in the table of all taps."""

    firsts: Shape
    counts: Shape
    first_tap: int
    taps: int


@dataclass(frozen=True)
class Piece:
    """What is copied into one part of a packed channel: the places `low` to `high`, from `source` on."""

    offset: int
    low: Shape
    high: Shape
    source: Shape


@dataclass(frozen=True)
class Geometry:
    """Three axes: the packed channels, the taps by phase (their place in the kernel, their offset), the phases."""

    axes: tuple[Axis, Axis, Axis]
    taps: tuple[tuple[int, int], ...]
    phases: tuple[Phase, ...]

    @property
    def places(self) -> Shape:
        return tuple(axis.places for axis in self.axes)

    @property
    def channel(self) -> int:
        """Elements of a packed channel."""
        return prod(self.places) * prod(len(axis.parts) for axis in self.axes)

    @property
    def steps(self) -> Shape:
        """How far apart the places of a part are in the array."""
        return tuple(axis.step for axis in self.axes)

    @property
    def result_steps(self) -> Shape:
        return tuple(axis.phases[0].step for axis in self.axes)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The copies that pack a channel; empty ones are left out."""
        found = []
        for number, parts in enumerate(product(*(range(len(axis.parts)) for axis in self.axes))):
            inside = [axis.inside(part) for axis, part in zip(self.axes, parts, strict=True)]
            if all(inside):
                starts = zip(self.axes, inside, parts, strict=True)
                source = tuple(axis.step * r.start + axis.parts[part] for axis, r, part in starts)
                low, high = tuple(r.start for r in inside), tuple(r.stop for r in inside)
                found.append(Piece(number * prod(self.places), low, high, source))
        return tuple(found)


def geometry(axes: tuple[Axis, ...], kernel: Shape) -> Geometry:
    """Some axes together, filled up to three in front."""
    missing = AXES - len(axes)
    single = Axis(1, 1, 1, (0,), (AxisPhase(0, 1, 1, (Tap(0, 0, 0),)),))
    filled = (*(single,) * missing, *axes)
    of_kernel = (*(1,) * missing, *kernel)
    places = tuple(axis.places for axis in filled)
    parts = tuple(len(axis.parts) for axis in filled)
    taps: list[tuple[int, int]] = []
    phases = []
    for along in product(*(axis.phases for axis in filled)):
        first = len(taps)
        for chosen in product(*(phase.taps for phase in along)):
            part = _ravelled(tuple(tap.part for tap in chosen), parts)
            shift = _ravelled(tuple(tap.shift for tap in chosen), places)
            taps.append((_ravelled(tuple(tap.kernel for tap in chosen), of_kernel), part * prod(places) + shift))
        firsts, counts = tuple(phase.first for phase in along), tuple(phase.count for phase in along)
        phases.append(Phase(firsts, counts, first, len(taps) - first))
    return Geometry(filled, tuple(taps), tuple(phases))  # type: ignore[arg-type]


def _ravelled(position: Shape, shape: Shape) -> int:
    flat = 0
    for place, extent in zip(position, shape, strict=True):
        flat = flat * extent + place
    return flat
