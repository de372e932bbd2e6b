"""The mode about compiled functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import tracegrad as tg

from .comparison import difference
from .conversion import Sample, replaced
from .gradients import cotangent, list_difference
from .questions import Finding, Findings, Question, Reference, attempt, judged_error, raised, shown
from .results import result_difference
from .steps import requiring_of, step_of

#: Calls of a compiled function: one is recorded, or two where the second differs, and the others are replayed.
CALLS = 4


def compiled(question: Question) -> Findings:
    """The compiled function, with gradients where there are any, called with changing numbers."""
    ours = question.function()
    ways: set[str] = set()
    for each in question.samples(question.differentiable):
        reference = Reference(question, question.op.op, each)
        if reference.error is not None:
            continue
        sample, error = attempt(Sample, each)
        if error is None:
            found, error = attempt(_stepped, sample, ours)
        if error is not None:
            yield raised(error, f"{shown(each)} in eager mode")
            continue
        step, eager = found
        if result_difference(reference, sample, eager[0]):
            yield Finding("wrong", f"already in eager mode for {sample}")
            continue
        yield _compiled(sample, step, reference.has_values, ways)


def _stepped(sample: Sample, ours: Any) -> tuple[Any, Any]:
    """The step of a sample and its result in eager mode; the cotangents are made of that."""
    step = step_of(ours, sample.processing())
    result = ours(*sample.args, **sample.kwargs)
    outputs = requiring_of([sample.processed(result)])
    sample.cotangents = [cotangent(tg, x, i) for i, x in enumerate(outputs)]
    return step, step(sample.args, sample.kwargs, sample.cotangents)


def _compiled(sample: Sample, plain: Any, has_values: bool, ways: set[str]) -> Finding:
    step = tg.compile(plain)
    for call in range(CALLS):
        factor = 1.0 - call % 2 / 1024
        tg.manual_seed(call)
        expected, refused = attempt(plain, *scaled_arguments(sample.args, sample.kwargs, sample.cotangents, factor))
        tg.manual_seed(call)
        got, error = attempt(step, *scaled_arguments(sample.args, sample.kwargs, sample.cotangents, factor))
        if refused is not None or error is not None:
            finding = judged_error(refused, error, f"call {call + 1} of {sample}")
            if finding.outcome != "right":
                return finding
            continue
        problem = difference(expected[0], got[0], has_values) or list_difference(expected[1], got[1], has_values)
        if problem:
            return Finding("wrong", f"{problem} ({step.way}) in call {call + 1} of {sample}")
    ways.add(step.way)  # of the last call: earlier ones are recorded
    return Finding("right", " and ".join(sorted(ways)))


def scaled_arguments(args: Any, kwargs: Any, cotangents: Any, factor: float) -> Any:
    """Arguments in memory of their own, floating-point numbers times `factor`, and the cotangents."""
    return (*(replaced(x, lambda t: _scaled(t, factor)) for x in (args, kwargs)), cotangents)


def _scaled(tensor: Any, factor: float) -> Any:
    """A leaf with other numbers and the same strides."""
    array = tensor.detach()
    copy = tg.from_numpy(np.lib.stride_tricks.as_strided(*_memory(array)))
    if tensor.dtype.is_floating_point and factor != 1.0 and not any(s == 0 for s in tensor.stride()):
        with tg.no_grad():
            copy.mul_(factor)
    return copy.requires_grad_() if tensor.requires_grad else copy


def _memory(tensor: Any) -> tuple[np.ndarray, tuple[int, ...], tuple[int, ...]]:
    array = tensor.numpy()
    if not array.size:
        return array.copy(), array.shape, array.strides
    last = sum((n - 1) * stride for n, stride in zip(array.shape, array.strides, strict=True)) // array.itemsize
    flat = np.lib.stride_tricks.as_strided(array, (last + 1,), (array.itemsize,)).copy()
    return flat, array.shape, array.strides
