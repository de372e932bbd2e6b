"""Forward graph -> graph of its gradients, by the primitives' own rules.

forward     x, w             -> loss
gradients   x, w, grad_loss  -> grad_x, grad_w
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..ops.core import NotImplementedRule, interpreting
from ..ops.vjp import names_needed, pull_back_all
from .graph import Builder, Graph, Node, Result, topological

Cotangents = dict[Node, Node]


def differentiate(graph: Graph, of: Sequence[str], wrt: Sequence[str]) -> Graph:
    """The gradients of the results `of` with respect to the inputs `wrt`.

    The new graph takes the old inputs and a cotangent ``grad_<result>`` for each of `of`; it returns ``grad_<input>``.
    An input that no derivative reaches has no result: ``gradients.result("grad_x")`` is None, as PyTorch's gradient is.
    Nodes of the forward graph are shared; new ones carry the origin of what they differentiate, marked ∂.

    ValueError for a result or an input that the graph does not have or that holds no floating-point numbers.
    """
    outputs = {name: _floating(graph, "result", name, graph.result(name)) for name in of}
    labels = {node.label: node for node in graph.inputs}
    targets = {name: _floating(graph, "input", name, labels.get(name)) for name in wrt}
    builder = Builder()
    taken = set(labels)
    seeds = {name: builder.input(unused(f"grad_{name}", taken), node.type) for name, node in outputs.items()}
    cotangents = _sweep(builder, [(outputs[name], seed) for name, seed in seeds.items()], targets.values())
    results = tuple(Result(f"grad_{n}", cotangents[node]) for n, node in targets.items() if node in cotangents)
    return Graph(f"{graph.name}_gradients", (*graph.inputs, *seeds.values()), results)


def unused(name: str, taken: set[str]) -> str:
    """`name`, or `name` with underscores behind until nothing else is called so; it is taken from now on."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _floating(graph: Graph, kind: str, name: str, node: Node | None) -> Node:
    if node is None:
        there = [n.label for n in graph.inputs] if kind == "input" else [r.name for r in graph.results]
        raise ValueError(
            f"no {kind} is called {name!r}\n  in graph {graph.name}\n  there are {', '.join(there) or 'none'}"
        )
    if not node.type.dtype.is_floating_point:
        raise ValueError(
            f"only floating-point values have gradients, the {kind} {name} is {node.type}\n"
            f"  at {str(node.origin) or 'graph ' + graph.name}\n  leave it out"
        )
    return node


def _sweep(builder: Builder, seeds: Iterable[tuple[Node, Node]], targets: Iterable[Node]) -> Cotangents:
    """Users before operands; a node's contributions are added in the order in which its users come."""
    seeds, targets = list(seeds), list(targets)
    order = topological(node for node, _ in seeds)
    wanted = _leading_to(order, targets)
    cotangents: Cotangents = {}
    with interpreting(builder):
        for node, seed in seeds:
            _add(cotangents, node, seed)
        for node in reversed(order):
            if node in wanted and node in cotangents:
                builder.origin = replace(node.origin, derivative=True)
                _propagate(node, cotangents, wanted)
    return cotangents


def missing_derivative(graph: Graph, of: Sequence[str], wrt: Sequence[str]) -> tuple[str, Node] | None:
    """What `differentiate` would raise NotImplementedError for, and the node; None if there is nothing."""
    labels = {node.label: node for node in graph.inputs}
    order = topological(node for name in of if (node := graph.result(name)) is not None)
    wanted = _leading_to(order, [labels[name] for name in wrt])
    for node in order:
        for i in _positions(node, wanted) if node in wanted else ():
            found = node.op.derivative(i)
            if found is not None and isinstance(found.rule, NotImplementedRule):
                return found.rule.message, node
    return None


def _leading_to(order: Sequence[Node], targets: Iterable[Node]) -> set[Node]:
    """The floating-point nodes that are differentiable functions of a target."""
    wanted = set(targets)
    for node in order:
        if node.type.dtype.is_floating_point and _positions(node, wanted):
            wanted.add(node)
    return wanted


def _positions(node: Node, wanted: set[Node]) -> tuple[int, ...]:
    """The operands through which a derivative goes on."""
    return tuple(i for i, arg in enumerate(node.args) if arg in wanted and node.op.derivative(i) is not None)


def _propagate(node: Node, cotangents: Cotangents, wanted: set[Node]) -> None:
    positions = _positions(node, wanted)
    known = _known(node, names_needed(node.op, positions))
    shapes = [node.args[i].type.shape for i in positions]
    found = pull_back_all(node.op, positions, cotangents[node], known, dict(node.params), shapes)
    for i, g in zip(positions, found, strict=True):
        _add(cotangents, node.args[i], g)


def _add(cotangents: Cotangents, node: Node, g: Node) -> None:
    cotangents[node] = cotangents[node] + g if node in cotangents else g


def _known(node: Node, needed: frozenset[str]) -> Mapping[str, Any]:
    """What derivative rules may name besides the cotangent and the parameters."""
    known: dict[str, Any] = {"out": node, "out_type": node.type}
    if node.op.variadic:
        name = node.op.inputs[0][1:]
        known.update({name: node.args, f"{name}_types": tuple(a.type for a in node.args)})
        return known
    for name, arg in zip(node.op.inputs, node.args, strict=True):
        known[name] = arg
        known[f"{name}_type"] = arg.type
        if f"{name}_by_columns" in needed:
            known[f"{name}_by_columns"] = _is_transposed(arg)
    return known


def _is_transposed(node: Node) -> bool:
    """Whether a matrix is shown by columns: the transpose of something that is no transpose itself."""
    return node.op.name == "transpose" and node.type.ndim == 2 and node.args[0].op.name != "transpose"
