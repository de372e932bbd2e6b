"""The mode about forward-mode derivatives: tangents of results along tangents of all inputs."""

from __future__ import annotations

from typing import Any

import torch
import torch.autograd.forward_ad as theirs

import tracegrad as tg
import tracegrad.autograd.forward_ad as own

from .conversion import Sample, replaced, tensors_in
from .gradients import cotangent, derived, list_difference
from .questions import Findings, Question, Reference

_SIDES = {torch: theirs, tg: own}


def forward(question: Question) -> Findings:
    """Derivatives along a direction, where PyTorch has them."""
    if not question.op.supports_forward_ad:
        return
    ours = question.function()

    def of_torch(sample: Sample, reference: Reference) -> list[Any]:
        return _tangents(torch, question.op.op, sample.torch_args, sample.torch_kwargs, sample.torch_processed)

    def of_tracegrad(sample: Sample) -> list[Any]:
        return _tangents(tg, ours, sample.args, sample.kwargs, sample.processed)

    yield from derived(question, of_torch, of_tracegrad, _difference)


def _tangents(library: Any, function: Any, args: Any, kwargs: Any, processed: Any) -> list[Any]:
    """The tangent of each tensor in the result."""
    level = _SIDES[library]
    made: dict[int, Any] = {}

    def dual(x: Any) -> Any:
        if not x.requires_grad:
            return x
        if id(x) not in made:
            made[id(x)] = level.make_dual(x.detach(), cotangent(library, x, len(made)))
        return made[id(x)]

    library.manual_seed(0)
    with level.dual_level():
        result = processed(function(*replaced(args, dual), **replaced(kwargs, dual)))
        return [level.unpack_dual(x).tangent for x in tensors_in(result)]


def _difference(expected: list[Any], got: list[Any], values: bool) -> str:
    """What differs; no tangent is one of zeros."""
    if len(expected) != len(got):
        return f"{len(got)} tangents, not {len(expected)}"
    return list_difference(expected, got, values, order=2).replace("gradient", "tangent")
