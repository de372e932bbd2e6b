"""``functionalize``: writes in place are what they are here."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_REMOVABLE = ("mutations", "mutations_and_views")


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """A function with the results and the effects of `func`, in which PyTorch's tracers see no writes in place.

    What the caller sees is the same, the inputs that `func` writes to included; compiled functions take writes out of
    their graphs without it. RuntimeError for a `remove` other than "mutations" (the default) and
    "mutations_and_views".

    >>> import tracegrad as tg
    >>> tg.func.functionalize(lambda x: x.clone().add_(1))(tg.ones(2))
    tensor([2., 2.])
    """
    if remove not in _REMOVABLE:
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: "
            + ", ".join(f"remove={name!r}" for name in _REMOVABLE)
        )

    @functools.wraps(func)
    def functional(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return functional
