"""The tape: one node for each recorded operation, linked to the nodes of its operands.

The graph is made during the forward pass. A node keeps alive what the derivative rules of its differentiable operands
name, and nothing else; the engine (`engine.py`) walks the nodes backwards.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..ops.arithmetic import sign
from ..ops.comparison import where
from ..ops.complex_numbers.parts import real
from ..ops.core import Params, Primitive, current, switch
from ..ops.elementwise.rule_code import has_arithmetic_rules
from ..ops.pointwise import cast
from ..ops.sources import zeros
from ..ops.types import Type, bool_
from ..ops.vjp import pull_back, pull_back_all, unbroadcast
from ..tracing.watch import local
from .at_once import gradients_at_once, size_of_second
from .grad_mode import switches
from .needs import Needs, known_of, needs_of, saves_some
from .node import NO_EDGE as NO_EDGE
from .node import Edge as Edge
from .node import Node as Node
from .node import class_called as class_called
from .node import count_by as count_by
from .node import count_now as count_now
from .node import new_edge as new_edge
from .node import numbering
from .saved import HandedOut, PastVersions, SavedTensor, saved
from .saved import Saved as Saved
from .saved_names import KEPT, OUT
from .saved_names import SECOND_BACKWARD as SECOND_BACKWARD
from .tangents import levels


class PrimitiveNode(Node):
    """A primitive on the tape: its derivative rules, and what they name. `PrimitiveNode.of` makes them."""

    primitive: Primitive
    params: Params
    on: tuple[int, ...]
    shapes: tuple[Any, ...]  # of the operands `on`
    known: Mapping[str, Any] = types.MappingProxyType({})
    saves = False
    released = False
    of_primitives = True
    #: Whether `primitive`, `params` and what is kept are all of it: by these a later pass can be told to be the same.
    stands_for_itself = True
    reads_value = False  # whether the numpy form of the composite, in whose place the node stands, reads its value
    zero = False  # whether recorded gradients depend on the operands although their derivative is zero
    result: Any = None  # of such a node the result, without a history, where interpreters go by what is computed of it

    def __init__(
        self, primitive: Primitive, operands: Sequence[Any], params: Params, out: Any, on: tuple[int, ...]
    ) -> None:
        edges = [NO_EDGE] * len(operands)
        self.types: list[Type | None] = [None] * len(operands)
        for i in on:
            edges[i] = operands[i].gradient_edge()
            self.types[i] = operands[i].type_
        super().__init__(primitive.backward_name, tuple(edges))
        self.rename(primitive.backward_name)
        self.primitive = primitive
        self.params = params
        self.known = known_of(operands, out, needs_of(primitive, on))
        self.saves = saves_some(needs_of(primitive, on))
        self.released = False

    def is_of_view(self) -> bool:
        return self.primitive.is_view

    def unpacked(self) -> dict[str, Any]:
        """What was saved; RuntimeError once it is freed, or where its memory has been written to since."""
        if self.released:
            raise RuntimeError(SECOND_BACKWARD)
        if not self.known:
            return {}
        plainly = not switches.enabled and not switch.stack
        return {
            name: (value.look(self) if plainly else value.unpack(self)) if isinstance(value, SavedTensor) else value
            for name, value in self.known.items()
        }

    def keep(self, tensors: Mapping[str, Any], out: Any) -> None:
        """Keep tensors that the rules do not name, since PyTorch's derivative reads them: a write to one is an error.

        They are named by the place among the operands; `out` is this node's result.
        """
        kept = {f"{KEPT} {place}": saved(x, is_output=x is out) for place, x in tensors.items()}
        self.known, self.saves = {**self.known, **kept}, True

    def all_kept(self) -> list[Any]:
        """What is kept."""
        return list(self.known.values())

    def read_by_rules(self) -> list[Any]:
        """What is kept of which the rules read the numbers."""
        return [value for name, value in self.known.items() if not name.startswith(KEPT)]

    def read_by_form(self) -> list[Any]:
        """What is kept of which not the rules, but the form of the composite in numpy reads the numbers."""
        return [value for name, value in self.known.items() if self.reads_value and name == f"{KEPT} {OUT}"]

    def shown_past_versions(self, buffer: Any) -> None:
        if self.reads_value:
            self.known = {**self.known, f"{KEPT} past versions": PastVersions(buffer)}

    def handed_out(self, buffer: Any) -> None:
        name = f"{KEPT} handed out"
        if self.reads_value and not self.released and name not in self.known:
            self.known = {**self.known, name: HandedOut(buffer)}  # behind the counted writes, of which eager mode tells

    def let_go(self, target: Any) -> None:
        """`target`, whose memory is about to be written to by this operation: copy it where a rule reads it."""
        known = dict(self.known)
        for name, value in self.known.items():
            if isinstance(value, SavedTensor) and not value.is_output and value.shows(target.buffer):
                if name.startswith(KEPT):
                    del known[name]
                else:
                    value.keep_own_copy(target)
        self.known = known

    def moved(self, value: Any, target: Any) -> None:
        """The result `value` has been stored in the memory of `target`: it is there that it is kept."""
        for kept in self.known.values():
            if type(kept) is Saved and kept.is_output and kept.tensor.buffer is value.buffer:
                kept.move_to(target)

    def release(self) -> None:
        if self.zero:
            self.result = None
        if self.saves:
            self.released = True
            self.known = {}

    @staticmethod
    def of(
        primitive: Primitive, operands: Sequence[Any], params: Params, out: Any, on: tuple[int, ...], title: str = ""
    ) -> PrimitiveNode:
        """The node of `out`, with derivatives for the operands `on`; called `title`, or as the primitive's are."""
        plan = _plans.get((primitive, on, title)) or _planned(primitive, on, title)
        node: PrimitiveNode = object.__new__(plan.kind)
        node.fill(primitive, operands, params, out, on, plan.needs)
        return node

    def fill(
        self, primitive: Primitive, operands: Sequence[Any], params: Params, out: Any, on: tuple[int, ...], needs: Needs
    ) -> None:
        """Give a new node, which has nothing yet, its fields."""
        edges = [NO_EDGE] * len(operands)
        shapes = []
        for i in on:
            x = operands[i]
            if x._base is None and (node := x._node) is not None:
                edges[i] = new_edge(Edge, (node, x._output))  # as `gradient_edge`, which is the most of making a node
            else:
                edges[i] = x.gradient_edge()
            shapes.append(x.ndarray.shape)
        self.edges = self.shown_edges = tuple(edges)
        self.shapes = tuple(shapes)
        self.sequence = next(numbering.numbers)
        self.place = out.place  # where an interpreter that computes later has noted the op
        self.primitive, self.params, self.on = primitive, params, on
        if needs:
            self.known = known_of(operands, out, needs)
            if saves_some(needs):
                self.saves = True

    def source_of_zero(self) -> Any:
        """A tensor with the history on which recorded gradients depend with a derivative of zero, by its numbers, too;
        None where there is none."""
        if self.result is None:
            return None
        source = self.result.detach()
        source.attach(self, 0)
        return source

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        g, primitive = cotangents[0], self.primitive
        if not (switches.enabled or switch.stack or self.released) and has_arithmetic_rules(primitive):
            found = gradients_at_once(self, primitive, g, wanted)
            if found is not None:
                return found
        known = self.unpacked()
        gradients: list[Any] = [None] * len(self.edges)
        pairs = [(i, shape) for i, shape in zip(self.on, self.shapes, strict=True) if wanted[i]]
        # Gradients of small operands first: one that is made early is kept while the others are computed.
        for i, shape in pairs if len(pairs) == 1 else sorted(pairs, key=size_of_second):
            gradients[i] = pull_back(primitive, i, g, known, self.params, shape)
        if self.zero and switches.enabled:
            return [g if g is None else by_zero(g, cotangents[0], self) for g in gradients]
        return gradients


def by_zero(gradient: Any, g: Any, node: PrimitiveNode) -> Any:
    """`gradient`, which depends on the result of `node` with a derivative of zero; `g` has that result's type."""
    if not switch.stack and levels.open is None:
        return _ByZero.of(gradient, g, node)
    source = node.source_of_zero()
    if source is None:
        source = g.detach()
        source.attach(node, 0)
    return _by_signs(gradient, source)


def depending(gradient: Any, tensors: Sequence[Any]) -> Any:
    """`gradient`, which depends on `tensors` with a derivative of zero, as does each derivative of it; its node has the
    name of ReLU's derivative, whatever the operation was."""
    for x in tensors:
        shown = x.detach()
        shown.attach(DependenceNode(x, tensors), 0)
        if switch.stack or levels.open is not None:
            gradient = _by_signs(gradient, shown)
            continue
        behind = _ByZero("ThresholdBackward0", (gradient.gradient_edge(), shown.gradient_edge()))
        behind.type = x.type_
        gradient = gradient.detach()
        gradient.attach(behind, 0)
    return gradient


class DependenceNode(Node):
    """The identity in front of one of the tensors on which a gradient depends with a derivative of zero: what it hands
    on to that tensor depends on all of them again, as ReLU's derivative does on ReLU's result."""

    of_primitives = True

    def __init__(self, x: Any, tensors: Sequence[Any]) -> None:
        super().__init__("ThresholdBackward0", (x.gradient_edge(),))
        self._tensors = tensors
        if local.watcher is not None:
            self.origin = local.watcher.origin()

    @property
    def all_edges(self) -> tuple[Edge, ...]:
        """Where the gradients of all of these tensors go."""
        return tuple(x.gradient_edge() for x in self._tensors)

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        return [depending(cotangents[0], self._tensors) if switches.enabled else cotangents[0]]


def _by_signs(gradient: Any, result: Any) -> Any:
    """`gradient`, by operations of which the derivative for `result` is zero."""
    shape, of = gradient.ndarray.shape, result.ndarray.shape
    pointwise = all(n in (1, m) for n, m in zip(shape[::-1], of[::-1], strict=False)) and len(shape) <= len(of)
    signs = cast(sign(real(result)), gradient.dtype) if result.ndarray.dtype.kind == "c" else sign(result)
    share = unbroadcast(signs, shape if pointwise else ())  # a number where the result has other elements
    return where(current().constant(True, bool_), gradient, share)


class _ByZero(Node):
    """What a gradient is of the result of the operation that it belongs to: no numbers are computed for that."""

    type: Type  # of the result

    @staticmethod
    def of(gradient: Any, g: Any, node: PrimitiveNode) -> Any:
        """`gradient` with an edge to the result of `node`, which has the type of `g`."""
        title = node.title.removesuffix("0")
        title = "ThresholdBackward" if title == "ReluBackward" else title
        behind: Any = object.__new__(class_called(_ByZero, f"{title}Backward0"))
        behind.edges = (gradient.gradient_edge(), Edge(node))
        behind.shown_edges = (g.gradient_edge(), behind.edges[1])
        behind.sequence, behind.type = next(numbering.numbers), g.type_
        out = gradient.detach()
        out._node = behind
        return out

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        return [cotangents[0], zeros(self.type) if wanted[1] else None]


class _Plan(NamedTuple):
    """What all nodes of one primitive with derivatives for the same operands share."""

    kind: type[PrimitiveNode]
    needs: tuple[tuple[str, int, int], ...]


_plans: dict[tuple[Primitive, tuple[int, ...], str], _Plan] = {}


def _planned(primitive: Primitive, on: tuple[int, ...], title: str) -> _Plan:
    kind: Any = class_called(JointNode if primitive.joint else PrimitiveNode, title or primitive.backward_name)
    plan = _plans[primitive, on, title] = _Plan(kind, needs_of(primitive, on))
    return plan


class JointNode(PrimitiveNode):
    """A primitive whose rule gives the cotangents of all operands at once."""

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        known = self.unpacked()
        asked = [(i, shape) for i, shape in zip(self.on, self.shapes, strict=True) if wanted[i]]
        on, shapes = tuple(i for i, _ in asked), [shape for _, shape in asked]
        gradients: list[Any] = [None] * len(self.edges)
        for i, g in zip(on, pull_back_all(self.primitive, on, cotangents[0], known, self.params, shapes), strict=True):
            gradients[i] = g
        return gradients

    def unpacked(self) -> dict[str, Any]:
        known = super().unpacked()
        name = self.primitive.inputs[0][1:]
        known[name] = [known.get(f"{name}{i}") for i in range(len(self.edges))]
        return known


class AccumulateGrad(Node):
    """The end of the tape at a leaf: adds the gradient to ``leaf.grad``."""

    title = "AccumulateGrad"
    edges = shown_edges = ()

    def __init__(self, leaf: Any) -> None:
        self.sequence = next(numbering.numbers)
        self.variable = leaf

    @property
    def is_hooked(self) -> bool:
        return bool(self.variable.leaf_hooks)

    def hooks_of(self, output: int) -> list[Callable[[Any], Any]]:
        return list(self.variable.leaf_hooks.values())
