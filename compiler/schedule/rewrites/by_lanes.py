"""Sums over several loops, the innermost of them short: one sum for each of its turns, added up once.

A sum in one variable is as many sums as a vector has lanes while the innermost loop runs, and these are added up one by
one behind it: behind each run of a short loop, again and again.
"""

from __future__ import annotations

from dataclasses import replace

from ...sizes.standins import is_size
from ..index import Variable, of_variable
from ..records import Accumulator, Fold, Local, LoopKernel, Stage

#: Turns of the innermost loop: fewer fill no vector, with more the additions behind it do not count.
SHORTEST, LONGEST = 16, 512
#: Runs of it that are worth another loop.
FEWEST_RUNS = 4


def by_lanes(kernel: LoopKernel) -> LoopKernel:
    """The kernel with such sums in arrays."""
    stages = tuple(part for stage in kernel.stages for part in _by_lanes(stage))
    return replace(kernel, stages=stages, last=tuple(part for stage in kernel.last for part in _by_lanes(stage)))


def _by_lanes(stage: Stage) -> tuple[Stage, ...]:
    sums = [a for a in stage.accumulators if a.kind == "add" and not a.size and a.ctype in ("float", "double")]
    if not sums or not _is_worth_it(stage.loops):
        return (stage,)
    lanes = stage.loops[-1]
    arrays = {a: _array(a, lanes) for a in sums}
    body = tuple(
        replace(s, accumulator=arrays[s.accumulator]) if isinstance(s, Fold) and s.accumulator in arrays else s
        for s in stage.body
    )
    first = Stage(stage.loops, body, tuple(arrays.get(a, a) for a in stage.accumulators))
    added = tuple(Fold(a, Local(array.name, of_variable(lanes))) for a, array in arrays.items())
    return first, Stage((lanes,), added, tuple(sums))


def _is_worth_it(loops: tuple[Variable, ...]) -> bool:
    if len(loops) < 2 or any(is_size(v.extent) for v in loops) or not SHORTEST <= loops[-1].extent <= LONGEST:
        return False
    runs = 1
    for variable in loops[:-1]:
        runs *= variable.extent
    return runs >= FEWEST_RUNS


def _array(accumulator: Accumulator, lanes: Variable) -> Accumulator:
    return replace(accumulator, name=f"{accumulator.name}_lanes", size=lanes.extent, index=of_variable(lanes))
