"""PyTorch's choice of attention kernels, ``nn.attention``. Here nothing is chosen: there is one way."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Sequence

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "sdpa_kernel"]

#: Kept for programs that set it: nothing warns.
WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.Enum):
    """PyTorch's kernels of attention, for ``sdpa_kernel``. Here there is one way, and the choice changes nothing.

    >>> import tracegrad as tg
    >>> from tracegrad.nn.attention import SDPBackend
    >>> SDPBackend.MATH.value
    0
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


class sdpa_kernel(contextlib.ContextDecorator):
    """A context (or decorator) within which PyTorch uses the kernels given; here it changes nothing.

    AssertionError unless `backends` is an SDPBackend or a list.

    >>> import tracegrad as tg
    >>> from tracegrad.nn.attention import SDPBackend, sdpa_kernel
    >>> with sdpa_kernel(SDPBackend.MATH):
    ...     out = tg.nn.functional.scaled_dot_product_attention(tg.eye(2), tg.eye(2), tg.eye(2))
    """

    def __init__(self, backends: SDPBackend | Sequence[SDPBackend], set_priority: bool = False) -> None:
        if not isinstance(backends, SDPBackend | list):
            raise AssertionError(
                "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
                f"{type(backends).__name__}"
            )

    def __enter__(self) -> None:
        """Nothing is chosen."""

    def __exit__(self, *exc_info: object) -> None:
        """Nothing was chosen."""
