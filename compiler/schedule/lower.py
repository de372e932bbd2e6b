"""One unit of the plan -> one loop kernel: stages of loops, each after the folds that it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..graph import Node
from .coalesce import coalesced
from .folds import accumulator, is_fold, last_stages, product, result, total_accumulator, totals_of
from .index import Variable, cuts, flattened, of_variable
from .literals import ctype
from .live import frontier, is_costly, without_unread
from .records import Accumulator, Fold, Keep, Local, LocalArray, LoopKernel, Stage, Statement, Store
from .rewrites.by_lanes import by_lanes
from .rewrites.by_parts import by_parts
from .rewrites.in_memory_order import in_memory_order
from .space import Loops, Space, loops
from .traffic import indices_of
from .values import Memory, Origins, Scope, Values

#: Rows up to this many elements are kept on the stack between stages.
LONGEST_ROW = 16384
#: Each round of cutting the loops where reshapes cut them can bring out finer cuts.
MOST_CUTS = 4

Stores = Mapping[Node, Sequence[str]]


@dataclass(frozen=True)
class Unit:
    """Nodes that one kernel computes, in graph order, with what each reads of the plan's other nodes."""

    nodes: tuple[Node, ...]
    space: Space
    reads: Mapping[Node, frozenset[Node]]


def lower_loops(name: str, unit: Unit, stores: Stores, memory: Memory, origins: Origins) -> LoopKernel:
    """The loops that compute a unit and store what others read. Raises Unfusable when they do not fit together."""
    around = loops(unit.space)
    for _ in range(MOST_CUTS):
        kernel = _lowered(name, _Stages(unit, stores, memory, around, origins))
        parts = cuts(indices_of(kernel))
        if not parts:
            break
        around = around.cut(parts)
    return in_memory_order(by_lanes(coalesced(by_parts(kernel))))


def lower_stages(name: str, unit: Unit, stores: Stores, memory: Memory, around: Loops, origins: Origins) -> LoopKernel:
    """The same for loops that are given and stay as they are."""
    return _lowered(name, _Stages(unit, stores, memory, around, origins))


def _lowered(name: str, stages: _Stages) -> LoopKernel:
    for level in range(max(stages.ready.values()) + 1):
        stages.add_row_stage(level)
        stages.add_element_stage(level)
    stages.flush()
    return stages.kernel(name)


class _Stages:
    """Builds the stages of one kernel. `level` counts the folds that lie before a value, `ready` is where it exists."""

    def __init__(self, unit: Unit, stores: Stores, memory: Memory, loops: Loops, origins: Origins) -> None:
        self.unit = unit
        self.loops = loops
        self.totals = totals_of(unit.nodes, unit.reads, loops)
        self.running: dict[Node, Accumulator] = {}
        self.nodes = [node for node in unit.nodes if node not in self.totals.after]
        self.all_stores = stores
        self.stores = {node: names for node, names in stores.items() if node not in self.totals}
        places = {node: loops.place(node) for node in self.nodes if node not in self.totals}
        self.values = Values(memory, places, frozenset(loops.outer), origins=origins)
        self.level: dict[Node, int] = {}
        self.ready: dict[Node, int] = {}
        for node in self.nodes:
            self.level[node] = max((self.ready[n] for n in unit.reads[node] if n in self.ready), default=0)
            self.ready[node] = self.level[node] + (is_fold(node) and node not in self.totals)
        self.done: list[Stage] = []
        self.locals: list[LocalArray] = []

    def kernel(self, name: str) -> LoopKernel:
        """The kernel, when all stages have been added."""
        last: list[Stage] = []
        if self.totals.folds:
            values = self.values
            last = last_stages(
                self.totals, self.running, self.loops, self.all_stores, values.memory, values.origins, values.count
            )
        read: set[str] = set()
        last = without_unread(last, read)
        stages = without_unread(self.done, read)
        totals = tuple(self.running.values())
        rows = tuple(array for array in self.locals if array.name in read)
        return LoopKernel(name, self.loops.outer, tuple(stages), rows, totals, tuple(last))

    def add_row_stage(self, level: int) -> None:
        """Stores of values that rows have one of, folds included."""
        nodes = [n for n in self.stores if self.ready[n] == level and (is_fold(n) or self.loops.on_row(n))]
        kept = [n for n in self.nodes if self._is_read_by_elements(n, level)]
        if nodes or kept:
            self._compute_in_order([*nodes, *kept], on_row=True)
            stores, keeps = self._stores(nodes), self._keeps(kept, self.loops.row_inner)
            self._add(self.loops.row_inner, [*stores, *keeps], ())
            self._bind(kept, keeps)

    def add_element_stage(self, level: int) -> None:
        """Stores of values that elements have one of, and the folds of this level, in one loop nest."""
        nodes = [n for n in self.stores if self.ready[n] == level and not is_fold(n) and not self.loops.on_row(n)]
        folds = [n for n in self.nodes if is_fold(n) and self.level[n] == level]
        self._compute_in_order([*nodes, *folds], on_row=False)
        accumulators = [self._accumulator(n) for n in folds]
        steps = [self._fold(n, a) for n, a in zip(folds, accumulators, strict=True)]
        stores = self._stores(nodes)
        kept = self._kept_elements(level)
        keeps = self._keeps(kept, self.loops.inner)
        if nodes or folds:
            own = tuple(a for n, a in zip(folds, accumulators, strict=True) if n not in self.totals)
            self._add(self.loops.inner, [*steps, *stores, *keeps], own)
        self._bind(kept, keeps)
        for node, finished in zip(folds, accumulators, strict=True):
            if node not in self.totals:
                self.values.bound[node] = result(finished, node, frozenset(self.loops.outer))

    def _kept_elements(self, level: int) -> list[Node]:
        """What this stage has computed and later ones want again, for rows that fit on the stack."""
        if product([v.extent for v in self.loops.inner]) > LONGEST_ROW:
            return []
        later = [n for n in self.nodes if is_fold(n) and self.level[n] > level]
        later += [n for n in self.stores if self.ready[n] > level and not is_fold(n)]

        def computed_here(node: Node) -> bool:
            return (node, self.values.places[node], ()) in self.values.body.known and self.level[node] == level

        kept = frontier(
            later,
            self.unit.reads,
            open=lambda node: node in self.values.places and not self._is_at_hand(node),
            worth=lambda node: computed_here(node) and is_costly(node, self._is_at_hand),
        )
        return [node for node in self.nodes if node in kept]

    def _is_at_hand(self, node: Node) -> bool:
        """True where a later stage has the value without computing it for each element."""
        if node in self.values.bound or node.is_constant or self.loops.on_row(node):
            return True
        return node not in self.values.places and self.values.memory(node) is not None

    def _is_read_by_elements(self, node: Node, level: int) -> bool:
        """A row's value that is computed once for all elements, where rows are arrays; scalars need no array."""
        if not self.loops.row_is_array or is_fold(node) or not self.loops.on_row(node) or self.ready[node] != level:
            return False
        readers = [n for n in self.nodes if node in self.unit.reads[n]]
        return any(is_fold(n) or not self.loops.on_row(n) for n in readers)

    def _keeps(self, nodes: list[Node], around: tuple[Variable, ...]) -> list[Keep]:
        """Statements that leave `nodes` in arrays on the stack, with an element for each turn of the loops `around`."""
        extents = tuple(v.extent for v in around)
        index = flattened(tuple(of_variable(v) for v in around), extents)
        keeps = []
        for node in nodes:
            self.values.count += 1
            name = f"{node.op.name}_row{self.values.count}"
            self.locals.append(LocalArray(name, ctype(node.type.dtype), max(product(extents), 1)))
            value = self.values.named(node, self.values.value(node, self.values.places[node]))
            keeps.append(Keep(name, index, value))
        return keeps

    def _bind(self, nodes: list[Node], keeps: list[Keep]) -> None:
        self.values.bound.update({n: Local(k.array, k.index) for n, k in zip(nodes, keeps, strict=True)})

    def _compute_in_order(self, wanted: list[Node], on_row: bool) -> None:
        """Compute what `wanted` reads of this kernel, operands first: on demand alone, long chains would recurse."""
        needed = self._read_by(wanted)
        for node in self.nodes:
            if node in needed and self.loops.on_row(node) == on_row:
                self.values.value(node, self.values.places[node])

    def _read_by(self, wanted: list[Node]) -> set[Node]:
        """The nodes of this kernel that computing `wanted` looks at and that no earlier stage has left."""
        found: set[Node] = set()
        pending = list(wanted)
        while pending:
            for node in self.unit.reads[pending.pop()]:
                if node in self.values.places and node not in self.values.bound and node not in found:
                    found.add(node)
                    pending.append(node)
        return found

    def _add(self, around: tuple[Variable, ...], last: list[Statement], accumulators: tuple[Accumulator, ...]) -> None:
        """A stage whose body has been computed, ended by the statements `last`."""
        if not around:
            self.values.row.statements.extend(last)
            return
        self.flush()
        self.done.append(Stage(around, (*self.values.body.statements, *last), accumulators))
        self.values.body = Scope()

    def flush(self) -> None:
        """Row statements so far become a stage in a straight line. It stores when all is read that it may overwrite."""
        if self.values.row.statements:
            ordered = sorted(self.values.row.statements, key=lambda statement: isinstance(statement, Store))
            self.done.append(Stage((), tuple(ordered)))
            self.values.row.statements = []

    def _stores(self, nodes: list[Node]) -> list[Statement]:
        stores: list[Statement] = []
        for node in nodes:
            place = self.values.places[node]
            value = self.values.named(node, self.values.value(node, place))
            stores.extend(Store(buffer, flattened(place, node.type.shape), value) for buffer in self.stores[node])
        return stores

    def _accumulator(self, node: Node) -> Accumulator:
        self.values.count += 1
        name, origin = f"{node.op.name}_acc{self.values.count}", self.values.origins(node)
        if node in self.totals:
            self.running[node] = total_accumulator(node, self.loops, name, origin)
            return self.running[node]
        return accumulator(node, name, self.loops.row_inner, origin)

    def _fold(self, node: Node, accumulator: Accumulator) -> Statement:
        arg = node.args[0]
        operand = self.values.value(arg, self.loops.element(arg.type.shape))
        return Fold(accumulator, self.values.named(arg, operand))
