"""A loop over time as one node of the tape, where plain eager mode computes it with `array_forms`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops.array import by_columns, quietly
from ...ops.core import switch
from ...tape.computed_again import derivative
from ...tape.grad_mode import switches
from ...tape.nodes import SECOND_BACKWARD, Node, Saved, class_called
from ...tape.saved import packing
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import make
from .array_forms import Forms

_DTYPES = (np.dtype("float32"), np.dtype("float64"))


class TurnsNode(Node):
    """The loop's outputs are those of all turns, then the last states; its operands rows, states, weight and bias."""

    forms: Forms
    chain: Callable[..., Sequence[Any]]
    operands: list[Saved]
    kept: Any
    turns: Sequence[int]
    released = False

    def release(self) -> None:
        self.released, self.operands, self.kept = True, [], None

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.released:
            raise RuntimeError(SECOND_BACKWARD)
        if switches.enabled or switch.stack:
            return self._by_chain(cotangents, wanted)
        operands = [saved.look(self).ndarray for saved in self.operands]
        out, *last = [None if g is None else g.ndarray for g in cotangents]
        gradients = quietly(self._derived, out, last, operands, wanted)
        return [None if each is None else make(each) for each in gradients]

    def _derived(self, out: Any, last: list[Any], operands: list[Any], wanted: Sequence[bool]) -> list[Any]:
        count = len(last)
        weight = operands[1 + count]
        rows, states, products = self.forms.backward(self.turns[::-1], out, last, self.kept, weight)
        made = products.reshape(-1, products.shape[2])
        found = [rows.reshape(operands[0].shape) if wanted[0] else None]
        found += [state if want else None for state, want in zip(states, wanted[1:], strict=False)]
        before = self.kept[0].reshape(-1, weight.shape[0])
        found.append(self._of_weight(before, made, weight) if wanted[1 + count] else None)
        if len(operands) > 2 + count:
            found.append(np.add.reduce(made, axis=0) if wanted[2 + count] else None)
        return found

    @staticmethod
    def _of_weight(before: np.ndarray, made: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """The gradient of the states' weight; it lies in memory as the weight does."""
        return np.matmul(made.T, before).T if by_columns(weight) else np.matmul(before.T, made)

    def _by_chain(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        """The derivative of the traced loop, which may be differentiated again."""
        operands = [saved.unpack(self) for saved in self.operands]
        places = zip(range(len(operands)), self.edges, wanted, strict=True)
        return derivative(self.chain, operands, list(places), cotangents)


def fits(operands: Sequence[Any]) -> bool:
    """Whether plain eager mode computes with these by numpy code: plain tensors with elements, of one usual type."""
    if switch.stack or packing.hooks:
        return False
    dtype = operands[0].ndarray.dtype
    return dtype in _DTYPES and all(
        type(x) in PLAIN_TENSORS and x.ndarray.dtype is dtype and x.ndarray.size for x in operands
    )


def run(
    forms: Forms,
    chain: Callable[..., Sequence[Any]],
    turns: Sequence[int],
    rows: Any,
    states: Sequence[Any],
    constants: Sequence[Any],
) -> list[Any]:
    """The outputs of all turns ``[time, batch, hidden]``, then the last states. `chain` gives the same of operands."""
    operands = [rows, *states, *constants]
    weight, *bias = constants
    x = rows.ndarray.reshape(len(turns), -1, rows.ndarray.shape[-1])
    first = [state.ndarray for state in states]
    out, last, kept = quietly(forms.forward, turns, x, first, weight.ndarray, bias[0].ndarray if bias else None)
    results = [make(out.copy() if any(out is each for each in kept) else out), *map(make, last)]
    if switches.enabled and any(x.requires_grad for x in operands):
        node: Any = TurnsNode.__new__(class_called(TurnsNode, forms.title))
        Node.__init__(node, forms.title, tuple(x.gradient_edge() for x in operands))
        node.forms, node.chain, node.kept, node.turns = forms, chain, kept, turns
        node.operands, node.outputs = [Saved(x, False) for x in operands], len(results)
        for place, result in enumerate(results):
            result.attach(node, place)
    return results
