"""Sums whose innermost loop is short have a sum for each of its turns; a place that was parted is one index again."""

import itertools

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiler.schedule.index import Index, Variable, divided, modulo, of_variable

SHAPES = list(itertools.product((3, 4), (1, 5), (15, 16, 100, 512, 513)))


def compiled(function, *args):
    program = tg.compile(function)
    for _ in range(3):
        result = program(*args)
    assert program.way == "replay"
    return program, result


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums_over_the_first_and_the_last_axis(shape):
    dtype = tg.float64 if SHAPES.index(shape) % 3 == 0 else tg.float32
    tg.manual_seed(sum(shape))
    x = tg.randn(*shape, dtype=dtype)

    def sums(x):
        return x.sum((0, 2)), (x * x).mean((0, 2)), (x > 0).sum((0, 2)), x.amax((0, 2))

    program, result = compiled(sums, x)
    for found, expected in zip(result, sums(x), strict=True):
        limit = 1e-5 if dtype is tg.float32 else 1e-13  # sums of at most 2052 numbers of size 1, in another order
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=limit, atol=limit * shape[0] * shape[2] ** 0.5)
    outer, channels, inner = shape
    if channels > 1:  # else both loops are one
        assert ("_lanes[" in program.source) == (outer >= 4 and 16 <= inner <= 512)


def test_a_program_for_all_sizes_has_none():
    program = tg.compile(lambda x: x.sum((0, 2)))
    for size in (8, 9, 10, 11):
        x = tg.randn(size, 3, 20)
        np.testing.assert_allclose(program(x).numpy(), x.sum((0, 2)).numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("by", [2, 8])
def test_a_parted_place_is_one_again(by):
    place = of_variable(Variable("i", 64))
    assert divided(place, by) * by + modulo(place, by) == place
    assert modulo(place, by) * 3 + divided(place, by) * (3 * by) + 5 == place * 3 + 5
    other = divided(place, by) * by + modulo(place, by) * 2
    assert len(other.terms) == 2
    assert (divided(place, by) * by + modulo(place, by) * 2 + modulo(place, by) * -1) == place
    assert isinstance(other, Index)


@pytest.mark.parametrize("size", [6, 8])
def test_pooling_reads_what_it_found_without_a_division(size):
    layer = tg.nn.MaxPool2d(2)
    x = tg.randn(3, 4, size, size)
    program, result = compiled(lambda x: layer(x), x)
    np.testing.assert_array_equal(result.numpy(), layer(x).numpy())
    assert f"/ {size}" not in program.source and f"% {size}" not in program.source
