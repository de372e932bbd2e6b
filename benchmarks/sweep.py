"""Single operations, compiled, against PyTorch eager and JAX: the processor time of a call, on one thread.

    python -m benchmarks.sweep [--cases softmax,sort] [--peers tracegrad,torch,jax] [--rounds 3]

Each peer runs in a process of its own, in turns; the table shows each one's median over the rounds (in one round the
smallest of many calls counts, as other processes only ever add), the ratio of the better peer to tracegrad, and marks
cases where that is below 1. Peers that are not installed are left out.
"""

import argparse
import importlib
import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from . import environment
from .sweep_cases import CASES

PEERS = ("tracegrad", "torch", "jax")
SHORTEST_NS = 2_000_000  # of calls that are timed as one
TOLERANCE = 1e-3  # of the sums that show that peers compute the same


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default="", help="parts of names, separated by commas")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="for one case of one peer in a round")
    parser.add_argument("--out", help="append every round as a line of JSON to this file")
    parser.add_argument("--peer", help=argparse.SUPPRESS)  # the process of one peer
    parser.add_argument("--cache", help=argparse.SUPPRESS)
    return parser.parse_args()


def chosen(text):
    """The cases whose name contains one of the words; all of them without words."""
    words = [word for word in text.split(",") if word]
    return [case for case in CASES if not words or any(word in case.name for word in words)]


# ----------------------------------------------------------------------------------------------------------- one peer


def torch_like(module, case, arrays):
    """The call that is measured, for a library with PyTorch's names."""
    operands = [module.from_numpy(array) for array in arrays]
    if not case.gradient:
        return lambda: case.torch(module, *operands)
    operands[0].requires_grad_(True)

    def gradient():
        operands[0].grad = None
        case.torch(module, *operands).sum().backward()
        return operands[0].grad

    return gradient


def with_torch(case, arrays):
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    return torch_like(torch, case, arrays)


def with_tracegrad(case, arrays):
    tracegrad = importlib.import_module("tracegrad")
    operands = [tracegrad.from_numpy(array) for array in arrays]
    if not case.gradient:
        step = tracegrad.compile(lambda *tensors: case.torch(tracegrad, *tensors))
        return lambda: step(*operands)
    return tracegrad.compile(torch_like(tracegrad, case, arrays))


def with_jax(case, arrays):
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    operands = [jax.numpy.asarray(array) for array in arrays]
    function = lambda *tensors: case.jax(jax, *tensors)  # noqa: E731
    if case.gradient:
        function = jax.grad(lambda *tensors: case.jax(jax, *tensors).sum())
    jitted = jax.jit(function)
    return lambda: jitted(*operands).block_until_ready()


BUILDERS = {"tracegrad": with_tracegrad, "torch": with_torch, "jax": with_jax}


def fastest_us(call, seconds):
    """The smallest processor time of a call."""
    for _ in range(3):
        call()
    start = time.process_time_ns()
    call()
    count = max(1, SHORTEST_NS // max(time.process_time_ns() - start, 1))
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.process_time_ns()
        for _ in range(count):
            call()
        best = min(best, (time.process_time_ns() - start) / count)
    return best / 1e3


def measure_peer(args):
    """Prints a line of JSON for each case; what a peer refuses or does not have is a line, too."""
    environment.set_up(args.peer, 1, args.cache)
    for case in chosen(args.cases):
        arrays = case.arrays(np.random.default_rng(3))
        try:
            call = BUILDERS[args.peer](case, arrays)
            sum_of = float(np.asarray(call().detach() if args.peer != "jax" else call(), np.float64).sum())
            figures = dict(us=fastest_us(call, args.seconds), sum=sum_of)
        except Exception as error:
            figures = dict(error=f"{type(error).__name__}: {str(error)[:200]}")
        print(json.dumps(dict(peer=args.peer, case=case.name, **figures)), flush=True)


# ---------------------------------------------------------------------------------------------------------- the table


def round_of(peer, args, cache):
    """The lines of one peer's process."""
    command = [sys.executable, "-m", "benchmarks.sweep", "--peer", peer, "--cases", args.cases]
    command += ["--seconds", str(args.seconds), "--cache", cache]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode:
        print(f"{peer}: {done.stderr[-500:]}", file=sys.stderr)
    return lines


def show(cases, peers, lines):
    """A row for each case; `<` marks those in which another peer is faster."""
    print(f"{'case':40}" + "".join(f"{peer:>12}" for peer in peers) + "   best peer / tracegrad")
    for case in cases:
        own = {p: [x for x in lines if x["peer"] == p and x["case"] == case.name] for p in peers}
        times = {p: statistics.median(x["us"] for x in runs) for p, runs in own.items() if runs and "us" in runs[0]}
        others = [time for peer, time in times.items() if peer != "tracegrad"]
        ratio = min(others) / times["tracegrad"] if others and "tracegrad" in times else None
        cells = "".join(f"{times[p]:12.1f}" if p in times else f"{'-':>12}" for p in peers)
        mark = "" if ratio is None else f"   {ratio:6.2f}{' <' if ratio < 1 else ''}"
        print(f"{case.name:40}{cells}{mark}{disagreement(own)}")
        for runs in own.values():
            if runs and "error" in runs[0]:
                print(f"    {runs[0]['peer']}: {runs[0]['error']}")


def disagreement(own):
    sums = {peer: runs[0]["sum"] for peer, runs in own.items() if runs and "sum" in runs[0]}
    values = list(sums.values())
    spread = max(values, default=0) - min(values, default=0)
    scale = max([abs(value) for value in values] + [1.0])
    return f"   sums differ: {sums}" if spread > TOLERANCE * scale else ""


def main():
    args = arguments()
    if args.peer:
        measure_peer(args)
        return 0
    wanted = args.peers.split(",")
    peers = [peer for peer in wanted if peer == "tracegrad" or importlib.util.find_spec(peer) is not None]
    lines = []
    with tempfile.TemporaryDirectory(prefix="benchmarks-cache-", ignore_cleanup_errors=True) as cache:
        for _ in range(args.rounds):
            for peer in peers:
                lines += round_of(peer, args, cache)
    if args.out:
        with open(args.out, "a", encoding="utf-8") as out:
            out.writelines(json.dumps(line) + "\n" for line in lines)
    show(chosen(args.cases), peers, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
