"""Verdicts: one operator in one mode with one dtype."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from .conversion import has_dtype
from .counterparts import Absent
from .modes import MODES
from .out_of_scope import reason_left_out
from .questions import Finding, Question
from .torch_database import BinaryUfuncInfo, ReductionOpInfo, ShapeFuncInfo, UnaryUfuncInfo, op_db

#: The worst decides about several samples.
OUTCOMES = ("right", "absent", "raised", "wrong")
DTYPES = "float64 float32 int64 bool int32 uint8 int8 int16 float16 bfloat16 complex64 complex128".split()
#: Modes that are asked with these dtypes unless others are named: what they look at does not depend on the dtype, or
#: is a matter of minutes. The first two that an operator has are taken, or all.
FEW: dict[str, tuple[tuple[str, ...], int]] = {
    "method": (tuple(DTYPES), 1),
    "alias": (tuple(DTYPES), 1),
    "out": (tuple(DTYPES), 1),
    "gradient": (("float64", "complex128"), 2),
    "second": (("float64", "complex128"), 2),
    "forward": (("float64", "complex128"), 2),
    "compiled": (("float64", "float32", "int64", "bool"), 2),
    "errors": ((), 1),
    "phrases": ((), 1),
}
FAMILIES = {
    UnaryUfuncInfo: "unary",
    BinaryUfuncInfo: "binary",
    ReductionOpInfo: "reduction",
    ShapeFuncInfo: "shape",
}
PREFIXES = ("nn.functional", "linalg", "fft", "special", "signal")


@dataclass
class Verdict:
    """What came out for an operator in a mode with a dtype."""

    name: str
    category: str
    mode: str
    dtype: str
    outcome: str
    reason: str = ""
    samples: int = 0
    failed: int = 0


def entries() -> list[Any]:
    """The entries in scope."""
    return [op for op in op_db if not reason_left_out(op.name, op.formatted_name)]


def category(op: Any) -> str:
    """The kind of operator by which the summary counts."""
    prefix = next((p for p in PREFIXES if op.name.startswith(f"{p}.")), "")
    return prefix or next((name for kind, name in FAMILIES.items() if isinstance(op, kind)), "other")


def dtypes_of(op: Any, mode: str, named: tuple[str, ...]) -> list[str]:
    """The dtypes with which a mode is asked; all that both libraries have unless some are `named`."""
    if mode in ("errors", "phrases"):
        return ["-"]
    supported = (
        op.supported_backward_dtypes("cpu") if mode in ("gradient", "second", "forward") else op.supported_dtypes("cpu")
    )
    usual, most = FEW.get(mode, (tuple(DTYPES), len(DTYPES)))
    possible = [d for d in (named or usual) if getattr(torch, d) in supported]
    return possible if named else [d for d in possible if has_dtype(getattr(torch, d))][:most]


def verdict(op: Any, mode: str, dtype: str, limit: int = 0, seconds: float = 60.0) -> Verdict | None:
    """Ask; None where there is nothing to ask. After `seconds` the samples that are left are left out."""
    question = Question(op, getattr(torch, dtype, torch.float64), limit)
    blank = Verdict(op.formatted_name, category(op), mode, dtype, "right")
    return worst_of(_findings(mode, question, dtype), blank, seconds)


def worst_of(findings: Iterator[Finding], blank: Verdict, seconds: float = 60.0) -> Verdict | None:
    """The verdict on several findings: `blank` with the worst of them, and counts; None if there are none."""
    counts = dict.fromkeys(OUTCOMES, 0)
    worst, deadline = Finding("right"), time.monotonic() + seconds
    try:
        for finding in findings:
            counts[finding.outcome] += 1
            if OUTCOMES.index(finding.outcome) > OUTCOMES.index(worst.outcome) or (finding.reason and not worst.reason):
                worst = finding if finding.outcome != "right" or worst.outcome == "right" else worst
            if time.monotonic() > deadline:
                break
    except Absent as absent:
        worst = Finding("absent", str(absent))
        counts["absent"] += 1
    samples = sum(counts.values())
    if not samples:
        return None
    failed = samples - counts["right"]
    return dataclasses.replace(blank, outcome=worst.outcome, reason=worst.reason, samples=samples, failed=failed)


def _findings(mode: str, question: Question, dtype: str) -> Iterator[Finding]:
    if dtype != "-" and not has_dtype(question.dtype):
        raise Absent(f"dtype {dtype}")
    yield from MODES[mode](question)


def pairs_of(op: Any, modes: tuple[str, ...], dtypes: tuple[str, ...]) -> list[tuple[str, str]]:
    """The (mode, dtype) pairs to ask an operator about."""
    return [(mode, dtype) for mode in modes if _has(op, mode) for dtype in dtypes_of(op, mode, dtypes)]


def _has(op: Any, mode: str) -> bool:
    if mode in ("errors", "phrases"):
        return op.error_inputs_func is not None
    return {
        "method": op.get_method() is not None or op.get_operator() is not None,
        "alias": bool(op.aliases),
        "inplace": op.get_inplace() is not None or op.get_inplace_operator() is not None,
        "out": op.supports_out,
        "gradient": op.supports_autograd,
        "second": op.supports_gradgrad,
        "forward": op.supports_forward_ad,
    }.get(mode, True)
