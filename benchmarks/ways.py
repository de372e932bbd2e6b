"""What it costs that Python looks at the loss: a training step of T2's size, returned, read, appended, branched on.

    python -m benchmarks.ways [--rounds 20] [--calls 100]

Microseconds of processor time for one step, the quietest round; PyTorch's eager step beside it, on one thread. In the
last lines only the model is compiled, and the loop around it is eager.
"""

from __future__ import annotations

import argparse
import importlib
import time

import numpy as np

from . import environment

BATCHES, ROWS, FEATURES, CLASSES = 8, 64, 64, 10
WAYS = ("return loss", "return loss.item()", "losses.append(loss.item())", "if loss.item() < 10: optimizer.step()")

# The model is compiled, and nothing else is asked for; the optimizer's options.
EAGER_LOOPS = {"model = tg.compile(model)": {}, "model = tg.compile(model), fused=False": {"fused": False}}


def training_step(library, way, compiled_model=lambda model: model, **options):
    """The step of an MLP 64-128-64-10 with Adam, written with `library`, and its batches."""
    nn, losses = library.nn, []
    library.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(FEATURES, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, CLASSES)
    )  # fmt: skip
    optimizer = library.optim.Adam(model.parameters(), **options)
    model = compiled_model(model)

    def forward(x, y):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return loss

    def returned(x, y):
        loss = forward(x, y)
        optimizer.step()
        return loss

    def read(x, y):
        loss = forward(x, y)
        optimizer.step()
        return loss.item()

    def appended(x, y):
        loss = forward(x, y)
        optimizer.step()
        losses.append(loss.item())

    def branched(x, y):
        loss = forward(x, y)
        if loss.item() < 10:
            optimizer.step()

    rng = np.random.default_rng(0)
    batches = [
        (library.tensor(rng.standard_normal((ROWS, FEATURES)).astype(np.float32)),
         library.tensor(rng.integers(0, CLASSES, ROWS)))
        for _ in range(BATCHES)
    ]  # fmt: skip
    return dict(zip(WAYS, (returned, read, appended, branched), strict=True))[way], batches


def quietest(step, batches, rounds, calls):
    """Microseconds of one call in the quietest round."""
    for batch in batches * 2:
        step(*batch)
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for i in range(calls):
            step(*batches[i % BATCHES])
        best = min(best, (time.process_time() - start) / calls)
    return best * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ways", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--calls", type=int, default=100)
    options = parser.parse_args()
    environment.use_one_thread()
    tg, torch = importlib.import_module("tracegrad"), importlib.import_module("torch")
    torch.set_num_threads(1)
    print(f"{'step':42} {'tracegrad':>10} {'served by':>10} {'PyTorch':>8}")
    for way in WAYS:
        step, batches = training_step(tg, way)
        compiled = tg.compile(step)
        ours = quietest(compiled, batches, options.rounds, options.calls)
        theirs = quietest(*training_step(torch, way), options.rounds, options.calls)
        print(f"{way:42} {ours:10.1f} {compiled.way:>10} {theirs:8.1f}")
    for title, choice in EAGER_LOOPS.items():
        ours = quietest(*training_step(tg, WAYS[0], tg.compile, **choice), options.rounds, options.calls)
        theirs = quietest(*training_step(torch, WAYS[0]), options.rounds, options.calls)
        print(f"{title:42} {ours:10.1f} {'eager':>10} {theirs:8.1f}")


if __name__ == "__main__":
    main()
