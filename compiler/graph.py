"""The graph level: frozen nodes with one output each, compared by identity.

A graph holds its inputs and its results only; the order of evaluation is derived, so dead code cannot exist.
Graphs compare by structure, nodes by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..ops.core import Number, Params, Primitive
from ..ops.lazy import lazy
from ..ops.sources import full_primitive, input_primitive
from ..ops.types import DType, Type, number_in
from .node import NOWHERE, Node, Origin, Result, topological
from .printing import graph_text, is_statement, structure_text

__all__ = ["NOWHERE", "Builder", "Graph", "Node", "Origin", "Result", "topological", "users"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """`inputs` are input nodes, in the order of the call; `results` are returned or written into inputs, in order."""

    name: str
    inputs: tuple[Node, ...]
    results: tuple[Result, ...]

    def nodes(self) -> tuple[Node, ...]:
        """Every node that a result needs, operands before users, inputs first."""
        return self._nodes

    @lazy
    def _nodes(self) -> tuple[Node, ...]:
        return tuple(dict.fromkeys((*self.inputs, *topological(r.node for r in self.results))))

    @lazy
    def _structure(self) -> str:
        return structure_text(self.name, self._nodes, self.results)

    def __str__(self) -> str:
        return graph_text(self.name, self._nodes, self.results)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        """Equal names, types, parameters and wiring. Origins do not count."""
        return self._structure == other._structure if isinstance(other, Graph) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    @lazy
    def _hash(self) -> int:
        """Of ops and shapes in their order: what is looked up is seldom there, and a structure is long to write."""
        return hash((self.name, *[(node.op.name, node.type.shape) for node in self._nodes if is_statement(node)]))

    def result(self, name: str) -> Node | None:
        """The node returned under `name`, None if there is none."""
        return next((r.node for r in self.results if r.name == name), None)

    def mapped(self, rule: Callable[[Node], Node], settled: set[Node] | None = None) -> Graph:
        """The graph with each node replaced by ``rule(node)``, operands first: rules see operands already replaced.

        `settled` are nodes of which it is known that the rule leaves them as they are; the others of that kind are
        added. With it, a rule that gives the same at each call is asked once for each node, in all graphs.
        """
        done: dict[Node, Node] = {}  # what is replaced
        settled = set() if settled is None else settled
        for node in self._nodes:
            new = node if done.keys().isdisjoint(node.args) else _reading(node, done)
            if new not in settled:
                found = rule(new)
                if found is new:
                    settled.add(new)
                new = found
            if new is not node:
                done[node] = new
        return self._with_results(done)

    def rewritten(self, replacement: Mapping[Node, Node]) -> Graph:
        """The graph reading `replacement[node]` wherever it read `node`; replacements read other replacements, too."""
        done: dict[Node, Node] = {}
        for node in self._nodes:
            done[node] = _reading_all(replacement.get(node, node), done)
        return self._with_results(done)

    def _with_results(self, done: Mapping[Node, Node]) -> Graph:
        """The graph with what is `done` in the results' places."""
        if all(done.get(r.node, r.node) is r.node for r in self.results):
            return self  # with its order of nodes
        return replace(self, results=tuple(replace(r, node=done.get(r.node, r.node)) for r in self.results))


def _reading(node: Node, done: Mapping[Node, Node]) -> Node:
    """`node` reading other operands; itself when they are its own. (Node's `==` is identity.)"""
    args = tuple([done.get(a, a) for a in node.args])
    return node if args == node.args else Node(node.op, args, node.params, node.type, node.origin)


def _reading_all(node: Node, done: dict[Node, Node]) -> Node:
    """`node` reading what is done. Recursion is as deep as a replacement has nodes that the graph had not."""
    if node not in done:
        for a in node.args:
            _reading_all(a, done)
        done[node] = _reading(node, done)
    return done[node]


def users(graph: Graph) -> dict[Node, list[Node]]:
    """For each node the nodes that read it, in order; results are not counted."""
    table: dict[Node, list[Node]] = {n: [] for n in graph.nodes()}
    for node in table:
        for arg in dict.fromkeys(node.args):
            table[arg].append(node)
    return table


def as_params(params: Params) -> tuple[tuple[str, Any], ...]:
    """Parameters as a node has them: a shape is a tuple, also where a tensor's own `Size` was handed on, of whose class
    the compiler knows nothing (`graph_key.py`)."""
    return tuple([
        (name, tuple(value) if isinstance(value, tuple) and not hasattr(value, "_fields") else value)
        for name, value in params.items()
    ])  # fmt: skip


@dataclass
class Builder:
    """The interpreter that adds nodes: calling ops on nodes inside ``interpreting(builder)`` builds a graph."""

    origin: Origin = NOWHERE
    constants: dict[tuple[DType, str], Node] = field(default_factory=dict)

    def input(self, name: str, type: Type) -> Node:
        """A new graph input. It is of no line: where it is met first is up to what the recording began with, and the
        same graph has the same program (`graph_key.py`)."""
        return Node(input_primitive, (), (("name", name), ("of", type)), type)

    def apply(self, primitive: Primitive, operands: Sequence[Node], params: Params) -> Node:
        """A node for one primitive; its type rule checks the operands."""
        plain = as_params(params)
        of = primitive.type_rule(*[o.type for o in operands], **dict(plain))
        return Node(primitive, tuple(operands), plain, of, self.origin)

    def type_of(self, operand: Node) -> Type:
        """The type that the node was built with."""
        return operand.type

    def is_number(self, operand: Node) -> bool:
        """Constants promote as Python numbers do."""
        return operand.is_constant

    def constant(self, number: Number | np.generic, dtype: DType) -> Node:
        """The node of a number; equal numbers (by bits) share one."""
        value = number_in(number, dtype).item()
        key = (dtype, repr(value))
        if key not in self.constants:
            params = (("shape", ()), ("value", value), ("dtype", dtype))
            self.constants[key] = Node(full_primitive, (), params, Type(dtype, ()))
        return self.constants[key]
