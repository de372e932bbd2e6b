"""One unit of the plan -> one loop kernel: stages of loops, each after the folds that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...ops.core import Pointwise, Reduction
from ...ops.types import float32, float64
from ..graph import Node
from .coalesce import coalesced
from .index import Variable, cuts, flattened, of_variable
from .literals import SUFFIXES, ctype, initial
from .live import without_unread
from .records import Accumulator, Fold, Keep, Local, LocalArray, LoopKernel, Operand, Stage, Statement, Store, Value
from .rewrites.by_parts import by_parts
from .space import Loops, Space, loops
from .traffic import indices_of
from .values import Origins, Scope, Values

#: Rows up to this many elements are kept on the stack between stages.
LONGEST_ROW = 4096
#: A float32 sum of so many numbers may be added up in one float: its error is that of some thousand roundings at most.
LONGEST_FLOAT_SUM = 4096
#: Each round of cutting the loops where reshapes cut them can bring out finer cuts.
MOST_CUTS = 4

Memory = Callable[[Node], "str | None"]
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
    return coalesced(by_parts(kernel))


def _lowered(name: str, stages: _Stages) -> LoopKernel:
    for level in range(max(stages.ready.values()) + 1):
        stages.add_row_stage(level)
        stages.add_element_stage(level)
    stages.flush()
    return LoopKernel(name, stages.loops.outer, tuple(without_unread(stages.done)), tuple(stages.locals))


class _Stages:
    """Builds the stages of one kernel. `level` counts the folds that lie before a value, `ready` is where it exists."""

    def __init__(self, unit: Unit, stores: Stores, memory: Memory, loops: Loops, origins: Origins) -> None:
        self.unit = unit
        self.stores = stores
        self.loops = loops
        places = {node: loops.place(node) for node in unit.nodes}
        self.values = Values(memory, places, frozenset(loops.outer), origins=origins)
        self.level: dict[Node, int] = {}
        self.ready: dict[Node, int] = {}
        for node in unit.nodes:
            self.level[node] = max((self.ready[n] for n in unit.reads[node] if n in self.ready), default=0)
            self.ready[node] = self.level[node] + is_fold(node)
        self.done: list[Stage] = []
        self.locals: list[LocalArray] = []

    def add_row_stage(self, level: int) -> None:
        """Stores of values that rows have one of, folds included."""
        nodes = [n for n in self.stores if self.ready[n] == level and (is_fold(n) or self.loops.on_row(n))]
        kept = [n for n in self.unit.nodes if self._is_read_by_elements(n, level)]
        if nodes or kept:
            self._compute_in_order([*nodes, *kept], on_row=True)
            stores, keeps = self._stores(nodes), self._keeps(kept, self.loops.row_inner)
            self._add(self.loops.row_inner, [*stores, *keeps], ())
            self._bind(kept, keeps)

    def add_element_stage(self, level: int) -> None:
        """Stores of values that elements have one of, and the folds of this level, in one loop nest."""
        nodes = [n for n in self.stores if self.ready[n] == level and not is_fold(n) and not self.loops.on_row(n)]
        folds = [n for n in self.unit.nodes if is_fold(n) and self.level[n] == level]
        self._compute_in_order([*nodes, *folds], on_row=False)
        accumulators = [self._accumulator(n) for n in folds]
        steps = [self._fold(n, a) for n, a in zip(folds, accumulators, strict=True)]
        stores = self._stores(nodes)
        kept = [] if self.unit.space.row_is_array else [n for n in self.unit.nodes if self._is_worth_keeping(n, level)]
        keeps = self._keeps(kept, self.loops.inner)
        if nodes or folds:
            self._add(self.loops.inner, [*steps, *stores, *keeps], tuple(accumulators))
        self._bind(kept, keeps)
        for node, accumulator in zip(folds, accumulators, strict=True):
            self.values.bound[node] = self._result(accumulator, node)

    def _is_worth_keeping(self, node: Node, level: int) -> bool:
        """A call that was computed in this stage and that a later one wants again, for rows that fit on the stack."""
        lower = node.op.lower
        costly = isinstance(lower, Pointwise) and "tg_" in lower.c and not self.loops.on_row(node)
        if not costly or self.level[node] != level or _product([v.extent for v in self.loops.inner]) > LONGEST_ROW:
            return False
        again = any(node in self.unit.reads[n] and self.ready[n] > level for n in self.unit.nodes if not is_fold(n))
        return again and (node, self.values.places[node], ()) in self.values.body.known

    def _is_read_by_elements(self, node: Node, level: int) -> bool:
        """A row's value that is computed once for all elements, where rows are arrays; scalars need no array."""
        if (
            not self.unit.space.row_is_array
            or is_fold(node)
            or not self.loops.on_row(node)
            or self.ready[node] != level
        ):
            return False
        readers = [n for n in self.unit.nodes if node in self.unit.reads[n]]
        return any(is_fold(n) or not self.loops.on_row(n) for n in readers)

    def _keeps(self, nodes: list[Node], around: tuple[Variable, ...]) -> list[Keep]:
        """Statements that leave `nodes` in arrays on the stack, with an element for each turn of the loops `around`."""
        extents = tuple(v.extent for v in around)
        index = flattened(tuple(of_variable(v) for v in around), extents)
        keeps = []
        for node in nodes:
            self.values.count += 1
            name = f"{node.op.name}_row{self.values.count}"
            self.locals.append(LocalArray(name, ctype(node.type.dtype), max(_product(extents), 1)))
            value = self.values.named(node, self.values.value(node, self.values.places[node]))
            keeps.append(Keep(name, index, value))
        return keeps

    def _bind(self, nodes: list[Node], keeps: list[Keep]) -> None:
        self.values.bound.update({n: Local(k.array, k.index) for n, k in zip(nodes, keeps, strict=True)})

    def _compute_in_order(self, wanted: list[Node], on_row: bool) -> None:
        """Compute what `wanted` reads of this kernel, operands first: on demand alone, long chains would recurse."""
        needed = self._read_by(wanted)
        for node in self.unit.nodes:
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
        lower, dtype = reduction_of(node), node.type.dtype
        self.values.count += 1
        name = f"{node.op.name}_acc{self.values.count}"
        row = self.loops.row_inner
        shape = tuple(v.extent for v in row)
        of = float64 if _is_long_sum(node) else dtype
        compares = lower.kind in ("max", "min") and dtype.is_floating_point and not row
        return Accumulator(
            name=name,
            ctype=ctype(of),
            kind=lower.kind,
            init=initial(lower.init, of),
            combine=lower.combine.replace("{f}", SUFFIXES[dtype]),
            op=node.op.name,
            origin=self.values.origins(node),
            size=max(_product(shape), 1) if row else 0,
            index=flattened(tuple(of_variable(v) for v in row), shape) if row else None,
            nan_flag=f"{name}_nan" if compares else "",
        )

    def _fold(self, node: Node, accumulator: Accumulator) -> Statement:
        arg = node.args[0]
        operand = self.values.value(arg, self.loops.element(arg.type.shape))
        return Fold(accumulator, self.values.named(arg, operand))

    def _result(self, accumulator: Accumulator, node: Node) -> Operand:
        if accumulator.index is not None:
            return Local(accumulator.name, accumulator.index)
        rounded = f"({ctype(node.type.dtype)})" if _is_long_sum(node) else ""
        return Value(rounded + accumulator.name, frozenset(self.loops.outer))


def is_fold(node: Node) -> bool:
    return isinstance(node.op.lower, Reduction)


def reduction_of(node: Node) -> Reduction:
    assert isinstance(node.op.lower, Reduction)
    return node.op.lower


def _is_long_sum(node: Node) -> bool:
    """True for a float32 sum of so many numbers that one accumulator would drift: it is a double."""
    shape = node.args[0].type.shape
    folded = _product([shape[axis] for axis in node.param("axes")])
    return reduction_of(node).kind == "add" and node.type.dtype is float32 and folded > LONGEST_FLOAT_SUM


def _product(extents: Sequence[int]) -> int:
    total = 1
    for extent in extents:
        total *= extent
    return total
