"""Running a graph with numpy: the reference that passes and generated C are tested against."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

import numpy as np

from ..ops.types import Type, dtype_of
from .graph import Graph, Node

_ALONE = 3  # references to an array that only a dict holds: the dict's, a variable's, the argument of getrefcount


def evaluate_graph(graph: Graph, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Each result's value by its name, as an array of its own; results with `into` too, and no input is written to.

    `inputs` maps every input's name to an array of its type. ValueError for one that is missing, TypeError for one of
    another type.
    """
    nodes = graph.nodes()
    values = {node: _input(graph, node, inputs) for node in nodes if node.is_input}
    evaluate_nodes([node for node in nodes if not node.is_input], values)
    return {r.name: _unshared(values, r.node) for r in graph.results}


def evaluate_nodes(nodes: Iterable[Node], values: dict[Node, np.ndarray]) -> dict[Node, np.ndarray]:
    """`values`, to which those of `nodes` are added; each of them comes behind its operands."""
    with np.errstate(all="ignore"):  # infinities and NaN are values, as in eager mode
        for node in nodes:
            values[node] = evaluate_node(node, values)
    return values


def _unshared(values: dict[Node, np.ndarray], node: Node) -> np.ndarray:
    """An array of its own: the one in `values` if nothing else refers to it, a copy otherwise.

    A view refers to the array it is of, an input's caller to the input, an earlier result of the same node to itself.
    """
    value = values[node]
    is_alone = sys.getrefcount(value) <= _ALONE
    if is_alone and value.flags.owndata and value.flags.c_contiguous and value.flags.writeable:
        return value
    return np.array(value, order="C")


def evaluate_node(node: Node, values: Mapping[Node, np.ndarray]) -> np.ndarray:
    """The value of one node from the values of its operands."""
    # Constants are numbers, as in eager mode: a power tells -0.5 from a tensor of that value.
    operands = (values[a][()] if a.is_constant else values[a] for a in node.args)
    value = np.asarray(node.op.evaluate(*operands, **dict(node.params)))
    if _type_of(value) != node.type:
        raise TypeError(
            f"{node.op.name}: numpy's value is {_type_of(value)}, its type rule says {node.type}\n"
            f"  at {str(node.origin) or 'an unknown place'}\n"
            f"  make `eval` and `type` of the primitive {node.op.name} agree"
        )
    return value


def _input(graph: Graph, node: Node, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    if node.label not in inputs:
        raise ValueError(
            f"no value for the input {node.label}: {node.type}\n  in graph {graph.name}\n"
            f"  pass one; there are {', '.join(inputs) or 'none'}"
        )
    value = np.asarray(inputs[node.label])
    if _type_of(value) != node.type:
        raise TypeError(
            f"the input {node.label} is {_type_of(value)}, wanted {node.type}\n  in graph {graph.name}\n"
            "  convert or reshape the array first"
        )
    return value


def _type_of(value: np.ndarray) -> Type:
    return Type(dtype_of(value), value.shape)
