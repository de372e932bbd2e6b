"""A recorded graph, done once more on tensors: the history that a C program leaves out, where somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...compiler.graph import Graph, Node, topological
from ...ops.core import Pointwise, current
from ...ops.movement import transpose
from ...tape.grad_mode import recorded
from ...tape.nodes import depending
from ...tape.reverse import grad_within
from ...tensors.tensor import Tensor


def inputs_of(graph: Graph, names: Sequence[str]) -> tuple[str, ...]:
    """The labels of the inputs that the results `names` are computed from, in the order of the graph's."""
    read = set(topological(r.node for r in graph.results if r.name in names))
    return tuple([node.label for node in graph.inputs if node in read])


Again = Callable[..., tuple[Tensor | None, ...]]


def gradients_of(
    graph: Graph,
    labels: Sequence[str],
    of: Sequence[str],
    wrt: Sequence[str],
    depending_by_zero: Sequence[frozenset[str]],
) -> Again:
    """A function of the inputs `labels` and a cotangent for each of the results `of`: the gradients for `wrt`, with a
    history. The gradients of one set of `depending_by_zero` depend on each other's inputs although their derivatives
    for them are zero."""
    count = len(labels)

    def gradients(*tensors: Tensor) -> tuple[Tensor | None, ...]:
        given = dict(zip(labels, tensors[:count], strict=True))
        return tuple(_gradients_again(graph, of, wrt, given, tensors[count:], depending_by_zero))

    return gradients


def _gradients_again(
    graph: Graph,
    of: Sequence[str],
    wrt: Sequence[str],
    given: Mapping[str, Tensor],
    cotangents: Sequence[Tensor],
    depending_by_zero: Sequence[frozenset[str]],
) -> list[Tensor | None]:
    """The gradients of the results `of`, with a history that leads to `given` and to the cotangents."""
    if not any(label in given and given[label].requires_grad for label in wrt):
        return [None] * len(wrt)  # the results of the graph do not depend on them
    with recorded():
        # Views, so that hooks on the tensors themselves are not called by this, and a write to one is still noticed.
        inputs = {label: _viewed(tensor) if label in wrt else tensor for label, tensor in given.items()}
        outputs = evaluated(graph, of, inputs)
        sources = [label for label in wrt if label in inputs and inputs[label].requires_grad]
        found = grad_within(outputs, [inputs[s] for s in sources], list(cotangents), allow_unused=True)
        gradients = dict(zip(sources, found, strict=True))
        for labels in depending_by_zero:
            tensors = [inputs[label] for label in sorted(labels.intersection(inputs)) if inputs[label].requires_grad]
            for source in labels.intersection(sources):
                if gradients[source] is not None:
                    gradients[source] = depending(gradients[source], tensors)
    return [gradients.get(label) for label in wrt]


def _viewed(tensor: Tensor) -> Tensor:
    return transpose(tensor, tuple(range(tensor.ndim)))


def evaluated(graph: Graph, names: Sequence[str], inputs: Mapping[str, Tensor]) -> list[Tensor]:
    """The results `names` of a graph, computed eagerly."""
    roots = [r.node for name in names for r in graph.results if r.name == name]
    tape, values = current(), dict[Node, Any]()
    for node in topological(roots):
        is_pointwise = isinstance(node.op.lower, Pointwise)
        operands = [_number(arg) if is_pointwise and arg.is_constant else values[arg] for arg in node.args]
        values[node] = inputs[node.label] if node.is_input else tape.apply(node.op, operands, dict(node.params))
    return [values[root] for root in roots]


def _number(node: Node) -> Any:
    """A number of the program, of which derivatives are others than of a tensor: x ** 2 has none from the third on."""
    return current().constant(node.param("value"), node.type.dtype)
