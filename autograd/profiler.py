"""The profiler: how long named ranges of a program take, under PyTorch's older names.

Difference: single operations are not listed, since compiled steps do not run them one by one. The table has a row for
each `record_function` range, and one for the whole of the profile.
"""

from __future__ import annotations

import functools
import json
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

__all__ = ["EventList", "emit_itt", "emit_nvtx", "profile", "record_function"]

F = TypeVar("F", bound=Callable[..., Any])
P = TypeVar("P", bound="Profile")

_COLUMNS = ("Name", "CPU total %", "CPU total", "CPU time avg", "# of Calls")


class Range(NamedTuple):
    """A named range that has ended: times in nanoseconds."""

    name: str
    start: int
    end: int
    thread: int


class _Active:
    """The profiles that are running."""

    profiles: list[Any] = []


class record_function:
    """A block, or a decorated function, that profiles list under a name.

    >>> import tracegrad as tg
    >>> with tg.autograd.profiler.profile() as prof:
    ...     with tg.autograd.profiler.record_function("forward"):
    ...         y = tg.ones(3) * 2
    >>> [row.key for row in prof.key_averages()]
    ['profile', 'forward']
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self._starts: list[int] = []

    def __enter__(self) -> record_function:
        if _Active.profiles:
            self._starts.append(time.perf_counter_ns())
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._starts:
            start = self._starts.pop()
            for profile in _Active.profiles:
                profile._note(Range(self.name, start, time.perf_counter_ns(), threading.get_ident()))

    def __call__(self, function: F) -> F:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name):
                return function(*args, **kwargs)

        return called  # type: ignore[return-value]


class Average:
    """A row of the table: all ranges of one name. Times are in microseconds."""

    def __init__(self, key: str, times: list[float]) -> None:
        self.key, self.count = key, len(times)
        self.cpu_time_total = sum(times)
        self.cpu_time = self.cpu_time_total / len(times)
        self.device_time_total = self.cuda_time_total = 0.0

    def __repr__(self) -> str:
        return f"<Average key={self.key} cpu_time={self.cpu_time:.3f}us count={self.count}>"


class EventList(list[Average]):
    """Rows of a profile, one for each operation, as ``key_averages()`` gives them: a list that prints as a table.

    >>> import tracegrad as tg
    >>> with tg.autograd.profiler.profile() as profile:
    ...     out = tg.ones(2) + 1
    >>> rows = profile.key_averages()
    >>> "CPU total" in rows.table()
    True
    """

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The rows as text, the longest total first where `sort_by` says so."""
        rows: Iterable[Average] = self
        if sort_by is not None:
            field = sort_by.removeprefix("self_")
            rows = sorted(self, key=lambda row: getattr(row, field, row.cpu_time_total), reverse=True)
        whole = max((row.cpu_time_total for row in self), default=0.0) or 1.0
        lines = [_COLUMNS]
        for row in list(rows)[:row_limit]:
            share = f"{100 * row.cpu_time_total / whole:.2f}%"
            lines.append((row.key[:max_name_column_width], share, _time(row.cpu_time_total), _time(row.cpu_time),
                          str(row.count)))  # fmt: skip
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        rule = "  ".join("-" * width for width in widths)
        note = "Ranges of record_function(); single operations are not listed."
        return "\n".join([*([header] if header else []), rule, text[0], rule, *text[1:], rule, note]) + "\n"

    def key_averages(self, *args: Any, **kwargs: Any) -> EventList:
        """The rows."""
        return self

    def total_average(self) -> Average:
        """All rows as one."""
        return Average("Total", [row.cpu_time_total for row in self] or [0.0])

    def __str__(self) -> str:
        return self.table()


def _time(microseconds: float) -> str:
    for limit, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= limit:
            return f"{microseconds / limit:.3f}{unit}"
    return f"{microseconds:.3f}us"


class Profile:
    """The ranges that end while it runs."""

    def __init__(self) -> None:
        self._ranges: list[Range] = []
        self._began = 0

    def _note(self, found: Range) -> None:
        self._ranges.append(found)

    def start(self) -> None:
        """Begin."""
        self._ranges = []
        self._began = time.perf_counter_ns()
        _Active.profiles = [*_Active.profiles, self]

    def stop(self) -> None:
        """End."""
        _Active.profiles = [other for other in _Active.profiles if other is not self]
        whole = Range("profile", self._began, time.perf_counter_ns(), threading.get_ident())
        self._ranges.insert(0, whole)

    def __enter__(self: P) -> P:
        self.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.stop()

    def events(self) -> list[Range]:
        """The ranges: the whole first, then in the order of their ends."""
        return list(self._ranges)

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **options: Any) -> EventList:
        """A row for each name."""
        times: dict[str, list[float]] = {}
        for found in self._ranges:
            times.setdefault(found.name, []).append((found.end - found.start) / 1000)
        return EventList(Average(name, of) for name, of in times.items())

    def total_average(self) -> Average:
        """All rows as one."""
        return self.key_averages().total_average()

    def table(self, **options: Any) -> str:
        """``key_averages().table()``."""
        return self.key_averages().table(**options)

    @property
    def self_cpu_time_total(self) -> float:
        """The time of the whole, in microseconds."""
        return sum((found.end - found.start) / 1000 for found in self._ranges[:1])

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the ranges in the format of Chrome's tracing tool, as JSON."""
        events = [
            {"name": r.name, "ph": "X", "ts": r.start / 1000, "dur": (r.end - r.start) / 1000, "pid": os.getpid(),
             "tid": r.thread, "cat": "user_annotation"}
            for r in self._ranges
        ]  # fmt: skip
        Path(path).write_text(json.dumps({"traceEvents": events}), encoding="utf-8")

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """RuntimeError: stacks are not recorded."""
        raise RuntimeError("export_stacks() needs stacks, which are not recorded: use Python's cProfile")


class profile(Profile):
    """A block whose named ranges are timed, unless `enabled` is False; other options have no effect.

    >>> import tracegrad as tg
    >>> with tg.autograd.profiler.profile() as found:
    ...     _ = tg.ones(2).sum()
    >>> [row.key for row in found.key_averages()]
    ['profile']
    """

    def __init__(self, enabled: bool = True, **options: Any) -> None:
        super().__init__()
        self.enabled = enabled

    @property
    def function_events(self) -> EventList:
        """A row for each name."""
        return self.key_averages()

    def start(self) -> None:
        """Begin, if it is enabled."""
        if self.enabled:
            super().start()

    def stop(self) -> None:
        """End, if it is enabled."""
        if self.enabled:
            super().stop()

    def step(self) -> None:
        """The end of a step of a training: nothing."""


class emit_nvtx:
    """A context with marks for a profiler of devices; there are no devices, and it does nothing.

    >>> import tracegrad as tg
    >>> with tg.autograd.profiler.emit_nvtx(enabled=False):
    ...     out = tg.ones(2) + 1
    """

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> emit_nvtx:
        return self

    def __exit__(self, *exc_info: object) -> None:
        return None


class emit_itt(emit_nvtx):
    """A context with marks for a profiler of devices; there are no devices, and it does nothing.

    >>> import tracegrad as tg
    >>> with tg.autograd.profiler.emit_itt(enabled=False):
    ...     out = tg.ones(2) + 1
    """
