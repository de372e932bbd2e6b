"""Programs of deferred blocks compared with numpy: C and the operations one by one, from the same memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...compiler.evaluate import evaluate_graph
from .difference import Difference, difference_of, moved_by_a_rounding
from .verify import LIMIT_ULP, NOISE_FACTOR, SMALLEST_SCALE, VerificationError


class Checks:
    """Compares the programs of every `every`-th step: those that run between two steps of optimizers.

    `compared` is how many runs of programs were compared, `largest` their largest difference, in units of the last
    place of a result's largest number.
    """

    def __init__(self, every: int) -> None:
        self.every = every
        self.steps = self.compared = 0
        self.largest = 0.0

    def step(self) -> None:
        """An optimizer's step is over."""
        self.steps += 1

    def run(self, program: Any, memories: Sequence[np.ndarray | None], run: Callable[[], None]) -> None:
        """Run a program by `run`; VerificationError in the steps that are compared, if numpy says otherwise."""
        if self.steps % self.every:
            run()
            return
        inputs = {label: np.array(memories[memory]) for label, memory in program.inputs.items()}
        expected = _evaluated(program, inputs)
        run()
        if expected is not None:
            self.compared += 1
            self._compare(program, memories, inputs, expected)

    def _compare(self, program: Any, memories: Any, inputs: Any, expected: dict[str, np.ndarray]) -> None:
        found = {name: difference_of(expected[name], memories[memory]) for name, memory in program.results.items()}
        largest: dict[str, float] = {}
        for difference in found.values():
            largest[difference.dtype] = max(largest.get(difference.dtype, 0.0), difference.scale)
        noise: dict[str, np.ndarray] | None = None
        for name, difference in found.items():
            allowed = LIMIT_ULP * difference.ulp_at(max(difference.scale, largest[difference.dtype] * SMALLEST_SCALE))
            if difference.absolute > allowed:
                noise = _evaluated(program, _moved(inputs)) if noise is None else noise
                moved = 0.0 if noise is None else difference_of(expected[name], noise[name]).absolute
                if difference.absolute > NOISE_FACTOR * moved:
                    raise VerificationError(_complaint(program, name, difference))
            self.largest = max(self.largest, difference.ulp)


def _evaluated(program: Any, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray] | None:
    """What numpy computes; None where it refuses the numbers, as the program will."""
    try:
        return evaluate_graph(program.graph, inputs)
    except (RuntimeError, ValueError, IndexError, ZeroDivisionError):
        return None


def _moved(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Inputs that no one could tell from these but for the last bit of each number."""
    draw = np.random.default_rng(0)
    return {label: moved_by_a_rounding(array, draw) for label, array in inputs.items()}


def _complaint(program: Any, name: str, difference: Difference) -> str:
    node = next(result.node for result in program.graph.results if result.name == name)
    return (
        f"C computes {name} {list(difference.shape)} otherwise than numpy: by {difference.absolute:g} at "
        f"{list(difference.where)}, where roundings explain {LIMIT_ULP:g} units of the last place\n"
        f"  at {node.origin or 'an unknown place'}\n"
        "  Leave out --compile (or the deferred block) for this program, and report it with the line above."
    )
