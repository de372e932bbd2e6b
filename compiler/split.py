"""The cut of a differentiated graph into two programs, for loops that call forward and backward one after the other.

forward    x, w                            -> loss, saved_0, ...
backward   x, w, saved_0, ..., grad_loss   -> grad_x, grad_w
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..ops.core import Source
from .differentiate import unused
from .graph import Builder, Graph, Node, Result, topological
from .passes.simplify import simplify


@dataclass(frozen=True)
class Split:
    """`forward` returns, behind its own results, the values named `saved`; `backward` takes inputs of these names.

    `before` names those of the saved values that are inputs as they were before `forward` has overwritten them.
    """

    forward: Graph
    backward: Graph
    saved: tuple[str, ...]
    before: Mapping[str, str]


def split(forward: Graph, gradients: Graph, again: Collection[str] = ()) -> Split:
    """Two programs, simplified together: the forward one also returns what the backward one needs of its values.

    `gradients` is what `differentiate` made of `forward`. The backward program computes again what costs no arithmetic
    (views that are not smaller than their operand, sources), and takes the inputs that it needs under their own names.
    An input that the forward program overwrites is saved before; those called `again` are, whether or not they are
    needed.
    """
    joint = simplify(Graph(forward.name, gradients.inputs, (*forward.results, *gradients.results)))
    count = len(forward.results)
    ahead = Graph(forward.name, forward.inputs, joint.results[:count])
    back = Graph(f"{forward.name}_backward", joint.inputs, joint.results[count:])
    saved = _saved_inputs(ahead, back, again)
    names = tuple(n.label for n in saved.values())
    returned = tuple(Result(name, node) for name, node in zip(names, saved, strict=True))
    return Split(
        Graph(ahead.name, ahead.inputs, (*ahead.results, *returned)),
        _with_needed_inputs(ahead, back.rewritten(saved), tuple(saved.values())),
        names,
        {node.label: name for node, name in zip(saved, names, strict=True) if node.is_input},
    )


def _saved_inputs(forward: Graph, backward: Graph, again: Collection[str]) -> dict[Node, Node]:
    """For each value that is to be saved the input of the backward program that stands for it."""
    overwritten = {r.into for r in forward.results if r.into is not None}
    computed = {n for n in forward.nodes() if not n.is_input or n.label in overwritten}
    taken = {n.label for n in backward.inputs} | {r.name for r in forward.results}
    frontier = _frontier(backward, computed)
    frontier += [n for n in forward.inputs if n.label in overwritten and n.label in again and n not in frontier]
    return {node: Builder().input(unused(f"saved_{i}", taken), node.type) for i, node in enumerate(frontier)}


def _with_needed_inputs(forward: Graph, backward: Graph, saved: tuple[Node, ...]) -> Graph:
    """`backward` taking the forward program's inputs that it reads, the saved values, the cotangents."""
    read = set(topological(r.node for r in backward.results))
    own = tuple(n for n in forward.inputs if n in read)
    cotangents = tuple(n for n in backward.inputs if n not in forward.inputs)
    return Graph(backward.name, (*own, *saved, *cotangents), backward.results)


def _frontier(gradients: Graph, computed: set[Node]) -> list[Node]:
    """The values of the forward program that the others read, in the order in which they are computed."""
    reached: set[Node] = set()
    stack = [r.node for r in gradients.results]
    frontier: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in reached:
            continue
        reached.add(node)
        if node in computed and not _is_free(node):
            frontier.add(node)
        else:
            stack.extend(node.args)
    return [n for n in gradients.nodes() if n in frontier]


def _is_free(node: Node) -> bool:
    """True where saving costs more than computing again."""
    if node.op.is_view:
        return node.args[0].type.nbytes <= node.type.nbytes
    return isinstance(node.op.lower, Source) and not node.is_input
