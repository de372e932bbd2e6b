"""Composites on the tape as one node: what they are in numpy, and their derivative in numpy.

Only plain eager mode makes such nodes. Where the derivative is itself recorded (`create_graph`, a function that is
being recorded) the composite is computed again from the saved operands by its primitives, and these are differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..ops.array import quietly
from ..ops.core import switch
from .computed_again import derivative
from .grad_mode import switches
from .nodes import NO_EDGE, Edge, PrimitiveNode, by_zero, class_called, count_now, new_edge
from .saved import INFERENCE, Packed, Saved, SavedTensor, modified, packing
from .saved_names import OUT, SECOND_BACKWARD

Arrays = tuple[Any, ...]


class Plan(NamedTuple):
    """The operands that a derivative reads, and those that PyTorch's reads besides."""

    read: tuple[int, ...]
    watched: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Fused:
    """A composite of `operands` floating-point tensors (or None) followed by other arguments, in four ways.

    `chain(*tensors, *others)` are its primitives. ``forward(wanted, *arrays, *others)`` gives the value and what the
    derivative will need of it (None: nothing); a value that is a tuple has further values behind the one with
    gradients, and so has what the chain gives. `wanted` tells for each operand whether it requires a gradient.
    ``backward(g, kept, shapes, *arrays, *others)`` gives the gradients; `shapes` are those of the operands whose
    gradients are wanted, None of others. The arrays that it gets are those of the operands in `checked`, which maps
    them to the operands whose gradients read them: a write to their memory in between is an error, as it is where the
    primitives save them. With `checks_value` the same holds for the value, which `backward` gets in place of `kept`.
    `watched` and `watches_value` say so of operands, and of a value, that `backward` does not read, while PyTorch's
    derivative does.

    A composite of one operand that is linear but for what is kept may have its derivative in primitives as well,
    ``rule(g, kept, *others)``: then the operand has not to be saved for gradients of gradients. Where the derivatives
    are few primitives of the operands, ``derivatives(g, wanted, *operands, *others)`` makes these, and the composite
    has not to be computed again; where they are of the value, which PyTorch's read, ``value_rule(g, value, *others)``.
    """

    title: str
    operands: int
    chain: Callable[..., Any]
    forward: Callable[..., tuple[np.ndarray, Any]]
    backward: Callable[..., Sequence[Any]]
    checked: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    checks_value: bool = False
    watched: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    watches_value: bool = False
    rule: Callable[..., Any] | None = None
    derivatives: Callable[..., Sequence[Any]] | None = None
    value_rule: Callable[..., Any] | None = None
    zero: bool = False  # whether the gradients depend on the operands with a derivative of zero
    summed: int | None = None  # of a matrix product: the operand over whose last axis it sums

    plans: dict[tuple[bool, ...], Plan] = field(default_factory=dict, init=False)

    def plan(self, wanted: Sequence[bool]) -> Plan:
        """What all nodes with derivatives for the `wanted` operands share."""
        key = tuple(wanted)
        plan = self.plans.get(key)
        if plan is None:
            used = [
                tuple([i for i, users in pairs.items() if any(key[user] for user in users)])
                for pairs in (self.checked, self.watched)
            ]
            plan = self.plans[key] = Plan(*used)
        return plan

    def reads(self, wanted: Sequence[bool]) -> list[int]:
        """The operands that must not be written to where the gradients of those that are `wanted` are to come."""
        plan = self.plan(wanted)
        return sorted({*plan.read, *plan.watched})


class Watched(NamedTuple):
    """Memory that must not be written to before the backward pass, which does not read it.

    It is kept, as PyTorch keeps it: who writes to it, and lets it go then, is refused all the same.
    """

    buffer: Any
    version: int
    shape: tuple[int, ...]
    is_output: bool

    @staticmethod
    def of(x: Any, is_output: bool) -> Watched:
        if x.buffer.version < 0 and not switches.in_transform:
            raise RuntimeError(INFERENCE)
        return Watched(x.buffer, x.buffer.version, x.ndarray.shape, is_output)

    def holds(self) -> bool:
        """False where it has been written to."""
        return bool(self.buffer.version == self.version)

    def check(self, node: Any) -> None:
        """RuntimeError where it has been written to."""
        if not self.holds():
            raise RuntimeError(modified(node, self.shape, self.is_output, self.buffer.version, self.version))


def _packed(kept: Any, make: Any) -> Any:
    """What a form keeps, its arrays as programs want to keep them: tensors without a history."""
    if type(kept) is tuple:
        return tuple([_packed(each, make) for each in kept])
    return Packed(make(kept), False) if type(kept) is np.ndarray else kept


def _unpacked(kept: Any, node: Any) -> Any:
    if type(kept) is tuple:
        return tuple([_unpacked(each, node) for each in kept])
    return kept.look(node).ndarray if type(kept) is Packed else kept


class FusedNode(PrimitiveNode):
    """A composite on the tape; `FusedNode.made` makes them."""

    stands_for_itself = False
    fused: Fused
    kept: Any
    read: tuple[int, ...]  # the operands that the derivative reads
    watched: Sequence[Watched] = ()
    arguments: list[Any]  # operands and the others; tensors with their versions
    make: Callable[..., Any]
    dtype: np.dtype

    def is_of_view(self) -> bool:
        return False  # no composite gives one

    @staticmethod
    def made(
        fused: Fused, arguments: Sequence[Any], out: Any, wanted: Sequence[bool], kept: Any, make: Any
    ) -> FusedNode:
        """The node of `out`, a composite of `arguments`, with derivatives for the operands `wanted`."""
        node: Any = object.__new__(class_called(FusedNode, fused.title))
        node.fused, node.kept, node.make = fused, kept, make
        node.dtype = out.ndarray.dtype
        count = fused.operands
        edges: list[Any] = []
        shapes: list[Any] = []
        for x, want in zip(arguments, wanted, strict=False):
            if x is None:
                shapes.append(None)
                continue
            if not want:
                edges.append(NO_EDGE)
            elif x._base is None and (behind := x._node) is not None:
                edges.append(new_edge(Edge, (behind, x._output)))
            else:
                edges.append(x.gradient_edge())
            shapes.append(x.ndarray.shape)
        node.edges = node.shown_edges = tuple(edges)
        node.sequence = count_now()  # behind those of operands: a view of what was written to has a new node
        node.shapes = tuple(shapes)
        plan = fused.plan(wanted)
        if plan.watched:
            node.watched = [Watched.of(arguments[i], False) for i in plan.watched if arguments[i] is not None]
        if fused.watches_value:
            node.watched = [*node.watched, Watched.of(out, True)]
        node.arguments = saved = list(arguments)
        if fused.rule is not None:
            saved[:count] = [None] * count
        node.known = known = {}
        as_saved = Packed if packing.hooks else Saved
        for i, x in enumerate(saved):
            if x is not None and hasattr(x, "buffer"):
                is_read = x.buffer.version >= 0 or i in plan.read
                saved[i] = known[str(i)] = as_saved(x, False) if is_read else Saved.unread(x)
        node.read = tuple([i for i in plan.read if saved[i] is not None]) if plan.read else ()
        if fused.checks_value:
            known[OUT] = as_saved(out, True)
        if packing.hooks:
            node.kept, node.watched = _packed(kept, make), ()
        node.saves = fused.checks_value or bool(node.read) or kept is not None or bool(node.watched)
        return node

    def release(self) -> None:
        super().release()
        if self.released:
            self.kept, self.watched, self.arguments = None, (), []

    def keep(self, tensors: Mapping[str, Any], out: Any) -> None:
        if packing.hooks:
            return
        self.watched = [*self.watched, *[Watched.of(x, x is out) for x in tensors.values()]]
        self.saves = True

    def let_go(self, target: Any) -> None:
        super().let_go(target)
        self.watched = [each for each in self.watched if each.buffer is not target.buffer]

    def moved(self, value: Any, target: Any) -> None:
        super().moved(value, target)
        self.watched = [Watched.of(target, True) if each.is_output else each for each in self.watched]

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.released:
            raise RuntimeError(SECOND_BACKWARD)
        for each in self.watched:
            each.check(self)
        g, fused, saved = cotangents[0], self.fused, self.arguments
        shapes, count = list(self.shapes), fused.operands
        given = [i for i in range(count) if shapes[i] is not None]
        if switches.enabled or switch.stack or g.ndarray.dtype is not self.dtype:
            if type(value := self.known.get(OUT)) is Saved:
                value.look(self)  # it is computed again, but the form in numpy refuses what has been written to
            if g.ndarray.dtype is self.dtype:
                if fused.derivatives is not None:
                    return self._by_derivatives(g, given, wanted)
                if fused.value_rule is not None and (value := self.value()) is not None:
                    return [fused.value_rule(g, value, *self._others())]
            return self._by_chain(g, given, wanted) if fused.rule is None else [self._by_rule(g)]
        if False in wanted:
            for i, want in zip(given, wanted, strict=True):
                if not want:
                    shapes[i] = None
        arrays: list[Any] = [None] * count
        for i in self.read:
            arrays[i] = saved[i].look(self).ndarray
        kept = self.known[OUT].look(self).ndarray if fused.checks_value else _unpacked(self.kept, self)
        gradients = quietly(fused.backward, g.ndarray, kept, shapes, *arrays, *self._others())
        return [self._tensor(gradients[i], g) for i in given]

    def _others(self) -> list[Any]:
        """The arguments behind the operands."""
        return [x.look(self) if isinstance(x, SavedTensor) else x for x in self.arguments[self.fused.operands :]]

    def value(self) -> Any:
        """The value, with its history; None where it is not kept, or only as a part of other memory."""
        if OUT in self.known:
            return self.known[OUT].unpack(self)
        for each in self.watched:
            each.check(self)
            if each.is_output and each.buffer.whole.shape == each.shape:
                value = self.make(each.buffer.whole, each.buffer)
                value.attach(self, 0)
                return value
        return None

    def source_of_zero(self) -> Any:
        value = self.value()
        if value is not None or not self.arguments or not isinstance(self.arguments[0], SavedTensor):
            return value
        return self.arguments[0].unpack(self)  # an operand that the derivative reads

    def _by_rule(self, g: Any) -> Any:
        """The derivative in primitives, which may be differentiated again."""
        fused = self.fused
        assert fused.rule is not None
        found = fused.rule(g, _unpacked(self.kept, self), *self._others())
        return by_zero(found, g, self) if fused.zero and switches.enabled else found

    def _by_derivatives(self, g: Any, given: Sequence[int], wanted: Sequence[bool]) -> list[Any]:
        """The derivatives in primitives of the operands, which may be differentiated again."""
        asked = [False] * self.fused.operands
        for i, want in zip(given, wanted, strict=True):
            asked[i] = want
        requiring = [False] * self.fused.operands
        for i, edge in zip(given, self.edges, strict=True):
            requiring[i] = edge.node is not None
        unread = {*range(self.fused.operands)}.difference(self.fused.reads(requiring))
        arguments = [self._argument(i, i in unread) for i in range(len(self.arguments))]
        assert self.fused.derivatives is not None
        found = self.fused.derivatives(g, asked, *arguments)
        if self.fused.zero and switches.enabled:
            found = [x if x is None else by_zero(x, g, self) for x in found]
        return [found[i] for i in given]

    def _argument(self, i: int, is_unread: bool) -> Any:
        """An argument with its history; of one that no derivative reads the version does not matter."""
        x = self.arguments[i]
        if is_unread and type(x) is Saved:
            return x.tensor
        return x.unpack(self) if isinstance(x, SavedTensor) else x

    def _tensor(self, gradient: Any, g: Any) -> Any:
        if gradient is None or gradient is g.ndarray:
            return gradient if gradient is None else g
        return self.make(gradient if type(gradient) is np.ndarray else np.asarray(gradient))

    def _by_chain(self, g: Any, given: Sequence[int], wanted: Sequence[bool]) -> list[Any]:
        """The derivative of the composite's primitives, which may be differentiated again."""
        arguments = [x.unpack(self) if isinstance(x, SavedTensor) else x for x in self.arguments]
        operands = list(zip(given, self.edges, wanted, strict=True))

        def values(*arguments: Any) -> Sequence[Any]:
            out = self.fused.chain(*arguments)
            return out[:1] if type(out) is tuple else (out,)

        return derivative(values, arguments, operands, [g])
