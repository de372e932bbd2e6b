"""A recorded graph as a key: equal for graphs that the stages make one and the same program of, text and all.

The key says all that the stages read: each node with its op, operands, parameters (numbers by their bits), type and
place in the user's program, in order; inputs and results by name. What is not on the closed list of what is known to
be written down without loss (an op of a test, a parameter of another type) has no key, and such a graph is compiled.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Any

from ..ops.core import REGISTRY, Primitive
from ..ops.scan.loop import loop_of
from ..ops.scan.primitive import scan_primitive
from ..ops.types import DType, Type
from .graph import Graph, Node

#: The package's own ops: what they do follows from its source.
_OWN = dict(REGISTRY)


class NoKey(Exception):
    """The graph holds something of which it is not known that its text says everything."""


def graph_key(graph: Graph) -> str:
    """The key of what a graph computes, and of all names that its program shows. NoKey where there is none."""
    return hashlib.sha256(repr(description(graph)).encode("utf-8", "surrogatepass")).hexdigest()


def description(graph: Graph) -> tuple[Any, ...]:
    """The graph in strings, integers and tuples that say all of it. NoKey if it cannot be described."""
    numbers = {node: number for number, node in enumerate(graph.nodes())}
    try:
        nodes = [_described(node, numbers) for node in numbers]
        inputs = [numbers[node] for node in graph.inputs]
        results = [(_plain(r.name), numbers[r.node], _plain(r.into), _plain(r.is_check)) for r in graph.results]
    except KeyError as unknown:
        raise NoKey(f"nothing is known of {unknown.args[0]!r}") from unknown
    return _plain(graph.name), tuple(inputs), tuple(nodes), tuple(results)


def _described(node: Node, numbers: dict[Node, int]) -> tuple[Any, ...]:
    operands = tuple([numbers[a] for a in node.args])
    params = tuple([(name, _plain(value)) for name, value in node.params])
    return _name(node), operands, params, _plain(node.type), str(node.origin)


def _name(node: Node) -> str:
    _refuse_others(node.op)
    if node.op is scan_primitive:  # whose parameter names the ops of its body
        for step in loop_of(node.param("loop")).body.steps:
            _refuse_others(step.primitive)
    return node.op.name


def _refuse_others(op: Primitive) -> None:
    if _OWN.get(op.name) is not op:
        raise NoKey(f"{op.name} is not one of the package's ops")


def _plain(value: Any) -> Any:
    """A parameter in strings, integers and tuples; KeyError for one of another type."""
    return _WRITERS[type(value)](value)


def _as_it_is(value: Any) -> Any:
    return value


# By the exact type: True is not 1, and a number of numpy's is not known to be written down without loss.
_WRITERS: dict[type, Callable[[Any], Any]] = {
    bool: _as_it_is,
    int: _as_it_is,
    str: _as_it_is,
    type(None): _as_it_is,
    float: lambda value: ("float", struct.pack("<d", value).hex()),
    tuple: lambda value: ("tuple", *map(_plain, value)),
    DType: lambda value: ("dtype", value.name),
    Type: lambda value: ("type", value.dtype.name, *map(_plain, value.shape)),
}
