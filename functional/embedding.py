"""What a lookup table may be asked for besides its rows: bounded norms, and gradients by how often a row is met."""

from __future__ import annotations

from typing import Any

from ..ops import indexing, movement
from ..ops.comparison import isfinite, where
from ..ops.sources import full
from ..tape.grad_mode import no_grad
from ..tape.tangents import alias_of


def bound_rows(weight: Any, places: Any, max_norm: float, norm_type: float) -> None:
    """Shrink the rows of `weight` at `places` to norm `max_norm`, in place, where it is larger."""
    if not places.ndarray.size:
        return
    with no_grad():
        flat = movement.reshape(places, (places.ndarray.size,))
        rows = indexing.take(weight, flat)
        norms = rows.norm(norm_type, 1, keepdim=True)
        weight.index_copy_(0, flat, rows * where(norms > max_norm, max_norm / (norms + 1e-7), 1.0))


def by_frequency(rows: Any, places: Any, extent: int) -> Any:
    """`rows`, which stood at `places`; each passes its gradient on divided by how often its place is met."""
    with no_grad():
        flat = movement.reshape(places, (places.ndarray.size,))
        ones = full(flat.ndarray.shape, 1.0, rows.dtype)
        counts = indexing.index_add(full((extent,), 0.0, rows.dtype), flat, ones)
        met = movement.reshape(indexing.take(counts, places), (*places.ndarray.shape, 1))
    value = alias_of(rows)
    return where(isfinite(value), value + (rows - value) / met, rows)
