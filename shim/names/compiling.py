"""``torch.compile`` for functions, training steps and modules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...compiled import compile as compile_function
from ...nn.module import Module
from ...nn.optimized_module import OptimizedModule

__all__ = ["OptimizedModule", "compile"]


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "inductor",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """``tracegrad.compile`` with PyTorch's arguments: a function, a module, or a decorator.

    A module gives a module, with the same parameters and `_orig_mod`. `dynamic`, `backend`, `mode` and `options` choose
    among PyTorch's compilers, of which there is one here: they have no effect. With `disable` nothing is compiled.
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return lambda model: compile(model, fullgraph=fullgraph, disable=disable)
    if disable:
        return model
    if isinstance(model, Module):
        return OptimizedModule(compile_function(model, fullgraph=fullgraph), fullgraph)
    return compile_function(model, fullgraph=fullgraph)
