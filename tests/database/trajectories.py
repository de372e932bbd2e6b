"""Two hundred steps of each optimizer and layer in both libraries:  python -m tests.database.trajectories [NAME ...]

From the root of the repository, with tracegrad importable and PyTorch installed. NAME is an optimizer, a layer or a
pattern ("Adam", "LSTM*"); without one, all are asked: each configuration of PyTorch's database of optimizers with each
implementation, and each recurrent, attention, convolution and norm layer, in training and in evaluation. All in float64
from the same numbers and seeds, eager and compiled. Prints the largest difference of losses, parameters and the last
output, relative to the largest number beside it where that is above one; the exit code is 1 where it is above 1e-9
without a reason.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tracegrad as tg

from ..expected import layer_trajectories, optimizer_trajectories
from .optimizers.entries import entries, name_of
from .optimizers.modes import OptimizerQuestion, Run
from .workers import QUICK, pipeline

FIGURES = Path(__file__).with_name("trajectories.json")
STEPS = 200
BOUND = 1e-9
#: Why an optimizer's numbers are others; docs/pytorch.md shows them beside the figures.
REASONS = {
    "Muon": "with `ns_coefficients` of its own products, rounded to bfloat16, part from step 6 on; else 6e-17",
}
Trajectory = Callable[[Any, Callable[[Any], Any]], list[np.ndarray]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--eager", action="store_true", help="nothing compiled")
    parser.add_argument("--update", action="store_true", help="store the figures, which docs/pytorch.md shows")
    options = parser.parse_args()
    pipeline.FLAGS = QUICK
    above = 0
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    print(f"{'':44} {'eager':>9} {'compiled':>9}")
    for name, cases in _cases().items():
        if options.names and not any(fnmatchcase(name, pattern) for pattern in options.names):
            continue
        found = [_largest(case, options.eager) for case in cases]
        worst = tuple(max(column) for column in zip(*found, strict=True))
        failed = max(worst) > BOUND or any(np.isnan(worst))
        reason = f"  {REASONS.get(name, 'ABOVE')}" if failed else ""
        above += failed and name not in REASONS
        print(f"{name:36} {len(cases):3} of {STEPS}", *(f"{d:9.1e}" for d in worst), reason, flush=True)
        figures[name] = [len(cases), *(f"{d:.0e}" for d in worst), REASONS.get(name, "") if failed else ""]
    if options.update and not options.eager:
        FIGURES.write_text(json.dumps(dict(sorted(figures.items())), indent=0) + "\n")
    return int(above > 0)


def _largest(case: Trajectory, only_eager: bool) -> tuple[float, ...]:
    """The largest differences of the eager and of the compiled trajectory."""
    expected = case(torch, _plain)
    wraps = (_plain,) if only_eager else (_plain, tg.compile)
    return tuple(max(map(_difference, case(tg, wrap), expected)) for wrap in wraps)


def _difference(got: np.ndarray, expected: np.ndarray) -> float:
    """NaN where one of them is not finite, and the other is something else."""
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    scale = max(1.0, float(np.abs(expected[np.isfinite(expected)]).max(initial=0.0)))
    return float(np.where(same, 0.0, np.abs(got - expected)).max(initial=0.0)) / scale


def _plain(step: Any) -> Any:
    return step


def _cases() -> dict[str, list[Trajectory]]:
    found: dict[str, list[Trajectory]] = {}
    for name, case in (*_optimizers(), *_optimizers_with_models(), *_layers()):
        found.setdefault(name, []).append(case)
    return found


def _optimizers() -> Iterator[tuple[str, Trajectory]]:
    """The configurations of the database; of those with a closure `_optimizers_with_models` has the trajectories."""
    for info in entries():
        if not info.step_requires_closure:
            question = OptimizerQuestion(info)
            for options, _ in question.configurations():
                if not options.get("differentiable"):  # whose steps refuse parameters that are leaves
                    yield name_of(info), _optimizer(question, options)


def _optimizer(question: OptimizerQuestion, options: dict[str, Any]) -> Trajectory:
    def run(library: Any, wrap: Callable[[Any], Any]) -> list[np.ndarray]:
        one = Run(question, library, options)
        one.step = wrap(one.step)
        losses = np.array([float(loss) for loss in one.steps(STEPS)])
        return [losses, *(p.detach().numpy() for p in one.problem.parameters)]

    return run


def _optimizers_with_models() -> Iterator[tuple[str, Trajectory]]:
    for name, mode in optimizer_trajectories.CASES:
        yield name.partition(" ")[0], _stored(optimizer_trajectories, name, mode)


def _layers() -> Iterator[tuple[str, Trajectory]]:
    for name, mode in layer_trajectories.CASES:
        yield f"{name} ({mode})", _stored(layer_trajectories, name, mode)


def _stored(module: Any, name: str, mode: str) -> Trajectory:
    """One of the trajectories whose PyTorch numbers the tests have stored, run by both."""
    return lambda library, wrap: list(module.trajectory(library, name, mode, wrap))


if __name__ == "__main__":
    raise SystemExit(main())
