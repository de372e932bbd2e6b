"""What stands for the parameters of a group where an optimizer is made."""

from __future__ import annotations

from typing import Any

from ..tensors.tensor import Tensor


def members_of(params: Any) -> tuple[list[Any], list[str]]:
    """The parameters of a group, and their names where it has pairs."""
    if isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
            "will change between runs. Please use a list instead."
        )
    given = [params] if isinstance(params, Tensor) else list(params)
    names = [p[0] for p in given if isinstance(p, tuple)]
    if names and len(names) < len(given):
        raise ValueError("all optimizer params should be with/without names. Some param names are missing")
    return [p[1] if isinstance(p, tuple) else p for p in given], names
