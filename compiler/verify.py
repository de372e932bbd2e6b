"""Checking a graph: that every node has the type its type rule gives, and that the results fit the inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NoReturn

from ..ops.types import bool_
from .errors import CompilerError
from .graph import Graph, Node, Result

# Lines of the graph's text that an error shows before and after the one at fault.
AROUND = 5


class VerificationError(CompilerError):
    """A graph that is not well formed: a fault of whatever made it, never of the user's program."""


def verify(graph: Graph) -> Graph:
    """`graph` itself, once it is known to be well formed; VerificationError with the lines around the fault."""
    _check_names(graph)
    for node in graph.nodes():
        _check_node(graph, node)
    inputs = {n.label: n for n in graph.inputs}
    for result in graph.results:
        _check_into(graph, result, inputs)
    return graph


def is_well_formed(graph: Graph) -> bool:
    """True for a graph that `verify` accepts and whose extents are extents: one that was made for other sizes, with
    bounds that lie past the end, is not."""
    if any(extent < 0 for node in graph.nodes() for extent in node.type.shape):
        return False
    try:
        verify(graph)
    except VerificationError:
        return False
    return True


def _check_names(graph: Graph) -> None:
    for name in _repeated(n.label for n in graph.inputs):
        _fail(graph, f"two inputs are called {name}", None, "give each a name of its own")
    for name in _repeated(r.name for r in graph.results):
        _fail(graph, f"two results are called {name}", None, "give each a name of its own")


def _repeated(names: Iterable[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if count > 1]


def _check_node(graph: Graph, node: Node) -> None:
    if node.is_input:
        if node not in graph.inputs:
            _fail(graph, f"{node.label} is read but is no input of the graph", node, "list it among the inputs")
    elif not node.op.variadic and len(node.args) != len(node.op.inputs):
        _fail(graph, f"{node.op.name} has {len(node.args)} operands", node, f"it takes {', '.join(node.op.inputs)}")
    try:
        of = node.op.type_rule(*(a.type for a in node.args), **dict(node.params))
    except Exception as problem:  # whatever a type rule says of bad operands
        _fail(graph, f"{node.op.name}: {problem}", node, "its operands must have the types that its rule wants")
    if of != node.type:
        _fail(graph, f"{node.op.name} gives {of}, the node says {node.type}", node, "build nodes with a Builder")


def _check_into(graph: Graph, result: Result, inputs: dict[str, Node]) -> None:
    if result.is_check and (result.node.type.dtype is not bool_ or result.node.type.shape):
        _fail(graph, f"the check {result.name} is {result.node.type}", result.node, "checks are bool[]")
    if result.into is None:
        return
    if result.into not in inputs:
        _fail(graph, f"{result.name} is to overwrite {result.into}", result.node, "no input is called so")
    if inputs[result.into].type != result.node.type:
        _fail(
            graph,
            f"{result.node.type} is to overwrite {result.into}: {inputs[result.into].type}",
            result.node,
            "cast or reshape it first",
        )


def _fail(graph: Graph, problem: str, node: Node | None, advice: str) -> NoReturn:
    place = str(node.origin) if node is not None else ""
    raise VerificationError(f"{problem}\n  at {place or 'graph ' + graph.name}\n  {advice}\n\n{excerpt(graph, node)}")


def excerpt(graph: Graph, node: Node | None) -> str:
    """The lines of the graph's text around `node`, which is marked; the first ones if there is no node."""
    statements = [n for n in graph.nodes() if not (n.is_input or n.is_constant)]
    lines = str(graph).splitlines()
    head = next(i for i, line in enumerate(lines) if line.endswith(":")) + 1
    at = head + statements.index(node) if node in statements else None
    first = max(0, (at or 0) - AROUND)
    shown = lines[first : (at or 0) + AROUND + 1]
    return "\n".join(("->" if first + i == at else "  ") + line for i, line in enumerate(shown))
