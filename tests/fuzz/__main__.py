"""Many random programs, eager and compiled:  python -m tests.fuzz --programs 20000 --seed 100000

From the root of the repository, with tracegrad importable. Prints each failure with its seed and the shrunk program and
a summary. ``--text file`` judges one program from a file, ``--show`` prints programs without running them.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from .pairs import all_programs
from .pool import FAILURES, Findings, Worker, survey
from .programs import generate
from .shrinking import smaller_program

SHOWN_EVERY = 100  # programs


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0, help="of the first program; the others count on")
    parser.add_argument("--workers", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds for each failure; 0: not at all")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--text", type=Path)
    parser.add_argument("--pairs", action="store_true", help="not random ones: each change of a fact beside each use")
    options = parser.parse_args()
    seeds = range(options.seed, options.seed + options.programs)
    if options.show:
        print(*(generate(seed) for seed in seeds), sep="\n\n")
        return 0
    if options.text:
        return _judge_one({"seed": options.seed, "text": options.text.read_text()})
    programs = pairs_among(seeds) if options.pairs else seeds
    findings = survey(programs, options.workers, lambda answer: report(answer, options.shrink), progress)
    print(findings)
    return bool(findings.failures)


def pairs_among(numbers: range) -> list[dict[str, Any]]:
    """The requests for the pairs with these numbers."""
    programs = enumerate(all_programs())
    return [{"seed": number, "text": text} for number, (_, text) in programs if number in numbers]


def progress(findings: Findings) -> None:
    """Print how far it is, from time to time, and the time of day."""
    if findings.programs % SHOWN_EVERY == 0:
        print(
            f"{time.strftime('%H:%M:%S')} {findings.programs} programs, {len(findings.failures)} failures", flush=True
        )


def report(answer: dict[str, Any], seconds: float) -> None:
    """Print a failure, and the shrunk program."""
    print(f"\n==== seed {answer['seed']}: {answer['outcome']}\n{answer['detail'][:3000]}", flush=True)
    if seconds and answer["text"]:
        worker = Worker()
        print(f"---- shrunk\n{smaller_program(answer, worker.judge, seconds)}", flush=True)
        worker.close()


def _judge_one(request: dict[str, Any]) -> int:
    worker = Worker()
    answer = worker.judge(request)
    worker.close()
    print(answer["outcome"], answer["detail"], sep="\n")
    return answer["outcome"] in FAILURES


if __name__ == "__main__":
    raise SystemExit(main())
