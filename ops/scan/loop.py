"""The loop primitive: carried values, slices of stacked operands in, stacked results out.

    for t in range(length):  # or from the end
        carries, ys = body(carries, [stream[t] for stream in streams], constants)

A primitive has one value. A loop's is one row of numbers with everything in it: for each carried value its *history*
(what it was before the first turn and after each), then each stacked result. Parts of it are views, and the loop's own
derivative reads the histories where they lie.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import current
from ..lazy import lazy
from ..memory import aligned_empty
from ..movement import reshape, slice
from ..types import DType, Type
from .body import Body, parsed, read


@dataclass(frozen=True)
class Stream:
    """An operand read as ``[length, ...]``, from element `offset` of it on."""

    operand: int
    offset: int = 0


@dataclass(frozen=True)
class Loop:
    """The first `carries` operands are what is carried into the first turn; `streams` and `constants` say what else the
    body reads, in the order of its inputs. Its results are the new carried values, then what is stacked.
    """

    body: Body
    length: int
    carries: int
    streams: tuple[Stream, ...]
    constants: tuple[int, ...]
    backwards: bool = False

    @lazy
    def text(self) -> str:
        """What `loop_of` makes a loop of again."""
        streams = tuple((s.operand, s.offset) for s in self.streams)
        return repr((self.body.text, self.length, self.carries, streams, self.constants, self.backwards))

    @lazy
    def results(self) -> tuple[Type, ...]:
        """The types of the body's results."""
        return tuple(self.body.types[n] for n in self.body.results)

    @property
    def dtype(self) -> DType:
        return self.results[0].dtype

    @lazy
    def offsets(self) -> tuple[int, ...]:
        """Where each history and each stacked result begins, and where the last one ends."""
        found = [0]
        for number, of in enumerate(self.results):
            found.append(found[-1] + (self.length + (number < self.carries)) * of.size)
        return tuple(found)

    @property
    def size(self) -> int:
        return self.offsets[-1]

    def before(self, number: int) -> int:
        """Where the stack begins of what carried value `number` is before each turn, by `t`."""
        return self.offsets[number] + self.backwards * self.results[number].size

    def after(self, number: int) -> int:
        """Where the stack begins of result `number` after each turn, by `t`."""
        if number >= self.carries:
            return self.offsets[number]
        return self.offsets[number] + (not self.backwards) * self.results[number].size

    def first(self, number: int) -> int:
        """Where carried value `number` lies before the first turn."""
        return self.offsets[number] + self.backwards * self.length * self.results[number].size

    def last(self, number: int) -> int:
        """Where carried value `number` lies after the last turn."""
        return self.offsets[number] + (not self.backwards) * self.length * self.results[number].size

    def turns(self) -> range:
        """`t` of each turn."""
        return range(self.length - 1, -1, -1) if self.backwards else range(self.length)


@functools.lru_cache(maxsize=256)
def loop_of(text: str) -> Loop:
    """The loop that `text` stands for."""
    body, length, carries, streams, constants, backwards = parsed(text)
    return Loop(read(body), length, carries, tuple(Stream(*s) for s in streams), constants, backwards)


def loop_type(*xs: Type, loop: str) -> Type:
    """The type rule; RuntimeError for operands that the body was not made for."""
    made = loop_of(loop)
    for stream, of in zip(made.streams, made.body.inputs[made.carries :], strict=False):
        operand = xs[stream.operand]
        if operand.dtype is not of.dtype or operand.size < stream.offset + made.length * of.size:
            raise RuntimeError(f"a loop of {made.length} turns reads {of} in each from {stream.offset} on in {operand}")
    carried = range(made.carries)
    read = [*carried, *made.constants]
    wanted = [*carried, *range(made.carries + len(made.streams), len(made.body.inputs))]
    if any(xs[i] != made.body.inputs[n] for i, n in zip(read, wanted, strict=True)):
        raise RuntimeError("a loop's carried values and constants have the types that its body was made for")
    if any(made.results[k] != made.body.inputs[k] for k in carried):
        raise RuntimeError("a loop's carried values keep their types")
    if any(of.dtype is not made.dtype for of in made.results):
        raise RuntimeError("a loop's results are of one element type")
    return Type(made.dtype, (made.size,))


def _stack(array: np.ndarray, offset: int, length: int, shape: tuple[int, ...], size: int) -> np.ndarray:
    return array.reshape(-1)[offset : offset + length * size].reshape(length, *shape)


def evaluate(*xs: np.ndarray, loop: str) -> np.ndarray:
    """The loop with numpy, turn by turn."""
    made = loop_of(loop)
    out = aligned_empty((made.size,), made.dtype.numpy)

    def stack(array: np.ndarray, offset: int, of: Type) -> np.ndarray:
        return _stack(array, offset, made.length, of.shape, of.size)

    inputs, carries = made.body.inputs, range(made.carries)
    carried = list(xs[: made.carries])
    for k in carries:
        _stack(out, made.first(k), 1, inputs[k].shape, inputs[k].size)[0] = xs[k]
    streams = [stack(xs[s.operand], s.offset, of) for s, of in zip(made.streams, inputs[made.carries :], strict=False)]
    results = [stack(out, made.after(n), of) for n, of in enumerate(made.results)]
    constants = [xs[c] for c in made.constants]
    for t in made.turns():
        values = made.body.evaluate([*carried, *(s[t] for s in streams), *constants])
        for result, value in zip(results, values, strict=True):
            result[t] = value
        carried = [results[k][t] for k in carries]
    return out


def part(flat: Any, offset: int, shape: tuple[int, ...]) -> Any:
    """`shape` at `offset` of a row of numbers; of an array, read as a row."""
    of: Type = current().type_of(flat)
    row = flat if of.ndim == 1 else reshape(flat, (of.size,))
    size = Type(of.dtype, shape).size
    if of.size != size:
        row = slice(row, (offset,), (offset + size,), (1,))
    return row if shape == (size,) else reshape(row, shape)


def stack_of(loop: Loop, flat: Any, number: int) -> Any:
    """Result `number` after each turn, ``[length, ...]``, of a loop's value."""
    return part(flat, loop.after(number), (loop.length, *loop.results[number].shape))


def last_of(loop: Loop, flat: Any, number: int) -> Any:
    """Carried value `number` after the last turn, of a loop's value."""
    return part(flat, loop.last(number), loop.results[number].shape)
