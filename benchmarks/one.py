"""One peer on one workload, in this process; prints one JSON line.

python -m benchmarks.one --peer torch --workload T3 [--threads 1] [--seconds 3] [--cache DIR]

Compile caches live in a fresh temporary folder (a cold start) unless --cache names one. BENCHMARKS_TRACE=1 lets
a failing peer show its traceback.
"""

import argparse
import importlib
import json
import os
import resource
import tempfile
import time

from . import environment, off_list, peers, timing
from .workloads import BUILDERS, workload

LOSS_AT = 20  # the steps after which losses are compared


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", required=True, help="one of: " + ", ".join(peers.DESCRIPTIONS))
    parser.add_argument("--workload", required=True, choices=[*BUILDERS, *off_list.ROWS])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--patience", type=float, default=12.0, help="seconds to wait for quiet time")
    parser.add_argument("--cache", help="a folder for compile caches that is kept")
    return parser.parse_args()


def resident_mb(who):
    return round(resource.getrusage(who).ru_maxrss / 1024)


def run(name, args):
    """The figures of one peer: import, first step, memory; losses and step times unless there are no seconds for it."""
    begin = time.perf_counter()
    importlib.import_module(peers.library(name))
    imported = time.perf_counter()
    draw = off_list.workload if args.workload in off_list.ROWS else workload
    peer = peers.build(name, draw(args.workload), args.threads)
    losses = [peer.to_float(peer.step(*peer.batches[0]))]
    first = time.perf_counter()
    figures = dict(import_s=round(imported - begin, 2), first_step_s=round(first - imported, 3), loss_1=losses[0])
    if args.seconds:
        figures.update(timed(peer, losses, args))
    memory = dict(rss_mb=resident_mb(resource.RUSAGE_SELF), rss_children_mb=resident_mb(resource.RUSAGE_CHILDREN))
    return dict(figures, **memory)


def timed(peer, losses, args):
    """Step times after the steps whose losses are compared."""
    for i in range(1, LOSS_AT):
        losses.append(peer.to_float(peer.step(*peer.batches[i % len(peer.batches)])))
    warm_up = timing.Limits(seconds=min(0.5, args.seconds / 4), patience=0.5)
    timing.measure(peer.step, peer.batches, warm_up)
    times = timing.measure(peer.step, peer.batches, timing.Limits(args.seconds, args.patience))
    return dict(
        median_us=times.median,
        p10_us=times.quantile(0.1),
        p90_us=times.quantile(0.9),
        steps=len(times.steps),
        foreign=round(times.foreign, 3),
        loss_n=losses[-1],
        n=LOSS_AT,
    )


def outcome(name, args):
    """The figures, or the reason why there are none: a peer that fails is a line of the table, not the end of it."""
    library = peers.missing(name)
    if library:
        return dict(error=f"not installed ({library})")
    try:
        return run(name, args)
    except Exception as error:
        if os.environ.get("BENCHMARKS_TRACE"):
            raise
        return dict(error=f"{type(error).__name__}: {str(error)[:300]}")


def main():
    args = arguments()
    name = args.peer.removesuffix(environment.WIDE)
    if name != args.peer:
        environment.force_widest_blas()
    with tempfile.TemporaryDirectory(prefix="benchmarks-cache-", ignore_cleanup_errors=True) as fresh:
        environment.set_up(name, args.threads, args.cache or fresh)
        figures = outcome(name, args)
    print(json.dumps(dict(peer=args.peer, workload=args.workload, threads=args.threads, **figures)), flush=True)


if __name__ == "__main__":
    main()
