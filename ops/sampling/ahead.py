"""Few random numbers at a time: what the 624 words of a state of MT19937 give is computed once for all of them.

A state has 624 words ready, and a draw moves the position in them. Tempering all of them takes as long as a few, and so
does each of the recipes of `random`, which are element by element: a small draw is a part of an array that is there
already. What is kept is found by the words themselves, whoever has changed the state meanwhile.
"""

from __future__ import annotations

import math
import threading

import numpy as np

from ..array import quietly
from ..cephes import radii_of, turns_of
from ..lazy import lazy
from ..random import BLOCK, STATE_SIZE, tempered, twisted, uniforms24_of, uniforms53_of
from ..types import DType, float64

#: More words than these are drawn for themselves.
FEW = 192
#: How many states are kept, as programs that have several generators draw from them in turn.
_STATES = 4
_HALF = BLOCK // 2


NOTHING: np.ndarray = np.empty(0, np.int32)


class WordBlock:
    """The words that are ready in a state whose own words are `key`, and `before` these the last of the state before,
    where a draw took some of both; numbers made of each or, for float64, of each and the one behind it."""

    def __init__(self, key: bytes, words: np.ndarray, before: int) -> None:
        self.key = key
        self.words = words
        self.before = before

    @lazy
    def uniforms24(self) -> np.ndarray:
        return uniforms24_of(self.words)

    @lazy
    def uniforms53(self) -> np.ndarray:
        return uniforms53_of(self.words[:-1], self.words[1:])

    @lazy
    def polar24(self) -> np.ndarray:
        """Three rows: radius, cosine and sine that Box and Muller make of float32 uniforms in blocks of 16."""
        return np.stack(quietly(_polar_in_blocks, self.uniforms24))

    @lazy
    def polar53(self) -> np.ndarray:
        """The same of float64 uniforms one by one."""
        return np.stack(quietly(_polar_one_by_one, self.uniforms53))


def _polar_in_blocks(u: np.ndarray) -> tuple[np.ndarray, ...]:
    return radii_of(u), *turns_of(u)


def _polar_one_by_one(u: np.ndarray) -> tuple[np.ndarray, ...]:
    angle = u * (2 * math.pi)
    return np.sqrt(-2 * np.log1p(-u)), np.cos(angle), np.sin(angle)


class _Kept(threading.local):
    def __init__(self) -> None:
        self.blocks: list[WordBlock] = []


_kept = _Kept()


def taken_ahead(state: np.ndarray, count: int) -> tuple[WordBlock, int] | None:
    """The next `count` words of `state`, which is moved on behind them: a block and the place in it. None for many."""
    if count > FEW:
        return None
    position, end = state.item(-1), STATE_SIZE - 1
    if position + count <= end:
        block = _block_of(state)
        state[-1] = position + count
        return block, block.before + position
    rest = end - position
    words = _block_of(state).words if rest else NOTHING
    after = twisted(state)
    after[-1] = count - rest
    block = _keep(after, words[len(words) - rest :])
    state[:] = after
    return block, 0


def _block_of(state: np.ndarray) -> WordBlock:
    key = state[:-1].tobytes()
    for block in _kept.blocks:
        if block.key == key:
            return block
    return _keep(state, NOTHING)


def _keep(state: np.ndarray, before: np.ndarray) -> WordBlock:
    words = np.concatenate([before, tempered(state)])
    block = WordBlock(state[:-1].tobytes(), words, len(before))
    _kept.blocks = [block, *_kept.blocks[: _STATES - 1]]
    return block


def uniforms_in(block: WordBlock, start: int, words: int, dtype: DType) -> np.ndarray:
    """In [0, 1) of the next `words` from `start`: float64 of two each, or float32 of one."""
    if dtype is float64:
        return block.uniforms53[start : start + words : 2].copy()
    return block.uniforms24[start : start + words].copy()


def block_normals_in(block: WordBlock, start: int, words: int, count: int) -> np.ndarray:
    """`random.block_normals` in float32 of the next `words`, as many as ``uniforms_for_blocks(count)``."""
    out = np.empty(count, np.float32)
    even = count - count % BLOCK
    _fill_blocks(block, start, out[:even])
    if even != count:
        _fill_blocks(block, start + count, out[-BLOCK:])
    return out


def _fill_blocks(block: WordBlock, start: int, out: np.ndarray) -> None:
    polar = block.polar24[:, start : start + out.size].reshape(3, -1, 2, _HALF)
    np.multiply(polar[0, :, 0], polar[1:, :, 1], out.reshape(-1, 2, _HALF).swapaxes(0, 1))


def serial_normals_in(block: WordBlock, start: int, words: int) -> np.ndarray:
    """`random.serial_normals` of the next `words`."""
    polar, out = block.polar53, np.empty((words // 4, 2))
    np.multiply(polar[0, start + 2 : start + words : 4], polar[1:, start : start + words : 4], out.T)
    return out.reshape(-1)
