"""Outcomes of the database's operators with tensors of each dtype, whether the database says that they take it or not.

What is told of a call is the dtypes of its result, or its exception's class: numbers are compared elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from .conversion import Absent, replaced, short, to_tracegrad
from .counterparts import counterpart
from .judging import DTYPES
from .questions import attempt


def differences(op: Any) -> list[str]:
    """Calls of which tracegrad tells something else than PyTorch: two samples, with all tensors cast to each dtype."""
    found = []
    for way, theirs in (("torch", op.op), ("torch.Tensor", op.get_inplace())):
        if theirs is None:
            continue
        try:
            ours = counterpart(theirs, f"{way}.{op.name}{'' if way == 'torch' else '_'}")
        except Absent:
            continue
        for args, kwargs, given, named in _calls(op):
            at = f"{way}.{op.name}({', '.join(short(x) for x in (*args, *kwargs.values()))})"
            torch.manual_seed(0)
            expected, got = _outcome(*attempt(theirs, *args, **kwargs)), _outcome(*attempt(ours, *given, **named))
            if not _agree(expected, got):
                found.append(f"{at}: {got}, not {expected}")
    return found


def _calls(op: Any) -> Iterator[tuple[Any, ...]]:
    """Arguments for PyTorch and for tracegrad."""
    torch.manual_seed(0)
    kinds = op.supported_dtypes("cpu")
    kind = torch.float32 if torch.float32 in kinds else sorted(kinds, key=str)[0]
    samples = list(op.sample_inputs("cpu", kind))[:40]
    for sample in dict.fromkeys((0, len(samples) // 2)):
        for dtype in DTYPES:
            try:
                yield _cast(samples[sample], kind, getattr(torch, dtype))
            except Absent:
                continue


def _cast(sample: Any, of: Any, dtype: Any) -> tuple[Any, ...]:
    def cast(x: torch.Tensor) -> torch.Tensor:
        return x.detach().to(dtype if x.dtype is of else x.dtype, copy=True) if x.layout is torch.strided else x

    args, kwargs = replaced((sample.input, *sample.args), cast), replaced(sample.kwargs, cast)
    memo: dict[Any, Any] = {}
    return (
        *(args, kwargs, [to_tracegrad(x, memo) for x in args]),
        {name: to_tracegrad(x, memo) for name, x in kwargs.items()},
    )


def _outcome(value: Any, error: Exception | None) -> Any:
    """The dtypes in a result, or the names of the classes that an exception is of."""
    if error is not None:
        return [kind.__name__ for kind in type(error).__mro__[:-2]]
    return (_dtypes(value),)


def _agree(expected: Any, got: Any) -> bool:
    if isinstance(expected, list) and isinstance(got, list):
        return expected[0] in got
    return bool(expected == got)


def _dtypes(value: Any) -> Any:
    if hasattr(value, "dtype"):
        return str(value.dtype).rpartition(".")[2]
    if isinstance(value, dict):
        value = tuple(value.values())
    return tuple(map(_dtypes, value)) if isinstance(value, (tuple, list)) else type(value).__name__
