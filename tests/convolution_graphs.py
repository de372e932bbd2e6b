"""A family of convolutions as graphs: axes, strides, dilations, paddings, groups, odd sizes, in both types.

Numbers are small and whole, so that sums are exact in every order: what a program gives is equal to what numpy gives.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.ops.comparison import le, where
from tracegrad.ops.core import interpreting
from tracegrad.ops.movement import reshape
from tracegrad.ops.spatial.convolution import conv, conv_input, conv_weight
from tracegrad.ops.spatial.pooling import pick, unpick, window_argmax
from tracegrad.ops.types import Type, float32, float64, int32, int64


@dataclass(frozen=True)
class Config:
    """One convolution; `behind` are places of the input that no window reaches."""

    images: int
    groups: int
    channels: int
    results: int
    kernel: tuple
    windows: tuple
    steps: tuple
    gaps: tuple
    low: tuple
    behind: int = 0
    dtype: object = float32

    @property
    def space(self):
        along = zip(self.kernel, self.windows, self.steps, self.gaps, self.low, strict=True)
        return tuple(max((o - 1) * s + (k - 1) * d + 1 - 2 * b, 1) + self.behind for k, o, s, d, b in along)

    @property
    def params(self):
        return {"steps": self.steps, "gaps": self.gaps, "low": self.low, "groups": self.groups}

    @property
    def shapes(self):
        return {
            "x": (self.images, self.groups * self.channels, *self.space),
            "w": (self.groups * self.results, self.channels, *self.kernel),
            "y": (self.images, self.groups * self.results, *self.windows),
        }

    @property
    def name(self):
        parts = (self.images, self.groups, self.channels, self.results, *self.kernel, *self.windows, *self.steps)
        return "_".join(["conv", *map(str, (*parts, *self.gaps, *self.low, self.behind)), self.dtype.name])


#: What has gone wrong in other libraries, or takes a way of its own here.
CHOSEN = (
    Config(3, 1, 1, 1, (1,), (1,), (1,), (1,), (0,)),  # one element
    Config(2, 1, 3, 16, (5, 5), (14, 14), (1, 1), (1, 1), (2, 2)),  # colours
    Config(1, 1, 16, 33, (3, 3), (7, 7), (1, 1), (1, 1), (1, 1)),  # one image, more results than two vectors
    Config(2, 1, 17, 49, (3,), (37,), (1,), (1,), (1,), dtype=float64),
    Config(1, 1, 9, 8, (1, 1), (5, 6), (2, 2), (1, 1), (0, 0), 1),  # a kernel smaller than its stride
    Config(1, 1, 2, 3, (2, 2), (1, 1), (3, 3), (1, 1), (0, 0)),  # a stride larger than the space
    Config(2, 5, 1, 1, (3, 3), (9, 18), (1, 1), (1, 1), (1, 1)),  # depthwise
    Config(2, 3, 1, 2, (3, 3), (5, 4), (2, 2), (1, 1), (1, 1)),  # depthwise with more results, strided
    Config(1, 1, 3, 4, (4, 4), (3, 3), (4, 4), (1, 1), (0, 0)),  # patches
    Config(1, 1, 8, 5, (3,), (600,), (1,), (4,), (4,)),  # a long row, dilated
    Config(1, 1, 2, 70, (3, 3), (40, 20), (1, 1), (1, 1), (1, 1)),  # more than one chunk of rows
    Config(1, 2, 2, 2, (2, 3, 2), (3, 4, 5), (2, 1, 2), (1, 2, 1), (1, 2, 0), 1),
    Config(2, 1, 2, 3, (3, 3), (4, 4), (1, 1), (1, 1), (3, 3)),  # windows that lie in the padding
)


def drawn(count, seed=11):
    """Random members of the family."""
    random = np.random.default_rng(seed)
    for number in range(count):
        axes = number % 3 + 1
        longest = (24, 9, 5)[axes - 1]

        def along(low, high, axes=axes):
            return tuple(int(n) for n in random.integers(low, high + 1, axes))

        kernel, windows, steps, gaps = along(1, 3), along(1, longest), along(1, 3), along(1, 2)
        low = tuple(int(random.integers(0, (k - 1) * gap + 1)) for k, gap in zip(kernel, gaps, strict=True))
        images, groups, channels, results = (int(random.integers(1, high)) for high in (4, 4, 12, 20))
        dtype = float64 if number % 4 == 3 else float32
        yield Config(images, groups, channels, results, kernel, windows, steps, gaps, low, number % 2, dtype)


def whole(dtype, *shape, seed=7):
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(dtype.numpy)


def convolutions(config):
    """All three contractions with work on their results: bias and mask, a mask, an update of the weight."""
    shapes, params, dtype = config.shapes, config.params, config.dtype
    results = shapes["w"][0]
    values = {name: whole(dtype, *shape, seed=len(name)) for name, shape in shapes.items()}
    values["bias"] = whole(dtype, results)
    values["mask"] = whole(dtype, *shapes["x"], seed=3)
    builder = Builder()
    nodes = {name: builder.input(name, Type(dtype, array.shape)) for name, array in values.items()}
    with interpreting(builder):
        x, w, y = nodes["x"], nodes["w"], nodes["y"]
        forward = conv(x, w, config.windows, **params) + reshape(nodes["bias"], (results, *(1,) * len(config.kernel)))
        negative = le(forward, 0)
        back = conv_input(y, w, config.space, **params)
        slope = conv_weight(x, y, config.kernel, **params)
        outputs = [
            Result("forward", where(negative, 0, forward)),
            Result("negative", negative),
            Result("back", where(le(nodes["mask"], 0), 0, back)),
            Result("slope", slope),
            Result("new_w", w - slope * 2, "w"),
        ]
    return Graph(config.name, tuple(nodes.values()), tuple(outputs)), values


POOLS = (
    ((3, 6, 7), (2, 2), (3, 3), (2, 2), (1, 1), (0, 0)),
    ((2, 5, 20), (3, 3), (3, 10), (2, 2), (1, 1), (1, 1)),
    ((4, 301), (3,), (150,), (2,), (1,), (0,)),
    ((2, 700), (2,), (300,), (2,), (3,), (1,)),
    ((2, 3, 4, 5), (2, 3, 1), (3, 2, 3), (1, 2, 2), (1, 1, 1), (1, 1, 0)),
    ((2, 9, 9), (5, 4), (5, 6), (1, 1), (1, 1), (0, 0)),
)


def pools(dtype):
    """Maxima of windows, with NaN and ties among the numbers, and elements back at their places."""
    for number, (shape, kernel, extents, steps, gaps, low) in enumerate(POOLS):
        axes = len(kernel)
        rows, space, count = prod(shape[:-axes]), prod(shape[-axes:]), prod(extents)
        values = {"x": whole(dtype, *shape), "g": whole(dtype, rows, count, seed=2)}
        if dtype.is_floating_point:
            values["x"].reshape(-1)[::11] = np.nan
            values["x"].reshape(-1)[1::5] = -np.inf
        builder = Builder()
        nodes = {name: builder.input(name, Type(dtype, array.shape)) for name, array in values.items()}
        with interpreting(builder):
            places = window_argmax(nodes["x"], kernel, extents, steps, gaps, low)
            flat = reshape(places, (rows, count))
            outputs = {"places": places, "picked": pick(reshape(nodes["x"], (rows, space)), flat)}
            outputs["back"] = unpick(nodes["g"], flat, space)
        results = tuple(Result(name, node) for name, node in outputs.items())
        yield Graph(f"pool_{number}_{dtype.name}", tuple(nodes.values()), results), values


def window_graphs(count):
    """Chosen and `count` random convolutions, and pools in each type, with the values of their inputs."""
    for config in (*CHOSEN, *drawn(count)):
        yield convolutions(config)
    for dtype in (float32, float64, int32, int64):
        yield from pools(dtype)
