"""One unit of the plan -> one loop kernel: stages of loops, each after the folds that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...ops.core import Reduction
from ..graph import Node
from .index import Variable, flattened
from .literals import SUFFIXES, ctype, initial
from .records import Accumulator, Fold, Local, LoopKernel, Operand, Stage, Statement, Store, Value
from .space import Loops, Space, loops, position
from .values import Scope, Values

Memory = Callable[[Node], "str | None"]
Stores = Mapping[Node, Sequence[str]]


@dataclass(frozen=True)
class Unit:
    """Nodes that one kernel computes, in graph order, with what each reads of the plan's other nodes."""

    nodes: tuple[Node, ...]
    space: Space
    reads: Mapping[Node, frozenset[Node]]


def lower_loops(name: str, unit: Unit, stores: Stores, memory: Memory) -> LoopKernel:
    """The loops that compute a unit and store what others read. Raises Unfusable when they do not fit together."""
    stages = _Stages(unit, stores, memory, loops(unit.space))
    for level in range(max(stages.ready.values()) + 1):
        stages.add_row_stage(level)
        stages.add_element_stage(level)
    stages.flush()
    return LoopKernel(name, stages.loops.outer, tuple(stages.done))


class _Stages:
    """Builds the stages of one kernel. `level` counts the folds that lie before a value, `ready` is where it exists."""

    def __init__(self, unit: Unit, stores: Stores, memory: Memory, loops: Loops) -> None:
        self.unit = unit
        self.stores = stores
        self.loops = loops
        places = {node: loops.place(node) for node in unit.nodes}
        self.values = Values(memory, places, frozenset(loops.outer))
        self.level: dict[Node, int] = {}
        self.ready: dict[Node, int] = {}
        for node in unit.nodes:
            self.level[node] = max((self.ready[n] for n in unit.reads[node] if n in self.ready), default=0)
            self.ready[node] = self.level[node] + is_fold(node)
        self.done: list[Stage] = []

    def add_row_stage(self, level: int) -> None:
        """Stores of values that rows have one of, folds included."""
        nodes = [n for n in self.stores if self.ready[n] == level and (is_fold(n) or self.loops.on_row(n))]
        if nodes:
            self._add(self.loops.row_inner, self._stores(nodes), ())

    def add_element_stage(self, level: int) -> None:
        """Stores of values that elements have one of, and the folds of this level, in one loop nest."""
        nodes = [n for n in self.stores if self.ready[n] == level and not is_fold(n) and not self.loops.on_row(n)]
        folds = [n for n in self.unit.nodes if is_fold(n) and self.level[n] == level]
        accumulators = [self._accumulator(n) for n in folds]
        steps = [self._fold(n, a) for n, a in zip(folds, accumulators, strict=True)]
        if nodes or folds:
            self._add(self.loops.inner, [*steps, *self._stores(nodes)], tuple(accumulators))
        for node, accumulator in zip(folds, accumulators, strict=True):
            self.values.bound[node] = self._result(accumulator)

    def _add(self, around: tuple[Variable, ...], last: list[Statement], accumulators: tuple[Accumulator, ...]) -> None:
        """A stage whose body has been computed, ended by the statements `last`."""
        if not around:
            self.values.row.statements.extend(last)
            return
        self.flush()
        self.done.append(Stage(around, (*self.values.body.statements, *last), accumulators))
        self.values.body = Scope()

    def flush(self) -> None:
        """Row statements so far become a stage in a straight line."""
        if self.values.row.statements:
            self.done.append(Stage((), tuple(self.values.row.statements)))
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
        name = f"{node.op.name}_{self.values.count}"
        row = self.loops.row_inner
        shape = tuple(v.extent for v in row)
        compares = lower.kind in ("max", "min") and dtype.is_floating_point and not row
        return Accumulator(
            name=name,
            ctype=ctype(dtype),
            kind=lower.kind,
            init=initial(lower.init, dtype),
            combine=lower.combine.replace("{f}", SUFFIXES[dtype]),
            op=node.op.name,
            origin=str(node.origin),
            size=_product(shape) if row else 0,
            index=flattened(position(shape, row), shape) if row else None,
            nan_flag=f"{name}_nan" if compares else "",
        )

    def _fold(self, node: Node, accumulator: Accumulator) -> Statement:
        arg = node.args[0]
        operand = self.values.value(arg, position(arg.type.shape, self.loops.axes))
        return Fold(accumulator, self.values.named(arg, operand))

    def _result(self, accumulator: Accumulator) -> Operand:
        if accumulator.index is not None:
            return Local(accumulator.name, accumulator.index)
        return Value(accumulator.name, frozenset(self.loops.outer))


def is_fold(node: Node) -> bool:
    return isinstance(node.op.lower, Reduction)


def reduction_of(node: Node) -> Reduction:
    assert isinstance(node.op.lower, Reduction)
    return node.op.lower


def _product(extents: Sequence[int]) -> int:
    total = 1
    for extent in extents:
        total *= extent
    return total
