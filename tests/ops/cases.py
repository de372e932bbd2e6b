"""What a sample is: operands with a shape, a layout, a range of values, and the types they are tried in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tracegrad.ops.types import ALL_DTYPES, DType, bool_

DTYPES = tuple(d for d in ALL_DTYPES if d.is_in_c)
FLOATS = tuple(d for d in DTYPES if d.is_floating_point)
NUMBERS = tuple(d for d in DTYPES if d is not bool_)
BITS = tuple(d for d in DTYPES if not d.is_floating_point)

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Operand:
    """One operand: its shape, the range of its values, and how it lies in memory.

    Floats are drawn from ``low .. high``, so ties and jumps are not met by chance; integers likewise, without 0 where
    `nonzero`. `values` are taken as they are. A fixed `dtype` does not follow the case's.
    """

    shape: Shape
    low: float = -3.0
    high: float = 3.0
    layout: str = "contiguous"  # or strided, reversed, transposed, expanded
    dtype: DType | None = None
    values: Any = None
    nonzero: bool = False

    def array(self, dtype: DType, random: np.random.Generator) -> np.ndarray:
        """The operand's numbers, new at each call, equal for equal generators."""
        own = self.dtype or dtype
        if self.values is not None:
            return np.array(self.values, own.numpy).reshape(self.shape)
        return laid_out(self.numbers(own, random), self.layout)

    def numbers(self, dtype: DType, random: np.random.Generator) -> np.ndarray:
        if dtype.is_floating_point:
            # Rounded to float32, so that both floating types compute with the same numbers.
            return np.asarray(random.uniform(self.low, self.high, self.shape)).astype(np.float32).astype(dtype.numpy)
        if dtype.is_complex:
            parts = random.uniform(self.low, self.high, (2, *self.shape)).astype(np.float32)
            return np.asarray(parts[0] + 1j * parts[1]).astype(dtype.numpy)
        if dtype is bool_:
            return np.asarray(random.integers(0, 2, self.shape)).astype(bool)
        whole = np.asarray(random.integers(int(np.ceil(self.low)), int(np.floor(self.high)) + 1, self.shape))
        return (np.where(whole == 0, 1, whole) if self.nonzero else whole).astype(dtype.numpy)


def laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """The same numbers in memory that is not contiguous (`expanded` repeats the first row)."""
    if layout == "strided":
        wide = np.zeros([2 * extent for extent in array.shape], array.dtype)
        every_other = tuple(np.s_[::2] for _ in array.shape)
        wide[every_other] = array
        return wide[every_other]
    if layout == "reversed":
        return np.ascontiguousarray(np.flip(array))[tuple(np.s_[::-1] for _ in array.shape)]
    if layout == "transposed":
        return np.asfortranarray(array)
    if layout == "expanded":
        return np.broadcast_to(array[:1], array.shape)
    return array


@dataclass(frozen=True)
class Case:
    """One use of a primitive, in each of `dtypes`. Derivatives are not asked for at the positions in `held`."""

    operands: tuple[Operand, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    dtypes: tuple[DType, ...] = DTYPES
    held: tuple[int, ...] = ()

    def arrays(self, dtype: DType, seed: int = 0) -> list[np.ndarray]:
        """The operands as numpy arrays, the same ones at each call."""
        random = np.random.default_rng(seed)
        return [operand.array(dtype, random) for operand in self.operands]

    def __str__(self) -> str:
        operands = " ".join(f"{list(o.shape)}{'' if o.layout == 'contiguous' else o.layout}" for o in self.operands)
        return " ".join([operands, *(f"{name}={value}" for name, value in self.params.items())])
