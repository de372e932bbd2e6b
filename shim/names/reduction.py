"""``torch.nn._reduction``: how losses put their reductions to numbers."""

from __future__ import annotations

__all__ = ["get_enum"]


def get_enum(reduction: str) -> int:
    """0, 1, 2 for "none", "mean", "sum"; ValueError for another word."""
    if reduction == "elementwise_mean":
        return 1
    known = ("none", "mean", "sum")
    if reduction not in known:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return known.index(reduction)
