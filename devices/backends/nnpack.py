"""``tracegrad.backends.nnpack``: a switch without effect."""

from __future__ import annotations

from ..answers import answering
from .flags import functions_for

enabled = True

is_available = answering("is_available", True, "True.")
set_flags, flags = functions_for(globals(), enabled=False)
