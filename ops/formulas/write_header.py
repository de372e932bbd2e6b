"""Writes ``runtime/include/tg_special.h``: ``python -m tracegrad.ops.formulas.write_header``."""

from __future__ import annotations

from pathlib import Path

from .c_text import header
from .catalogue import FORMULAS

PATH = Path(__file__).resolve().parents[2] / "runtime" / "include" / "tg_special.h"

if __name__ == "__main__":
    PATH.write_text(header(FORMULAS.values()), encoding="utf-8")
