"""Modules whose parameters are not set."""

from __future__ import annotations

import inspect
from typing import Any

from ..module import Module


def skip_init(module_cls: type[Module], *args: Any, **kwargs: Any) -> Module:
    """``module_cls(*args, **kwargs)`` with parameters and buffers whose numbers are not set.

    It is made on the device meta first, so nothing is drawn. RuntimeError for what is no module class, or takes no
    `device`.

    >>> import tracegrad as tg
    >>> tg.nn.utils.skip_init(tg.nn.Linear, 3, 2).weight.shape
    tracegrad.Size([2, 3])
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    where = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, **{"device": "meta"}).to_empty(device=where)
