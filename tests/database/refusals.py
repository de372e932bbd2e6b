"""Modes about inputs that PyTorch refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import torch

from .conversion import Sample
from .counterparts import Absent
from .questions import RIGHT, Finding, Findings, Question, attempt, judged_error, shown


def errors(question: Question) -> Findings:
    """Inputs that PyTorch refuses: the exception's class."""
    for each, expected, error in _refusals(question):
        yield judged_error(expected, error, f"{shown(each.sample_input)} ({str(expected)[:80]!r})")


def phrases(question: Question) -> Findings:
    """The same: whether the message has the words that the database asks for."""
    for each, expected, error in _refusals(question):
        if error is None or isinstance(error, Absent):
            continue
        if re.search(each.error_regex, str(error)):
            yield RIGHT
        else:
            yield Finding("wrong", f"{str(error)[:120]!r}, not {str(expected)[:120]!r}")


def _refusals(question: Question) -> Iterator[tuple[Any, Exception, Exception | None]]:
    ours = question.function()
    torch.manual_seed(0)
    for each in question.op.error_inputs("cpu"):
        sample = each.sample_input
        converted, error = attempt(Sample, sample)  # before PyTorch resizes an out that it refuses then
        _, expected = attempt(question.op.op, sample.input, *sample.args, **sample.kwargs)
        if expected is None:
            continue
        if error is None:
            _, error = attempt(ours, *converted.args, **converted.kwargs)
        yield each, expected, error
