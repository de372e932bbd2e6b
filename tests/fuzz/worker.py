"""A process that judges programs: a line of JSON in (a seed or a text), a line with the verdict out.

A process of its own, because compiled code may bring it down. It keeps compiled programs for as long as they run.
"""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import sys
import traceback
import warnings
from typing import Any, TextIO

from c_compilers import WARNINGS

from tracegrad.compiler import pipeline

from .programs import generate
from .running import Verdict, check

SHIPPED = (*pipeline.FLAGS, *WARNINGS)
# A third of the time goes into the C compiler, most of it into its optimiser, whose work is the subject of every 16th
# program.
QUICK = tuple("-O0" if flag == "-O2" else flag for flag in SHIPPED)


def judge(request: dict[str, Any]) -> dict[str, Any]:
    """The verdict on ``{"seed": n}`` or ``{"text": program, "seed": n}``, and the text."""
    seed = request["seed"]
    pipeline.FLAGS = SHIPPED if seed % 16 == 0 or request.get("shipped") else QUICK
    text = request.get("text", "")
    try:
        if text:
            verdict = check(text, keep=seed % 2 == 0)
        else:
            text, verdict = first_that_runs(seed, tuple(request.get("sizes", (1, 2, 3, 4))))
    except Exception:
        verdict = Verdict("broken", traceback.format_exc())
    return {**dataclasses.asdict(verdict), "text": text, "seed": seed}


def first_that_runs(seed: int, sizes: tuple[int, ...]) -> tuple[str, Verdict]:
    """A program whose calls do not all fail, unless it is one of those that are meant to."""
    for attempt in range(3):
        text = generate(seed, sizes, attempt)
        verdict = check(text, keep=seed % 2 == 0)
        if verdict.outcome != "wrong":
            break
    return text, verdict


def serve(requests: TextIO, answers: TextIO) -> None:
    warnings.filterwarnings("error", ".*runs eagerly", RuntimeWarning)  # C that does not compile is a finding
    cache = os.environ["TRACEGRAD_CACHE_DIR"]
    for line in requests:
        answer = judge(json.loads(line))
        shutil.rmtree(cache, ignore_errors=True)
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else prints, does so elsewhere
    serve(sys.stdin, replies)
