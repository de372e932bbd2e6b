"""Measures the tables of docs/performance.md and writes them.

    python -m benchmarks.tables --results results.jsonl                # measure whatever is missing, then write
    python -m benchmarks.tables --results results.jsonl --start cold   # fill the caches: first steps, at any time
    python -m benchmarks.tables --results results.jsonl --start cached # step times, on a quiet machine
    python -m benchmarks.tables --results results.jsonl --write-only

Runs that the file has are not repeated (up to --rounds of each), so that an interrupted command goes on where it was.
In a row, peers are measured one after the other; each has a time limit. Without --results nothing is kept.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from . import kernels, markdown, plan
from .results import CACHED, COLD, Results

ROOT = Path(__file__).parents[2]
MORE = 30  # seconds over a worker's own limit after which the worker itself is given up


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__.splitlines()[0])
    parser.add_argument("--results", default="benchmarks-results.jsonl", help="the file of results, one line a run")
    parser.add_argument("--cache", default="benchmarks-cache", help="the folder of compile caches, kept between runs")
    parser.add_argument("--docs", default=str(ROOT / "docs" / "performance.md"), help="the file to write tables into")
    parser.add_argument("--table", choices=("workloads", "off-list", "kernels"), help="one table instead of all")
    parser.add_argument("--only", default="", help="workloads, separated by commas")
    parser.add_argument("--peers", default="", help="peers, separated by commas (default: all that are installed)")
    parser.add_argument("--start", choices=(COLD, CACHED), help="first steps with an empty cache alone, or the rest")
    parser.add_argument("--rounds", type=int, default=1, help="of each run with a filled cache")
    parser.add_argument("--seconds", type=float, default=0.6, help="of quiet time in each run")
    parser.add_argument("--patience", type=float, default=3.0, help="seconds to wait for quiet time in each run")
    parser.add_argument(
        "--timeout", type=float, default=60.0, help="seconds for one run; 5 times as many with an empty cache"
    )
    parser.add_argument("--dry-run", action="store_true", help="list what would be measured")
    parser.add_argument("--write-only", action="store_true", help="write the tables from the results there are")
    return parser.parse_args()


class Workers:
    """The processes that measure, one for each peer and number of threads, started when first needed."""

    def __init__(self, args):
        self.args, self.processes = args, {}

    def ask(self, row, peer, start):
        """The figures of one run."""
        process = self.processes.get((peer, row.threads)) or self.begin(peer, row.threads)
        limits = dict(seconds=self.args.seconds, patience=self.args.patience, timeout=self.args.timeout)
        if start == COLD:
            limits = dict(seconds=0.0, patience=0.0, timeout=5 * self.args.timeout)
        request = dict(workload=row.workload, **limits)
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            del self.processes[peer, row.threads]
            return dict(error=f"the worker ended with status {process.wait(MORE)}")

    def begin(self, peer, threads):
        cache = Path(self.args.cache, f"{peer}-{threads}").resolve()
        cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        command = [sys.executable, "-m", "benchmarks.tables.worker", "--peer", peer]
        command += ["--threads", str(threads), "--cache", str(cache)]
        pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        process = subprocess.Popen(command, cwd=ROOT, **pipes)
        self.processes[peer, threads] = process
        return process

    def end(self):
        for process in self.processes.values():
            process.stdin.close()
            process.wait(MORE)


def missing_runs(rows, results, args):
    """(row, peer, start) of what is to be measured, rows together, so that peers are measured side by side."""
    for row in rows:
        starts = [COLD] * (args.start != CACHED) + [CACHED] * (args.start != COLD)
        for start in starts:
            wanted = args.rounds if start == CACHED else 1
            for turn in range(wanted):
                for peer in row.peers:
                    if len(results.of(row, peer, start)) <= turn:
                        yield row, peer, start


def told(run):
    """One run in a few words."""
    if "error" in run:
        return run["error"]
    step = f"{run['median_us']:.1f} us, " if "median_us" in run else ""
    return f"{step}first step {run['first_step_s']:.2f} s, {run['rss_mb']} MB"


def measure(rows, results, args):
    workers, began = Workers(args), time.monotonic()
    try:
        for row, peer, start in missing_runs(rows, results, args):
            run = results.add(row, peer, start, workers.ask(row, peer, start))
            print(f"{time.monotonic() - began:7.1f} s  {row.name:24} {peer:16} {start:6} {told(run)}", flush=True)
    finally:
        workers.end()


def main():
    args = arguments()
    results = Results(args.results)
    words = [set(filter(None, text.split(","))) for text in (args.only, args.peers)]
    rows = plan.chosen(args.table, *words)
    if args.dry_run:
        for row, peer, start in missing_runs(rows, results, args):
            print(row.name, peer, start)
        return 0
    markdown.require_places(args.docs)
    if not args.write_only:
        measure(rows, results, args)
        if args.table in (None, "kernels") and args.start != COLD:
            kernels.measure(results, args)
    return markdown.write(args.docs, results)


if __name__ == "__main__":
    sys.exit(main())
