"""The graph level: frozen nodes with one output each, compared by identity.

A graph holds its inputs and its results only; the order of evaluation is derived, so dead code cannot exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..ops.core import Number, Params, Primitive
from ..ops.operators import Operators
from ..ops.sources import full_primitive, input_primitive
from ..ops.types import DType, Type


@dataclass(frozen=True)
class Origin:
    """Where in the user's program a node comes from: file and line, module path (``fc1``), and ∂ for derivatives."""

    file: str = ""
    line: int = 0
    module: str = ""
    derivative: bool = False

    @property
    def place(self) -> str:
        return f"{self.file.rsplit('/', 1)[-1]}:{self.line}" if self.file else ""

    def __str__(self) -> str:
        return " ".join(part for part in ("∂" if self.derivative else "", self.place, self.module) if part)


NOWHERE = Origin()


@dataclass(frozen=True, eq=False)
class Node(Operators):
    """One value: a primitive applied to other nodes. Operators on nodes go to the current interpreter (a Builder)."""

    op: Primitive
    args: tuple[Node, ...]
    params: tuple[tuple[str, Any], ...]
    type: Type
    origin: Origin = NOWHERE

    def param(self, name: str) -> Any:
        """The parameter called `name`; KeyError if the primitive has none."""
        return dict(self.params)[name]

    @property
    def is_input(self) -> bool:
        return self.op is input_primitive

    @property
    def is_constant(self) -> bool:
        """True for a number without dimensions, known when the graph is built."""
        return self.op is full_primitive and self.type.shape == ()

    @property
    def label(self) -> str:
        return str(self.param("name")) if self.is_input else ""

    def __repr__(self) -> str:
        return f"<{self.op.name} {self.type}>"


@dataclass(frozen=True, eq=False)
class Result:
    """What a graph gives back: `node` under `name`; with `into` it overwrites the memory of that input instead."""

    name: str
    node: Node
    into: str | None = None


@dataclass(frozen=True, eq=False)
class Graph:
    """`inputs` are input nodes, in the order of the call; `results` are returned or written into inputs, in order."""

    name: str
    inputs: tuple[Node, ...]
    results: tuple[Result, ...]

    def nodes(self) -> tuple[Node, ...]:
        """Every node that a result needs, operands before users, inputs first."""
        return tuple(dict.fromkeys((*self.inputs, *topological(r.node for r in self.results))))

    def rewritten(self, replacement: Mapping[Node, Node]) -> Graph:
        """The same graph with nodes replaced; users of a replaced node are rebuilt."""
        done: dict[Node, Node] = {}
        for node in self.nodes():
            target = replacement.get(node, node)
            done[node] = done[target] if target in done else with_args(target, done)
        return replace(self, results=tuple(replace(r, node=done[r.node]) for r in self.results))


def with_args(node: Node, mapping: Mapping[Node, Node]) -> Node:
    """`node` reading the mapped operands; itself when nothing changes."""
    args = tuple(mapping.get(a, a) for a in node.args)
    return node if all(a is b for a, b in zip(args, node.args, strict=True)) else replace(node, args=args)


def topological(roots: Iterable[Node]) -> list[Node]:
    """Operands before users, without recursion (deep nets)."""
    order: list[Node] = []
    seen: set[Node] = set()
    for root in roots:
        stack: list[tuple[Node, Iterator[Node]]] = [] if root in seen else [(root, iter(root.args))]
        seen.add(root)
        while stack:
            node, rest = stack[-1]
            following = next((a for a in rest if a not in seen), None)
            if following is None:
                order.append(node)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(following.args)))
    return order


def users(graph: Graph) -> dict[Node, list[Node]]:
    """For each node the nodes that read it, in order; results are not counted."""
    table: dict[Node, list[Node]] = {n: [] for n in graph.nodes()}
    for node in table:
        for arg in dict.fromkeys(node.args):
            table[arg].append(node)
    return table


@dataclass
class Builder:
    """The interpreter that adds nodes: calling ops on nodes inside ``interpreting(builder)`` builds a graph."""

    origin: Origin = NOWHERE
    constants: dict[tuple[DType, str], Node] = field(default_factory=dict)

    def input(self, name: str, type: Type) -> Node:
        """A new graph input."""
        return Node(input_primitive, (), (("name", name), ("of", type)), type, self.origin)

    def apply(self, primitive: Primitive, operands: Sequence[Node], params: Params) -> Node:
        """A node for one primitive; its type rule checks the operands."""
        of = primitive.type_rule(*(o.type for o in operands), **params)
        return Node(primitive, tuple(operands), tuple(params.items()), of, self.origin)

    def type_of(self, operand: Node) -> Type:
        return operand.type

    def is_number(self, operand: Node) -> bool:
        return operand.is_constant

    def constant(self, number: Number | np.generic, dtype: DType) -> Node:
        """The node of a number; equal numbers (by bits) share one."""
        value = dtype.numpy.type(number).item()
        key = (dtype, repr(value))
        if key not in self.constants:
            params = (("shape", ()), ("value", value), ("dtype", dtype))
            self.constants[key] = Node(full_primitive, (), params, Type(dtype, ()))
        return self.constants[key]
