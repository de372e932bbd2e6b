"""PyTorch's old class of modules by keyword."""

from __future__ import annotations

from typing import Any

from ...tracing.user_warning import warn_user
from ..module import Module


class Container(Module):
    """Submodules by keyword: the old way to keep them, of which PyTorch warns (FutureWarning). Subclass `Module`
    instead.

    >>> import tracegrad as tg
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     parts = tg.nn.Container(act=tg.nn.ReLU())
    >>> parts.act
    ReLU()
    """

    def __init__(self, **kwargs: Any) -> None:
        warn_user(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. Subclass that "
            "instead.",
            FutureWarning,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)
