"""The file of results: one line of JSON for each run, from which the tables are written and a run is resumed."""

import json
from collections import defaultdict
from pathlib import Path

COLD, CACHED = "cold", "cached"


class Results:
    """All runs so far, by row and peer; `add` appends to the file at once."""

    def __init__(self, path):
        self.path = Path(path)
        self.runs = defaultdict(list)
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        for line in lines:
            self.keep(json.loads(line))

    def keep(self, run):
        self.runs[run["row"], run["peer"]].append(run)

    def add(self, row, peer, start, figures):
        return self.write(dict(row=row.name, peer=peer, start=start, **figures))

    def add_profile(self, name, rows, start):
        """Keeps the kernels of a workload."""
        self.write(dict(row=f"{name}/kernels", peer="tracegrad", start=start, rows=rows))

    def write(self, run):
        with self.path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(run) + "\n")
        self.keep(run)
        return run

    def of(self, row, peer, start):
        return [run for run in self.runs[row.name, peer] if run["start"] == start]

    def best(self, row, peer, figure, start=CACHED):
        """The smallest of all rounds; None without any."""
        return min((run[figure] for run in self.of(row, peer, start) if figure in run), default=None)

    def error(self, row, peer):
        """Why a peer has no time in this row; None if it has, or has not run."""
        runs = self.of(row, peer, CACHED)
        return runs[-1].get("error") if runs and self.best(row, peer, "median_us") is None else None
