"""Views as programs: the steps from a whole to a view of it, run forwards, and run backwards to write through them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .complex_numbers.parts import conj, view_as_complex, view_as_real
from .core import Step, bind, current
from .indexing import put
from .movement import reshape, transpose, update_slice
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


def write_through(whole: Any, steps: Sequence[Step], value: Any) -> Any:
    """`whole` with the part that `steps` show replaced by `value`: what an in-place write to a view means for it."""
    apart = next((i for i, step in enumerate(steps) if _kind(step) in _OVERLAPPING), len(steps))
    views = [whole]
    for step in steps[:apart]:
        views.append(bind(step.primitive, views[-1], **dict(step.params)))
    if apart < len(steps):
        value = _put_at_places(views[-1], steps[apart:], value)
    for step, before in zip(reversed(steps[:apart]), reversed(views[:-1]), strict=True):
        value = _put_back(step, before, value)
    return value


def _kind(step: Step) -> str:
    return step.primitive.lower.kind  # type: ignore[union-attr]


def _put_at_places(before: Any, steps: Sequence[Step], value: Any) -> Any:
    """`before` with the elements that `steps` show replaced; of several values for one element the last stays."""
    moving = [step for step in steps if _kind(step) != "conj_view"]
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
    kind = _kind(step)
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
