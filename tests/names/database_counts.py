"""What PyTorch's operator database has found, counted by category and mode, and what differs with a reason each."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

DATABASE = Path(__file__).resolve().parents[1] / "database"
DIFFERENCES = DATABASE / "differences.json"
MODES = "function method alias inplace out gradient second compiled errors".split()
TITLES = {"function": "values", "gradient": "first", "second": "second"}
CATEGORIES = {
    "nn_functional_": "nn.functional",
    "linalg_": "linalg",
    "fft_": "fft",
    "special_": "special",
    "signal_": "signal",
}

Outcomes = dict[str, dict[str, str]]


def category(name: str) -> str:
    """The module of an entry."""
    return next((title for prefix, title in CATEGORIES.items() if name.startswith(prefix)), "torch")


def counts(outcomes: Outcomes) -> list[str]:
    """The lines of the section."""
    lines = ["", "## PyTorch's operator database", "", _HEAD, "", _row("", [TITLES.get(m, m) for m in MODES])]
    lines.append("|---" * (len(MODES) + 1) + "|")
    right, asked = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for name, of in outcomes.items():
        for mode, outcome in of.items():
            for key in ((category(name), mode), ("all", mode)):
                asked[key] += 1
                right[key] += outcome.startswith("right")
    for title in ["torch", *CATEGORIES.values(), "all"]:
        cells = [f"{right[title, m]} of {asked[title, m]}" if asked[title, m] else "" for m in MODES]
        lines.append(_row(title, cells))
    return [*lines, "", "What differs:", "", *_differences(), "", "What is not asked:", "", *_left_out()]


_HEAD = "Entries that are right in all dtypes and samples that were asked, of those that have the mode."


def _row(title: str, cells: list[str]) -> str:
    return f"| {' | '.join([title, *cells])} |"


def reasons() -> dict[str, dict[str, str]]:
    """By entry and mode, why it is not right."""
    found: dict[str, dict[str, str]] = json.loads(DIFFERENCES.read_text(encoding="utf-8"))
    return found


def _differences() -> list[str]:
    lines = []
    for name, of in reasons().items():
        by_reason: dict[str, list[str]] = {}
        for mode, reason in of.items():
            by_reason.setdefault(reason, []).append(TITLES.get(mode, mode))
        lines += [f"* `{name}` ({', '.join(modes)}): {reason}." for reason, modes in by_reason.items()]
    return lines


def _left_out() -> list[str]:
    scope: dict[str, Any] = runpy.run_path(str(DATABASE / "out_of_scope.py"))
    by_reason: dict[str, list[str]] = {}
    for listed in ("OUT_OF_SCOPE", "VARIANTS_OUT", "DTYPES_OUT"):
        for name, reason in scope[listed].items():
            by_reason.setdefault(reason, []).append(f"`{name}`")
    return [f"* {', '.join(names)}: {reason}." for reason, names in by_reason.items()]
