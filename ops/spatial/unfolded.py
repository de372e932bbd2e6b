"""Convolutions by numpy: products of matrices, into which a few images at a time are unfolded.

A matrix has a row for each channel and place in the kernel (im2col) and a column for each window. That of a whole batch
goes through memory several times; that of a block of images stays in a cache. Where there are channels enough, one axis
of the kernel is not unfolded at all: the windows of a tap along it begin some rows of the image further on, so that
their matrix is a part of the same memory, and the products of all taps are added up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..lazy import lazy

Shape = tuple[int, ...]

ENOUGH = 32  # rows of a matrix that make its product worth a call for each tap along the kernel's first axis
LARGE = 100  # windows of an image from which on its matrix is multiplied by itself
BLOCK = 1 << 18  # elements of a matrix that stay in a cache: 1 MB of float32


@dataclass(eq=False)
class Windows:
    """Windows ``[*kernel, *windows]`` over images ``[channels, *space]``; `groups` of channels are kept apart."""

    channels: int
    space: Shape
    kernel: Shape
    windows: Shape
    steps: Shape
    gaps: Shape
    low: Shape
    groups: int
    dtype: np.dtype

    @lazy
    def is_by_tap(self) -> bool:
        """Whether each tap along the kernel's first axis has a matrix of its own."""
        rows = self.channels // self.groups * prod(self.kernel[1:])
        return self.kernel[0] > 1 and rows >= ENOUGH and prod(self.windows) >= LARGE

    def blocks(self, images: int) -> Iterator[tuple[slice, Unfolded]]:
        """Blocks of so many images, and the memory to unfold each of them in, which the next one gets, too."""
        each = self.channels * prod(self.kernel) * prod(self.windows)
        size = 1 if self.is_by_tap else max(1, min(images, BLOCK // max(1, each)))
        unfolded = Unfolded(self, size)
        for first in range(0, images, size):
            if first + size > images:
                unfolded = Unfolded(self, images - first)
            yield slice(first, min(first + size, images)), unfolded

    def factors(self, w: np.ndarray) -> np.ndarray:
        """``w [results, channels of a group, *kernel]`` as a matrix for each group, of each tap that has its own."""
        results, taps = w.shape[0] // self.groups, prod(self.kernel)
        if not self.is_by_tap:
            return w.reshape(1, self.groups, results, w.shape[1] * taps)
        first = self.kernel[0]
        apart = w.reshape(self.groups, results, w.shape[1], first, taps // first)
        return apart.transpose(3, 0, 1, 2, 4).reshape(first, self.groups, results, w.shape[1] * taps // first)

    def rows(self, y: np.ndarray) -> np.ndarray:
        """``y [images, results, *windows]`` as a matrix for each group."""
        return y.swapaxes(0, 1).reshape(self.groups, y.shape[1] // self.groups, y.shape[0] * prod(self.windows))


class Unfolded:
    """Memory for the padded images of a block, and for their windows as matrices."""

    def __init__(self, windows: Windows, images: int) -> None:
        w = windows
        along = zip(w.space, w.kernel, w.windows, w.steps, w.gaps, w.low, strict=True)
        places = [max(n + before, (o - 1) * step + (k - 1) * gap + 1) for n, k, o, step, gap, before in along]
        phases = w.steps[0] if w.is_by_tap else 1  # what a step skips lies elsewhere, so that windows are neighbours
        places[0] += -places[0] % phases
        space = np.zeros((w.channels, images, *places), w.dtype)
        within = (np.s_[:], np.s_[:], *(np.s_[before : before + n] for before, n in zip(w.low, w.space, strict=True)))
        self._inside = space[within]
        channel, image, first, *rest = space.strides
        inner = [gap * stride for gap, stride in zip(w.gaps[1:], rest, strict=True)]
        outer = [step * stride for step, stride in zip(w.steps[1:], rest, strict=True)]
        self._space, self._count = space, w.windows[0]
        if w.is_by_tap:
            shape: Shape = (w.channels, *w.kernel[1:], phases, images, places[0] // phases, *w.windows[1:])
            strides: Any = (channel, *inner, first, image, phases * first, *outer)
            self._begins = [(k * w.gaps[0] % phases, k * w.gaps[0] // phases) for k in range(w.kernel[0])]
        else:
            shape = (w.channels, *w.kernel, 1, images, *w.windows)
            strides = (channel, w.gaps[0] * first, *inner, 0, image, w.steps[0] * first, *outer)
            self._begins = [(0, 0)]
        self._seen: np.ndarray = np.ndarray(shape, w.dtype, space, strides=strides)
        self._columns = np.empty(shape, w.dtype)
        self._taps = shape[1 : len(shape) - len(w.kernel) - 2]
        rows = w.channels // w.groups * prod(self._taps)
        self._matrices = self._columns.reshape(
            w.groups, rows, phases, images, shape[-len(w.kernel)], prod(w.windows[1:])
        )

    def matrices(self) -> Iterator[np.ndarray]:
        """A matrix ``[groups, channels of a group * kernel, images * windows]`` by tap, views."""
        for phase, begin in self._begins:
            matrix = self._matrices[:, :, phase, :, begin : begin + self._count]
            yield matrix.reshape(*matrix.shape[:2], prod(matrix.shape[2:]))

    def fill(self, x: np.ndarray) -> None:
        """Unfold ``x [images, channels, *space]``."""
        self._inside[...] = x.swapaxes(0, 1)
        np.copyto(self._columns, self._seen)

    def clear(self) -> None:
        """Make all matrices zero."""
        self._columns.fill(0)

    def fold(self) -> np.ndarray:
        """What matrices say of each place of the images, added up: ``[images, channels, *space]``, a view."""
        self._space.fill(0)
        for tap in np.ndindex(*self._taps):  # windows overlap, those of one tap do not
            place: Any = (np.s_[:], *tap)
            self._seen[place] += self._columns[place]
        return self._inside.swapaxes(0, 1)


def convolved(x: np.ndarray, w: np.ndarray, windows: Windows) -> np.ndarray:
    """The sums of products of windows over `x` with `w`: ``[images, results, *windows]``."""
    out = np.empty((x.shape[0], w.shape[0], *windows.windows), x.dtype)
    factors = windows.factors(w)
    for block, unfolded in windows.blocks(x.shape[0]):
        unfolded.fill(x[block])
        total: Any = None
        for factor, matrix in zip(factors, unfolded.matrices(), strict=True):
            product = np.matmul(factor, matrix)
            total = product if total is None else np.add(total, product, out=total)
        out[block] = total.reshape(w.shape[0], -1, *windows.windows).swapaxes(0, 1)
    return out


def spread(y: np.ndarray, w: np.ndarray, windows: Windows) -> np.ndarray:
    """What of ``y [images, results, *windows]`` comes to each place by `w`: ``[images, channels, *space]``."""
    out = np.empty((y.shape[0], windows.channels, *windows.space), y.dtype)
    factors = windows.factors(w).swapaxes(2, 3)
    for block, unfolded in windows.blocks(y.shape[0]):
        rows = windows.rows(y[block])
        unfolded.clear()
        for factor, matrix in zip(factors, unfolded.matrices(), strict=True):
            matrix += np.matmul(factor, rows)
        out[block] = unfolded.fold()
    return out


def correlated(x: np.ndarray, y: np.ndarray, windows: Windows) -> np.ndarray:
    """The sums over all images and windows of `x` with `y`: ``[results, channels of a group, *kernel]``."""
    results, channels = y.shape[1], windows.channels // windows.groups
    total: Any = None
    for block, unfolded in windows.blocks(x.shape[0]):
        unfolded.fill(x[block])
        rows = windows.rows(y[block])
        products = [np.matmul(rows, matrix.swapaxes(1, 2)) for matrix in unfolded.matrices()]
        if total is None:
            total = products
        else:
            for each, product in zip(total, products, strict=True):
                each += product
    apart = [each.reshape(results, channels, 1, prod(windows.kernel) // len(total)) for each in total]
    return (np.concatenate(apart, 2) if apart[1:] else apart[0]).reshape(results, channels, *windows.kernel)
