"""The mode about forward-mode derivatives: tangents of results along tangents of all inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.autograd.forward_ad as theirs

import tracegrad as tg
import tracegrad.autograd.forward_ad as own

from .conversion import Sample, replaced, tensors_in
from .gradients import cotangent, list_difference
from .questions import Findings, Question, Reference, attempt, compared, raised, shown
from .torch_database import SampleInput

_SIDES = {torch: theirs, tg: own}


def forward(question: Question) -> Findings:
    """Derivatives along a direction, where PyTorch has them."""
    if not question.op.supports_forward_ad:
        return
    ours = question.function()
    for each in question.samples(True):
        reference = Reference(question, question.op.op, each)
        if reference.error is not None:
            continue
        (sample, tangents), error = attempt(_directed, question.op, each)
        if error is not None:
            yield raised(error, shown(each))
            continue
        theirs = sample.torch_args, sample.torch_kwargs, sample.torch_processed
        expected, refused = attempt(_tangents, torch, question.op.op, *theirs, tangents)
        if refused is not None:
            continue
        got, error = attempt(_tangents, tg, ours, sample.args, sample.kwargs, sample.processed, tangents)
        if error is not None:
            yield raised(error, str(sample))
        else:
            yield compared(_difference(expected, got, reference.has_values), str(sample))


def _directed(op: Any, each: Any) -> tuple[Sample, list[np.ndarray]]:
    """A sample, and the direction of each of its tensors that requires gradients.

    Both are what the database's wrapper for derivatives makes of them. It keeps matrices triangular or Hermitian, and
    probabilities normalised: elsewhere the formulas of a derivative are not one, and differ.
    """
    made: dict[int, Any] = {}
    directions: dict[int, np.ndarray] = {}

    def dual(x: Any) -> Any:
        if not x.requires_grad:
            return x
        if id(x) not in made:
            made[id(x)] = theirs.make_dual(x.detach(), cotangent(torch, x, len(made)))
        return made[id(x)]

    def primal(x: Any) -> Any:
        value, tangent = theirs.unpack_dual(x)
        if tangent is None:
            return x
        if id(x) not in made:
            made[id(x)] = value.detach().clone(memory_format=torch.preserve_format).requires_grad_()
            directions[id(x)] = tangent.numpy(force=True).copy()
        return made[id(x)]

    with theirs.dual_level():
        args, kwargs = replaced((each.input, *each.args), dual), replaced(each.kwargs, dual)
        args, kwargs = op.gradcheck_wrapper(lambda *args, **kwargs: (args, kwargs), *args, **kwargs)
        kept, made = made, {}  # noqa: F841 (a dual of it lives as long as its object)
        first, *others = replaced(args, primal)
        found = SampleInput(first, args=tuple(others), kwargs=replaced(kwargs, primal))
    found.output_process_fn_grad = each.output_process_fn_grad
    return Sample(found), list(directions.values())


def _tangents(library: Any, function: Any, args: Any, kwargs: Any, processed: Any, directions: list[Any]) -> list[Any]:
    """The tangent of each tensor in the result."""
    level = _SIDES[library]
    made: dict[int, Any] = {}

    def dual(x: Any) -> Any:
        if not x.requires_grad:
            return x
        if id(x) not in made:
            tangent = library.from_numpy(directions[len(made)].copy()).to(x.dtype)
            made[id(x)] = level.make_dual(x.detach(), tangent)
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
