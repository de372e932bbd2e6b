"""``tracegrad.utils.model_zoo``: weights that have been fetched before, see `tracegrad.hub`."""

from __future__ import annotations

from ..tooling.hub import load_state_dict_from_url

__all__ = ["load_url"]

load_url = load_state_dict_from_url
