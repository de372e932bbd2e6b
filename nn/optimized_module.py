"""Compiled modules as modules: what ``torch.compile(module)`` returns, and what containers keep of compiled ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..tracing.eager_compiler import compiled_by, what_is_compiled
from .module import Module

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """A module whose forward pass is the compiled `program`: parameters, state and mode are those of its module.

    `_orig_mod` is that module, under which its state has its keys. Copies and unpickled ones are compiled again.
    """

    _orig_mod: Module
    _compiled: Callable[..., Any]

    def __init__(self, program: Callable[..., Any], fullgraph: bool = False) -> None:
        super().__init__()
        self._orig_mod = what_is_compiled(program)
        self._begin(program, self._orig_mod.training, fullgraph)

    def _begin(self, program: Callable[..., Any], training: bool, fullgraph: bool) -> None:
        for name, value in {"training": training, "_fullgraph": fullgraph, "_compiled": program}.items():
            object.__setattr__(self, name, value)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled(*args, **kwargs)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_compiled"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        getattr(super(), "__setstate__", vars(self).update)(state)
        fullgraph = state["_fullgraph"]
        self._begin(compiled_by(self._orig_mod, fullgraph=fullgraph), state["training"], fullgraph)

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


def as_module(value: Any) -> Any:
    """A compiled module as a module; anything else as it is."""
    compiled = what_is_compiled(value)
    return OptimizedModule(value) if compiled is not value and isinstance(compiled, Module) else value
