"""What a layer hands on to the functions that make its tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_OPTIONS = ("device", "dtype", "memory_format")


def factory_kwargs(kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """The options of `kwargs` for making tensors: `device`, `dtype`, `memory_format`, and those in its entry
    `factory_kwargs`.

    Layers call it with their keyword arguments; None gives {}. TypeError for other names, and for one that is given
    twice.

    >>> import tracegrad as tg
    >>> tg.nn.factory_kwargs({"dtype": tg.float64})
    {'dtype': tracegrad.float64}
    """
    if kwargs is None:
        return {}
    unknown = kwargs.keys() - {*_OPTIONS, "factory_kwargs"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in _OPTIONS:
        if name in kwargs:
            if name in found:
                raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            found[name] = kwargs[name]
    return found
