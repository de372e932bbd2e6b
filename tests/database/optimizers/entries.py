"""PyTorch's database of optimizers: what is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch.testing._internal.common_optimizers import optim_db

from ..counterparts import at_path
from ..judging import Verdict, worst_of
from ..workers import Request
from .modes import MODES, OptimizerQuestion


def entries() -> list[Any]:
    return list(optim_db)


def name_of(info: Any) -> str:
    return str(info.optim_cls.__name__)


@dataclass
class OptimizerRequest(Request):
    """As for an operator; the dtype is float64 (in the mode complex complex128)."""

    def pairs(self) -> list[tuple[str, str]]:
        return [(mode, "-") for mode in self.modes]

    def blank(self, mode: str, dtype: str) -> Verdict:
        return Verdict(name_of(self.op), "optimizers", mode, dtype, "right")

    def verdict(self, mode: str, dtype: str) -> Verdict | None:
        return worst_of(self._findings(mode), self.blank(mode, dtype), 200.0)

    def _findings(self, mode: str) -> Any:
        at_path(f"torch.optim.{name_of(self.op)}")  # Absent says so, once
        yield from MODES[mode](OptimizerQuestion(self.op))
