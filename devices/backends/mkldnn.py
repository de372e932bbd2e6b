"""``tracegrad.backends.mkldnn``: there by name. Its switches can be set; results do not depend on them."""

from __future__ import annotations

from typing import Any

from ..answers import answering
from .flags import Switches, functions_for

VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = range(3)

enabled = True
deterministic = False
allow_tf32: bool | None = None
fp32_precision = "none"
matmul, conv, rnn = (Switches(fp32_precision="none") for _ in range(3))

is_available = answering("is_available", True, "True: products and convolutions are fast without it.")
is_acl_available = answering("is_acl_available", False, "False.")
set_flags, flags = functions_for(globals(), enabled=False, deterministic=False, allow_tf32=True, fp32_precision="none")


class verbose:
    """A block in which PyTorch's library would print what it does; nothing is printed here."""

    def __init__(self, level: int) -> None:
        self.level = level

    def __enter__(self) -> verbose:
        return self

    def __exit__(self, *exc_info: object) -> Any:
        return False
