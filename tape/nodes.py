"""The tape: one node for each recorded operation, linked to the nodes of its operands.

The graph is made during the forward pass. A node keeps alive what the derivative rules of its differentiable operands
name, and nothing else; the engine (`engine.py`) walks the nodes backwards.
"""

from __future__ import annotations

import itertools
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ops.arithmetic import sign
from ..ops.comparison import where
from ..ops.complex_numbers.parts import real
from ..ops.core import Params, Primitive, current, switch
from ..ops.pointwise import cast
from ..ops.sources import zeros
from ..ops.types import Type, bool_
from ..ops.vjp import pull_back, pull_back_all, unbroadcast
from ..tracing.watch import declare_hook
from .at_once import gradients_at_once, size_of_second
from .grad_mode import switches
from .handles import RemovableHandle, add_hook
from .needs import Needs, known_of, needs_of, saves_some
from .saved import HandedOut, PastVersions, SavedTensor, saved
from .saved import Saved as Saved
from .saved_names import KEPT, OUT, saved_properties
from .saved_names import SECOND_BACKWARD as SECOND_BACKWARD
from .tangents import levels

_sequence: Any = itertools.count()


class Edge(NamedTuple):
    """Where a gradient goes next: a node, and which of its outputs the gradient is of."""

    node: Node | None
    output: int = 0


NO_EDGE = Edge(None)
new_edge = tuple.__new__  # which a NamedTuple's own constructor calls, too
#: Operations whose name in PyTorch tells where they are.
_WRITTEN_IN_CPP = frozenset({"AccumulateGrad", "CopyBackwards", "CopySlices"})


def count_by(wrap: Callable[[Any], Any]) -> None:
    """Let what numbers the nodes be ``wrap`` of what does it now."""
    global _sequence
    _sequence = wrap(_sequence)


def count_now() -> int:
    """Nodes made from now on have this sequence number or a larger one."""
    return next(_sequence)


class Node:
    """One operation of the tape; what a user sees as ``tensor.grad_fn``."""

    title: str
    edges: tuple[Edge, ...]
    shown_edges: tuple[Edge, ...]
    sequence: int
    user_defined = False
    outputs = 1
    origin: Any = None
    # Most nodes have none of these, ever; `own_hooks` gives a node its own.
    tensor_hooks: Mapping[int, dict[int, Callable[[Any], Any]]] = types.MappingProxyType({})  # output -> handle -> hook
    retained: Mapping[int, Any] = types.MappingProxyType({})
    pre_hooks: Mapping[int, Callable[..., Any]] = types.MappingProxyType({})
    post_hooks: Mapping[int, Callable[..., Any]] = types.MappingProxyType({})
    #: Shapes of outputs whose tensors show them in another shape now, without a history of that.
    first_shapes: Mapping[int, tuple[int, ...]] = types.MappingProxyType({})
    #: True for a node that stands for primitives, which are in a recorded graph and have the same derivative.
    of_primitives = False

    def __init__(self, title: str, edges: tuple[Edge, ...]) -> None:
        self.title = title
        self.edges = edges
        self.shown_edges = edges  # a composite shows its own operands here, not those of its last step
        self.sequence = next(_sequence)

    def shown_past_versions(self, buffer: Any) -> None:
        """A result's memory has been given out under other versions, those of `buffer` (``.data``)."""

    def handed_out(self, buffer: Any) -> None:
        """Code outside is given a result's memory, whose `buffer` has this node as its reader (``numpy()``)."""

    def own_hooks(self, output: int) -> dict[int, Callable[[Any], Any]]:
        """The hooks on the tensor that is output number `output`, to add one to."""
        if output not in self.tensor_hooks:
            self.set_hooks(output, OrderedDict())
        return self.tensor_hooks[output]

    def set_hooks(self, output: int, hooks: dict[int, Callable[[Any], Any]] | None) -> None:
        """Let these be the hooks on the tensor that is output number `output`."""
        others = {place: kept for place, kept in self.tensor_hooks.items() if place != output}
        self.tensor_hooks = others if hooks is None else {**others, output: hooks}

    def retain(self, output: int, tensor: Any) -> None:
        """Let the gradient of output number `output` be kept in `tensor`, which is that output."""
        self.retained = {**self.retained, output: weakref.ref(tensor)}

    def release_retained(self, output: int) -> None:
        """Keep the gradient of that output no more."""
        self.retained = {place: keeper for place, keeper in self.retained.items() if place != output}

    def rename(self, title: str) -> None:
        """Call the node `title`; ``type(node).__name__`` says it as well, as in PyTorch."""
        self.title = title
        self.__class__ = class_called(type(self), title)

    def keep(self, tensors: Mapping[str, Any], out: Any) -> None:
        """Keep what PyTorch's derivative reads: nothing where there are no rules, as in a program's own function."""

    def name(self) -> str:
        """PyTorch's name of the operation, e.g. ``MulBackward0``."""
        return f"torch::autograd::{self.title}" if self.title in _WRITTEN_IN_CPP else self.title

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes of the operands, ``(None, 0)`` for operands without gradient."""
        return tuple((edge.node, edge.output) for edge in self.shown_edges)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(grad_outputs)` runs before the node; what it returns replaces the gradients."""
        declare_hook(self)
        if not self.pre_hooks:
            self.pre_hooks = {}
        return add_hook(self.pre_hooks, hook)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(grad_inputs, grad_outputs)` runs after the node; what it returns replaces ``grad_inputs``."""
        declare_hook(self)
        if not self.post_hooks:
            self.post_hooks = {}
        return add_hook(self.post_hooks, hook)

    def is_of_view(self) -> bool:
        """Whether its results are views of its operand, and so gradients of them go where those of that go."""
        return False

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        """One cotangent per edge (None where there is none); `wanted` tells which are of use."""
        raise NotImplementedError

    def release(self) -> None:
        """Free what was saved; later use of it is an error."""

    @property
    def is_hooked(self) -> bool:
        """True if somebody wants to see the gradients that arrive."""
        return bool(self.tensor_hooks or self.retained)

    def hooks_of(self, output: int) -> list[Callable[[Any], Any]]:
        """The hooks on the tensor that is output number `output`, in the order of registration."""
        return list(self.tensor_hooks.get(output, {}).values())

    def __repr__(self) -> str:
        return f"<{self.title} object at {id(self):#x}>"


_classes: dict[tuple[type[Node], str], type[Node]] = {}


def class_called(kind: type[Node], title: str) -> type[Node]:
    """The class of nodes of this kind that are called `title`."""
    known = _classes.get((kind, title))
    if known is not None:
        return known
    base = next(c for c in kind.__mro__ if "title" not in c.__dict__)
    if (base, title) not in _classes:
        # A subclass marks itself by having the title, so that renaming it goes back to the class it came from.
        members = {"title": title, "__module__": base.__module__, **saved_properties(title)}
        _classes[base, title] = type(title, (base,), members)
    _classes[kind, title] = _classes[base, title]
    return _classes[kind, title]


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
        self.sequence = next(_sequence)
        self.place = out.place  # where an interpreter that computes later has noted the op
        self.primitive, self.params, self.on = primitive, params, on
        if needs:
            self.known = known_of(operands, out, needs)
            if saves_some(needs):
                self.saves = True

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        g, primitive = cotangents[0], self.primitive
        if primitive.of_operators and not (switches.enabled or switch.stack or self.released):
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
    result = g.detach()
    result.attach(node, 0)
    shape, of = gradient.ndarray.shape, result.ndarray.shape
    pointwise = all(n in (1, m) for n, m in zip(shape[::-1], of[::-1], strict=False)) and len(shape) <= len(of)
    signs = cast(sign(real(result)), g.dtype) if g.ndarray.dtype.kind == "c" else sign(result)
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
        behind.sequence, behind.type = next(_sequence), g.type_
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
        self.sequence = next(_sequence)
        self.variable = leaf

    @property
    def is_hooked(self) -> bool:
        return bool(self.variable.leaf_hooks)

    def hooks_of(self, output: int) -> list[Callable[[Any], Any]]:
        return list(self.variable.leaf_hooks.values())
