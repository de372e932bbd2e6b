"""Several workers, and what they found."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
PATIENCE = 120.0  # seconds for one program; compiling the largest takes some three
LIFETIME = 200  # programs a process judges: libraries stay loaded
FAILURES = ("different", "failed", "crashed", "broken")


def _in_memory() -> str | None:
    """A folder for programs that no disk has to be waited for, if there is one."""
    folder = "/dev/shm"
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return None
    return folder


class Worker:
    """One worker process, started again when it ends."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tracegrad-fuzz-", dir=_in_memory())
        self._process: subprocess.Popen[str] | None = None
        self._judged = 0

    def judge(self, request: dict[str, Any]) -> dict[str, Any]:
        """The worker's answer, or one that says how it died."""
        process = self._running()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        answer = process.stdout.readline() if ready else ""
        if answer:
            return json.loads(answer)
        how = self._ended(process, bool(ready))
        return {"text": "", **request, "outcome": "crashed", "detail": how, "calls": 0, "counts": {}}

    def close(self) -> None:
        self._stop()
        self._folder.cleanup()

    def _running(self) -> subprocess.Popen[str]:
        self._judged += 1
        if self._judged > LIFETIME:
            self._stop()
        if self._process is None:
            self._judged = 1
            path = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
            settings = {"PYTHONPATH": path, "TRACEGRAD_CACHE_DIR": f"{self._folder.name}/cache"}
            settings |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
            command = [sys.executable, "-X", "faulthandler", "-m", "fuzz.worker"]
            with open(self._words, "w") as words:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, text=True,
                    env=os.environ | settings,
                )  # fmt: skip
        return self._process

    @property
    def _words(self) -> str:
        return f"{self._folder.name}/stderr"

    def _ended(self, process: subprocess.Popen[str], ended: bool) -> str:
        self._stop()
        how = f"no answer within {PATIENCE:.0f} s"
        if ended:
            code = process.returncode
            how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        return f"{how}\n{Path(self._words).read_text()[-3000:]}"

    def _stop(self) -> None:
        if self._process is None:
            return
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._process = None


@dataclass
class Findings:
    """What came out of many programs."""

    programs: int = 0
    calls: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def add(self, answer: dict[str, Any]) -> None:
        self.programs += 1
        self.calls += answer["calls"]
        self.outcomes[answer["outcome"]] += 1
        self.counts.update(answer["counts"])
        if answer["outcome"] == "refused":
            self.refusals[reason(answer["detail"])] += 1
        if answer["outcome"] in FAILURES:
            self.failures.append(answer)

    def __str__(self) -> str:
        outcomes = ", ".join(f"{n} {outcome}" for outcome, n in sorted(self.outcomes.items()))
        counts = ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items()))
        lines = [f"{self.programs} programs, {self.calls} calls compared: {outcomes}; {counts}"]
        lines += [f"  refused {n:5d}: {why}" for why, n in self.refusals.most_common()]
        return "\n".join([*lines, f"{len(self.failures)} failures"])


def reason(message: str) -> str:
    """The first line of a refusal without the names that are in it."""
    return re.sub(r"\b[a-z]+\d+(_\d+)?\b", "_", message.partition("\n")[0])


def judged(requests: Iterable[dict[str, Any]], workers: int) -> Iterator[dict[str, Any]]:
    """The answers to all requests, in the order in which they arrive."""
    source, lock, answers, ended = iter(requests), threading.Lock(), [], threading.Semaphore(0)

    def work() -> None:
        worker = Worker()
        try:
            while (request := _next(source, lock)) is not None:
                answers.append(worker.judge(request))
                ended.release()
        finally:
            worker.close()
            answers.append(None)
            ended.release()

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    while workers:
        ended.acquire()
        answer = answers.pop(0)
        workers -= answer is None
        if answer is not None:
            yield answer


def _next(source: Iterator[dict[str, Any]], lock: threading.Lock) -> dict[str, Any] | None:
    with lock:
        return next(source, None)


def survey(
    requests: Iterable[int | dict[str, Any]],
    workers: int,
    failed: Callable[[dict[str, Any]], None] = lambda answer: None,
    judged_one: Callable[[Findings], None] = lambda findings: None,
) -> Findings:
    """Judge the programs with these seeds, or those of requests; `failed` hears of each failure at once, `judged_one`
    of each program."""
    findings = Findings()
    for answer in judged((r if isinstance(r, dict) else {"seed": r} for r in requests), workers):
        findings.add(answer)
        if answer["outcome"] in FAILURES:
            failed(answer)
        judged_one(findings)
    return findings
