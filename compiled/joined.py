"""Compiled forward programs joined to the tape: their backward is one C call too.

When a compiled function returns tensors whose graph is still to be differentiated (``tg.compile(model)`` in an eager
loop), the recorded graph is differentiated and split: the forward program hands out what the backward program needs,
and one tape node stands for the whole call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..autograd.grad_mode import is_grad_enabled
from ..autograd.nodes import SECOND_BACKWARD, Saved
from ..autograd.nodes import Node as TapeNode
from ..autograd.tensor import Tensor
from ..compiler.differentiate import differentiate
from ..compiler.graph import Graph
from ..compiler.split import Split, split
from .binding import Binding
from .programs import Programs


class Backward:
    """The backward program of one specialisation."""

    def __init__(self, graph: Graph, live: Sequence[str], wrt: Sequence[str], programs: Programs) -> None:
        self.wrt = tuple(wrt)
        self.live = tuple(live)
        self.parts: Split = split(graph, differentiate(graph, live, wrt))
        self.program = programs.of(self.parts.backward)
        self._binding = Binding(self.program)
        self._lock = self._binding.lock
        numbers = () if self.program.fit is None else self.program.fit.numbers  # they are in their places already
        inputs = [node.label for node in self.program.graph.inputs if node.label not in numbers]
        seeds = [node for node in self.parts.backward.inputs if node.label not in self.parts.saved]
        self.cotangent_labels = [node.label for node in seeds[len(seeds) - len(self.live) :]]
        self._inputs = tuple(inputs)
        self.own = tuple(i for i in inputs if i not in self.parts.saved and i not in self.cotangent_labels)
        self._results = [r.name for r in self.program.graph.results]

    def run(
        self, own: dict[str, np.ndarray], saved: Sequence[np.ndarray], cotangents: Sequence[np.ndarray]
    ) -> list[Tensor | None]:
        """The gradients in the order of `wrt`, None where there is none."""
        given = dict(zip(self.parts.saved, saved, strict=True))
        given.update(zip(self.cotangent_labels, cotangents, strict=True))
        given.update(own)
        binding = self._binding
        with self._lock:
            kept = {label: np.ascontiguousarray(given[label]) for label in self._inputs}
            for label, values in kept.items():
                binding.point(binding.slot_of[label], values)
            gradients = {name: binding.fresh_result(i) for i, name in enumerate(self._results)}
            binding.run()
        return [gradients.get(f"grad_{label}") for label in self.wrt]


class CompiledNode(TapeNode):
    """One call of a compiled function on the tape. Its gradients cannot be differentiated again."""

    def __init__(
        self, title: str, backward: Backward, sources: dict[str, Tensor], saved: list[Tensor], live: list[Tensor]
    ) -> None:
        super().__init__(title, tuple(sources[label].gradient_edge() for label in backward.wrt))
        self._backward = backward
        self._own = {label: Saved(sources[label], is_output=False) for label in backward.own}
        self._saved = [t.ndarray for t in saved]
        self._types = [t.type_ for t in live]
        self._released = False
        self.outputs = len(live)

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self._released:
            raise RuntimeError(SECOND_BACKWARD)
        if is_grad_enabled():
            raise RuntimeError(
                f"create_graph=True through {self.title}: a compiled forward has a backward of its own, once.\n"
                "  Put the whole step, the inner gradient included, into one function and compile that."
            )
        own = {label: kept.unpack(self).ndarray for label, kept in self._own.items()}
        seeds = [
            np.zeros(of.shape, of.dtype.numpy) if g is None else g.ndarray
            for g, of in zip(cotangents, self._types, strict=True)
        ]
        gradients = self._backward.run(own, self._saved, seeds)
        return [g if want else None for g, want in zip(gradients, wanted, strict=True)]

    def release(self) -> None:
        if self._own or self._saved:
            self._released = True
            self._own, self._saved = {}, []
