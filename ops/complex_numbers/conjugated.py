"""Conjugates that share memory: PyTorch marks a view with a bit, numpy has none, so the conjugates are kept beside.

The conjugate of an array that shows a buffer is memory of its own, the *mirror*, read-only for everybody but `store`.
Each write to the buffer counts its version up, by whatever path, and this is where mirrors follow: a buffer with
mirrors has a class of its own, whose `version` brings them up to date. A write through a mirror (or through the real
or imaginary part of one) goes to both memories. What is seen of either is therefore what PyTorch's bit would show.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..core import Movement
from ..memory import Buffer

#: How the primitive is lowered whose result is not computed but shown by a mirror.
CONJUGATED = Movement("conj_view", view=True)


class _Mirror:
    """The conjugates of the numbers between two addresses; there as long as somebody shows them."""

    __slots__ = ("_held", "length", "source", "start")

    def __init__(self, source: np.ndarray, held: np.ndarray) -> None:
        self.source, self._held = source, weakref.ref(held)
        self.start, self.length = _address(held), held.nbytes

    @property
    def held(self) -> np.ndarray | None:
        return self._held()

    def shown_as(self, array: np.ndarray) -> np.ndarray:
        """What the mirror has where `array` shows the memory itself."""
        held = self.held
        assert held is not None
        at = _address(array) - _address(self.source)
        return _view(held, at, array, False)

    def behind(self, array: np.ndarray) -> np.ndarray:
        """What the memory itself has where `array` shows the mirror."""
        return _view(self.source, _address(array) - self.start, array, self.source.flags.writeable)

    def follow(self) -> None:
        held = self.held
        if held is not None:
            np.conjugate(self.source, out=held)

    def store(self, array: np.ndarray, values: Any) -> None:
        """Write `values` to both memories; `array` shows the mirror."""
        values = np.array(np.broadcast_to(values, array.shape))  # what it is made of may be what is written
        held = self.held
        assert held is not None
        np.copyto(_view(held, _address(array) - self.start, array, True), values)
        if array.dtype.kind == "c":
            values = np.conjugate(values)
        np.copyto(self.behind(array), -values if self.negates(array) else values)

    def negates(self, array: np.ndarray) -> bool:
        """Whether `array` shows imaginary parts."""
        return array.dtype.kind != "c" and bool((_address(array) - self.start) % self.source.itemsize)


class MirroredBuffer(Buffer):
    """A buffer with mirrors."""

    __slots__ = ()

    @property
    def version(self) -> float:
        count: float = _VERSION.__get__(self)
        return count

    @version.setter
    def version(self, count: float) -> None:
        _VERSION.__set__(self, count)
        alive = [mirror for mirror in _mirrors[self] if mirror.held is not None]
        for mirror in alive:
            mirror.follow()
        if alive:
            _mirrors[self][:] = alive
        else:
            del _mirrors[self]
            self.__class__ = Buffer  # type: ignore[assignment]

    def alias(self) -> Buffer:
        other = Buffer(self.whole)
        other.reader = self.reader
        other.__class__ = MirroredBuffer
        _mirrors[other] = _mirrors[self]
        return other


_VERSION: Any = Buffer.__dict__["version"]
#: Buffers of one memory (`x` and ``x.data``) have the same list.
_mirrors: weakref.WeakKeyDictionary[Buffer, list[_Mirror]] = weakref.WeakKeyDictionary()


def conjugated(array: np.ndarray, buffer: Buffer) -> np.ndarray:
    """The conjugate of `array`, which shows `buffer`, in memory that follows all writes.

    Of what is a conjugate so, it is the memory itself.
    """
    mirror = mirror_of(array, buffer)
    if mirror is not None:
        return mirror.behind(array)
    if not array.size:
        return np.conjugate(array)
    mirror = _wide_enough(array, buffer)
    if mirror is not None:
        return mirror.shown_as(array)
    source = _stretch(array)
    held = np.conjugate(source)
    mirror = _Mirror(source, held)
    if type(buffer) is not MirroredBuffer:
        buffer.__class__ = MirroredBuffer
        _mirrors[buffer] = []
    _mirrors[buffer].append(mirror)
    return mirror.shown_as(array)


def mirror_of(array: np.ndarray, buffer: Buffer) -> _Mirror | None:
    """The mirror that `array` shows; None if it shows the buffer's memory itself."""
    if type(buffer) is not MirroredBuffer:
        return None
    at = _address(array)
    for mirror in _mirrors.get(buffer, ()):
        if mirror.start <= at < mirror.start + mirror.length and mirror.held is not None:
            return mirror
    return None


def memory_behind(array: np.ndarray, buffer: Buffer) -> np.ndarray:
    """`array`; where it shows a mirror, the same elements of the buffer's memory."""
    mirror = mirror_of(array, buffer)
    return array if mirror is None else mirror.behind(array)


def bit_of(array: np.ndarray, buffer: Buffer) -> str:
    """What PyTorch calls the bit that a view of a conjugate has: "conjugate" or "negative"; "" without one."""
    mirror = mirror_of(array, buffer)
    if mirror is None:
        return ""
    return "conjugate" if array.dtype.kind == "c" else "negative" if mirror.negates(array) else ""


def _wide_enough(array: np.ndarray, buffer: Buffer) -> _Mirror | None:
    """A mirror that has what `array` shows already."""
    if type(buffer) is not MirroredBuffer:
        return None
    stretch = _stretch(array)
    low, high = _address(stretch), _address(stretch) + stretch.nbytes
    for mirror in _mirrors.get(buffer, ()):
        start = _address(mirror.source)
        if start <= low and high <= start + mirror.length and mirror.held is not None:
            return mirror
    return None


def _stretch(array: np.ndarray) -> np.ndarray:
    """The memory from the first element of `array` to its last one, in a row."""
    forwards = array[tuple(slice(None, None, -1 if stride < 0 else 1) for stride in array.strides)]
    reach = sum((n - 1) * stride for n, stride in zip(forwards.shape, forwards.strides, strict=True))
    count = reach // array.itemsize + 1
    return as_strided(forwards, (count,), (array.itemsize,), writeable=array.flags.writeable)


def _view(memory: np.ndarray, offset: int, like: np.ndarray, writeable: bool) -> np.ndarray:
    """The part of `memory` that begins `offset` bytes behind its start, with type, shape and strides of `like`."""
    flat = memory.view(like.dtype)
    return as_strided(flat[offset // like.itemsize :], like.shape, like.strides, writeable=writeable)


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])
