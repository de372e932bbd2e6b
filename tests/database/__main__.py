"""PyTorch's operator database asked of tracegrad:  python -m tests.database [NAME ...] --mode function,gradient

From the root of the repository, with tracegrad importable and PyTorch installed. NAME is an entry's name or a pattern
("softmax", "linalg.*", "*pool*"); without one, all entries in scope are asked. Prints what is not right, with a
reason, and a table; the exit code is 1 if anything is not right. Modes: function, method, alias, inplace, out,
gradient, second, forward, compiled, errors, phrases (the words of errors' messages).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .judging import Verdict, entries
from .modes import MODES
from .out_of_scope import OUT_OF_SCOPE, VARIANTS_OUT
from .summary import by_operator, table
from .workers import Request, judged

OUTCOMES = Path(__file__).with_name("outcomes.json")


def main() -> int:
    options = _options()
    if options.out_of_scope:
        print(*(f"{name:40} {why}" for name, why in {**OUT_OF_SCOPE, **VARIANTS_OUT}.items()), sep="\n")
        return 0
    ops = [op for op in entries() if not options.names or any(_is_named(op, name) for name in options.names)]
    if not ops:
        print("no entry of that name")
        return 2
    modes, dtypes = _split(options.mode) or tuple(m for m in MODES if m != "phrases"), _split(options.dtype)
    limits = dict.fromkeys(MODES, options.samples) | {"compiled": options.compiled_samples}
    verdicts = []
    for found in judged((Request(op, modes, dtypes, limits) for op in ops), options.workers):
        verdicts.append(found)
        if found.outcome != "right" or options.verbose:
            failed = f" [{found.failed} of {found.samples}]"
            print(f"{found.outcome:7} {found.mode:9} {found.dtype:10} {found.name}{failed}: {found.reason}", flush=True)
    print(f"\n{table(verdicts)}")
    if options.update:
        _update(verdicts)
    if options.json:
        options.json.write_text(json.dumps([dataclasses.asdict(v) for v in verdicts], indent=1))
    return int(any(v.outcome != "right" for v in verdicts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.database", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--mode", default="", help="some of the modes, separated by commas; all but phrases")
    parser.add_argument("--dtype", default="", help="dtypes, separated by commas; those that both libraries have")
    parser.add_argument("--samples", type=int, default=0, help="samples of each operator, spread evenly; 0: all")
    parser.add_argument("--compiled-samples", type=int, default=5, help="the same for the mode compiled")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", type=Path, help="a file for all verdicts")
    parser.add_argument(
        "--update", action="store_true", help="store the outcomes in outcomes.json, which the tests ask"
    )
    parser.add_argument("--verbose", action="store_true", help="print what is right, too")
    parser.add_argument("--out-of-scope", action="store_true", help="print what is left out, and why")
    return parser.parse_args()


def _update(verdicts: Sequence[Verdict]) -> None:
    """Store the outcome of each operator in each mode, of compiled ones that are right the way they were served.

    Modes that were not asked are as they were.
    """
    stored: dict[str, dict[str, str]] = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    ways: dict[str, set[str]] = {}  # of all dtypes
    for v in verdicts:
        if v.mode == "compiled" and v.outcome == "right" and v.reason:
            ways.setdefault(v.name, set()).update(v.reason.split(" and "))
    for (_, name, mode), outcome in by_operator(verdicts).items():
        served = " and ".join(sorted(ways.get(name, ()))) if mode == "compiled" and outcome == "right" else ""
        detail = f"right: {served}" if served else outcome
        stored.setdefault(name, {})[mode] = detail
    lines = (
        f"{json.dumps(name)}: {json.dumps({m: of[m] for m in MODES if m in of})}" for name, of in sorted(stored.items())
    )
    OUTCOMES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _split(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(",") if part)


def _is_named(op: Any, name: str) -> bool:
    known: Sequence[str] = (op.name, op.formatted_name, op.name.rpartition(".")[2], *(a.name for a in op.aliases))
    return any(fnmatchcase(other, name) for other in known)


if __name__ == "__main__":
    raise SystemExit(main())
