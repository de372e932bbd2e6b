"""Composites: functions made of several ops that show up in the graph under one of PyTorch's names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ..ops.callers.signatures import parameter_names
from ..ops.core import Primitive, bind, set_naming, switch
from ..ops.types import DIFFERENTIABLE_KINDS
from ..tape.nodes import NO_EDGE
from ..tracing.eager_server import serve_or_fuse
from ..tracing.watch import serve
from .calling.own_results import own
from .layouts.kept_formats import Keeps, with_format
from .operands import PLAIN_TENSORS
from .tensor import EAGER, Tensor

NOTHING: np.ndarray = np.empty(0)

#: Composites whose last op keeps a number for which PyTorch's operation has no need.
SAVING_NOTHING = ("MeanBackward0", "MeanBackward1")

F = TypeVar("F", bound=Callable[..., Any])

#: What a backward pass reads (a parameter's name, or `OUT`), and the operands for whose gradients it does.
Saves = Mapping[str, tuple[str, ...]]
OUT = "out"


def composite(
    title: str, saves: Saves | None = None, zero: bool = False, keeps: Keeps | None = None
) -> Callable[[F], F]:
    """Decorate a function so that the last node it makes is called `title` and shows the function's operands.

    The operands shown are the floating-point tensors among the positional arguments, in order. `saves` says what
    PyTorch's operation keeps for its backward pass; with `zero` recorded gradients depend on the
    operands although their derivative is zero. `keeps` says which memory format results take from operands.
    """

    def decorate(function: F) -> F:
        names = parameter_names(function)
        kept = _by_position(saves or {}, names)

        @functools.wraps(function)
        def named(*args: Any, **kwargs: Any) -> Any:
            if keeps is not None:
                images = args[: keeps.operands] if not kwargs else (*args[: keeps.operands], *kwargs.values())
                for x in images:
                    array = x.ndarray if isinstance(x, Tensor) else NOTHING
                    if array.ndim > 3 and (
                        array.strides[1] * array.shape[1] <= array.strides[-1] or not array.flags.c_contiguous
                    ):
                        out = with_format(function, keeps, names[: keeps.operands], args, kwargs)
                        break
                else:
                    out = function(*args, **kwargs)
            else:
                out = function(*args, **kwargs)
            value = out[0] if isinstance(out, tuple) else out
            if getattr(value, "_base", None) is not None:
                if not args or value.buffer is not getattr(args[0], "buffer", None):
                    own(out, (*args, *kwargs.values()))
            if getattr(value, "_node", None) is not None:
                given = (*args, *[kwargs.get(name) for name in names[len(args) :]]) if kwargs else args
                relabel(value, title, args, _saved(kept, given, value) if kept else (), zero)
            return out

        return named  # type: ignore[return-value]

    return decorate


def whole(function: F) -> F:
    """Decorate a function of many ops: within a re-recorded call it may be a program of its own (`watch.serve`)."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        out = serve_or_fuse(called, function, args, kwargs)
        return out if type(out) is Tensor and out._base is None else own(out, (*args, *kwargs.values()))

    return called  # type: ignore[return-value]


def part(function: F) -> F:
    """`whole` for what is no program of its own in eager mode: functions of a few ops, on their own or in others."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        out = serve(called, function, args, kwargs)
        return out if type(out) is Tensor and out._base is None else own(out, (*args, *kwargs.values()))

    return called  # type: ignore[return-value]


def _by_position(saves: Saves, names: Sequence[str]) -> list[tuple[int, list[int]]]:
    """What is kept (-1: the value) and for whose gradients, by the positions of the operands."""
    places = {**{name: i for i, name in enumerate(names)}, OUT: -1}
    return [(places[name], [places[user] for user in users]) for name, users in saves.items()]


def _saved(kept: Sequence[tuple[int, Sequence[int]]], given: Sequence[Any], value: Any) -> list[Any]:
    """The tensors that PyTorch's operation keeps, of those by which `value` is differentiated."""
    requiring = [isinstance(x, Tensor) and x.requires_grad for x in given]
    count, found = len(given), []
    for place, users in kept:
        if place < count and True in [requiring[user] for user in users if user < count]:
            x = value if place < 0 else given[place]
            if isinstance(x, Tensor):
                found.append(x)
    return found


def _by_place(saved: Sequence[Any], operands: Sequence[Any], out: Any) -> dict[str, Any]:
    """The tensors in `saved` by what they are: the value, operands, or others."""
    found: dict[str, Any] = {}
    for n, x in enumerate(saved):
        places = [str(i) for i, operand in enumerate(operands) if operand is x]
        found.update(dict.fromkeys([OUT] if x is out else places or [f"beside {n}"], x))
    return found


def _show(out: Any, title: str, operands: Sequence[Any]) -> None:
    """Call `out`'s node `title` and let it show an edge for each operand, of numbers an empty one."""
    node = getattr(out, "_node", None)
    if node is not None:
        node.rename(title)
        node.shown_edges = tuple(x.gradient_edge() if isinstance(x, Tensor) else NO_EDGE for x in operands)


set_naming(_show)


def view_called(title: str, primitive: Primitive, x: Any, **params: Any) -> Any:
    """What `primitive`, which only moves elements, makes of `x`; its node is called `title`."""
    if not switch.stack and type(x) in PLAIN_TENSORS:
        return EAGER.viewed(primitive, x, params, title)
    out = bind(primitive, x, **params)
    relabel(out, title, (x,))
    return out


def relabel(out: Any, title: str, operands: Any, saved: Sequence[Any] = (), zero: bool = False) -> None:
    """Call `out`'s node `title` and let it show the edges to `operands`; nothing happens where none was made.

    A write to the tensors in `saved` makes the backward pass an error from now on.
    """
    if getattr(out, "_base", None) is not None:
        if not operands or out.buffer is not getattr(operands[0], "buffer", None):
            own(out, operands)
    node = getattr(out, "_node", None)
    if node is None:
        return
    edges = []
    for x in operands:
        if isinstance(x, Tensor) and x.ndarray.dtype.kind in DIFFERENTIABLE_KINDS:
            edge = x.gradient_edge()
            if edge.node is node:
                return  # the function returned its operand
            edges.append(edge)
    node.rename(title)
    if title in SAVING_NOTHING:
        node.saves = False
    node.shown_edges = tuple(edges)
    if saved:
        node.keep(_by_place(saved, operands, out), out)
    if zero:
        node.zero = True
        if switch.stack:
            node.result = out.detach()
