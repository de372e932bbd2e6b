"""Functions that are numpy code with a derivative, and no C: decompositions, Fourier transforms.

Each is declared once: its evaluation on arrays, and its derivative as a rule written in tensors, so that gradients can
be differentiated again. The evaluation reads the operands' numbers. Eager mode has them; a recording
refuses that with the function's name, and such calls are re-recorded: what comes before is computed, then
the function, and what comes after it is put off again, backward passes alike.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..ops import types
from ..ops.array import eager, quietly
from ..ops.core import interpreted
from ..ops.pointwise import cast
from ..ops.vjp import unbroadcast
from ..tape.fused import Watched
from ..tape.grad_mode import is_recording
from ..tape.nodes import NO_EDGE, SECOND_BACKWARD, Node
from ..tape.saved import SavedTensor, saved
from ..tensors.tensor import Tensor
from ..tracing.watch import watcher
from .forward_mode import forward_tape

Rule = Callable[..., Any]


class NumpyFunction:
    """A function from tensors to tensors, called `name` in messages (``linalg.svd``).

    ``evaluate(*arrays, **parameters)`` gives an array for each of `outputs` (no tuple if it is one). `gradient` is the
    derivative rule, None where nothing is differentiable: it gives a cotangent for each operand (no tuple if it is
    one), None where there is none. It names what it needs: ``g`` (the cotangents of all outputs, None where there is
    none; the cotangent itself of a single output), ``wanted`` (for which operands), operands, outputs and parameters.
    What it names is what is kept: a write to it is an error then. Outputs at the places `constant` have no derivative,
    nor have integers. `lies` says for each output how its elements lie in memory: "rows" (all, unless it is given),
    "columns" for matrices as LAPACK writes them, "kept" for what `evaluate` has made, in an order of its own.
    """

    def __init__(
        self,
        name: str,
        inputs: str,
        outputs: str,
        evaluate: Callable[..., Any],
        gradient: Rule | None,
        title: str = "",
        constant: tuple[int, ...] = (),
        lies: str = "",
    ) -> None:
        self.name, self.title, self.constant = name, title, constant
        self.inputs, self.outputs = tuple(inputs.split()), tuple(outputs.split())
        self.evaluate, self.gradient = evaluate, gradient
        self.lies = tuple(lies.split()) or ("rows",) * len(self.outputs)
        self.needs = tuple(inspect.signature(gradient).parameters) if gradient else ()

    def __call__(self, *operands: Any, **parameters: Any) -> Any:
        tape = forward_tape()
        if tape is None:
            return self._computed(*operands, **parameters)
        found = interpreted(tape.around, self._computed, *operands, **parameters)
        results = found if type(found) is tuple else (found,)

        def pull_back(cotangents: list[Any]) -> list[Any]:
            known = {**dict(zip(self.inputs, operands, strict=True)), **dict(zip(self.outputs, results, strict=True))}
            return self.pulled(cotangents, {**known, **parameters}, [i in tangents for i in range(len(operands))])

        tangents = tape.tangents_of(operands) if self.gradient else {}
        tape.give(results, self.constant, tangents, operands, pull_back)
        return found

    def pulled(self, cotangents: Sequence[Any], known: Mapping[str, Any], wanted: Sequence[bool]) -> list[Any]:
        """The cotangents of the operands, as `gradient` gives them; `known` is what it may name."""
        assert self.gradient is not None
        named = {**known, "g": cotangents if len(self.outputs) > 1 else cotangents[0], "wanted": wanted}
        found = self.gradient(*(named[name] for name in self.needs))
        return list(found) if type(found) is tuple else [found]

    def _computed(self, *operands: Any, **parameters: Any) -> Any:
        interpreter = eager()
        arrays = [interpreter.read(x.detach(), f"{self.name}()") for x in operands]
        values = quietly(self.evaluate, *arrays, **parameters)
        several = values if type(values) is tuple else (values,)
        laid = [_LAID[order](value) for order, value in zip(self.lies, several, strict=True)]
        results = tuple([interpreter.literal(value) for value in laid])
        on = tuple(i for i, x in enumerate(operands) if x.requires_grad) if self.gradient and is_recording() else ()
        if on:
            NumpyNode(self, operands, results, parameters, on)
        return results if type(values) is tuple else results[0]


def _by_columns(value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.ndim < 2:  # what stands for a matrix that was not asked for
        return array.copy()
    return np.array(array.swapaxes(-2, -1), order="C").swapaxes(-2, -1)


_LAID: Mapping[str, Callable[[Any], np.ndarray]] = {
    "rows": lambda value: np.array(value, order="C"),
    "columns": _by_columns,
    "kept": np.asarray,
}


def underivable(name: str) -> Rule:
    """The derivative rule of what PyTorch does not differentiate: NotImplementedError in its words."""

    def rule(g: Any) -> Any:
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return rule


class NumpyNode(Node):
    """A call of a `NumpyFunction` on the tape, with derivatives for the operands `on`."""

    _watched: tuple[Watched, ...] = ()  # besides what the derivative reads

    def __init__(
        self,
        function: NumpyFunction,
        operands: Sequence[Any],
        results: Sequence[Any],
        parameters: Mapping[str, Any],
        on: Sequence[int],
    ) -> None:
        edges = tuple(x.gradient_edge() if i in on else NO_EDGE for i, x in enumerate(operands))
        super().__init__(function.title, edges)
        self.rename(function.title)
        self.function, self.parameters, self.on = function, parameters, on
        self.types = [x.type_ for x in operands]
        self.outputs = len(results)
        listening = watcher()
        if listening is not None:
            self.origin = listening.origin()
        kept = [(name, x, False) for name, x in zip(function.inputs, operands, strict=True)]
        kept += [(name, x, True) for name, x in zip(function.outputs, results, strict=True)]
        self.kept: dict[str, SavedTensor] | None = {n: saved(x, is_out) for n, x, is_out in kept if n in function.needs}
        for i, result in enumerate(results):
            if result.dtype.category >= types.float32.category and i not in function.constant:
                result.attach(self, i)

    def keep(self, tensors: Mapping[str, Any], out: Any) -> None:
        """As of nodes of primitives: a write to one of `tensors` is an error from now on; `out` is the result."""
        self._watched = tuple([Watched.of(x, x is out) for x in tensors.values()])

    def release(self) -> None:
        self._watched = ()
        if self.kept:
            self.kept = None

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.kept is None:
            raise RuntimeError(SECOND_BACKWARD)
        for each in self._watched:
            each.check(self)
        known: dict[str, Any] = dict(self.parameters)
        for name, kept in self.kept.items():
            known[name] = kept.unpack(self)
            if kept.is_output:
                known[name].attach(self, self.function.outputs.index(name))
        gradients = self.function.pulled(cotangents, known, wanted)
        return [
            _fitted(g, of) if g is not None and i in self.on else None
            for i, (g, of) in enumerate(zip(gradients, self.types, strict=True))
        ]


def _fitted(g: Tensor, of: types.Type) -> Tensor:
    """`g` in the type and shape of its operand."""
    g = unbroadcast(g, of.shape)
    return g if g.dtype is of.dtype else cast(g, of.dtype)
