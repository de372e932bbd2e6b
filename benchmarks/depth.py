"""Compile time by depth: from the first call of a training step to the end of the second, with an empty cache.

    python -m benchmarks.depth [--models residual,plain,transformer] [--depths 4,8,16,32,64,128,200] [--rounds 3]

Each column is the quietest of the rounds, in seconds: recording (two calls as Python and eager numpy run them, with
what is checked around), passes, scheduling, rendering, the C compiler with loading, and the whole; then the kernels,
and the milliseconds of scheduling for a layer, which should not grow down the table. --cpu counts the CPU time of this
process and of its compilers instead, which says more on a machine that others use.
"""

import argparse
import os
import resource
import tempfile
import time
from pathlib import Path
from unittest import mock

import tracegrad as tg
from tracegrad.compiler import pipeline

F = tg.nn.functional
BATCH, CLASSES = 16, 10
STAGES = {
    "passes": (pipeline.stages, "simplify"),
    "scheduling": (pipeline.stages, "make_schedule"),
    "rendering": (pipeline.stages, "render"),
    "gcc": (pipeline, "provide"),
}


class Block(tg.nn.Module):
    """``x + down(activation(up(norm(x))))``"""

    def __init__(self, width, factor, activation):
        super().__init__()
        self.norm = tg.nn.LayerNorm(width)
        self.up = tg.nn.Linear(width, factor * width)
        self.down = tg.nn.Linear(factor * width, width)
        self.activation = activation

    def forward(self, x):
        return x + self.down(self.activation(self.up(self.norm(x))))


def residual(depth):
    """Residual blocks: LayerNorm, 32-64-32 with ReLU"""
    return [Block(32, 2, F.relu) for _ in range(depth)], 32


def transformer(depth):
    """Transformer-like blocks without attention: LayerNorm, 64-256-64 with GELU, residual"""
    return [Block(64, 4, F.gelu) for _ in range(depth)], 64


def plain(depth):
    """Linear layers 32-32 with ReLU"""
    return [layer for _ in range(depth) for layer in (tg.nn.Linear(32, 32), tg.nn.ReLU())], 32


MODELS = {f.__name__: f for f in (residual, transformer, plain)}


def training_step(name, depth):
    """A step (zero_grad, forward, cross entropy, backward, Adam) of a model of `depth` layers, and its batch."""
    tg.manual_seed(0)
    layers, width = MODELS[name](depth)
    model = tg.nn.Sequential(*layers, tg.nn.Linear(width, CLASSES))
    optimizer = tg.optim.Adam(model.parameters(), lr=1e-3)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, (tg.randn(BATCH, width), tg.randint(0, CLASSES, (BATCH,)))


def cpu_seconds():
    """CPU seconds of this process and of the compilers that it has waited for."""
    return time.process_time() + sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


class Stopwatch:
    """Adds up the seconds inside functions of the pipeline."""

    def __init__(self, now):
        self.now = now
        self.seconds = dict.fromkeys(STAGES, 0.0)

    def timed(self, stage):
        """The pipeline's function of `stage`, timed."""
        module, name = STAGES[stage]
        function = getattr(module, name)

        def run(*args, **kwargs):
            start = self.now()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds[stage] += self.now() - start

        return mock.patch.object(module, name, run)


def measure(name, depth, now):
    """The seconds of each stage of one cold start, and how many kernels there are."""
    function, batch = training_step(name, depth)
    step, watch = tg.compile(function), Stopwatch(now)
    patches = [watch.timed(stage) for stage in STAGES]
    with tempfile.TemporaryDirectory(prefix="benchmarks-cache-") as cache:
        Path(cache).chmod(0o700)
        with mock.patch.dict(os.environ, TRACEGRAD_CACHE_DIR=cache):
            for patch in patches:
                patch.start()
            try:
                start = now()
                step(*batch)
                step(*batch)
                whole = now() - start
            finally:
                mock.patch.stopall()
    inside = sum(watch.seconds.values())
    return {"recording": whole - inside, **watch.seconds, "second step": whole}, len(step.schedule.kernels)


def best(name, depth, rounds, now):
    """Each stage's quietest round."""
    runs = [measure(name, depth, now) for _ in range(rounds)]
    return {column: min(seconds[column] for seconds, _ in runs) for column in runs[0][0]}, runs[0][1]


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.depth", description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--depths", default="4,8,16,32,64,128,200")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of time")
    args = parser.parse_args()
    now = cpu_seconds if args.cpu else time.perf_counter
    columns = ["recording", *STAGES, "second step"]
    for name in args.models.split(","):
        print(f"== {name}: {MODELS[name].__doc__}", flush=True)
        print("depth", *(f"{column:>11}" for column in columns), "kernels", "scheduling a layer, ms")
        for depth in map(int, args.depths.split(",")):
            seconds, kernels = best(name, depth, args.rounds, now)
            layer = 1000 * seconds["scheduling"] / depth
            print(f"{depth:5}", *(f"{seconds[c]:11.3f}" for c in columns), f"{kernels:7} {layer:22.2f}", flush=True)


if __name__ == "__main__":
    main()
