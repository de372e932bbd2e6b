"""``torch._vmap_internals``: the ``vmap`` of before ``torch.func``, which programs still import."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...func.mapping import vmap
from ...functional.trees import flatten_tree, unflatten_tree

__all__ = ["_vmap", "vmap"]


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """``torch.func.vmap``; with `allow_none_pass_through` results that are None stay None."""
    return _with_none(func, in_dims, out_dims) if allow_none_pass_through else vmap(func, in_dims, out_dims)


def _with_none(func: Callable[..., Any], in_dims: Any, out_dims: Any) -> Callable[..., Any]:
    @functools.wraps(func)
    def mapped(*args: Any) -> Any:
        leaves: list[Any] = []
        shape: Any = None

        def tensors_of(*slices: Any) -> tuple[Any, ...]:
            nonlocal leaves, shape
            leaves, shape = flatten_tree(func(*slices))
            return tuple(leaf for leaf in leaves if leaf is not None)

        found = iter(vmap(tensors_of, in_dims, out_dims)(*args))
        return unflatten_tree(shape, [None if leaf is None else next(found) for leaf in leaves])

    return mapped
