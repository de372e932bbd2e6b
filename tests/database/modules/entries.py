"""PyTorch's database of modules: what is asked, with which dtypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_modules import module_db  # noqa: E402

from ..judging import Verdict, worst_of
from ..workers import Request
from .modes import MODES
from .pairs import ModuleQuestion

FLOATING = ("float64", "float32", "complex128", "complex64", "bfloat16", "float16")
#: What does not depend on the dtype is asked with two, or with one.
DTYPES = {"train": FLOATING, "eval": FLOATING, "initial": ("float64", "float32"), "errors": ("-",)}


def entries() -> list[Any]:
    return list(module_db)


def name_of(info: Any) -> str:
    return info.name.removeprefix("nn.")


@dataclass
class ModuleRequest(Request):
    """As for an operator."""

    def pairs(self) -> list[tuple[str, str]]:
        modes = [m for m in self.modes if m != "errors" or self.op.module_error_inputs_func]
        return [(mode, dtype) for mode in modes for dtype in self._dtypes(mode)]

    def _dtypes(self, mode: str) -> list[str]:
        usual = DTYPES.get(mode, ("float64",))
        named = [d for d in usual if not self.dtypes or d in self.dtypes]
        return [d for d in named if d == "-" or getattr(torch, d) in self.op.dtypes]

    def blank(self, mode: str, dtype: str) -> Verdict:
        return Verdict(name_of(self.op), "modules", mode, dtype, "right")

    def verdict(self, mode: str, dtype: str) -> Verdict | None:
        question = ModuleQuestion(self.op, getattr(torch, dtype, torch.float64), self.limits.get(mode, 0))
        return worst_of(_with_class(question, mode), self.blank(mode, dtype), 200.0)


def _with_class(question: ModuleQuestion, mode: str) -> Any:
    question.ours()  # Absent says so, once
    yield from MODES[mode](question)
