"""PyTorch's layout of a CPU generator's state, and what is no state."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ops.array import eager
from ...ops.random import STATE_SIZE
from ..tensor import Tensor

#: `left` counts the words until the next refill, plus one.
TORCH_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", (STATE_SIZE - 1,)),
        ("unused", "<f8"),
        ("normal", "<f8"),
        ("unused_too", "<f8"),
        ("has_normal", "<i4"),
        ("padding", "V4"),
        ("float_normal", "<f4"),
        ("has_float_normal", "?"),
        ("padding_too", "V3"),
    ]
)


def record_of(new_state: Tensor | np.ndarray | Any) -> Any:
    """The record that a state holds. TypeError for what is no array of integers, RuntimeError for what is no state."""
    given = eager().peek(new_state) if isinstance(new_state, Tensor) else new_state
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "iu":
        raise TypeError("RNG state must be a tensor of bytes: what get_rng_state() gave, or a numpy array of uint8.")
    if given.size != TORCH_STATE.itemsize:
        raise RuntimeError(
            f"Expected a CPUGeneratorImplState of size {TORCH_STATE.itemsize} but found the input RNG state size to be "
            f"{given.size}. Pass what get_rng_state() returned."
        )
    record = np.frombuffer(given.astype(np.uint8).tobytes(), TORCH_STATE)[0]
    if record["seeded"] != 1 or not 0 < record["left"] <= STATE_SIZE or record["next"] >= STATE_SIZE:
        raise RuntimeError("Invalid mt19937 state: its position lies outside. Pass what get_rng_state() gave.")
    return record
