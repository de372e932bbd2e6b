"""What hooks return in the place of gradients: the same types and sizes, as in PyTorch: programs read their memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def name_of(hook: Any) -> str:
    """What messages call a hook."""
    return getattr(hook, "__name__", "<unknown>")


def checked(replaced: Any, g: Any, name: str) -> Any:
    """What the hook of that name returned for `g`, if it is like that; TypeError and RuntimeError as in PyTorch."""
    if not (isinstance(replaced, type(g)) or hasattr(replaced, "is_sparse")):
        raise TypeError(f"expected Variable, but hook returned '{type(replaced).__name__}'; return a tensor, or None")
    if replaced.dtype is not g.dtype or replaced.is_sparse is not g.is_sparse:
        was, got = (g.dtype, replaced.dtype) if replaced.dtype is not g.dtype else (g.type(), replaced.type())
        raise RuntimeError(f"hook '{name}' has changed the type of value (was {was} got {got}); return the same type")
    if tuple(replaced.shape) != tuple(g.shape):
        raise RuntimeError(
            f"hook '{name}' has changed the size of value from {list(g.shape)} to {list(replaced.shape)}; return a "
            "gradient of the same shape"
        )
    return replaced


def all_checked(replaced: Any, given: Sequence[Any], name: str) -> list[Any]:
    """What a node's hook returned for the gradients that it was given, each as in `checked`."""
    found = replaced if isinstance(replaced, tuple) else (replaced,)
    if len(found) != len(given):
        raise RuntimeError(
            f"hook '{name}' has returned an incorrect number of values (got {len(found)}, but expected {len(given)})"
        )
    if any(g is None and new is not None for new, g in zip(found, given, strict=True)):
        raise RuntimeError(f"can't replace a None gradient with a non-None value; hook '{name}' did")
    return [new if new is None else checked(new, g, name) for new, g in zip(found, given, strict=True)]
