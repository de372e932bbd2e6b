"""Loops over short rows side by side whose results are elements: turned, so that memory is written in order.

Where rows fill the lanes of a vector, a fold reads an element of each row at once, from places far from each other. A
stage that folds nothing need not do so: along the row its memory is contiguous, and each row's values are numbers.
"""

from __future__ import annotations

from dataclasses import replace

from ..index import Index, Variable
from ..live import form_cost
from ..records import Fold, Keep, Let, Load, Local, LoopKernel, Stage, Statement, operands_in, places_in

#: What a stage may cost for each element: where a row fills no vector, functions are computed for a few elements.
CHEAP = 8


def in_memory_order(kernel: LoopKernel) -> LoopKernel:
    """The kernel with the two innermost loops of such stages changed about."""
    return replace(kernel, stages=tuple(_turned(stage) if _is_across(stage) else stage for stage in kernel.stages))


def _turned(stage: Stage) -> Stage:
    *around, along, lanes = stage.loops
    return replace(stage, loops=(*around, lanes, along))


def _is_across(stage: Stage) -> bool:
    """True where all memory is contiguous along the loop around the innermost, and each step of that is a whole row."""
    if len(stage.loops) < 2 or stage.accumulators or sum(map(_cost, stage.body)) > CHEAP:
        return False
    *_, along, lanes = stage.loops
    if any(isinstance(statement, (Fold, Keep)) for statement in stage.body):
        return False
    operands = [operand for statement in stage.body for operand in operands_in(statement)]
    if any(isinstance(o, Local) and along in o.index.variables() for o in operands):
        return False
    touched = [index for statement in stage.body for _, index in places_in(statement)]
    touched += [each.index for operand in operands if isinstance(operand, Load) for each in operand.ranges]
    touched = [index for index in touched if along in index.variables()]
    return bool(touched) and all(_is_row(index, along, lanes) for index in touched)


def _is_row(index: Index, along: Variable, lanes: Variable) -> bool:
    return index.is_affine and index.coefficient(along) == 1 and index.coefficient(lanes) >= along.extent


def _cost(statement: Statement) -> float:
    return form_cost(statement.form) if isinstance(statement, Let) else 0
