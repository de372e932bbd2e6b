"""What a call must not return, since later calls could not make it anew: each a CaptureError that says what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ...tensors.tensor import Tensor
from ..common.autograd_graph import graph_behind
from ..common.classes import is_a
from ..common.pytree import containers
from ..common.tensor_memory import users_attributes
from ..recording.derivative_stops import leads_straight
from ..recording.recording import Recording
from ..recording.result_histories import check_hooks
from ..recording.validity import refusal


def refuse_replaced(recording: Recording) -> NoReturn:
    raise refusal(
        "a gradient is returned that the function has replaced by another",
        recording.place_of_result,
        "Return a clone() of it.",
    )


def refuse_gradient_of(tensor: Tensor, recording: Recording) -> None:
    if tensor._grad is not None:
        raise refusal(
            "a tensor that the function makes is returned with a .grad of its own",
            recording.place_of_result,
            "Return the gradient, too, or use autograd.grad().",
        )


def refuse_ambiguous(view: Tensor, recording: Recording) -> None:
    if view.is_ambiguous():
        raise refusal(
            "a view is returned that was taken in no_grad() of what was written to with gradients since",
            recording.place_of_result,
            "Its grad_fn is an error: take the view afterwards, or return a clone().",
        )


def refuse_attributes_of(tensor: Tensor, recording: Recording) -> None:
    """What a replay makes is a plain Tensor, without anything that the program has given it."""
    if type(tensor) is not Tensor:
        raise refusal(
            f"a {type(tensor).__name__} that the function makes is returned",
            recording.place_of_result,
            f"Return the tensor, and make a {type(tensor).__name__} of it outside.",
        )
    for name in users_attributes(tensor):
        raise refusal(
            f"a tensor that the function makes is returned with an attribute of its own ({name})",
            recording.place_of_result,
            "Return the value beside the tensor.",
        )


def refuse_containers_from_outside(recording: Recording) -> None:
    for container in containers(recording.result):
        if is_a(container, (list, dict)) and recording.environment.reaches(container):
            raise refusal(
                f"a {type(container).__name__} is returned that was there before the call",
                recording.place_of_result,
                "Each call makes its own: return a copy of it.",
            )


def refuse_other_history(whole: Tensor, part: Tensor, others: Sequence[Any], recording: Recording) -> None:
    """A view that is taken anew has the history of what it is taken of: no other one can be given to it, nor one that
    leads through `others`, the nodes behind tensors from outside."""
    if part.is_tracked() and not part.is_leaf:
        if not whole.is_tracked() or part.steps == whole.steps or not leads_straight(part, whole):
            raise refusal(
                "a view is returned with another history than that of the tensor of which it is a part "
                "(requires_grad_() on a view, a write to what was detached)",
                recording.place_of_result,
                "Call requires_grad_() on a clone(), or on the tensor that it is a view of, outside.",
            )
        for node in graph_behind([part.grad_fn], stop=[whole.gradient_edge().node]):
            check_hooks(node)
            if any(node is other for other in others):
                raise refusal(
                    "a view is returned whose history leads through another tensor from outside than the one that it "
                    "is a part of (as_strided())",
                    recording.place_of_result,
                    "Return a clone() of it.",
                )


def refuse_other_base(whole: Tensor, part: Tensor, recording: Recording) -> None:
    """What only its base makes require gradients does so as a view of that base, which a call has to hand out."""
    if is_cut_off(part) and not is_of_one_base(part, whole):
        raise refusal(
            "a view is returned that only its base makes require gradients, and the function has made that base",
            recording.place_of_result,
            "Take the view outside of no_grad(), or return what is detached.",
        )


def refuse_of_one_alias(part: Tensor, others: Sequence[Tensor], recording: Recording) -> None:
    """CaptureError for two results that are views of one alias (``detach()``), or the alias and its view: a write to
    the one gives the other its history, which it does not if each is made anew."""
    if any(_family_of(other) is _family_of(part) for other in others):
        raise refusal(
            "several results show one alias (detach(), .data) of a tensor from outside",
            recording.place_of_result,
            "Return the alias alone and take its views outside, or return clones.",
        )


def _family_of(tensor: Tensor) -> Tensor:
    return tensor if tensor.base is None else tensor.base


def is_of_one_base(part: Tensor, whole: Tensor) -> bool:
    """Whether writes to `part` are writes to what `whole` is a view of, or is itself, for the tape as well."""
    return part.base is not None and (part.base is whole or part.base is whole.base)


def is_cut_off(view: Tensor) -> bool:
    """Whether only its base makes it require gradients."""
    return view.requires_grad and not view.is_tracked()
