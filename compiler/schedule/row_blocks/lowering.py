"""A group of products and row work -> one kernel that goes through blocks of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...graph import Node
from ..dots import view
from ..folds import is_fold
from ..fusion.group import Group
from ..index import ZERO, Index, Variable, of_variable, strides_of
from ..lower import Memory, Stores, Unit, lower_stages
from ..records import Let, Load, LoopKernel, Operand, Stage, Statement, Store, View, operands_in
from ..space import Loops, squeezed
from ..values import Origins, Unfusable
from .limits import limits_of
from .parts import Parts, TileUse, parts_of
from .placing import placed_in
from .records import (
    MOST_TILE_ROWS,
    Blocks,
    Panel,
    RowBlockKernel,
    Scores,
    Use,
    is_own,
    is_tile,
    tile_name,
    width,
)

#: Rows of a block, where their tiles fit into `TILE_BYTES`.
USUAL_BLOCK = 4 * MOST_TILE_ROWS
#: What the tiles of a block may take, so that they stay in the L2 cache beside the panels.
TILE_BYTES = 256 * 1024


def lower_row_blocks(
    name: str, group: Group, reads: Mapping[Node, frozenset[Node]], stores: Stores, memory: Memory, origins: Origins
) -> RowBlockKernel:
    """The kernel of a group with products. Raises Unfusable where the work on rows does not fit between them."""
    parts = parts_of(group.nodes)
    loops, number = _loops(parts), _tiles(parts, reads)
    before, around = _row_work(parts, loops, number, reads, stores, memory, origins)
    panels = _Panels(memory, parts.item)
    scores = tuple(
        Scores(n, panels.of(node.args[0]), panels.of(node.args[1]), node.args[0].type.shape[-1], origins(node))
        for n, node in enumerate(parts.scores)
    )
    uses = tuple(_use(use, number[use.tile], panels, stores, origins) for use in parts.uses)
    stored = any(stores.get(node) and node.type.shape == parts.shape for node in parts.rows)
    limits = limits_of(parts, loops, memory, panels.checked, not stored)
    rows, tiles = parts.shape[-2], len(set(number.values()))
    wide = width(parts.shape[-1], parts.item)
    block = _block(rows, wide.pitch * parts.item * tiles)
    stages = (*(limits.stages if limits else ()), *before, *around.stages)
    return RowBlockKernel(
        name=name,
        kind="row_block",
        operands=tuple((f"x{n}", buffer) for n, buffer in enumerate(_read(panels.found, stages))),
        outputs=tuple((f"out{n}", buffer) for n, buffer in enumerate(_written(uses, stages))),
        numbers=(("rows", rows), ("columns", wide.columns), ("block", block)),
        op=parts.scores[0].op.name,
        origin=origins(parts.scores[0]),
        blocks=Blocks(parts.dtype, rows, block, wide, tuple(panels.found), scores, uses, tiles, limits),
        around=around,
        before=before,
    )


def _row_work(
    parts: Parts,
    loops: Loops,
    number: Mapping[Node, int],
    reads: Mapping[Node, frozenset[Node]],
    stores: Stores,
    memory: Memory,
    origins: Origins,
) -> tuple[tuple[Stage, ...], LoopKernel]:
    """What is done with the elements of tiles before any fold, and the loops for the rest of the work on a row."""
    tiles = {node: tile_name(n) for node, n in number.items()}

    def lowered(nodes: Sequence[Node]) -> LoopKernel:
        kept = {node: [*stores.get(node, ()), *([tiles[node]] if node in tiles else [])] for node in nodes}
        stored = {node: names for node, names in kept.items() if names}

        def place(node: Node) -> str | None:
            return tiles[node] if node in tiles and node not in nodes else memory(node)

        kernel = lower_stages("", Unit(tuple(nodes), parts.space, reads), stored, place, loops, origins)
        return _by_row(kernel, loops, parts.shape)

    first = [node for node in parts.rows if node in _first(parts, reads)]
    rest = lowered([node for node in parts.rows if node not in first])
    return (lowered(first).stages if first else ()), rest


def _use(use: TileUse, tile: int, panels: _Panels, stores: Stores, origins: Origins) -> Use:
    target = _target(use.node, stores)
    panel = panels.of(use.panel, use.turned)
    return Use(tile, panel, use.of_columns, _turned(target) if use.turned else target, origins(use.node))


def _loops(parts: Parts) -> Loops:
    """A variable for each axis of the scores that is more than one element long."""
    space = parts.space
    return Loops(space, tuple((Variable(f"i{axis}", extent),) for axis, extent in enumerate(space.shape)))


def _first(parts: Parts, reads: Mapping[Node, frozenset[Node]]) -> dict[Node, Node]:
    """Work on the elements of scores before any fold, with the scores in whose place it is written: what is read of
    masks and biases stays out of the loops that fold, whose vectors are as wide as the scores'."""
    readers = {n: [node for node in parts.rows if n in reads[node]] for n in parts.scores}
    alone = [(found[0], n) for n, found in readers.items() if len(found) == 1]
    rows = frozenset(parts.rows)
    return {
        node: n for node, n in alone if node.type.shape == parts.shape and not is_fold(node) and not reads[node] & rows
    }


def _tiles(parts: Parts, reads: Mapping[Node, frozenset[Node]]) -> dict[Node, int]:
    """The number of the tile of each node that has one."""
    found = {node: n for n, node in enumerate(parts.scores)}
    for node, scores in _first(parts, reads).items():
        found.setdefault(node, found[scores])
    for use in parts.uses:
        found.setdefault(use.tile, len(set(found.values())))
    return found


def _block(rows: int, row_bytes: int) -> int:
    """How many rows of all tiles to work on at a time."""
    fitting = TILE_BYTES // row_bytes // MOST_TILE_ROWS * MOST_TILE_ROWS
    return min(rows, max(MOST_TILE_ROWS, min(USUAL_BLOCK, fitting)) if rows > USUAL_BLOCK + MOST_TILE_ROWS else rows)


class _Panels:
    """The operands of products as panels, each once."""

    def __init__(self, memory: Memory, item: int) -> None:
        self.memory = memory
        self.item = item
        self.found: list[Panel] = []

    def of(self, operand: Node, turned: bool = False) -> int:
        """The number of the panel of a node, or of what it is when turned."""
        rows, columns = operand.type.shape[-2:][:: -1 if turned else 1]
        seen = view(operand, self.memory)
        seen = _turned(seen) if turned else seen
        kept = tuple(s for s, extent in zip(seen.batch_strides, operand.type.shape, strict=False) if extent != 1)
        panel = Panel(replace(seen, batch_strides=kept), rows, width(columns, self.item))
        if panel not in self.found:
            self.found.append(panel)
        return self.found.index(panel)

    @property
    def checked(self) -> tuple[int, ...]:
        """Panels that have all numbers of all of them: one of those that show the same memory."""
        shown: dict[object, int] = {}
        for number, panel in enumerate(self.found):
            seen = panel.view
            strides = frozenset((seen.row_stride, seen.column_stride))
            shown.setdefault((seen.buffer, seen.offset, seen.batch_strides, strides), number)
        return tuple(shown.values())


def _turned(of: View) -> View:
    return replace(of, row_stride=of.column_stride, column_stride=of.row_stride)


def _target(node: Node, stores: Stores) -> View:
    """Where the elements of a product are stored: in memory of its own, or in that of what only moves them."""
    found = [(buffer, moved) for moved, names in stores.items() for buffer in names]
    for buffer, moved in found:
        strides = placed_in(moved, node)
        if strides is not None:
            offset, along = strides
            *batch, row, column = along
            kept = tuple(s for s, extent in zip(batch, node.type.shape, strict=False) if extent != 1)
            return View(buffer, offset, kept, row, column)
    raise Unfusable(f"{node} has no memory")


# ------------------------------------------------------------------------------------------------------ rows of tiles


def _by_row(kernel: LoopKernel, loops: Loops, shape: tuple[int, ...]) -> LoopKernel:
    """The loops with elements of tiles counted from the beginning of the current row."""
    own = _own(loops, shape)
    column = of_variable(loops.axes[-1][0])
    stages = tuple(_stage(stage, own, column) for stage in kernel.stages)
    return replace(kernel, stages=stages)


def _own(loops: Loops, shape: tuple[int, ...]) -> Index:
    """The current element in an array of the shape of the scores."""
    total = ZERO
    for axis, stride in zip(loops.axes, strides_of(squeezed(shape)), strict=True):
        total = total + of_variable(axis[0]) * stride
    return total


def _stage(stage: Stage, own: Index, column: Index) -> Stage:
    def at(index: Index) -> Index:
        if index != own:
            raise Unfusable("an element of another row is wanted")
        return column

    def operand(of: Operand) -> Operand:
        return replace(of, index=at(of.index)) if isinstance(of, Load) and is_tile(of.buffer) else of

    def statement(of: Statement) -> Statement:
        if isinstance(of, Let):
            return replace(of, operands=tuple((name, operand(each)) for name, each in of.operands))
        if isinstance(of, Store) and is_tile(of.buffer):
            return Store(of.buffer, at(of.index), operand(of.value))
        return replace(of, value=operand(of.value))

    return replace(stage, body=tuple(statement(each) for each in stage.body))


def _read(panels: Sequence[Panel], stages: Sequence[Stage]) -> tuple[str, ...]:
    found = [panel.view.buffer for panel in panels]
    for statement in (s for stage in stages for s in stage.body):
        found += [o.buffer for o in operands_in(statement) if isinstance(o, Load) and not is_own(o.buffer)]
    return tuple(dict.fromkeys(found))


def _written(uses: Sequence[Use], stages: Sequence[Stage]) -> tuple[str, ...]:
    stores = [s.buffer for stage in stages for s in stage.body if isinstance(s, Store)]
    return tuple(dict.fromkeys((*(use.target.buffer for use in uses), *(s for s in stores if not is_own(s)))))
