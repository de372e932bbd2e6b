"""Library work of eager programs that is done in C: what follows on a compiled model, and fused optimizers.

``tg.compile(model)`` in an eager loop leaves a loss and an optimizer's step around the model's programs. Where a loss
is taken of what such a program has returned, it is compiled as ``tg.compile(loss)`` is; an optimizer with
``fused=True``, or with ``fused=None`` and gradients that came out of a program, makes its step as
``tg.compile(optimizer.step)`` does. Everything is done at its call: nothing is put off. Programs that compile nothing,
and optimizers with ``fused=False`` or ``foreach=True``, never come here with anything to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..tape.nodes import Node
from ..tracing.eager_server import set_eager_server
from ..tracing.user_warning import given
from .common.callables import owner_of
from .common.classes import is_a
from .explain import Change
from .function import Subprogram
from .guards.value_kinds import is_optimizer, is_ours
from .lazy.compiled_node import CompiledNode
from .parts.subprograms import NOT_SERVED
from .recording.recording import Recording
from .recording.validity import refusal

STEPS_BACK = 4  # from a loss to the compiled call, through views of its result


class Loss(Subprogram):
    """A loss of a compiled function's result as one program."""

    def _record(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        given.count = 0
        return super()._record(args, kwargs)

    def _compile(self, recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any], because: Change) -> None:
        """What warns in eager mode warns at each call."""
        if given.count:
            raise refusal(f"{recording.name} gives a warning", f"in {recording.name}", "Do what the warning says.")
        super()._compile(recording, args, kwargs, because)


class FusedStep(Subprogram):
    """An optimizer's step as one program."""

    def _unserved(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A step that makes state comes once: it is not worth a recording."""
        step: Any = self.function
        if step.__self__.lacks_state():
            return NOT_SERVED
        return super()._unserved(args, kwargs)


def serve(whole: Any, otherwise: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``otherwise(*args, **kwargs)`` in plain eager mode, by a program for `whole` if there can be one."""
    optimizer = owner_of(whole)
    part = _part_of_loss(whole, otherwise, args, kwargs) if optimizer is None else _part_of_step(optimizer, otherwise)
    result = NOT_SERVED if part is None else part(*args, **kwargs)
    return otherwise(*args, **kwargs) if result is NOT_SERVED else result


set_eager_server(serve)


# ------------------------------------------------------------------------------------------------------------- losses


def _part_of_loss(whole: Any, otherwise: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Subprogram | None:
    for operand in (*args, *kwargs.values()) if kwargs else args:
        node = getattr(operand, "_node", None)
        call = None if node is None else _compiled_call_behind(node)
        if call is not None:
            return _once_repeated(call.backward_programs.programs.losses, whole, otherwise)
    return None


def _once_repeated(losses: dict[Any, Any], whole: Any, function: Callable[..., Any]) -> Subprogram | None:
    """The compiled form of `function`, which `whole` calls; None for the first time, which may be the only one."""
    if whole not in losses:
        losses[whole] = None
    elif losses[whole] is None:
        losses[whole] = Loss(function)
    part: Subprogram | None = losses[whole]
    return part


def _compiled_call_behind(node: Node | None) -> CompiledNode | None:
    """The compiled call whose result this is, or is made of alone."""
    for _ in range(STEPS_BACK):
        if is_a(node, CompiledNode):
            return node
        if node is None or len(node.edges) != 1:
            return None
        node = node.edges[0].node
    return None


# --------------------------------------------------------------------------------------------------------- optimizers


def _part_of_step(optimizer: Any, otherwise: Any) -> Subprogram | None:
    if not is_optimizer(optimizer) or not _is_fused(optimizer):
        return None
    part = optimizer.fused_step
    if part is None or part.function.__self__ is not optimizer:  # a shallow copy has that of another one
        part = FusedStep(otherwise)
        object.__setattr__(optimizer, "fused_step", part)  # not counted: no compiled function depends on it
    return part


def _is_fused(optimizer: Any) -> bool:
    groups = list(optimizer.param_groups)
    wishes = [dict.get(group, "fused") for group in groups]
    if False in wishes or any(dict.get(group, "foreach") or dict.get(group, "differentiable") for group in groups):
        return False
    return True in wishes or (is_ours(type(optimizer)) and _is_from_a_program(groups))


def _is_from_a_program(groups: Iterable[Any]) -> bool:
    """True if the first gradient came out of a compiled program."""
    for group in groups:
        for p in dict.__getitem__(group, "params"):
            if p._grad is not None:
                return bool(p._grad.is_of_program)
    return False
