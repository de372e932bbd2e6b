"""The command for the databases of classes (modules, optimizers): asks, prints, stores."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .judging import OUTCOMES, Verdict
from .workers import Request, judged


@dataclasses.dataclass
class Database:
    """Entries, their names, the modes, and where the outcomes are stored."""

    title: str
    entries: list[Any]
    name_of: Callable[[Any], str]
    request: type[Request]
    modes: tuple[str, ...]
    outcomes: Path


def command(database: Database, description: str | None) -> int:
    parser = argparse.ArgumentParser(
        prog=f"python -m tests.database.{database.title}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--mode", default="", help=f"some of {', '.join(database.modes)}; all")
    parser.add_argument("--dtype", default="", help="dtypes, separated by commas")
    parser.add_argument("--samples", type=int, default=0, help="samples of each entry, spread evenly; 0: all")
    parser.add_argument("--compiled-samples", type=int, default=8, help="the same for the mode compiled")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--update", action="store_true", help="store the outcomes, which the tests ask")
    parser.add_argument("--verbose", action="store_true", help="print what is right, too")
    options = parser.parse_args()
    modes = tuple(filter(None, options.mode.split(","))) or database.modes
    limits = dict.fromkeys(modes, options.samples) | {"compiled": options.compiled_samples}
    chosen = [e for e in database.entries if _is_named(database.name_of(e), options.names)]
    dtypes = tuple(filter(None, options.dtype.split(",")))
    verdicts = []
    for found in judged((database.request(e, modes, dtypes, limits) for e in chosen), options.workers):
        verdicts.append(found)
        if found.outcome != "right" or options.verbose:
            failed = f" [{found.failed} of {found.samples}]"
            print(f"{found.outcome:7} {found.mode:9} {found.dtype:10} {found.name}{failed}: {found.reason}", flush=True)
    print(*_table(verdicts, database.modes), sep="\n")
    if options.update:
        _update(database, verdicts)
    return int(any(v.outcome != "right" for v in verdicts))


def _is_named(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def worst(verdicts: Sequence[Verdict]) -> dict[tuple[str, str], str]:
    """The worst outcome of each entry in each mode; of compiled ones that are right, with the way they were served."""
    found: dict[tuple[str, str], str] = {}
    for v in verdicts:
        text = f"right: {v.reason}" if v.mode == "compiled" and v.outcome == "right" and v.reason else v.outcome
        found[v.name, v.mode] = max(found.get((v.name, v.mode), "right"), text, key=_rank)
    return found


def _rank(text: str) -> int:
    return OUTCOMES.index(text.partition(":")[0]) * 2 + (":" in text)


def _table(verdicts: Sequence[Verdict], modes: Sequence[str]) -> list[str]:
    outcomes = worst(verdicts)
    lines = ["entries right with all dtypes and samples, of those asked; questions, those not right"]
    for mode in modes:
        of = [outcome.startswith("right") for (_, m), outcome in outcomes.items() if m == mode]
        asked, failed = (sum(getattr(v, n) for v in verdicts if v.mode == mode) for n in ("samples", "failed"))
        lines.append(f"{mode:10} {sum(of):4} of {len(of):4}   {asked:6} {failed:6}")
    return lines


def _update(database: Database, verdicts: Sequence[Verdict]) -> None:
    """Store the outcomes; modes that were not asked are as they were."""
    path = database.outcomes
    stored: dict[str, dict[str, str]] = json.loads(path.read_text()) if path.exists() else {}
    for (name, mode), outcome in worst(verdicts).items():
        stored.setdefault(name, {})[mode] = outcome
    lines = (
        f"{json.dumps(name)}: {json.dumps({m: of[m] for m in database.modes if m in of})}"
        for name, of in sorted(stored.items())
    )
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
