"""``torch.compile`` for functions, training steps and modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...compiled import CompiledFunction
from ...compiled import compile as compile_function
from ...nn.module import Module

__all__ = ["OptimizedModule", "compile"]


class OptimizedModule(Module):
    """A module whose forward pass is compiled: its parameters, its state and its mode are those of `module`.

    It is what ``torch.compile(module)`` returns; `_orig_mod` is the module itself, under which its state has its keys.
    """

    _orig_mod: Module
    _compiled: CompiledFunction

    def __init__(self, module: Module, fullgraph: bool = False) -> None:
        super().__init__()
        self._orig_mod = module
        self._begin(module.training, fullgraph)

    def _begin(self, training: bool, fullgraph: bool) -> None:
        own = {"training": training, "_fullgraph": fullgraph}
        for name, value in {**own, "_compiled": compile_function(self._orig_mod, fullgraph=fullgraph)}.items():
            object.__setattr__(self, name, value)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_compiled"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        getattr(super(), "__setstate__", vars(self).update)(state)
        self._begin(state["training"], state["_fullgraph"])

    def __getattr__(self, name: str) -> Any:
        modules = vars(self).get("_modules", {})
        if "_orig_mod" not in modules:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return modules["_orig_mod"] if name == "_orig_mod" else getattr(modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in ("_orig_mod", "training") or name in vars(self) or "_orig_mod" not in vars(self).get("_modules", {}):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __iter__(self) -> Any:
        return iter(self._orig_mod)


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
        return OptimizedModule(model, fullgraph)
    return compile_function(model, fullgraph=fullgraph)
