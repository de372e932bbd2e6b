"""Where the rows of masked scores end: a fold of the mask that runs before the products."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ....ops.comparison import where
from ....ops.core import interpreting
from ....ops.movement import broadcast
from ....ops.reductions import amax
from ....ops.sources import iota
from ....ops.types import int32
from ...graph import Builder, Node
from ..coalesce import LONGEST_SUM
from ..index import Index, of_variable
from ..lower import Memory, Unit, lower_stages
from ..records import Stage, Store
from ..space import Loops
from ..traffic import stage_indices
from .masks import mask_of
from .parts import Parts
from .records import LIMITS, Limits


def limits_of(parts: Parts, loops: Loops, memory: Memory, checked: tuple[int, ...], everywhere: bool) -> Limits | None:
    """The limits of the rows of a kernel, if what its mask excludes can be left out of its products."""
    mask = mask_of(parts)
    if mask is None:
        return None
    row, columns = loops.outer[-1], parts.shape[-1]
    with interpreting(Builder()):
        last = _last(mask.condition, mask.visible, parts.shape)
    kernel = lower_stages(
        "", Unit((last,), parts.space, {last: frozenset()}), {last: [LIMITS]}, memory, loops, lambda node: ""
    )
    found = tuple(_of_row(stage, of_variable(row)) for stage in kernel.stages)
    used = {v for stage in found for index in stage_indices(stage) for v in index.variables()}
    simple = everywhere and columns <= LONGEST_SUM
    return Limits(found, bool(used & set(loops.outer[:-1])), checked, simple)


def _last(condition: Node, visible: bool, shape: tuple[int, ...]) -> Any:
    """For each row of `shape` one more than the last column where the condition is as wanted, 0 where it never is."""
    behind = iota((shape[-1],), 0, int32) + 1
    seen = where(condition, behind, 0) if visible else where(condition, 0, behind)
    return amax(broadcast(seen, shape), (len(shape) - 1,))


def _of_row(stage: Stage, row: Index) -> Stage:
    body = tuple(
        replace(each, index=row) if isinstance(each, Store) and each.buffer == LIMITS else each for each in stage.body
    )
    return replace(stage, body=body)
