"""Timer: how long a statement takes, measured in blocks of runs."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...ops.lazy import late
from ...runtime.num_threads import get_num_threads, set_num_threads

statistics = late("statistics")

timer: Callable[[], float] = timeit.default_timer


@dataclass
class Measurement:
    """Times of blocks of `number_per_run` runs, in seconds."""

    number_per_run: int
    raw_times: list[float]
    label: str = "timeit"
    sub_label: str | None = None
    description: str | None = None
    num_threads: int = 1
    metadata: dict[str, Any] | None = field(default=None, repr=False)

    @property
    def times(self) -> list[float]:
        """Seconds for a run, of each block."""
        return [time / self.number_per_run for time in self.raw_times]

    @property
    def mean(self) -> float:
        """The mean of `times`."""
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        """The median of `times`."""
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        """The distance of the quartiles of `times`."""
        if len(self.raw_times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    def __repr__(self) -> str:
        text = self.label + (f": {self.sub_label}" if self.sub_label else "")
        for limit, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (0.0, "ns")):
            if self.median >= limit:
                scale = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
                break
        counts = f"{len(self.raw_times)} measurements, {self.number_per_run} runs per measurement"
        return (
            f"<Measurement>\n{text}\n  Median: {self.median * scale:.2f} {unit}\n  {counts}, {self.num_threads} thread"
        )


class Timer:
    """Times a statement, as Python's `timeit` does; `globals` are what it may name.

    >>> import tracegrad as tg
    >>> tg.utils.benchmark.Timer("x + 1", globals={"x": tg.ones(2)}).timeit(3).number_per_run
    3
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Any = "python",
    ) -> None:
        if str(language).lower() not in ("python", "py", "language.python"):
            raise ValueError(f"Timer times statements of Python, got language={language!r}")
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        self._described = {"label": label or stmt, "sub_label": sub_label, "description": description}
        self._num_threads = num_threads

    def _measured(self, number: int, raw_times: list[float]) -> Measurement:
        return Measurement(number, raw_times, num_threads=self._num_threads, **self._described)  # type: ignore[arg-type]

    def _run(self, number: int) -> float:
        before = get_num_threads()
        set_num_threads(self._num_threads)
        try:
            return self._timer.timeit(number)
        finally:
            set_num_threads(before)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One block of `number` runs, after some that are not counted."""
        self._run(max(number // 100, 2))
        return self._measured(number, [self._run(number)])

    def _block(self) -> int:
        """How many runs take a millisecond or more."""
        number = 1
        while self._run(number) < 1e-3 and number < 10**9:
            number *= 10
        return number

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Blocks of runs until they have taken `min_run_time` seconds."""
        number, times = self._block(), list[float]()
        while not times or sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return self._measured(number, times)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Any = None
    ) -> Measurement:
        """Blocks of runs until their quartiles are within `threshold` of the median, or `max_run_time` is over."""
        number, times = self._block(), list[float]()
        while True:
            times.append(self._run(number))
            found = self._measured(number, times)
            is_steady = len(times) > 3 and found.iqr < threshold * found.median and sum(times) >= min_run_time
            if is_steady or sum(times) >= max_run_time:
                return found
