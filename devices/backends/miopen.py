"""``tracegrad.backends.miopen``: a switch without effect."""

from __future__ import annotations

from .flags import functions_for

immediate = False

set_flags, flags = functions_for(globals(), immediate=False)
