"""PyTorch's database of optimizers asked of tracegrad:  python -m tests.database.optimizers [NAME ...]

From the root of the repository, with tracegrad importable and PyTorch installed. Prints what is not right and counts.
"""

from __future__ import annotations

from pathlib import Path

from ..class_entries import Database, command
from .entries import OptimizerRequest, entries, name_of
from .modes import MODES

DATABASE = Database(
    "optimizers", entries(), name_of, OptimizerRequest, tuple(MODES), Path(__file__).with_name("outcomes.json")
)

if __name__ == "__main__":
    raise SystemExit(command(DATABASE, __doc__))
