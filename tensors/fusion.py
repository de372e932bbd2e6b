"""Composites with an evaluation of their own in plain eager mode: one call of numpy code instead of many primitives."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ..ops.array import quietly
from ..ops.core import switch
from ..tape.direct import FLOAT32, FLOAT64
from ..tape.fused import Fused, FusedNode
from ..tape.grad_mode import switches
from ..tape.saved import packing
from ..tracing.watch import serve
from .composite import relabel
from .operands import PLAIN_TENSORS
from .short_floats import rounded_once
from .tensor import Tensor, make

F = TypeVar("F", bound=Callable[..., Any])


def fused(
    title: str,
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    operands: int = 1,
    checked: Mapping[int, tuple[int, ...]] | None = None,
    checks_value: bool = False,
    rule: Callable[..., Any] | None = None,
    watched: Mapping[int, tuple[int, ...]] | None = None,
    watches_value: bool = False,
    zero: bool = False,
    summed: int | None = None,
    one_kernel: bool = True,
    derivatives: Callable[..., Any] | None = None,
    value_rule: Callable[..., Any] | None = None,
) -> Callable[[F], F]:
    """Decorate a composite of primitives, whose node is called `title`, with its form in numpy (`tape.fused.Fused`).

    The first `operands` arguments are tensors or None; all are positional. The form in numpy serves plain eager mode,
    where the operands are floating-point tensors of one type, with elements and dimensions, and override nothing;
    everything else is left to the primitives, errors too. Within a re-recorded call it may be a program of its own.
    Results of 16-bit operands are rounded once if it is `one_kernel` in PyTorch.
    """

    def decorate(composite: F) -> F:
        chain = rounded_once(composite) if one_kernel else composite

        def named(*arguments: Any) -> Any:
            out = chain(*arguments)
            value = out[0] if type(out) is tuple else out
            if value._node is not None:
                saved = _saved(form, arguments, value)
                relabel(value, title, arguments[:operands], saved, zero)
                value._node.reads_value = checks_value
                if checks_value:
                    value.buffer.reader = weakref.ref(value._node)
            return out

        form = Fused(
            title, operands, named, forward, backward,
            checked or {}, checks_value, watched or {}, watches_value, rule, derivatives, value_rule, zero, summed,
        )  # fmt: skip

        @functools.wraps(composite)
        def called(*arguments: Any) -> Any:
            if switch.stack:
                return serve(called, named, arguments, {})
            looked_at = _looked_at(arguments, operands)
            if looked_at is None or (packing.hooks and not _saves_alike(form, *looked_at)):
                return named(*arguments)
            return _evaluated(form, arguments, *looked_at)

        return called  # type: ignore[return-value]

    return decorate


def _saved(form: Fused, arguments: tuple[Any, ...], value: Any) -> list[Any]:
    """What the numpy form keeps, so that the primitives refuse the same writes."""
    requiring = [x is not None and x.requires_grad for x in arguments[: form.operands]]
    found = [arguments[i] for i in form.reads(requiring)]
    found += [x for x in arguments[form.operands :] if isinstance(x, Tensor)]
    return [x for x in found if x is not None] + [value] * (form.checks_value or form.watches_value)


def _saves_alike(form: Fused, arrays: list[Any], wanted: list[bool]) -> bool:
    """Whether hooks are given numbers where the primitives give them some: not where the form keeps a mask in place of
    the value, nor where some operands want no gradients, which a node keeps all the same."""
    wants_all = all(want or array is None for array, want in zip(arrays, wanted, strict=True))
    return wants_all and not form.watches_value


def _looked_at(arguments: tuple[Any, ...], operands: int) -> tuple[list[Any], list[bool]] | None:
    """What numpy takes for the operands, and which of them want a gradient; None where numpy does not serve them."""
    recorded, dtype = switches.enabled, None
    arrays: list[Any] = []
    wanted: list[bool] = []
    for x in arguments if len(arguments) == operands else arguments[:operands]:
        if x is None:
            arrays.append(None)
            wanted.append(False)
            continue
        if type(x) not in PLAIN_TENSORS:
            return None
        array = x.ndarray
        if array.dtype is not dtype:
            if dtype is not None:
                return None
            dtype = array.dtype
            if dtype is not FLOAT32 and dtype is not FLOAT64:
                return None
        if not array.size or not array.ndim:
            return None
        arrays.append(array)
        may_want = recorded and (x._node is not None or x._requires or x._base is not None)
        wanted.append(may_want and x.requires_grad)
    return arrays, wanted


def _evaluated(form: Fused, arguments: tuple[Any, ...], arrays: list[Any], wanted: list[bool]) -> Any:
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
