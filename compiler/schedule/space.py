"""The loops of one kernel: which axes are outer loops, and where in them a node has its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from ...ops.core import Reduction
from ..graph import Node
from .index import ZERO, Index, Variable, flattened, of_variable
from .maps import Position

#: Elements that a row's array may have; it lies on the stack.
LARGEST_ARRAY = 16384


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
        inner = [self.shape[axis] for axis in self.kept if axis > self.folded[0]]
        if self.folded[-1] == len(self.shape) - 1 or prod(inner) > LARGEST_ARRAY:
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
    """A space with a variable for each axis, or several where a reshape cuts the axis into parts."""

    space: Space
    axes: tuple[tuple[Variable, ...], ...]

    @property
    def outer(self) -> tuple[Variable, ...]:
        return tuple(v for axis in self.space.outer for v in self.axes[axis])

    @property
    def inner(self) -> tuple[Variable, ...]:
        return tuple(v for axis, variables in enumerate(self.axes) if axis not in self.space.outer for v in variables)

    @property
    def row_inner(self) -> tuple[Variable, ...]:
        """The row's loops that are not around all stages."""
        return tuple(v for axis in self.space.kept if axis not in self.space.outer for v in self.axes[axis])

    def on_row(self, node: Node) -> bool:
        """True where `node` has one value for each row, False where it has one for each element."""
        return bool(self.space.folded) and squeezed(node.type.shape) != self.space.shape

    def element(self, shape: tuple[int, ...]) -> Position:
        """The position of the current element in an array of `shape`."""
        return self._position(shape, tuple(range(len(self.axes))))

    def place(self, node: Node) -> Position:
        """The position in `node` at the current element or row."""
        return self._position(node.type.shape, self.space.kept) if self.on_row(node) else self.element(node.type.shape)

    def _position(self, shape: tuple[int, ...], axes: tuple[int, ...]) -> Position:
        rest = iter(axes)
        return tuple(ZERO if extent == 1 else self._index(next(rest)) for extent in shape)

    def _index(self, axis: int) -> Index:
        shape = tuple(v.extent for v in self.axes[axis])
        return flattened(tuple(of_variable(v) for v in self.axes[axis]), shape)

    def cut(self, parts: Mapping[Variable, int]) -> Loops:
        """The loops with each variable in `parts` replaced by two, the inner one of the given extent."""
        axes = [[piece for v in variables for piece in _pieces(v, parts.get(v, 0))] for variables in self.axes]
        names = iter(f"i{n}" for n in range(sum(map(len, axes))))
        return Loops(self.space, tuple(tuple(Variable(next(names), e) for e in extents) for extents in axes))


def _pieces(variable: Variable, inner: int) -> tuple[int, ...]:
    return (variable.extent // inner, inner) if inner else (variable.extent,)


def loops(space: Space) -> Loops:
    """Fresh variables for a space, named i0, i1, ..."""
    return Loops(space, tuple((Variable(f"i{axis}", extent),) for axis, extent in enumerate(space.shape)))
