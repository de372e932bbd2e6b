"""Where values stand in ascending rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import NO_GRADIENT, Kernel, Primitive, bind, define
from ..types import Type, int64


def _bisected(row: np.ndarray, values: np.ndarray, right: bool) -> np.ndarray:
    """For each value the first place that is not below it, or to the `right` of it; behind all for a NaN, which
    numpy's own search, unlike PyTorch's, takes as the largest number."""
    low, high = np.zeros(values.shape, np.int64), np.full(values.shape, len(row))
    while (low < high).any():
        middle = (low + high) // 2
        there = row[np.minimum(middle, len(row) - 1)]
        reached = (there > values) if right else (there >= values)
        searching = low < high
        high = np.where(searching & reached, middle, high)
        low = np.where(searching & ~reached, middle + 1, low)
    return low


def _define(name: str, side: str) -> Primitive:
    def found(row: np.ndarray, values: np.ndarray) -> np.ndarray:
        if row.dtype.kind == "f" and (np.isnan(row).any() or np.isnan(values).any()):
            return _bisected(row, values, side == "right")
        return np.searchsorted(row, values, side)  # type: ignore[call-overload]

    def evaluate(cumulative: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        places = [found(row, values) for row, values in zip(cumulative, wanted, strict=True)]
        return np.array(places, np.int64).reshape(wanted.shape)

    return define(
        name,
        ("cumulative", "wanted"),
        type=lambda cumulative, wanted: Type(int64, wanted.shape),
        eval=evaluate,
        lower=Kernel(name),
        vjp=NO_GRADIENT,
    )


search_primitive = _define("search", "left")
search_right_primitive = _define("search_right", "right")


def search(cumulative: Any, wanted: Any) -> Any:
    """For each of ``wanted[row]`` the first place in the ascending ``cumulative[row]`` that is not below it."""
    return bind(search_primitive, cumulative, wanted)


def search_right(cumulative: Any, wanted: Any) -> Any:
    """For each of ``wanted[row]`` the first place in the ascending ``cumulative[row]`` that is above it."""
    return bind(search_right_primitive, cumulative, wanted)
