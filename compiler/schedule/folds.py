"""Folds: their accumulators, those that go on from row to row, and what is computed of these behind the last row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...ops.core import Reduction
from ...ops.types import float32, float64
from ..graph import Node
from .index import Variable, flattened, of_variable
from .literals import SUFFIXES, ctype, initial
from .records import Accumulator, Local, Operand, Stage, Statement, Store, Value
from .space import LARGEST_ARRAY, Loops, is_total, space_of, squeezed
from .values import Memory, Origins, Scope, Unfusable, Values

#: A float32 sum of so many numbers may be added up in one float: its error is that of some thousand roundings at most.
LONGEST_FLOAT_SUM = 4096


def is_fold(node: Node) -> bool:
    return isinstance(node.op.lower, Reduction)


def reduction_of(node: Node) -> Reduction:
    assert isinstance(node.op.lower, Reduction)
    return node.op.lower


def accumulator(node: Node, name: str, around: tuple[Variable, ...], origin: str) -> Accumulator:
    """The accumulator of a fold: an array with an element for each turn of the loops `around`, else a variable."""
    lower, dtype = reduction_of(node), node.type.dtype
    shape = tuple(v.extent for v in around)
    of = float64 if _is_long_sum(node) else dtype
    compares = lower.kind in ("max", "min") and dtype.is_floating_point and not around
    return Accumulator(
        name=name,
        ctype=ctype(of),
        kind=lower.kind,
        init=initial(lower.init, of),
        combine=lower.combine.replace("{f}", SUFFIXES[dtype]),
        op=node.op.name,
        origin=origin,
        size=max(product(shape), 1) if around else 0,
        index=flattened(tuple(of_variable(v) for v in around), shape) if around else None,
        nan_flag=f"{name}_nan" if compares else "",
    )


def result(finished: Accumulator, node: Node, depends: frozenset[Variable]) -> Operand:
    """A finished fold; a variable belongs to the loops in `depends`."""
    if finished.index is not None:
        return Local(finished.name, finished.index)
    rounded = f"({ctype(node.type.dtype)})" if _is_long_sum(node) else ""
    return Value(rounded + finished.name, depends)


def _is_long_sum(node: Node) -> bool:
    """True for a float32 sum of so many numbers that one accumulator would drift: it is a double."""
    shape = node.args[0].type.shape
    folded = product([shape[axis] for axis in node.param("axes")])
    return reduction_of(node).kind == "add" and node.type.dtype is float32 and folded > LONGEST_FLOAT_SUM


def product(extents: Sequence[int]) -> int:
    total = 1
    for extent in extents:
        total *= extent
    return total


# ------------------------------------------------------------------------------------------------ folds of all rows


@dataclass(frozen=True)
class Totals:
    """The totals of a kernel, and the nodes that are computed of them, both in graph order."""

    folds: tuple[Node, ...]
    after: tuple[Node, ...]

    def __contains__(self, node: Node) -> bool:
        return node in self.folds or node in self.after


def totals_of(nodes: Sequence[Node], reads: Mapping[Node, frozenset[Node]], loops: Loops) -> Totals:
    """What of a kernel's nodes is known behind its rows only. Raises Unfusable where rows would need it."""
    rows = loops.space
    folds = tuple(n for n in nodes if is_fold(n) and space_of(n) != rows and is_total(space_of(n), rows))
    late = set(folds)
    for node in nodes:
        if node not in late and reads[node] & late:
            late.add(node)
    totals = Totals(folds, tuple(node for node in nodes if node in late and node not in folds))
    shapes = {squeezed(node.type.shape) for node in late} - {()}
    kept = {_kept(fold, loops) for fold in folds} - {()}
    # What is computed of totals is one number, or has their axes: wider results stand within rows.
    fitting = {squeezed(tuple(rows.shape[axis] for axis in axes)) for axes in kept}
    if any(map(is_fold, totals.after)) or len(kept) > 1 or not shapes <= fitting:
        raise Unfusable("a fold of all rows is wanted within them")
    if any(reduction_of(fold).kind != "add" for fold in folds):
        raise Unfusable("a fold of all rows is not a sum")
    if any(product([loops.space.shape[axis] for axis in axes]) > LARGEST_ARRAY for axes in kept):
        raise Unfusable("the folds of all rows do not fit on the stack")
    return totals


def _kept(fold: Node, loops: Loops) -> tuple[int, ...]:
    """The axes of the loops that a total has an element for."""
    folded = space_of(fold).folded
    return tuple(axis for axis in range(len(loops.space.shape)) if axis not in folded)


def total_accumulator(fold: Node, loops: Loops, name: str, origin: str) -> Accumulator:
    """The accumulator of a total, an array where it keeps inner axes."""
    return accumulator(fold, name, loops.along(_kept(fold, loops)), origin)


def last_stages(
    totals: Totals,
    accumulators: Mapping[Node, Accumulator],
    loops: Loops,
    stores: Mapping[Node, Sequence[str]],
    memory: Memory,
    origins: Origins,
    count: int,
) -> list[Stage]:
    """The stages behind the rows: stores of totals, and of what is computed of them; `count` values have names."""
    axes = next((kept for kept in (_kept(fold, loops) for fold in totals.folds) if kept), ())
    nodes = (*totals.folds, *totals.after)
    places = {n: loops.position(n.type.shape, axes if squeezed(n.type.shape) else ()) for n in nodes}
    values = Values(memory, places, frozenset(), count=count, origins=origins)
    values.bound.update({fold: result(accumulators[fold], fold, frozenset()) for fold in totals.folds})
    for node in totals.after:
        values.value(node, places[node])
    once = [n for n in nodes if n in stores and not squeezed(n.type.shape)]
    each = [n for n in nodes if n in stores and squeezed(n.type.shape)]
    first = _stage((), values, values.row, once, stores)
    return [*first, *_stage(loops.along(axes), values, values.body, each, stores)]


def _stage(
    around: tuple[Variable, ...], values: Values, scope: Scope, stored: list[Node], stores: Mapping[Node, Sequence[str]]
) -> list[Stage]:
    written: list[Statement] = []
    for node in stored:
        place = values.places[node]
        value = values.named(node, values.value(node, place))
        written += [Store(buffer, flattened(place, node.type.shape), value) for buffer in stores[node]]
    body = (*scope.statements, *written)
    return [Stage(around, body)] if body else []
