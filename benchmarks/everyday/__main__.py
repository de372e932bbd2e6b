"""Training steps as people write them: PyTorch's eager step, tracegrad's, and the compiled one.

    python -m benchmarks.everyday [--only NAME] [--rounds 7] [--calls 150] [--count]

First all ways of running a pattern are compared. Then: microseconds of processor time for one training step, the
quietest of several rounds after enough calls to be warm; one thread. A line that begins with "part" is the
pattern with the inner function compiled instead of the outer one. `programs` counts the C programs that were made,
`built` those of them that came up while measuring. With --count Python's calls are counted instead of time.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import time
from typing import Any

from .. import environment
from . import PATTERNS, Sizes
from .checks import Compiling, disagreement, outcome, programs_made, python_calls, start
from .setting import Pattern, Run

CHECKED = 12  # calls that are compared
WARM = 550  # calls before the measured ones
HEAD = f"{'pattern':52} {'torch':>8} {'eager':>8} {'compiled':>8} {'ratio':>6} {'way':>10} {'programs':>8} {'built':>5}"
COUNT_HEAD = f"{'pattern':52} {'Python':>8} {'C':>8} {'eager':>8} {'way':>10} {'programs':>8} {'built':>5}"


def main() -> None:
    options = _options()
    environment.use_one_thread()
    tg, torch = importlib.import_module("tracegrad"), importlib.import_module("torch")
    torch.set_num_threads(1)
    chosen = [p for p in PATTERNS if options.only in (p.name, "")]
    wrong = [f"{title}: {what}" for p in chosen for title, what in _wrong(tg, torch, p)]
    if wrong:
        raise SystemExit("These ways of running differ:\n" + "\n".join(wrong))
    print(COUNT_HEAD if options.count else HEAD)
    rows = []
    for pattern in chosen:
        for title, name in _variants(pattern):
            row = (_count if options.count else _time)(tg, torch, pattern, name, options)
            rows.append(row)
            print(f"{title:52} " + _text(row), flush=True)
    if not options.count:
        print(_summary(rows))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.everyday", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default="", help="one pattern: " + ", ".join(p.name for p in PATTERNS))
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=150, help="measured calls of a round")
    parser.add_argument("--count", action="store_true", help="count Python's calls instead of time")
    return parser.parse_args()


def _variants(pattern: Pattern) -> list[tuple[str, str]]:
    """Titles, and which wrapper of the setting compiles."""
    return [(pattern.title, "whole")] + ([(f"part: {pattern.title}", "part")] if pattern.has_part else [])


def _wrong(tg: Any, torch: Any, pattern: Pattern) -> list[tuple[str, str]]:
    """Ways of running that differ from tracegrad's eager mode, and where."""
    calls, sizes = CHECKED, Sizes(seldom=5)
    expected = outcome(start(pattern, tg, sizes), calls)
    actual = {f"{pattern.name}, PyTorch": outcome(start(pattern, torch, sizes), calls)}
    for _, name in _variants(pattern):
        run = start(pattern, tg, sizes, **{name: tg.compile})
        actual[f"{pattern.name}, {name} compiled"] = outcome(run, calls)
    differences = ((title, disagreement(each, expected)) for title, each in actual.items())
    return [(title, what) for title, what in differences if what]


# ---------------------------------------------------------------------------------------------------------- counting


def _count(tg: Any, torch: Any, pattern: Pattern, name: str, options: Any) -> tuple[Any, ...]:
    compiling = Compiling(tg.compile)
    run, eager = start(pattern, tg, Sizes(), **{name: compiling}), start(pattern, tg, Sizes())
    _calls(eager, 0, CHECKED)
    with programs_made() as made:
        _calls(run, 0, WARM // run.steps)
        warm = len(made)
        python, c = python_calls(run, WARM // run.steps, options.calls)
    plain, _ = python_calls(eager, CHECKED, CHECKED)
    return python, c, plain, compiling.way, len(made), len(made) - warm


# ------------------------------------------------------------------------------------------------------------ timing


def _time(tg: Any, torch: Any, pattern: Pattern, name: str, options: Any) -> tuple[Any, ...]:
    """Microseconds for PyTorch, eager and compiled, PyTorch's time by the compiled one's, and how that is served."""
    theirs, _ = _quietest(start(pattern, torch, Sizes()), options)
    eager, _ = _quietest(start(pattern, tg, Sizes()), options)
    compiling = Compiling(tg.compile)
    with programs_made() as programs:
        ours, made = _quietest(start(pattern, tg, Sizes(), **{name: compiling}), options)
    return theirs, eager, ours, theirs / ours, compiling.way, len(programs), made


def _quietest(run: Run, options: Any) -> tuple[float, int]:
    """Microseconds of one training step in the quietest round, and how many C programs came up meanwhile."""
    calls, warm = max(1, options.calls // run.steps), WARM // run.steps
    _calls(run, 0, warm)
    best = float("inf")
    gc.collect()
    with programs_made() as made:
        for round in range(options.rounds):
            begin = time.process_time()
            _calls(run, warm + round * calls, calls)
            best = min(best, time.process_time() - begin)
    return best / (calls * run.steps) * 1e6, len(made)


def _calls(run: Run, first: int, count: int) -> None:
    for i in range(first, first + count):
        run.call(i)


def _text(row: tuple[Any, ...]) -> str:
    *figures, way, programs, made = row
    columns = [f"{figure:8.1f}" for figure in figures[:3]] + [f"{figure:5.2f}x" for figure in figures[3:]]
    return " ".join([*columns, f"{way:>10} {programs:8} {made:5}"])


def _summary(rows: list[tuple[Any, ...]]) -> str:
    twice = sum(row[3] >= 2 for row in rows)
    slower = sum(row[3] < 1 for row in rows)
    behind = sum(row[2] > row[1] for row in rows)
    built = sum(row[-1] > 0 for row in rows)
    return (
        f"{len(rows)} rows: {twice} at least 2x PyTorch, {slower} slower than PyTorch, "
        f"{behind} slower than tracegrad's eager mode, {built} that built programs while measuring"
    )


if __name__ == "__main__":
    main()
