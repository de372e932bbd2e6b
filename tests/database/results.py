"""Modes about results: functions, methods, other names, in-place forms, ``out=``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

import tracegrad as tg

from .comparison import difference, view_difference
from .conversion import Sample, dtype_to_tracegrad, is_tensor, tensors_in
from .counterparts import counterpart
from .gradients import gradient_difference
from .questions import Finding, Findings, Question, Reference, attempt, compared, judged_error, raised, shown
from .ties import tied_difference


def function(question: Question) -> Findings:
    """The function on all samples: numbers, dtypes, shapes, requires_grad, views."""
    yield from _results(question, question.op.op, question.function())


def method(question: Question) -> Findings:
    """The method and the operator."""
    for form in (question.op.get_method(), question.op.get_operator()):
        if form is not None:
            yield from _results(question, form, counterpart(form, f"torch.Tensor.{question.op.name}"))


def alias(question: Question) -> Findings:
    """The operator under its other names, as function and method."""
    for other in question.op.aliases:
        name = other.name.removeprefix("torch.")
        for form, path in ((other.op, f"torch.{name}"), (other.method_variant, f"torch.Tensor.{other.name}")):
            if form is not None:
                yield from _results(question, form, counterpart(form, path))


def _results(question: Question, theirs: Callable[..., Any], ours: Callable[..., Any]) -> Findings:
    for each in question.samples(question.differentiable):
        reference = Reference(question, theirs, each)
        if reference.error is not None:
            continue
        sample, error = attempt(Sample, each)
        if error is None:
            got, error = attempt(ours, *sample.args, **sample.kwargs)
        if error is not None:
            yield raised(error, shown(each))
            continue
        yield compared(result_difference(reference, sample, got), str(sample))


def result_difference(reference: Reference, sample: Sample, got: Any) -> str:
    """What differs between PyTorch's result and tracegrad's, views included; "" if nothing."""
    problem = difference(reference.value, got, reference.has_values)
    if problem and reference.has_values and sample.torch_processed is not None:
        processed, error = attempt(lambda: (sample.torch_processed(reference.value), sample.processed(got)))
        problem = problem if error is not None else difference(*processed)
    if problem and reference.has_values:
        tied = tied_difference(reference.name, sample, reference.value, got)
        problem = problem if tied is None else tied
    if problem:
        return problem
    theirs, ours = tensors_in([sample.torch_args, sample.torch_kwargs]), tensors_in([sample.args, sample.kwargs])
    for expected, own in zip(tensors_in(reference.value), tensors_in(got), strict=False):
        problem, error = attempt(view_difference, expected, own, theirs, ours)
        if problem or error:
            return problem or ""
    return ""


def inplace(question: Question) -> Findings:
    """The method with an underscore and the in-place operator, on a copy of the tensor: also where they must refuse."""
    forms = [question.op.get_inplace(), question.op.get_inplace_operator()]
    forms += [other.inplace_variant for other in question.op.aliases]
    paths = [f"torch.Tensor.{question.op.name}_", "", *(f"torch.Tensor.{o.name}_" for o in question.op.aliases)]
    for form, path in zip(forms, paths, strict=True):
        if form is not None:
            ours = counterpart(form, path)
            for each in question.samples(False):
                yield _in_place(question, form, ours, each)


def _in_place(question: Question, theirs: Any, ours: Any, each: Any) -> Finding:
    sample, error = attempt(Sample, each)
    if error is not None:
        return raised(error, shown(each))
    (target, *args), kwargs = sample.torch_args, sample.torch_kwargs
    tracked = question.differentiable and question.op.supports_inplace_autograd
    target = target.clone().requires_grad_(tracked)
    reference = Reference(question, lambda x, *a, **k: theirs(x.clone(), *a, **k), _Call(target, args, kwargs))
    own = sample.args[0].clone().requires_grad_(tracked)
    changed = own.clone()
    got, error = attempt(ours, changed, *sample.args[1:], **sample.kwargs)
    if reference.error is not None:
        return judged_error(reference.error, error, str(sample))
    if error is not None:
        return raised(error, str(sample))
    if got is not changed:
        return Finding("wrong", f"another object is returned for {sample}")
    problem = difference(reference.value, got, reference.has_values)
    if not problem and tracked and reference.has_values and reference.value.requires_grad:
        problem = gradient_difference(reference.value, got, [target], [own])
    return compared(problem, str(sample))


class _Call:
    """What Reference looks at."""

    def __init__(self, target: Any, args: Any, kwargs: Any) -> None:
        self.input, self.args, self.kwargs = target, tuple(args), kwargs


def out(question: Question) -> Findings:
    """``out=``: the object that is returned, its numbers, and that inputs with gradients are refused."""
    theirs, ours = question.op.op, question.function()
    for each in question.samples(False):
        reference = Reference(question, theirs, each)
        if reference.error is not None or not tensors_in(reference.value):
            continue
        places = _blank(reference.value)
        _, error = attempt(theirs, each.input, *each.args, **{**each.kwargs, "out": places})
        if error is not None:
            continue
        yield _into_out(ours, each, reference)


def _blank(value: Any) -> Any:
    """Empty tensors of the results' dtypes, in a plain tuple where there are several."""
    if is_tensor(value):
        return torch.empty(0, dtype=value.dtype)
    return tuple(torch.empty(0, dtype=x.dtype) for x in tensors_in(value))


def _into_out(ours: Any, each: Any, reference: Reference) -> Finding:
    sample, error = attempt(Sample, each)
    if error is not None:
        return raised(error, shown(each))

    def call() -> Any:
        made = [tg.empty(0, dtype=dtype_to_tracegrad(x.dtype)) for x in tensors_in(reference.value)]
        places = made[0] if is_tensor(reference.value) else tuple(made)
        return made, ours(*sample.args, **{**sample.kwargs, "out": places})

    answer, error = attempt(call)
    if error is not None:
        return raised(error, shown(each))
    made, got = answer
    if any(x is not y for x, y in zip(made, tensors_in(got), strict=False)):
        return Finding("wrong", f"another object than out is returned for {shown(each)}")
    problem = difference(reference.value, got, reference.has_values)
    if problem and reference.has_values:  # of eigenvectors, their sizes
        processed, error = attempt(lambda: (sample.torch_processed(reference.value), sample.processed(got)))
        problem = problem if error is not None else difference(*processed)
    return compared(problem, shown(each))
