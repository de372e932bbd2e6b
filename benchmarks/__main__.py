"""Runs peers over workloads, interleaved (A B C A B C ...), each run in a fresh process, and prints a table.

    python -m benchmarks --workloads T1,T2,T3 --peers torch,jax,numpy,tracegrad --threads 1 --rounds 3 --base jax

The table shows the best round's median, the largest over the smallest median (spread), the share of a CPU that other
processes took meanwhile (foreign), the ratio against --base in the same rounds, the time of the first step with an
empty cache and with a filled one, resident memory, and whether the loss after 20 steps agrees with the base's.
PEER:1 runs in the first round only (for slow compilers); PEER+avx512 forces AVX-512 kernels in MKL and OpenBLAS.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from . import off_list
from .peers import DESCRIPTIONS
from .workloads import BUILDERS

LOSS_TOLERANCE = 1e-3  # relative, after 20 float32 steps whose sums run in different orders


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--workloads", default=",".join(BUILDERS))
    parser.add_argument("--peers", default="torch,torch-fused,jax,numpy,tracegrad")
    parser.add_argument("--threads", default="1", help="one or several thread counts: 1,2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0, help="of quiet time in each run")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one run")
    parser.add_argument("--base", help="the peer that ratios refer to (default: the first)")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the peers")
    parser.add_argument("--out", help="append every run as a line of JSON to this file")
    parser.add_argument("--list", action="store_true", help="list peers and workloads")
    return parser.parse_args()


def show_list():
    for name, build in BUILDERS.items():
        print(f"{name:20} {build.__doc__}")
    for name, row in off_list.ROWS.items():
        print(f"{name:20} {row.title}")
    for name, text in DESCRIPTIONS.items():
        print(f"{name:20} {text}")


def run_one(args, peer, name, threads, cache):
    """The figures of one run in a fresh process, as `one` prints them, or why there are none."""
    command = [args.python, "-m", "benchmarks.one", "--peer", peer, "--workload", name]
    command += ["--threads", str(threads), "--seconds", str(args.seconds), "--cache", cache]
    root = Path(__file__).parents[1]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=args.timeout)
    except subprocess.TimeoutExpired:
        return dict(peer=peer, workload=name, threads=threads, error=f"over {args.timeout} s")
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return dict(peer=peer, workload=name, threads=threads, error="no output: " + done.stderr[-300:])
    return json.loads(lines[-1])


def run_rounds(args, name, threads, log):
    """Runs of each peer, `{peer: [figures, ...]}`; the first meets an empty cache, the later ones a filled one."""
    once = {p.removesuffix(":1") for p in args.peers.split(",") if p.endswith(":1")}
    results = {p.removesuffix(":1"): [] for p in args.peers.split(",")}
    with tempfile.TemporaryDirectory(prefix="benchmarks-cache-", ignore_cleanup_errors=True) as caches:
        for number in range(args.rounds):
            for peer, runs in results.items():
                if number and (peer in once or "error" in runs[-1]):
                    continue
                cache = Path(caches, peer)
                cache.mkdir(exist_ok=True, mode=0o700)
                figures = run_one(args, peer, name, threads, str(cache))
                runs.append(dict(figures, round=number, load=os.getloadavg()[0]))
                log(runs[-1])
    return results


def best(runs):
    return min((r["median_us"] for r in runs if "median_us" in r), default=None)


def agreement(runs, reference):
    """Whether the loss is the base's: a peer that computes something else is not faster, it is wrong."""
    loss = runs[0]["loss_n"]
    if reference is None:
        return "no base"
    off = abs(loss - reference) / max(1e-9, abs(reference))
    return "ok" if off < LOSS_TOLERANCE else f"OFF by {off:.1e}"


def row(peer, runs, base, base_time, reference):
    good = [r for r in runs if "median_us" in r]
    if not good:
        return f"  {peer:20} {runs[-1]['error'][:150]}"
    time, first = best(good), good[0]
    spread = max(r["median_us"] for r in good) / time
    foreign = min(r["foreign"] for r in good)
    cached = f"{good[-1]['first_step_s']:.2f}" if len(good) > 1 else "-"
    ratio = f"x{base_time / time:7.2f} of {base}" if base_time else "no base"
    return (
        f"  {peer:20} {time:12.1f} us  spread {spread:5.2f}  foreign {foreign:4.2f}  {ratio}"
        f"  first cold {first['first_step_s']:6.2f} s  cached {cached:>4} s"
        f"  rss {first['rss_mb']:4}+{first['rss_children_mb']} MB"
        f"  loss@{first['n']} {first['loss_n']:.6g} ({agreement(good, reference)})"
    )


def show(results, base):
    base_runs = results.get(base, [])
    reference = next((r["loss_n"] for r in base_runs if "loss_n" in r), None)
    for peer, runs in results.items():
        print(row(peer, runs, base, best(base_runs), reference), flush=True)


def appender(path):
    """A function that appends a result to the file as JSON, or does nothing where no file is wanted."""
    if not path:
        return lambda result: None

    def append(result):
        with open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps(result) + "\n")

    return append


def main():
    args = arguments()
    if args.list:
        show_list()
        return 0
    log = appender(args.out)
    base = args.base or args.peers.split(",")[0].removesuffix(":1")
    for name in args.workloads.split(","):
        title = off_list.ROWS[name].title if name in off_list.ROWS else BUILDERS[name].__doc__
        for threads in map(int, args.threads.split(",")):
            print(f"== {name} threads={threads}: {title}", flush=True)
            show(run_rounds(args, name, threads, log), base)
    return 0


if __name__ == "__main__":
    sys.exit(main())
