"""Modes about derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import tracegrad as tg

from .comparison import difference
from .conversion import Sample, numbers, tensors_in
from .questions import Findings, Question, Reference, attempt, compared, raised, shown


def gradient(question: Question) -> Findings:
    """First derivatives with respect to all inputs that have one."""
    yield from _gradients(question, order=1)


def second(question: Question) -> Findings:
    """Second derivatives, where PyTorch has them."""
    if question.op.supports_gradgrad:
        yield from _gradients(question, order=2)


def _gradients(question: Question, order: int) -> Findings:
    ours = question.function()

    def theirs(sample: Sample, reference: Reference) -> list[Any]:
        inputs = requiring([sample.torch_args, sample.torch_kwargs])
        return _derivatives(torch, sample.torch_processed(reference.value), inputs, order)

    def own(sample: Sample) -> list[Any]:
        result = sample.processed(ours(*sample.args, **sample.kwargs))
        return _derivatives(tg, result, requiring([sample.args, sample.kwargs]), order)

    yield from derived(question, theirs, own, lambda *found: list_difference(*found, order=order))


def derived(
    question: Question,
    theirs: Callable[[Sample, Reference], list[Any]],
    own: Callable[[Sample], list[Any]],
    differing: Callable[[list[Any], list[Any], bool], str],
) -> Findings:
    """How what tracegrad derives of each sample differs from what PyTorch does, where that derives anything."""
    for each in question.samples(True):
        reference = Reference(question, question.op.op, each)
        if reference.error is not None:
            continue
        sample, error = attempt(Sample, each)
        if error is not None:
            yield raised(error, shown(each))
            continue
        expected, refused = attempt(theirs, sample, reference)
        if refused is not None:
            continue
        got, error = attempt(own, sample)
        if error is not None:
            yield raised(error, str(sample))
        else:
            yield compared(differing(expected, got, reference.has_values), str(sample))


def requiring(value: Any) -> list[Any]:
    return list({id(x): x for x in tensors_in(value) if x.requires_grad}.values())


def cotangent(library: Any, tensor: Any, turn: int) -> Any:
    """Numbers between -1 and 1, the same for both libraries."""
    draw = np.random.default_rng(turn)
    array = draw.uniform(-1, 1, tuple(tensor.shape))
    if "complex" in str(tensor.dtype):
        array = array + 1j * draw.uniform(-1, 1, tuple(tensor.shape))
    return library.from_numpy(np.asarray(array)).to(tensor.dtype)


def _derivatives(library: Any, result: Any, inputs: list[Any], order: int) -> list[Any]:
    outputs = requiring([result])
    gradients: list[Any] = []
    for turn in range(order):
        if not outputs:
            break
        cotangents = [cotangent(library, x, 10 * turn + i) for i, x in enumerate(outputs)]
        gradients = list(
            library.autograd.grad(outputs, inputs, cotangents, allow_unused=True, create_graph=turn + 1 < order)
        )
        outputs = [g for g in gradients if g is not None and g.requires_grad]
        if not outputs and turn + 1 < order:
            return [None] * len(inputs)  # nothing depends on the inputs any more
    return gradients or [None] * len(inputs)


def list_difference(expected: list[Any], got: list[Any], values: bool, order: int = 1) -> str:
    for i, (theirs, own) in enumerate(zip(expected, got, strict=True)):
        if theirs is None or own is None:
            alone = theirs if own is None else own
            # Which second derivatives are zero without a path depends on how the first was computed.
            if alone is not None and (order == 1 or np.any(numbers(alone))):
                return f"gradient {i} is {'None' if own is None else 'not None'}"
        elif problem := difference(theirs.detach(), own.detach(), values):
            return f"gradient {i}: {problem}"
    return ""


def gradient_difference(theirs: Any, own: Any, torch_inputs: list[Any], inputs: list[Any]) -> str:
    expected, refused = attempt(_derivatives, torch, theirs, torch_inputs, 1)
    if refused is not None:
        return ""
    got, error = attempt(_derivatives, tg, own, inputs, 1)
    return f"gradient: {error!r}" if error is not None else list_difference(expected, got, True)
