"""``torch._dynamo``: what programs say to PyTorch's compiler by its inner name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tooling.compiler import allow_in_graph, disable, is_compiling, list_backends, reset
from .compiling import OptimizedModule, compile

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "disable",
    "graph_break",
    "is_compiling",
    "is_dynamo_supported",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "optimize",
    "reset",
]


def optimize(backend: Any = "inductor", *, nopython: bool = False, **options: Any) -> Callable[..., Any]:
    """A decorator: ``torch.compile`` of the function or the module."""
    return lambda model: compile(model, fullgraph=nopython)


def graph_break(msg: str = "") -> None:
    """Nothing: what cannot be replayed is found when a function is recorded."""


def mark_dynamic(t: Any, index: Any, **options: Any) -> None:
    """Nothing: sizes that vary are found by themselves."""


def mark_static(t: Any, index: Any = None) -> None:
    """Nothing: sizes that vary are found by themselves."""


def is_dynamo_supported() -> bool:
    """True: functions can be compiled."""
    return True
