"""Verdicts counted: by category and mode, by outcome and mode."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .judging import OUTCOMES, Verdict
from .modes import MODES


def by_operator(verdicts: Sequence[Verdict]) -> dict[tuple[str, str, str], str]:
    """The worst outcome over the dtypes of each (category, operator, mode)."""
    worst: dict[tuple[str, str, str], str] = {}
    for v in verdicts:
        key = v.category, v.name, v.mode
        worst[key] = max(worst.get(key, "right"), v.outcome, key=OUTCOMES.index)
    return worst


def table(verdicts: Sequence[Verdict]) -> str:
    """Operators right in all dtypes, of those asked: a line for each category, a column for each mode; then totals."""
    worst = by_operator(verdicts)
    modes = [mode for mode in MODES if any(v.mode == mode for v in verdicts)]
    categories = sorted({v.category for v in verdicts})
    right, asked = Counter(), Counter()
    for (category, _, mode), outcome in worst.items():
        for key in ((category, mode), ("all", mode)):
            asked[key] += 1
            right[key] += outcome == "right"
    lines = ["operators right in all dtypes, of those asked", _line("", modes)]
    for category in [*categories, "all"]:
        cells = [f"{right[category, m]}/{asked[category, m]}" if asked[category, m] else "" for m in modes]
        lines.append(_line(category, cells))
    for title, counts in (
        ("operators", Counter((mode, outcome) for (_, _, mode), outcome in worst.items())),
        ("with each dtype", Counter((v.mode, v.outcome) for v in verdicts)),
    ):
        lines += ["", _line(title, modes)]
        lines += [_line(outcome, [str(counts[m, outcome]) for m in modes]) for outcome in _ORDER]
    return "\n".join(lines)


_ORDER = ("right", "wrong", "raised", "absent")


def _line(title: str, cells: Sequence[str]) -> str:
    return f"{title:16}" + "".join(f"{cell:>10}" for cell in cells)
