"""What ``step.profile()`` found: as a table, as a trace for a browser, as a picture of the roofline."""

from __future__ import annotations

import importlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .machine import Machine

_HEADS = ("kernel", "us", "share", "MFLOP", "MB", "GF/s", "GB/s", "roofline", "where")
_MOST_PLACES = 3


@dataclass(frozen=True)
class Row:
    """One kernel: which program of the call it belongs to, its median time, what it does, and for which lines."""

    program: int
    kernel: str
    seconds: float
    flops: int
    nbytes: int
    itemsize: int
    places: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Profile:
    """`rows` in the order in which the kernels run. ``str()`` is a table with the slowest first.

    A kernel's time is that of the thread that calls: while other programs have its processor, it stands still.
    `flops` count additions, multiplications, divisions and calls of functions of floating-point numbers, one each;
    `nbytes` what a kernel reads and what it writes, each element once. The share of the roofline is the shortest time
    in which this machine could do both (one thread; memory as fast as the smallest cache that holds the bytes)
    over the time that was measured.
    """

    name: str
    rows: tuple[Row, ...]
    machine: Machine
    repeats: int

    @property
    def seconds(self) -> float:
        """All kernels together."""
        return sum(row.seconds for row in self.rows)

    def roofline(self, row: Row) -> float:
        """The shortest time that this machine could need for a kernel, over the time that it takes."""
        return self.machine.seconds(row.flops, row.nbytes, row.itemsize) / row.seconds if row.seconds else 0.0

    def __str__(self) -> str:
        """The table."""
        ordered = sorted(self.rows, key=lambda row: -row.seconds)
        table = [_HEADS, *map(self._cells, ordered)]
        widths = [max(len(cells[i]) for cells in table) for i in range(len(_HEADS))]
        lines = [
            "  ".join(
                cell.ljust(width) if head in ("kernel", "where") else cell.rjust(width)
                for cell, width, head in zip(cells, widths, _HEADS, strict=True)
            ).rstrip()
            for cells in table
        ]
        programs = len({row.program for row in self.rows})
        title = f"{self.name}: {self.seconds * 1e6:.1f} us in C, {len(self.rows)} kernels of {programs} programs"
        return "\n".join([f"{title}, medians of {self.repeats} runs on copies of the memory", *lines])

    __repr__ = __str__

    def _cells(self, row: Row) -> Sequence[str]:
        seconds = row.seconds or float("nan")
        places = ", ".join(row.places[:_MOST_PLACES]) + (", ..." if len(row.places) > _MOST_PLACES else "")
        return (
            row.kernel,
            f"{row.seconds * 1e6:.1f}",
            f"{row.seconds / (self.seconds or 1):.1%}",
            f"{row.flops / 1e6:.3f}",
            f"{row.nbytes / 1e6:.3f}",
            f"{row.flops / seconds / 1e9:.1f}",
            f"{row.nbytes / seconds / 1e9:.1f}",
            f"{self.roofline(row):.0%}",
            places,
        )

    def chrome_trace(self, path: str | Path) -> None:
        """Write one run as a trace, which chrome://tracing, Perfetto and Speedscope show."""
        events, at = [], 0.0
        for row in self.rows:
            told = dict(flops=row.flops, bytes=row.nbytes, roofline=round(self.roofline(row), 3), where=row.places)
            events.append(
                dict(name=row.kernel, ph="X", ts=at, dur=row.seconds * 1e6, pid=self.name, tid=row.program, args=told)
            )
            at += row.seconds * 1e6
        Path(path).write_text(json.dumps(dict(traceEvents=events, displayTimeUnit="ns")), encoding="utf-8")

    def plot(self, path: str | Path | None = None) -> Any:
        """A picture of the roofline with a dot for each kernel, of the size of its share; saved at `path`, if that is
        given. Returns matplotlib's figure; ModuleNotFoundError without matplotlib."""
        try:
            pyplot = importlib.import_module("matplotlib.pyplot")
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "profile().plot() draws with matplotlib, which is not installed\n  in the call of plot()\n"
                "  Install it: pip install matplotlib"
            ) from error
        figure, axes = pyplot.subplots(figsize=(9, 6))
        self._draw(axes)
        if path is not None:
            figure.savefig(path, dpi=120, bbox_inches="tight")
            pyplot.close(figure)
        return figure

    def _draw(self, axes: Any) -> None:
        drawn = [row for row in self.rows if row.flops and row.nbytes and row.seconds]
        at = [row.flops / row.nbytes for row in drawn]
        low, high = min([0.05, *at]) / 2, max([50.0, *at]) * 2
        for size, rate in self.machine.bandwidth:
            knee = self.machine.flops[4] / rate
            label = f"{rate / 1e9:.0f} GB/s ({size / 2**20:g} MiB)"
            axes.plot([low, knee], [low * rate / 1e9, knee * rate / 1e9], color="gray", linewidth=1)
            axes.annotate(label, (low * 1.1, low * 1.1 * rate / 1e9), fontsize=8, rotation=0, va="bottom")
        for itemsize, style in ((4, "-"), (8, "--")):
            peak = self.machine.flops[itemsize] / 1e9
            axes.axhline(peak, color="black", linestyle=style, linewidth=1)
            label = f"{peak:.0f} GF/s, float{8 * itemsize}"
            axes.annotate(label, (high / 1.1, peak), ha="right", va="bottom", fontsize=8)
        sizes = [20 + 800 * row.seconds / self.seconds for row in drawn]
        axes.scatter(at, [row.flops / row.seconds / 1e9 for row in drawn], s=sizes, alpha=0.5)
        for row, x in zip(drawn, at, strict=True):
            if row.seconds > 0.03 * self.seconds:
                axes.annotate(row.kernel, (x, row.flops / row.seconds / 1e9), fontsize=7)
        axes.set(xscale="log", yscale="log", xlim=(low, high), xlabel="operations for each byte", ylabel="GF/s")
        axes.set_title(f"{self.name}: {self.seconds * 1e6:.0f} us in C")
