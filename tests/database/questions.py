"""What a mode is asked about and what it finds, and PyTorch's answers."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from .comparison import difference
from .conversion import replaced, short, tensors_in
from .counterparts import Absent, counterpart
from .out_of_scope import DTYPES_OUT

#: Uninitialised memory: there are no numbers to compare.
UNINITIALISED = ("empty", "new_empty", "resize_", "empty_like", "empty_strided", "new_empty_strided", "resize_as_")


#: Types of results that are out of scope (out_of_scope.py).
NOT_MEANT = frozenset(getattr(torch, name) for name in DTYPES_OUT)


@dataclass
class Finding:
    """What one sample has shown: "right", "wrong", "raised" or "absent", and why."""

    outcome: str
    reason: str = ""


RIGHT = Finding("right")
Findings = Iterator[Finding]


@dataclass
class Question:
    """An operator with one dtype; `limit` samples at most are looked at (0: all)."""

    op: Any
    dtype: Any
    limit: int

    def samples(self, requires_grad: bool) -> list[Any]:
        torch.manual_seed(0)
        found = [_asked(each) for each in self.op.sample_inputs("cpu", self.dtype, requires_grad=requires_grad)]
        if not self.limit or len(found) <= self.limit:
            return found
        return [found[i] for i in sorted(set(np.linspace(0, len(found) - 1, self.limit).astype(int).tolist()))]

    @property
    def differentiable(self) -> bool:
        return self.dtype in self.op.supported_backward_dtypes("cpu")

    def function(self) -> Callable[..., Any]:
        return counterpart(self.op.op, f"torch.{self.op.name}")


def _asked(sample: Any) -> Any:
    """The sample with leaves in place of views that were taken of a leaf without recording (the database's samples are
    made in no_grad mode): PyTorch says of them that they require a gradient, and has no edge to them, so that
    theirs is None whatever is computed."""
    sample.input, sample.kwargs = replaced(sample.input, _leaf), replaced(sample.kwargs, _leaf)
    sample.args = tuple(replaced(sample.args, _leaf))
    return sample


def _leaf(tensor: torch.Tensor) -> torch.Tensor:
    base = tensor._base
    if base is None or tensor.grad_fn is not None or not (base.requires_grad and tensor.requires_grad):
        return tensor
    return tensor.detach().requires_grad_()


def attempt(function: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Exception | None]:
    """The result of a call, or its exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs), None
    except Exception as error:
        return None, error


def raised(error: Exception, at: str) -> Finding:
    """The finding for an exception of tracegrad's."""
    if isinstance(error, Absent):
        return Finding("absent", str(error))
    absent = isinstance(error, AttributeError) and re.search(r"'tracegrad|'Tensor'|not in tracegrad", str(error))
    text = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0][:200]}"
    return Finding("absent" if absent else "raised", f"{text} for {at}")


def compared(problem: str, at: str) -> Finding:
    return Finding("wrong", f"{problem} for {at}") if problem else RIGHT


class Reference:
    """PyTorch's result for a sample, and whether it depends on the generator."""

    def __init__(self, question: Question, function: Callable[..., Any], sample: Any) -> None:
        args, kwargs = (sample.input, *sample.args), sample.kwargs
        self.name = question.op.name
        torch.manual_seed(1)
        again, self.error = attempt(function, *replaced(args, _fresh), **replaced(kwargs, _fresh))
        torch.manual_seed(0)
        self.value, self.error = attempt(function, *args, **kwargs)
        if any(x.dtype in NOT_MEANT for x in tensors_in(self.value)):
            self.error = TypeError("a result of a type that is out of scope")  # such samples are passed over
        seeded = "wrapper_set_seed" in getattr(getattr(function, "__code__", None), "co_names", ())
        uninitialised = question.op.name in UNINITIALISED
        self.has_values = not (seeded or uninitialised or self.error or difference(self.value, again))


def _fresh(tensor: torch.Tensor) -> torch.Tensor:
    copy = tensor.detach().as_strided(tensor.size(), tensor.stride()) if tensor.layout is torch.strided else tensor
    return copy.clone(memory_format=torch.preserve_format).requires_grad_(tensor.requires_grad)


def judged_error(expected: Exception | None, error: Exception | None, at: str) -> Finding:
    """Whether tracegrad's exception is of PyTorch's class."""
    if error is not None and (finding := raised(error, at)).outcome == "absent":
        return finding
    if expected is None:
        return RIGHT if error is None else raised(error, at)
    if error is None:
        return Finding("wrong", f"no {type(expected).__name__} for {at}")
    classes = [kind.__name__ for kind in type(error).__mro__]
    return compared("" if type(expected).__name__ in classes else f"{error!r:.160}, not {type(expected).__name__}", at)


def shown(sample: Any) -> str:
    parts = [short(arg) for arg in (sample.input, *sample.args)]
    return f"({', '.join([*parts, *(f'{name}={short(arg)}' for name, arg in sample.kwargs.items())])})"
