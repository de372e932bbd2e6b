"""The reverse sweep over the tape: later nodes first, contributions to one output summed before they go on."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from ..ops.core import current
from ..ops.pointwise import cast
from ..tracing.watch import declare_read, local
from . import anomaly
from .first_shapes import in_first_shape, known
from .grad_mode import enable_grad, no_grad
from .hook_results import all_checked, checked, name_of
from .nodes import AccumulateGrad, Edge, Node

Accumulate = Callable[[Any, Any, bool, bool], None]


class _Running(threading.local):
    sweep: Any = None  # the innermost backward pass of this thread


running = _Running()


@dataclass
class Sweep:
    """One backward pass. `captures` maps edges whose gradient is wanted to it; without any, leaves accumulate."""

    to_inputs = False  # whether the program has named its inputs, or those of a pass in the middle of which it is made

    create_graph: bool
    keep_graph: bool
    accumulate: Accumulate
    captures: dict[Edge, Any] = field(default_factory=dict)
    store_captures: bool = False
    pending: dict[Node, dict[int, Any]] = field(default_factory=dict)
    useful: Set[Node] = frozenset()  # the nodes that the walk visits
    recomputed: dict[Any, Any] = field(default_factory=dict)  # checkpointed calls that were done again for this pass
    # Buffers that a gradient must not take over, by identity; kept, so that no other one is given the same identity.
    owned_elsewhere: dict[int, Any] = field(default_factory=dict)

    def seed(self, edge: Edge, cotangent: Any) -> None:
        """Start with `cotangent` at `edge`."""
        self.owned_elsewhere[id(cotangent.buffer)] = cotangent.buffer
        self._deliver(edge, in_first_shape(edge, cotangent, "", 0) if known.any else cotangent)

    def run(self, roots: Sequence[Edge]) -> None:
        """Walk from `roots` to the leaves (or to the captured edges)."""
        declare_read("detect_anomaly", anomaly.is_on)
        before, running.sweep = running.sweep, self
        if before is not None and before.to_inputs:
            self.to_inputs = True
        try:
            self._run(roots)
        finally:
            running.sweep = before

    def _run(self, roots: Sequence[Edge]) -> None:
        first = min((_depth_order(edge.node) for edge in self.captures if edge.node is not None), default=-1)
        waiting = _reached([e.node for e in roots if e.node is not None], first)
        useful: Set[Node] = waiting.keys()
        if self.captures:
            useful = _leading_to(waiting, self.captures)
            waiting = _count_readers(waiting, useful)
        self.useful = useful
        ready = [(-n.sequence, n) for n in self.pending if n in useful and not waiting.get(n)]
        heapq.heapify(ready)
        with enable_grad() if self.create_graph else no_grad():
            while ready:
                _, node = heapq.heappop(ready)
                self._visit(node, useful)
                for after, _ in node.edges:
                    if after is not None and after in useful:
                        waiting[after] -= 1
                        if waiting[after]:
                            continue
                        if isinstance(after, AccumulateGrad):  # before anything else, in PyTorch, too
                            self._visit(after, useful)
                        else:
                            heapq.heappush(ready, (-after.sequence, after))

    def _visit(self, node: Node, useful: Set[Node]) -> None:
        arrived = self.pending.pop(node, None)
        if not arrived:
            return  # nothing but missing gradients came this way
        if not self.captures and not node.is_hooked:
            if isinstance(node, AccumulateGrad):
                self._reach_leaf(node, arrived.get(0))
                return
            if node.outputs == 1 and not node.pre_hooks:
                wanted = [after is not None for after, _ in node.edges]  # without captures, all that is reached
                if True in wanted:
                    self._propagate(node, [arrived[0]], wanted)
                return
        wanted = [e.node is not None and e.node in useful for e in node.edges]
        goes_on = any(wanted)
        if node.outputs > 1:
            asked = [i for i in range(node.outputs) if self._is_asked_for(node, i)]
            if asked:
                node.require_whole(asked, [i for i, g in arrived.items() if g is not None])
                captured = [i for i in asked if Edge(node, i) in self.captures]
                leading = {*node.on_the_way(wanted), *(node.beside(captured) if captured else ())}
                arrived = {i: g for i, g in arrived.items() if i in leading}
        # PyTorch's order: what `grad` captures on the way has not been through the hooks, where the way ends it has.
        before_hooks = goes_on and not self.store_captures
        if before_hooks:
            self._capture(node, arrived)
        cotangents = [self._through_hooks(node, i, arrived.get(i)) for i in range(node.outputs)]
        if not before_hooks:
            self._capture(node, dict(enumerate(cotangents)))
        if isinstance(node, AccumulateGrad):
            self._reach_leaf(node, cotangents[0])
        elif goes_on:
            for hook in list(node.pre_hooks.values()):
                replaced = hook(tuple(cotangents))
                cotangents = cotangents if replaced is None else all_checked(replaced, cotangents, name_of(hook))
            self._propagate(node, cotangents, wanted)

    def _is_asked_for(self, node: Node, output: int) -> bool:
        """Whether somebody wants to see the gradient of an output."""
        return output in node.tensor_hooks or output in node.retained or Edge(node, output) in self.captures

    def _capture(self, node: Node, arrived: dict[int, Any]) -> None:
        for i, g in arrived.items() if self.captures else ():
            if Edge(node, i) in self.captures and g is not None:
                self.captures[Edge(node, i)] = g

    def _propagate(self, node: Node, cotangents: list[Any], wanted: list[bool]) -> None:
        listening = local.watcher
        if listening is None and not (anomaly.mode.enabled or known.any or node.post_hooks or node.user_defined):
            self._propagate_plainly(node, cotangents, wanted)
            return
        # While recording, what the node's rules add is marked as the derivative of the user's line.
        if listening is not None:
            listening.differentiated(node)
        derive = anomaly.checking(node.backward) if anomaly.mode.enabled else node.backward
        try:
            if listening is None:
                gradients = derive(cotangents, wanted)
            else:
                gradients = listening.deriving(node.origin, derive, cotangents, wanted)
        except Exception as error:
            anomaly.locate(node, error)
            raise
        for hook in list(node.post_hooks.values()):
            replaced = hook(tuple(gradients), tuple(cotangents))
            gradients = gradients if replaced is None else all_checked(replaced, gradients, name_of(hook))
        if known.any:
            whose = f"Function {node.title} returned an "
            pairs = zip(node.edges, gradients, strict=True)
            gradients = [in_first_shape(edge, g, whose, i) for i, (edge, g) in enumerate(pairs)]
        if not self.keep_graph:
            node.release()
        if node.user_defined or node.post_hooks:
            self.owned_elsewhere.update((id(g.buffer), g.buffer) for g in gradients if g is not None)
        if listening is None:
            for edge, g, want in zip(node.edges, gradients, wanted, strict=True):
                if want and g is not None:
                    self._deliver(edge, g)
            return
        arriving = [(edge, g) for edge, g, want in zip(node.edges, gradients, wanted, strict=True) if want]
        # Sums belong to the line whose contribution completes them.
        listening.deriving(node.origin, self._deliver_all, arriving)

    def _propagate_plainly(self, node: Node, cotangents: list[Any], wanted: list[bool]) -> None:
        """Go through a node that nobody looks at."""
        try:
            gradients = node.backward(cotangents, wanted)
        except Exception as error:
            anomaly.locate(node, error)
            raise
        if not self.keep_graph:
            node.release()
        pending = self.pending
        for edge, g, want in zip(node.edges, gradients, wanted, strict=True):
            if want and g is not None:
                after, output = edge
                slots = pending.get(after)  # type: ignore[arg-type]
                if slots is None:
                    pending[after] = {output: g}  # type: ignore[index]
                elif output in slots:
                    self._deliver(edge, g)
                else:
                    slots[output] = g

    def _deliver_all(self, arriving: list[tuple[Edge, Any]]) -> None:
        for edge, g in arriving:
            if g is not None:
                self._deliver(edge, g)

    def _deliver(self, edge: Edge, g: Any) -> None:
        node, output = edge
        assert node is not None
        slots = self.pending.get(node)
        if slots is None:
            self.pending[node] = {output: g}
        elif output in slots:
            before = slots[output]
            slots[output] = g + before if before.is_sparse else before + g  # places in PyTorch's order
        else:
            slots[output] = g

    def _through_hooks(self, node: Node, output: int, g: Any) -> Any:
        if g is None or not node.is_hooked:
            return g
        hooks = node.hooks_of(output)
        for hook in hooks:
            replaced = hook(g)
            g = g if replaced is None else checked(replaced, g, name_of(hook))
        if hooks:
            self.owned_elsewhere[id(g.buffer)] = g.buffer
        keeper = node.retained.get(output)
        if keeper is not None and keeper() is not None:
            before = keeper()._grad
            kept = _copied(g) if before is None else added(before, g)
            keeper().grad = kept if self.create_graph else kept.detach()
        return g

    def _reach_leaf(self, node: AccumulateGrad, g: Any) -> None:
        if g is None or (self.captures and not (self.store_captures and Edge(node) in self.captures)):
            return
        _require_shape_of(node, g)
        fresh = id(g.buffer) not in self.owned_elsewhere
        self.owned_elsewhere[id(g.buffer)] = g.buffer
        self.accumulate(node.variable, g, self.create_graph, fresh)


def _require_shape_of(node: AccumulateGrad, g: Any) -> None:
    """RuntimeError for a gradient in the shape that a leaf had before ``no_grad()`` let it be shown otherwise."""
    shape = tuple(node.variable.shape)
    if node.first_shapes and tuple(g.shape) != shape:
        raise RuntimeError(
            f"the gradient of a leaf has shape {list(g.shape)}, which the leaf had when it was used; now it has "
            f"{list(shape)}. Use it after x.t_() and the like."
        )


def _copied(g: Any) -> Any:
    """A gradient in memory of its own."""
    return g.clone() if g.is_sparse else g.clone().contiguous()


def added(first: Any, second: Any) -> Any:
    """The sum of two gradients; a sparse one stands behind a dense one, as its addition wants it."""
    return second + first if first.is_sparse and not second.is_sparse else first + second


def _reached(roots: Sequence[Node], first: int) -> dict[Node, int]:
    """The nodes that lead there, and by how many edges each is reached. What lies before the one with sequence number
    `first`, at which the pass ends, is not looked at: a graph that goes on from an earlier one may be long."""
    counts = dict.fromkeys(roots, 0)
    stack = list(counts)
    while stack:
        user = stack.pop()
        for node, _ in user.edges if user.sequence >= first else ():
            if node is not None:
                before = counts.get(node)
                if before is None:
                    stack.append(node)
                    before = 0
                counts[node] = before + 1
    return counts


def _leading_to(nodes: Iterable[Node], captures: dict[Edge, Any]) -> set[Node]:
    """The nodes from which a captured edge can be reached (operands have smaller sequence numbers than users)."""
    targets = {edge.node for edge in captures}
    useful: set[Node] = set()
    for node in sorted(nodes, key=_depth_order):
        if node in targets or any(e.node in useful for e in node.edges):
            useful.add(node)
    return useful


def _depth_order(node: Node) -> int:
    # A leaf's node may be made late (or shared by later graphs); it reads nothing, so it may always come first.
    return -1 if isinstance(node, AccumulateGrad) else node.sequence


def _count_readers(nodes: Iterable[Node], useful: Set[Node]) -> dict[Node, int]:
    counts = dict.fromkeys(nodes, 0)
    for node in useful:
        for after, _ in node.edges:
            if after is not None:
                counts[after] += 1
    return counts


def cotangent_for(output: Any, gradient: Any, ones_like: Callable[[Any], Any]) -> Any:
    """The cotangent of one root: checked when given, 1 for a scalar when not."""
    if gradient is None:
        of = current().type_of(output)
        if of.size != 1:
            raise RuntimeError(
                f"grad can be implicitly created only for scalar outputs, but the output has shape {list(of.shape)}. "
                "Reduce it first, e.g. loss.sum().backward(), or pass a gradient of its shape to backward()."
            )
        if of.dtype.is_complex:
            raise RuntimeError(
                f"grad can be implicitly created only for real scalar outputs but got {of.dtype!r}. Take the .real or "
                ".abs() of it, or pass a gradient to backward()."
            )
        return ones_like(output)
    if not hasattr(gradient, "type_"):
        raise TypeError(f"gradients can be either Tensors or None, but got {type(gradient).__name__}")
    if tuple(gradient.shape) != tuple(output.shape):
        raise RuntimeError(
            f"Mismatch in shape: grad_output[0] has a shape of {gradient.shape} and output[0] has a shape of "
            f"{output.shape}. The gradient must have the output's shape."
        )
    if gradient.dtype is output.dtype:
        return gradient
    if gradient.dtype.is_complex is not output.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
            f"grad_output[0] has a dtype of {gradient.dtype} and output[0] has a dtype of {output.dtype}."
        )
    return cast(gradient, output.dtype)
