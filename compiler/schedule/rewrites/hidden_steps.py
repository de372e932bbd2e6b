"""Steps of a vector's lanes that the C compiler must not know.

Where lanes are a power of two of elements apart, gcc reads all that lies between them and throws it away, which takes
five to ten times as long as reading the elements one by one; any other step it reads so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..index import Variable
from ..records import Kernel, LoopKernel, Stage, places_in

#: Two are interleaved well; of more than these gcc does not think so itself.
STEPS = (4, 8, 16, 32, 64)


def hidden_steps(kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The kernels, those that work on rows side by side with the steps from one to the next that are to be hidden."""
    return tuple(_with_steps(kernel) if type(kernel) is LoopKernel else kernel for kernel in kernels)


def _with_steps(kernel: LoopKernel) -> LoopKernel:
    found = dict.fromkeys(step for stage in kernel.stages for step in _steps(stage))
    return replace(kernel, hidden=tuple(found)) if found else kernel


def _steps(stage: Stage) -> Iterator[tuple[Variable, int]]:
    if len(stage.loops) < 2:
        return
    lanes = stage.loops[-1]
    for _, index in (place for statement in stage.body for place in places_in(statement)):
        if index.is_affine and index.coefficient(lanes) in STEPS:
            yield lanes, index.coefficient(lanes)
