"""Views as programs: the steps from a whole to a view of it, run forwards, and run backwards to write through them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .complex_numbers.parts import conj, view_as_complex, view_as_real
from .core import Step, bind, current
from .indexing import put
from .movement import reshape, reshape_primitive, transpose, transpose_primitive, update_slice
from .places.diagonals import with_diagonal
from .sources import iota
from .types import int64

#: Views that may show one element at several places.
_OVERLAPPING = ("strided", "unfold", "broadcast")


def replay(whole: Any, steps: Sequence[Step]) -> Any:
    """The view of `whole` that `steps` lead to."""
    for step in steps:
        whole = bind(step.primitive, whole, **dict(step.params))
    return whole


def shown(whole: np.ndarray, steps: Sequence[Step]) -> np.ndarray:
    """The view of an array that `steps` lead to, by numpy."""
    for step in steps:
        whole = step.primitive.evaluate(whole, **dict(step.params))
    return whole


def steps_between(whole: np.ndarray, here: Sequence[Step], there: Sequence[Step]) -> tuple[Step, ...]:
    """The way from one view of `whole` to another: back to where their ways part, and on from there.

    RuntimeError where the way back is not open, since a step of it leaves elements out or shows some several times.
    """
    common = 0
    while common < min(len(here), len(there)) and here[common] == there[common]:
        common += 1
    back: list[Step] = []
    for place in range(common, len(here)):
        back = [*_reverse(here[place], shown(whole, here[:place]).shape), *back]
    return (*back, *there[common:])


def _reverse(step: Step, shape: tuple[int, ...]) -> list[Step]:
    """What makes of the result of `step` its operand, of `shape`, again."""
    params = dict(step.params)
    if kind_of(step) == "reshape":
        return [_reshaped(shape)]
    if kind_of(step) == "transpose":
        return [_transposed(np.argsort(params["permutation"]).tolist())]
    if kind_of(step) == "strided" and math.prod(params["shape"]) == math.prod(shape):
        order = sorted(range(len(params["shape"])), key=lambda axis: -params["strides"][axis])
        extents = [params["shape"][axis] for axis in order]
        if [params["strides"][axis] for axis in order] == [math.prod(extents[i:]) for i in range(1, len(order) + 1)]:
            return [_transposed(order), _reshaped(shape)]
    raise RuntimeError(
        "a view is needed again with its history, but its base shows other elements since, by as_strided_(): take the "
        "view afterwards"
    )


def _reshaped(shape: tuple[int, ...]) -> Step:
    return Step(reshape_primitive, (("shape", shape),))


def _transposed(order: Sequence[int]) -> Step:
    return Step(transpose_primitive, (("permutation", tuple(order)),))


def write_through(whole: Any, steps: Sequence[Step], value: Any) -> Any:
    """`whole` with the part that `steps` show replaced by `value`: what an in-place write to a view means for it."""
    apart = next((i for i, step in enumerate(steps) if kind_of(step) in _OVERLAPPING), len(steps))
    views = [whole]
    for step in steps[:apart]:
        views.append(bind(step.primitive, views[-1], **dict(step.params)))
    if apart < len(steps):
        value = _put_at_places(views[-1], steps[apart:], value)
    for step, before in zip(reversed(steps[:apart]), reversed(views[:-1]), strict=True):
        value = _put_back(step, before, value)
    return value


def kind_of(step: Step) -> str:
    """What kind of view a step makes."""
    return step.primitive.lower.kind  # type: ignore[union-attr]


def _put_at_places(before: Any, steps: Sequence[Step], value: Any) -> Any:
    """`before` with the elements that `steps` show replaced; of several values for one element the last stays."""
    moving = [step for step in steps if kind_of(step) != "conj_view"]
    if (len(steps) - len(moving)) % 2:
        value = conj(value)
    shape = current().type_of(before).shape
    count = math.prod(shape)
    places = replay(reshape(iota((count,), 0, int64), shape), moving)
    values = current().type_of(value)
    flat = (values.size,)
    return reshape(put(reshape(before, (count,)), reshape(places, flat), reshape(value, flat)), shape)


def _put_back(step: Step, before: Any, value: Any) -> Any:
    params = dict(step.params)
    kind = kind_of(step)
    if kind == "reshape":
        return reshape(value, current().type_of(before).shape)
    if kind in ("view_as_real", "view_as_complex"):
        return (view_as_complex if kind == "view_as_real" else view_as_real)(value)
    if kind == "conj_view":
        return conj(value)
    if kind == "transpose":
        return transpose(value, _inverse(params["permutation"]))
    if kind == "slice":
        return update_slice(before, value, params["starts"], params["steps"])
    if kind == "diagonal":
        return with_diagonal(before, value, params["offset"])
    raise RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation."
    )


def _inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    inverse = [0] * len(permutation)
    for to, axis in enumerate(permutation):
        inverse[axis] = to
    return tuple(inverse)
