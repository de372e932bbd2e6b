"""Draws of a generator as numpy code, where nobody records them: in plain eager mode, and of ops that are put off."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ops.array import quietly
from ...ops.random import (
    BLOCK,
    STATE_SIZE,
    block_normals_of,
    random_words_primitive,
    serial_normals_of,
    uniforms_for_blocks,
    uniforms_of,
)
from ...ops.sampling.ahead import WordBlock, block_normals_in, serial_normals_in, taken_ahead, uniforms_in
from ...ops.types import DType, float32, float64
from ...tracing.watch import changes


class DrawsAtOnce:
    """Base of `Generator`: numbers are drawn and the state is written without tensors in between."""

    __slots__ = ()
    state: Any
    cached: Any
    _lock: Any

    def words_at_once(self, count: int) -> np.ndarray:
        """The next `count` words, as int32 bit patterns."""
        with self._lock:
            drawn = random_words_primitive.evaluate_wide(self.state.ndarray, count)
            self.state.ndarray[:] = drawn[:STATE_SIZE]
            self.state.buffer.version += 1
        return drawn[STATE_SIZE:]

    def _few(self, part: Callable[..., np.ndarray], words: int, *options: Any) -> np.ndarray | None:
        """``part(block, start, words, *options)`` of the next `words`, which are taken; None where these are many."""
        with self._lock:
            taken = taken_ahead(self.state.ndarray, words)
            if taken is None:
                return None
            self.state.buffer.version += 1
            return part(*taken, words, *options)

    def few_words(self, count: int) -> np.ndarray:
        """`words_at_once`, quicker for few."""
        few = self._few(_words_in, count)
        return self.words_at_once(count) if few is None else few

    def uniforms_at_once(self, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """In [0, 1): float64, or float32 for all other types."""
        count = math.prod(shape)
        few = self._few(uniforms_in, 2 * count if dtype is float64 else count, dtype)
        return (uniforms_of(self.words_at_once, count, dtype) if few is None else few).reshape(shape)

    def normals_like(self, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
        """Standard normal numbers of float32 or float64; where there are few in float64."""
        count = math.prod(shape)
        if count < BLOCK:
            return self.normals_at_once(count).reshape(shape)
        wanted = uniforms_for_blocks(count)
        few = self._few(block_normals_in, wanted, count) if dtype is float32 else None
        if few is None:
            u = self.uniforms_at_once((wanted,), dtype)
            few = np.asarray(quietly(block_normals_of, u, count))
        return few.reshape(shape)

    def normals_at_once(self, count: int) -> np.ndarray:
        """Standard normal numbers in float64, two from four words; an odd one is kept for the next call."""
        with self._lock:
            value, had = self.cached.ndarray.tolist()
            drawn = np.empty(count + 2)
            first = int(had and count > 0)
            drawn[:first] = value
            missing = count - first
            pairs = (missing + 1) // 2
            if pairs:
                few = self._few(serial_normals_in, 4 * pairs)
                made = quietly(serial_normals_of, self.words_at_once(4 * pairs)) if few is None else few
                drawn[first : first + 2 * pairs] = made
            if first or missing % 2:
                self.cached.ndarray[:] = (drawn[count], 1.0) if missing % 2 else 0.0
                self.cached.buffer.version += 1
                changes.count += bool(had) != missing % 2
        return drawn[:count]


def _words_in(block: WordBlock, start: int, count: int) -> np.ndarray:
    return block.words[start : start + count].copy()
