"""Views as programs: the steps from a whole to a view of it, run forwards, and run backwards to write through them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .core import Step, bind, current
from .movement import reshape, transpose, update_slice


def replay(whole: Any, steps: Sequence[Step]) -> Any:
    """The view of `whole` that `steps` lead to."""
    for step in steps:
        whole = bind(step.primitive, whole, **dict(step.params))
    return whole


def write_through(whole: Any, steps: Sequence[Step], value: Any) -> Any:
    """`whole` with the part that `steps` show replaced by `value`: what an in-place write to a view means for it."""
    views = [whole]
    for step in steps:
        views.append(bind(step.primitive, views[-1], **dict(step.params)))
    for step, before in zip(reversed(steps), reversed(views[:-1]), strict=True):
        value = _put_back(step, before, value)
    return value


def _put_back(step: Step, before: Any, value: Any) -> Any:
    params = dict(step.params)
    kind = step.primitive.lower.kind  # type: ignore[union-attr]
    if kind == "reshape":
        return reshape(value, current().type_of(before).shape)
    if kind == "transpose":
        return transpose(value, _inverse(params["permutation"]))
    if kind == "slice":
        return update_slice(before, value, params["starts"], params["steps"])
    raise RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation."
    )


def _inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    inverse = [0] * len(permutation)
    for to, axis in enumerate(permutation):
        inverse[axis] = to
    return tuple(inverse)
