"""Composites with an evaluation of their own in plain eager mode: one call of numpy code instead of many primitives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ..ops.array import quietly
from ..ops.core import switch
from ..tape.direct import FLOAT32, FLOAT64
from ..tape.fused import Fused, FusedNode
from ..tape.grad_mode import switches
from ..tracing.watch import serve
from .composite import relabel
from .operands import PLAIN_TENSORS
from .tensor import make

F = TypeVar("F", bound=Callable[..., Any])


def fused(
    title: str,
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    operands: int = 1,
    checked: Mapping[int, tuple[int, ...]] | None = None,
    checks_value: bool = False,
    rule: Callable[..., Any] | None = None,
) -> Callable[[F], F]:
    """Decorate a composite of primitives, whose node is called `title`, with its form in numpy (`tape.fused.Fused`).

    The first `operands` arguments are tensors or None; all are positional. The form in numpy serves plain eager mode,
    where the operands are floating-point tensors of one type, with elements and dimensions, and override nothing;
    everything else is left to the primitives, errors too. Within a re-recorded call it may be a program of its own.
    """

    def decorate(chain: F) -> F:
        def named(*arguments: Any) -> Any:
            out = chain(*arguments)
            relabel(out[0] if type(out) is tuple else out, title, arguments[:operands])
            return out

        form = Fused(title, operands, named, forward, backward, checked or {}, checks_value, rule)

        @functools.wraps(chain)
        def called(*arguments: Any) -> Any:
            if switch.stack:
                return serve(called, named, arguments, {})
            arrays = _arrays(arguments, operands)
            return named(*arguments) if arrays is None else _evaluated(form, arguments, arrays)

        return called  # type: ignore[return-value]

    return decorate


def _arrays(arguments: tuple[Any, ...], operands: int) -> list[Any] | None:
    """What numpy takes for the operands, None where these are not what it serves."""
    dtype = None
    arrays: list[Any] = []
    for i in range(operands):
        x = arguments[i]
        if x is None:
            arrays.append(None)
            continue
        if type(x) not in PLAIN_TENSORS:
            return None
        array = x.ndarray
        if dtype is None:
            dtype = array.dtype
            if dtype is not FLOAT32 and dtype is not FLOAT64:
                return None
        if array.dtype is not dtype or not array.size or not array.ndim:
            return None
        arrays.append(array)
    return arrays


def _evaluated(form: Fused, arguments: tuple[Any, ...], arrays: list[Any]) -> Any:
    recorded = switches.enabled
    wanted = [recorded and x is not None and x.requires_grad for x in arguments[: form.operands]]
    try:
        value, kept = quietly(form.forward, wanted, *arrays, *arguments[form.operands :])
    except ValueError:
        return form.chain(*arguments)  # the primitives say what is wrong
    others = None
    if type(value) is tuple:
        value, *others = value
    out = make(value if type(value) is np.ndarray else np.asarray(value))
    if True in wanted:
        out._node = FusedNode.made(form, arguments, out, wanted, kept, make)
    return out if others is None else (out, *map(make, others))
