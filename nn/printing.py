"""The tree that ``print(model)`` shows."""

from __future__ import annotations

from collections.abc import Sequence


def block(name: str, extra: str, children: Sequence[str]) -> str:
    """``Name(extra)`` on one line if there is nothing else, else one indented line for each part."""
    own = extra.split("\n") if extra else []
    if len(own) <= 1 and not children:
        return f"{name}({extra})"
    parts = [*own, *(_indented(child) for child in children)]
    return "\n  ".join([f"{name}(", *parts]) + "\n)"


def grouped(reprs: Sequence[str]) -> list[str]:
    """The lines of a list's members; equal ones that follow each other are one line: ``(0-1): 2 x Tanh()``."""
    lines: list[str] = []
    start = 0
    for i, text in enumerate(reprs):
        if i + 1 < len(reprs) and reprs[i + 1] == text:
            continue
        lines.append(f"({i}): {text}" if i == start else f"({start}-{i}): {i - start + 1} x {text}")
        start = i + 1
    return lines


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"  {line}" if line.strip() else "" for line in rest)])
