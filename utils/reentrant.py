"""Checkpointed calls that are one node on the tape: the whole function is called again for its gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from ..autograd.random_state import RandomState
from ..tape.engine import Sweep, running
from ..tape.grad_mode import enable_grad, switches
from ..tape.nodes import SECOND_BACKWARD, AccumulateGrad, Edge, Node, count_now
from ..tape.reverse import InputsSweep, accumulate
from ..tape.saved import Saved
from ..tape.tangents import alias_of
from ..tensors import autocasting
from ..tensors.tensor import Tensor
from ..tracing.watch import watcher
from .recomputation import AsThen, CheckpointError, recomputation_refusal, within


class _InnerSweep(Sweep):
    """The backward pass of what was computed again: it ends where that begins, and leaves hooks there to the outer."""

    def _visit(self, node: Node, useful: Set[Node]) -> None:
        if not any(edge.node is node for edge in self.captures):
            super()._visit(node, useful)
            return
        for output, gradient in self.pending.pop(node, {}).items():
            if Edge(node, output) in self.captures:
                self.captures[Edge(node, output)] = gradient


class _Checkpoint(Node):
    """A call on the tape of which only the arguments are kept."""

    user_defined = True

    def __init__(self, call: _Call, edges: Sequence[Edge]) -> None:
        super().__init__("CheckpointFunctionBackward", tuple(edges))
        self.rename(self.title)
        self.call: _Call | None = call
        listening = watcher()
        self.origin = None if listening is None else listening.origin()

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.call is None:
            raise RuntimeError(SECOND_BACKWARD)
        if isinstance(running.sweep, InputsSweep):
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
                "parameter to .backward(). To resolve this error, you can either set use_reentrant=False, or call "
                ".backward() without passing the `inputs` argument."
            )
        outputs = self.call.again(self)
        roots = [(out.gradient_edge(), g) for out, g in zip(outputs, cotangents, strict=True) if g is not None]
        create_graph = bool(switches.enabled)
        captures = dict.fromkeys(edge for edge, want in zip(self.edges, wanted, strict=True) if want)
        sweep = _InnerSweep(create_graph, create_graph, accumulate, captures)
        for edge, g in roots:
            sweep.seed(edge, g)
        sweep.run([edge for edge, _ in roots])
        return [sweep.captures.get(edge) for edge in self.edges]

    def release(self) -> None:
        self.call = None


class _Call:
    """A function and its arguments, to be called twice."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], preserve: bool) -> None:
        self.function = function
        self.args = [Saved(x, is_output=False) if isinstance(x, Tensor) else x for x in args]
        self.state = RandomState() if preserve else None
        self.autocast = autocasting.state.modes
        self.outputs: list[tuple[Any, Any]] = []  # shapes and types of those with gradients

    def again(self, node: Node) -> list[Any]:
        """The outputs that have gradients, with their history."""
        args = [x.unpack(node) if isinstance(x, Saved) else x for x in self.args]
        with enable_grad():
            returned = within(AsThen(self.state, self.autocast), lambda: self.function(*args))
        outputs = tracked(_tuple(returned))
        found = [(out.shape, out.dtype) for out in outputs]
        if found != self.outputs:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass: outputs were {self.outputs}, now {found}. The function must compute the "
                "same each time."
            )
        return outputs


def called(function: Callable[..., Any], args: tuple[Any, ...], preserve: bool) -> Any:
    """``function(*args)``, with the call as the history of its outputs.

    With `preserve` the random state is put back for the second call.
    """
    refuse = recomputation_refusal()
    if refuse is not None:
        refuse()
    call = _Call(function, args, preserve)
    begun = count_now()
    return _remembered(call, function(*args), begun)


def _remembered(call: _Call, returned: Any, begun: int) -> Any:
    """The outputs, with the call as their history; what was recorded since `begun` is let go."""
    outputs = _tuple(returned)
    with_gradients = tracked(outputs)
    if not with_gradients:
        return returned
    node = _Checkpoint(call, _edges_before([out.gradient_edge() for out in with_gradients], begun))
    node.outputs = len(with_gradients)
    call.outputs = [(out.shape, out.dtype) for out in with_gradients]
    aliases = {id(out): _alias(out, node, place) for place, out in enumerate(with_gradients)}
    found = [aliases.get(id(out), out) for out in outputs]
    return found[0] if not isinstance(returned, (tuple, list)) else type(returned)(found)


def _alias(out: Any, node: Node, place: int) -> Any:
    alias = alias_of(out)
    alias.attach(node, place)
    return alias


def _edges_before(roots: Sequence[Edge], begun: int) -> list[Edge]:
    """Where the history of `roots` leaves what was recorded since `begun`: at leaves, and at older operations."""
    found: dict[Edge, None] = {}
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        edge = stack.pop()
        node = edge.node
        if node is None:
            continue
        if isinstance(node, AccumulateGrad) or node.sequence < begun:
            found[edge] = None
        elif node not in seen:
            seen.add(node)
            stack.extend(node.edges)
    return list(found)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def tracked(outputs: Sequence[Any]) -> list[Any]:
    """The tensors that require gradients."""
    return [out for out in outputs if isinstance(out, Tensor) and out.requires_grad]
