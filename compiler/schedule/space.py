"""The loops of one kernel: which axes are outer loops, and where in them a node has its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod

from ...ops.core import Reduction
from ..graph import Node
from .index import ZERO, Index, Variable, flattened, of_variable
from .maps import Position

#: Elements that a row's array may have; it lies on the stack.
LARGEST_ARRAY = 16384
#: Numbers in a vector, as far as the schedule knows.
LANES = 16
#: Short rows that are worked on at once. gcc wants a vector of the smallest type of a loop: bytes for truth values.
MOST_LANES = 64
#: Rows up to this length can be too short for vectors.
LONGEST_SHORT_ROW = 64


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
    if a.shape == b.shape and a.folded:
        return a if is_total(b, a) else b if is_total(a, b) else None
    return None


def is_total(fold: Space, rows: Space) -> bool:
    """True where a fold over the same elements as `rows` goes on from row to row."""
    goes_on = bool(rows.outer) and not rows.row_is_array and set(rows.outer) <= set(fold.folded)
    return goes_on and not has_short_rows(rows)


@dataclass(frozen=True)
class Loops:
    """A space with a variable for each axis, or several where a reshape cuts the axis into parts.

    With `lanes` the last variable of the kept axes is the innermost loop: short rows fill the lanes of a vector with
    rows in the place of elements, and a row's values are arrays.
    """

    space: Space
    axes: tuple[tuple[Variable, ...], ...]
    lanes: bool = False

    @property
    def outer(self) -> tuple[Variable, ...]:
        around = self.along(self.space.outer)
        return around[:-1] if self.lanes else around

    @property
    def inner(self) -> tuple[Variable, ...]:
        axes = tuple(axis for axis in range(len(self.axes)) if axis not in self.space.outer)
        return (*self.along(axes), *self.row_inner) if self.lanes else self.along(axes)

    @property
    def row_inner(self) -> tuple[Variable, ...]:
        """The row's loops that are not around all stages."""
        if self.lanes:
            return self.along(self.space.outer)[-1:]
        return self.along(tuple(axis for axis in self.space.kept if axis not in self.space.outer))

    @property
    def row_is_array(self) -> bool:
        return self.lanes or self.space.row_is_array

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

    def along(self, axes: tuple[int, ...]) -> tuple[Variable, ...]:
        """The loops of some axes."""
        return tuple(v for axis in axes for v in self.axes[axis])

    def position(self, shape: tuple[int, ...], axes: tuple[int, ...]) -> Position:
        """The position in an array of `shape` that has an element for each position on `axes`."""
        return self._position(shape, axes)

    def cut(self, parts: Mapping[Variable, int]) -> Loops:
        """The loops with each variable in `parts` replaced by two, the inner one of the given extent."""
        axes = [[piece for v in variables for piece in _pieces(v, parts.get(v, 0))] for variables in self.axes]
        names = iter(f"i{n}" for n in range(sum(map(len, axes))))
        named = tuple(tuple(Variable(next(names), e) for e in extents) for extents in axes)
        return replace(self, axes=named)


def _pieces(variable: Variable, inner: int) -> tuple[int, ...]:
    return (variable.extent // inner, inner) if inner else (variable.extent,)


def loops(space: Space) -> Loops:
    """Fresh variables for a space, named i0, i1, ..."""
    plain = Loops(space, tuple((Variable(f"i{axis}", extent),) for axis, extent in enumerate(space.shape)))
    lanes = _lanes(space)
    return replace(plain.cut({plain.outer[-1]: lanes}), lanes=True) if lanes else plain


def has_short_rows(space: Space) -> bool:
    """True where a row is too short for vectors along it: less than one, or mostly what is left over."""
    folded = prod(space.shape[axis] for axis in space.folded)
    if not space.outer or space.row_is_array or folded > LONGEST_SHORT_ROW:
        return False
    return folded <= LANES or folded % LANES != 0


def _lanes(space: Space) -> int:
    """How many rows are worked on at once where rows are short; 0 where their number has no good divisor."""
    if not has_short_rows(space):
        return 0
    rows = space.shape[space.outer[-1]]
    found = [n for n in range(LANES // 2, MOST_LANES + 1) if rows % n == 0]  # those that fill vectors best
    return max(found, key=lambda n: (n / (-(-n // LANES) * LANES), n), default=0)
