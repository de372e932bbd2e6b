"""The largest difference from PyTorch's numbers in each stored trajectory:  python -m expected.largest_differences

From the folder of the tests. Two hundred steps of each layer and each optimizer, in float64, eager and compiled;
without patterns all of them. The tests beside the layers and the optimizers fail where a difference is above 1e-9.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fnmatch import fnmatchcase

import numpy as np

import tracegrad as tg
from tracegrad.compiler import pipeline

from . import layer_trajectories, optimizer_trajectories, trajectories
from .compare import load


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help='"LSTM*", "Adam 0"')
    parser.add_argument("--eager", action="store_true", help="nothing compiled")
    options = parser.parse_args()
    # What the C compiler's optimiser makes of a program is not asked here, and takes most of the time.
    pipeline.FLAGS = tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS)
    largest = 0.0
    for name, run in _rows():
        if not options.patterns or any(fnmatchcase(name, pattern) for pattern in options.patterns):
            found = [run(wrap) for wrap in ((_plain,) if options.eager else (_plain, tg.compile))]
            print(f"{name:40}", *(f"{difference:9.1e}" for difference in found), flush=True)
            largest = max(largest, *found)
    print(f"{'largest':40} {largest:9.1e}")
    return 0


def _plain(step):
    return step


def _rows() -> Iterator[tuple[str, object]]:
    """(name, what runs it in a wrapped form and gives the largest difference)."""
    stored = load("layer_trajectories")
    for name, mode in layer_trajectories.CASES:
        yield f"{name} {mode}", _row(layer_trajectories, stored, name, mode)
    stored = load("optimizer_trajectories")
    for name, mode in optimizer_trajectories.CASES:
        yield f"{name} {mode}", _row(optimizer_trajectories, stored, name, mode)
    stored = load("trajectories")
    for kind in trajectories.CASES:
        yield kind, _optimizer_row(stored, kind)


def _row(module, stored, name, mode):
    def run(wrap):
        losses, last = module.trajectory(tg, name, mode, wrap)
        return _largest((losses[module.SEEN], stored[f"{name}|{mode}|losses"]), (last, stored[f"{name}|{mode}|last"]))

    return run


def _optimizer_row(stored, kind):
    def run(wrap):
        problem = trajectories.Trajectory(tg)
        losses = problem.run(wrap(problem.step_with(problem.optimizer(kind))), trajectories.STEPS)
        seen = losses[trajectories.SEEN]
        return _largest((seen, stored[f"{kind}|losses"]), (problem.parameters(), stored[f"{kind}|parameters"]))

    return run


def _largest(*pairs):
    return max(float(np.abs(got - expected).max()) for got, expected in pairs)


if __name__ == "__main__":
    raise SystemExit(main())
