"""Composites on the tape as one node: what they are in numpy, and their derivative in numpy.

Only plain eager mode makes such nodes. Where the derivative is itself recorded (`create_graph`, a function that is
being recorded) the composite is computed again from the saved operands by its primitives, and these are differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ops.array import quietly
from ..ops.core import switch
from .engine import Sweep
from .grad_mode import enable_grad, switches
from .nodes import NO_EDGE, SECOND_BACKWARD, Edge, Node, PrimitiveNode, Saved, class_called, count_now

Arrays = tuple[Any, ...]


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

    A composite of one operand that is linear but for what is kept may have its derivative in primitives as well,
    ``rule(g, kept, *others)``: then the operand has not to be saved for gradients of gradients.
    """

    title: str
    operands: int
    chain: Callable[..., Any]
    forward: Callable[..., tuple[np.ndarray, Any]]
    backward: Callable[..., Sequence[Any]]
    checked: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    checks_value: bool = False
    rule: Callable[..., Any] | None = None


class FusedNode(PrimitiveNode):
    """A composite on the tape; `FusedNode.made` makes them."""

    fused: Fused
    kept: Any
    read: tuple[int, ...]  # the operands that the derivative reads
    arguments: list[Any]  # operands and the others; tensors with their versions
    make: Callable[[np.ndarray], Any]
    dtype: np.dtype

    @staticmethod
    def made(
        fused: Fused, arguments: Sequence[Any], out: Any, wanted: Sequence[bool], kept: Any, make: Any
    ) -> FusedNode:
        """The node of `out`, a composite of `arguments`, with derivatives for the operands `wanted`."""
        node: Any = object.__new__(class_called(FusedNode, fused.title))
        operands = zip(arguments, wanted, strict=False)
        node.edges = node.shown_edges = tuple(
            [x.gradient_edge() if want else NO_EDGE for x, want in operands if x is not None]
        )
        node.sequence = count_now()
        node.fused, node.kept, node.make = fused, kept, make
        node.shapes = tuple([None if x is None else x.ndarray.shape for x in arguments[: fused.operands]])
        node.dtype = out.ndarray.dtype
        if fused.rule is not None:
            arguments = [*[None] * fused.operands, *arguments[fused.operands :]]
        node.arguments = saved = [Saved(x, False) if hasattr(x, "buffer") else x for x in arguments]
        node.read = tuple(
            [i for i, by in fused.checked.items() if saved[i] is not None and True in [wanted[user] for user in by]]
        )
        node.known = {str(i): x for i, x in enumerate(saved) if type(x) is Saved}
        if fused.checks_value:
            node.known["out"] = Saved(out, is_output=True)
        node.saves = fused.checks_value or bool(node.read) or kept is not None
        return node

    def release(self) -> None:
        super().release()
        if self.released:
            self.kept, self.arguments = None, []

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.released:
            raise RuntimeError(SECOND_BACKWARD)
        g, fused, saved = cotangents[0], self.fused, self.arguments
        given = [i for i, shape in enumerate(self.shapes) if shape is not None]
        others = saved[fused.operands :]
        if switches.enabled or switch.stack or g.ndarray.dtype is not self.dtype:
            return self._by_chain(g, given, wanted) if fused.rule is None else [fused.rule(g, self.kept, *others)]
        shapes: list[Any] = [None] * fused.operands
        for i, want in zip(given, wanted, strict=True):
            if want:
                shapes[i] = self.shapes[i]
        arrays = [saved[i].look(self).ndarray if i in self.read else None for i in range(fused.operands)]
        kept = self.known["out"].look(self).ndarray if fused.checks_value else self.kept
        others = [x.tensor if type(x) is Saved else x for x in others]
        gradients = quietly(fused.backward, g.ndarray, kept, shapes, *arrays, *others)
        return [self._tensor(gradients[i], g) for i in given]

    def _tensor(self, gradient: Any, g: Any) -> Any:
        if gradient is None or gradient is g.ndarray:
            return gradient if gradient is None else g
        return self.make(gradient if type(gradient) is np.ndarray else np.asarray(gradient))

    def _by_chain(self, g: Any, given: Sequence[int], wanted: Sequence[bool]) -> list[Any]:
        """The derivative of the composite's primitives, which may be differentiated again."""
        arguments = [x.unpack(self) if type(x) is Saved else x for x in self.arguments]
        entries = [_OperandNode(edge) if want else None for edge, want in zip(self.edges, wanted, strict=True)]
        for i, entry in zip(given, entries, strict=True):
            if entry is not None:  # others keep their histories: the derivative may be differentiated by them
                arguments[i] = arguments[i].detach()
                arguments[i].attach(entry, 0)
        keep = switches.enabled
        with enable_grad():
            out = self.fused.chain(*arguments)
        out = out[0] if type(out) is tuple else out
        sweep = Sweep(keep, keep, _no_leaves)
        sweep.captures = {Edge(entry): None for entry in entries if entry is not None}
        sweep.seed(out.gradient_edge(), g)
        sweep.run([out.gradient_edge()])
        return [None if entry is None else sweep.captures[Edge(entry)] for entry in entries]


class _OperandNode(Node):
    """Where an operand enters a composite that is computed again: what lies behind is not part of it."""

    def __init__(self, edge: Edge) -> None:
        super().__init__("Operand", (edge,))

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        return list(cotangents)


def _no_leaves(leaf: Any, g: Any, create_graph: bool, fresh: bool) -> None:
    raise AssertionError("what is captured accumulates nothing")
