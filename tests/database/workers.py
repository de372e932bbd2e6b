"""Each operator in a forked process of its own with a time limit: what hangs or crashes harms no other."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import shutil
import tempfile
import time
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

import torch

from tracegrad.compiler import pipeline

from .judging import Verdict, category, pairs_of, verdict

QUICK = tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS)


@dataclass
class Request:
    """An operator, what is asked of it, and the limits."""

    op: Any
    modes: tuple[str, ...]
    dtypes: tuple[str, ...]
    limits: dict[str, int]
    patience: float = 240.0

    def pairs(self) -> list[tuple[str, str]]:
        """The modes and dtypes to ask about."""
        return pairs_of(self.op, self.modes, self.dtypes)

    def blank(self, mode: str, dtype: str) -> Verdict:
        """The verdict before anything is known."""
        return Verdict(self.op.formatted_name, category(self.op), mode, dtype, "right")

    def verdict(self, mode: str, dtype: str) -> Verdict | None:
        """Ask; None where there is nothing to ask."""
        return verdict(self.op, mode, dtype, self.limits.get(mode, 0))


class _Worker:
    def __init__(self, request: Request) -> None:
        self.request, self.left = request, request.pairs()
        context = multiprocessing.get_context("fork")
        self.answers, answers = context.Pipe(duplex=False)
        self.process = context.Process(target=_work, args=(request, list(self.left), answers), daemon=True)
        self.process.start()
        answers.close()
        self.deadline = time.monotonic() + request.patience

    def received(self) -> Iterator[Verdict]:
        """What it has said; at its end, "raised" for what it has left open."""
        try:
            while self.answers.poll():
                mode, dtype, answer = self.answers.recv()
                self.left.remove((mode, dtype))
                self.deadline = time.monotonic() + self.request.patience
                if answer is not None:
                    yield Verdict(**answer)
        except EOFError:
            self.process.join()
            yield from self.ended(f"killed by signal {-(self.process.exitcode or 0)}")

    def ended(self, reason: str) -> Iterator[Verdict]:
        left, self.left = self.left, []
        self.request = dataclasses.replace(self.request, patience=-1.0)
        for i, (mode, dtype) in enumerate(left):
            why = reason if i == 0 else f"not asked, after {left[0][0]} {left[0][1]}: {reason}"
            yield raised(self.request.blank(mode, dtype), why)

    @property
    def is_done(self) -> bool:
        return self.request.patience < 0


def raised(blank: Verdict, why: str) -> Verdict:
    return dataclasses.replace(blank, outcome="raised", reason=why, samples=1, failed=1)


def _work(request: Request, pairs: list[tuple[str, str]], answers: Connection) -> None:
    folder = tempfile.mkdtemp(prefix="tracegrad-database-")
    os.environ["TRACEGRAD_CACHE_DIR"] = folder
    pipeline.FLAGS = QUICK
    torch.set_num_threads(1)
    try:
        for mode, dtype in pairs:
            try:
                found = request.verdict(mode, dtype)
                answer = None if found is None else dataclasses.asdict(found)
            except Exception:
                why = f"the harness: {traceback.format_exc()[-400:]}"
                answer = dataclasses.asdict(raised(request.blank(mode, dtype), why))
            answers.send((mode, dtype, answer))
    finally:
        answers.close()
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)  # what tracegrad's threads and PyTorch's do at the end is no part of it


def judged(requests: Iterable[Request], workers: int) -> Iterator[Verdict]:
    """The verdicts on all requests, as they arrive."""
    waiting, running = list(requests)[::-1], []
    while waiting or running:
        while waiting and len(running) < workers:
            running.append(_Worker(waiting.pop()))
        wait([worker.answers for worker in running], timeout=1.0)
        for worker in running:
            yield from worker.received()
            if not worker.is_done and time.monotonic() > worker.deadline:
                worker.process.kill()
                yield from worker.ended(f"no answer within {worker.request.patience:.0f} s")
        running = [worker for worker in running if not worker.is_done]
