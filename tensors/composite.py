"""Composites: functions made of several ops that show up in the graph under one of PyTorch's names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..tracing.eager_server import serve_or_fuse
from ..tracing.watch import serve
from .tensor import Tensor

#: Composites whose last op keeps a number for which PyTorch's operation has no need.
SAVING_NOTHING = ("MeanBackward0", "MeanBackward1")

F = TypeVar("F", bound=Callable[..., Any])


def composite(title: str) -> Callable[[F], F]:
    """Decorate a function so that the last node it makes is called `title` and shows the function's operands.

    The operands shown are the floating-point tensors among the positional arguments, in order.
    """

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def named(*args: Any, **kwargs: Any) -> Any:
            out = function(*args, **kwargs)
            relabel(out[0] if isinstance(out, tuple) else out, title, args)
            return out

        return named  # type: ignore[return-value]

    return decorate


def whole(function: F) -> F:
    """Decorate a function of many ops: within a re-recorded call it may be a program of its own (`watch.serve`)."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return serve_or_fuse(called, function, args, kwargs)

    return called  # type: ignore[return-value]


def part(function: F) -> F:
    """`whole` for what is no program of its own in eager mode: functions of a few ops, on their own or in others."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return serve(called, function, args, kwargs)

    return called  # type: ignore[return-value]


def relabel(out: Any, title: str, operands: Any) -> None:
    """Call `out`'s node `title` and let it show the edges to `operands`; nothing happens where none was made."""
    node = getattr(out, "_node", None)
    if node is None:
        return
    edges = []
    for x in operands:
        if isinstance(x, Tensor) and x.ndarray.dtype.kind == "f":
            edge = x.gradient_edge()
            if edge.node is node:
                return  # the function returned its operand
            edges.append(edge)
    node.rename(title)
    if title in SAVING_NOTHING:
        node.saves = False
    node.shown_edges = tuple(edges)
