"""How far two arrays are apart: at which element, by how much, and what that is in roundings."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from ...ops.types import FLOATING_KINDS


@dataclass(frozen=True)
class Difference:
    """`absolute` is the largest difference, `where` its index. `scale` is the largest finite magnitude in the first."""

    shape: tuple[int, ...]
    dtype: str
    absolute: float
    where: tuple[int, ...]
    relative: float  # to the larger of the two numbers there
    scale: float
    note: str = ""

    @property
    def ulp(self) -> float:
        """The difference in units of the last place of the largest number in the array."""
        if self.absolute == 0 or not np.isfinite(self.absolute):
            return self.absolute
        return self.absolute / (self.ulp_at(self.scale) or 1.0)

    def ulp_at(self, scale: float) -> float:
        """The unit of the last place of a number; 0 where numbers are whole."""
        of = np.dtype(self.dtype or "float32")
        if of.kind not in FLOATING_KINDS:
            return 0.0
        return float(np.spacing(np.asarray(max(scale, float(ml_dtypes.finfo(of).tiny)), of)))


def difference_of(one: np.ndarray | None, other: np.ndarray | None) -> Difference:
    """The difference of two arrays, infinite where one of them is not there or of another type."""
    there = one if one is not None else other
    if there is None:
        return Difference((), "", 0.0, (), 0.0, 0.0, "None")
    shape, dtype, scale = there.shape, there.dtype.name, _scale(there)
    if one is None or other is None:
        note = f"{'eager' if one is None else 'compiled'}: None, or unchanged"
        return Difference(shape, dtype, np.inf, (), np.inf, scale, note)
    if one.shape != other.shape or one.dtype != other.dtype:
        note = f"compiled: {other.dtype.name}{list(other.shape)}"
        return Difference(shape, dtype, np.inf, (), np.inf, scale, note)
    if not one.size:
        return Difference(shape, dtype, 0.0, (), 0.0, scale)
    return _measured(one, other, scale)


def moved_by_a_rounding(array: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """An array that no one could tell from this one but for the last bit of each number; itself for whole numbers."""
    if array.dtype.kind not in FLOATING_KINDS:
        return array
    return np.asarray(array * (1 + ml_dtypes.finfo(array.dtype).eps * draw.uniform(-1, 1, array.shape)), array.dtype)


def _measured(one: np.ndarray, other: np.ndarray, scale: float) -> Difference:
    a, b = np.asarray(one, np.float64), np.asarray(other, np.float64)  # bool and int, too; int64 to 53 bits
    with np.errstate(all="ignore"):
        apart = np.abs(a - b)
        apart = np.where((one == other) | (np.isnan(a) & np.isnan(b)), 0.0, np.where(np.isnan(apart), np.inf, apart))
        apart = np.where((apart == 0) & (one != other) & ~np.isnan(a), 1.0, apart)  # whole numbers beyond 53 bits
    flat = int(np.argmax(apart))
    where = tuple(int(i) for i in np.unravel_index(flat, one.shape))
    absolute = float(apart.flat[flat])
    magnitude = max(abs(float(a.flat[flat])), abs(float(b.flat[flat])))
    relative = absolute / magnitude if absolute and magnitude else 0.0
    if np.isnan(relative) or not np.isfinite(absolute):
        relative = np.inf
    return Difference(one.shape, one.dtype.name, absolute, where, relative, scale)


def _scale(array: np.ndarray) -> float:
    finite = np.abs(np.asarray(array, np.float64))[np.isfinite(np.asarray(array, np.float64))]
    return float(finite.max()) if finite.size else 0.0
