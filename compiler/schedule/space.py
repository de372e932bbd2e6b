"""The loops of one kernel: which axes are outer loops, and where in them a node has its place."""

from __future__ import annotations

from dataclasses import dataclass

from ...ops.core import Reduction
from ..graph import Node
from .index import ZERO, Variable, of_variable
from .maps import Position


def squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape without axes of extent 1, which need no loop."""
    return tuple(extent for extent in shape if extent != 1)


@dataclass(frozen=True)
class Space:
    """All elements that a kernel visits (`shape`, squeezed) and which of its axes are folded by its reductions.

    Without folded axes it is a plain loop nest. Otherwise a *row* is a position on the kept axes; where the last axis
    is folded, the kept axes are outer loops and the row's values are scalars. Where the last axis is kept, it stays the
    inner loop, since memory is contiguous along it, and the row's values are arrays.
    """

    shape: tuple[int, ...]
    folded: tuple[int, ...] = ()

    @property
    def kept(self) -> tuple[int, ...]:
        return tuple(axis for axis in range(len(self.shape)) if axis not in self.folded)

    @property
    def row_shape(self) -> tuple[int, ...]:
        return tuple(self.shape[axis] for axis in self.kept)

    @property
    def outer(self) -> tuple[int, ...]:
        """The axes that are loops around all stages."""
        if not self.folded:
            return ()
        if self.folded[-1] == len(self.shape) - 1:
            return self.kept
        return tuple(range(self.folded[0]))

    @property
    def row_is_array(self) -> bool:
        return bool(self.folded) and self.outer != self.kept


def space_of(node: Node) -> Space:
    """The loops that computing `node` alone would take."""
    if isinstance(node.op.lower, Reduction):
        shape, axes = node.args[0].type.shape, node.param("axes")
        real = [axis for axis, extent in enumerate(shape) if extent != 1]
        return Space(squeezed(shape), tuple(place for place, axis in enumerate(real) if axis in axes))
    return Space(squeezed(node.type.shape))


def united(a: Space, b: Space) -> Space | None:
    """The loops that can compute both, if one kernel can."""
    if a == b:
        return a
    if a.folded and not b.folded:
        return a if b.shape in (a.shape, a.row_shape) else None
    if b.folded and not a.folded:
        return united(b, a)
    return None


@dataclass(frozen=True)
class Loops:
    """A space with a variable for each axis."""

    space: Space
    axes: tuple[Variable, ...]

    @property
    def outer(self) -> tuple[Variable, ...]:
        return tuple(self.axes[axis] for axis in self.space.outer)

    @property
    def inner(self) -> tuple[Variable, ...]:
        return tuple(v for axis, v in enumerate(self.axes) if axis not in self.space.outer)

    @property
    def row(self) -> tuple[Variable, ...]:
        return tuple(self.axes[axis] for axis in self.space.kept)

    @property
    def row_inner(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.row if v not in self.outer)

    def on_row(self, node: Node) -> bool:
        """True where `node` has one value for each row, False where it has one for each element."""
        return bool(self.space.folded) and squeezed(node.type.shape) != self.space.shape

    def place(self, node: Node) -> Position:
        """The position in `node` at the current element or row."""
        return position(node.type.shape, self.row if self.on_row(node) else self.axes)


def loops(space: Space) -> Loops:
    """Fresh variables for a space, named i0, i1, ..."""
    return Loops(space, tuple(Variable(f"i{axis}", extent) for axis, extent in enumerate(space.shape)))


def position(shape: tuple[int, ...], variables: tuple[Variable, ...]) -> Position:
    """`variables` on the axes of `shape` that have an extent; 0 on the others."""
    rest = iter(variables)
    return tuple(ZERO if extent == 1 else of_variable(next(rest)) for extent in shape)
