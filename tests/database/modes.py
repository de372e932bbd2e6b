"""The modes: what is asked of an operator. Each yields what it has found with each sample."""

from __future__ import annotations

from collections.abc import Callable

from . import compiled_calls, gradients, refusals, results, tangents
from .questions import Findings, Question

MODES: dict[str, Callable[[Question], Findings]] = {
    "function": results.function,
    "method": results.method,
    "alias": results.alias,
    "inplace": results.inplace,
    "out": results.out,
    "gradient": gradients.gradient,
    "second": gradients.second,
    "forward": tangents.forward,
    "compiled": compiled_calls.compiled,
    "errors": refusals.errors,
    "phrases": refusals.phrases,
}
