"""Which runs the tables consist of: a workload, a number of threads, and those who are measured side by side."""

from dataclasses import dataclass

from .. import off_list
from ..peers import missing
from ..workloads import BUILDERS

IMAGES = ("T5", "T6")
OURS = ("tracegrad", "tracegrad-clang")


@dataclass(frozen=True)
class Row:
    """One row of one of the tables."""

    table: str
    workload: str
    threads: int
    peers: tuple[str, ...]

    @property
    def name(self):
        return f"{self.workload}/{self.threads}"

    @property
    def title(self):
        if self.table == "off-list":
            return off_list.ROWS[self.workload].title
        return f"{self.workload}: {BUILDERS[self.workload].__doc__}"


def main_peers(name, threads):
    peers = ["torch-fused", "torch-compile", "jax", "numpy", "tracegrad"]
    if name in IMAGES:
        peers += ["torch-nhwc", "jax-nhwc"]
    if name == "T9":
        peers.remove("torch-compile")  # it refuses double backward
    others = ["pytensor", "tinygrad"]
    return tuple(peers + others + (["tracegrad-clang"] if threads == 1 else []))


def off_list_peers(row):
    peers = ["torch-fused", "torch-compile", "tracegrad"]
    if row.images and row.mode != off_list.EAGER_LOOP:
        peers.append("torch-nhwc")
    if row.mode != off_list.EAGER_LOOP:
        peers.append("jax")
    return tuple(peers)


def all_rows():
    main = [Row("workloads", name, threads, main_peers(name, threads)) for threads in (1, 2) for name in BUILDERS]
    return main + [Row("off-list", name, 1, off_list_peers(row)) for name, row in off_list.ROWS.items()]


def chosen(table, only, peers):
    """The rows of a table (or all) whose workload is named in `only`, with the peers that are wanted and installed."""
    rows = []
    for row in all_rows():
        if (table and row.table != table) or (only and row.workload not in only):
            continue
        present = tuple(p for p in row.peers if missing(p) is None and (not peers or p in peers))
        rows.append(Row(row.table, row.workload, row.threads, present))
    return rows
