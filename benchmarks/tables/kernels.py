"""Where the time of each workload goes: `step.profile()` in processes of their own, as tables.

python -m benchmarks.tables.kernels T6      # prints the rows as JSON
"""

import importlib
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from .. import environment, programs
from ..workloads import BUILDERS, workload
from .results import CACHED

WORKLOADS = tuple(f"T{i}" for i in range(1, 11))
BY_KERNEL = ("T6", "T7")  # whose kernels have a table each
CONTRACTIONS = ("dot", "conv", "scan")  # in the names of kernels: products, convolutions, recurrent loops
MOST_ROWS = 14
REPEATS = 200


def profiled(name):
    """The rows of a profile, slowest first."""
    tracegrad = importlib.import_module("tracegrad")
    tracegrad.set_num_threads(1)
    work = workload(name)
    step = tracegrad.compile(programs.train_step(tracegrad, programs.build(tracegrad, work), work))
    batch = programs.batches(tracegrad, work)[0]
    for _ in range(3):
        step(*batch)
    profile = step.profile(*batch, repeats=REPEATS)
    rows = [
        dict(
            kernel=row.kernel,
            us=row.seconds * 1e6,
            flops=row.flops,
            nbytes=row.nbytes,
            roofline=profile.roofline(row),
            where=row.places[:1],
        )
        for row in profile.rows
    ]
    return sorted(rows, key=lambda row: -row["us"])


def measure(results, args):
    """Keeps the rows of the profiles that the results do not have yet."""
    for name in WORKLOADS:
        if results.runs[f"{name}/kernels", "tracegrad"] or (args.only and name not in args.only.split(",")):
            continue
        cache = Path(args.cache, "tracegrad-1").resolve()
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = [sys.executable, "-m", "benchmarks.tables.kernels", name, str(cache)]
        done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=True)
        results.add_profile(name, json.loads(done.stdout), CACHED)


def together(rows):
    """Kernels of the same form (their names differ in a number) as one row with a count."""
    forms = defaultdict(list)
    for row in rows:
        forms[row["kernel"].rstrip("0123456789").rstrip("_")].append(row)
    joined = []
    for form, of_form in forms.items():
        total = {figure: sum(row[figure] for row in of_form) for figure in ("us", "flops", "nbytes")}
        least = sum(row["roofline"] * row["us"] for row in of_form)
        places = sorted({place for row in of_form for place in row["where"]})
        joined.append(dict(total, form=form, count=len(of_form), roofline=least / (total["us"] or 1), places=places))
    return sorted(joined, key=lambda row: -row["us"])


def shares(runs):
    """For each workload, by name, what contractions take and what all else takes, as lines of markdown."""
    yield "| step | kernels | ms | contractions | at GF/s | all else | at GB/s | of the roofline |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|"
    for name, rows in runs.items():
        whole = sum(row["us"] for row in rows)
        products = [row for row in rows if any(word in row["kernel"] for word in CONTRACTIONS)]
        rest = [row for row in rows if row not in products]
        at = [(sum(row["us"] for row in some), sum(row[what] for row in some)) for some, what in _rated(products, rest)]
        share = " | ".join(f"{us / whole:.0%} | {amount / us / 1e3:.0f}" if us else "– | –" for us, amount in at)
        least = sum(row["roofline"] * row["us"] for row in rows)
        yield f"| {name} | {len(rows)} | {whole / 1e3:.3g} | {share} | {least / whole:.0%} |"


def _rated(products, rest):
    return (products, "flops"), (rest, "nbytes")


def table(name, rows):
    """The slowest kernels of a step, as lines of markdown."""
    whole = sum(row["us"] for row in rows)
    least = sum(row["roofline"] * row["us"] for row in rows)
    yield f"{BUILDERS[name].__doc__}: {whole / 1e3:.2f} ms in {len(rows)} kernels, {least / whole:.0%} of the roofline."
    yield ""
    yield "| kernels | number | µs | share | GF/s | GB/s | of the roofline |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    joined = together(rows)
    for row in joined[:MOST_ROWS]:
        rates = f"{row['flops'] / row['us'] / 1e3:.0f} | {row['nbytes'] / row['us'] / 1e3:.0f}"
        shares = f"{row['us']:.0f} | {row['us'] / whole:.1%} | {rates} | {row['roofline']:.0%}"
        yield f"| `{row['form']}` | {row['count']} | {shares} |"
    rest = joined[MOST_ROWS:]
    if rest:
        time = sum(row["us"] for row in rest)
        yield f"| others | {sum(row['count'] for row in rest)} | {time:.0f} | {time / whole:.1%} | | | |"


if __name__ == "__main__":
    environment.set_up("tracegrad", 1, sys.argv[2])
    print(json.dumps(profiled(sys.argv[1])))
