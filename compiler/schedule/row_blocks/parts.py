"""What the nodes of a group do in a kernel that goes through blocks of rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ....ops.core import Pointwise
from ....ops.lazy import lazy
from ....ops.movement import reshape_primitive, transpose_primitive
from ....ops.types import DType
from ...graph import Node
from ..dots import is_dot
from ..folds import is_fold
from ..space import Space, squeezed
from .placing import MOVING


@dataclass(frozen=True)
class TileUse:
    """The product `node` of a `tile` and a `panel`: a row of its result for each row of the tile, or for each of its
    columns. `turned`: the operands stand the other way round, and the result is the transposed one."""

    node: Node
    tile: Node
    panel: Node
    of_columns: bool
    turned: bool


@dataclass(frozen=True)
class Parts:
    """The `shape` of the scores, the products that make them, the work on `rows`, the products that use what it makes,
    and what only moves their results."""

    shape: tuple[int, ...]
    scores: tuple[Node, ...]
    rows: tuple[Node, ...]
    uses: tuple[TileUse, ...]
    moved: tuple[Node, ...]

    @lazy
    def space(self) -> Space:
        found = squeezed(self.shape)
        return Space(found, (len(found) - 1,))

    @property
    def dtype(self) -> DType:
        return self.scores[0].type.dtype

    @property
    def item(self) -> int:
        return self.dtype.itemsize


def parts_of(nodes: Sequence[Node]) -> Parts:
    """The parts of a group, whose nodes are in graph order."""
    inside = frozenset(nodes)
    shape = next(node.args[0].type.shape for node in nodes if is_fold(node))
    scores: list[Node] = []
    rows: list[Node] = []
    uses: list[TileUse] = []
    moved: list[Node] = []
    for node in nodes:
        use = tile_use(node, shape, inside)
        if use is not None:
            uses.append(use)
        elif is_dot(node):
            scores.append(node)
        else:
            (moved if node.op in MOVING else rows).append(node)
    return Parts(shape, tuple(scores), tuple(rows), tuple(uses), tuple(moved))


def tile_use(node: Node, shape: tuple[int, ...], inside: Collection[Node] | None = None) -> TileUse | None:
    """How `node` multiplies what has the `shape` of scores (and is `inside`), if it is such a product."""
    if not is_dot(node):
        return None
    for place, arg in enumerate(node.args):
        tile, swapped = turning(arg)
        fits = isinstance(tile.op.lower, Pointwise) if inside is None else tile in inside and not is_dot(tile)
        if tile.type.shape == shape and fits:
            turned = place == 1
            return TileUse(node, tile, node.args[1 - place], swapped != turned, turned)
    return None


def turning(node: Node) -> tuple[Node, bool]:
    """What `node` is, but for its last two axes, and whether these are exchanged."""
    last = node.type.ndim - 1
    if node.op is transpose_primitive and node.param("permutation") == (*range(last - 1), last, last - 1):
        return node.args[0], True
    return node, False


def untransposed(node: Node) -> Node:
    """`node` without exchanges of its last two axes, and without other movement that a panel is read through."""
    while node.op in (transpose_primitive, reshape_primitive):
        node = node.args[0]
    return node
