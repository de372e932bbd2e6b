"""Compiled programs draw what eager ones draw, and go on from each other: one generator, in program order."""

from pathlib import Path

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled.function import CompiledFunction
from tracegrad.functional.statistics.weighted_draws import multinomial
from tracegrad.ops.types import float32, float64, int64
from tracegrad.tensors import random
from tracegrad.tensors.drawing.integers import randint, randperm
from tracegrad.tensors.drawing.integers import random as any_integers
from tracegrad.tensors.generator import Generator, default_generator, fork_rng

WEIGHTS = tg.tensor([1.0, 2.0, 0.5])
OWN = Generator()
EXPECTED = Path(__file__).parents[1] / "expected" / "many_weights.npz"


def uniform_numbers(x):
    return x + random.rand((3,), float32), random.rand((2, 3), float64), random.uniform((3,), float32, -0.3, 0.7)


def normal_numbers(x):
    return x + random.randn((3,), float32), random.randn((17,), float32), random.randn((33,), float64)


def integers(x):
    narrow, wide = randint(-3, 10, (4,)), randint(0, 2**40, (4,))
    return x, narrow, wide, randperm(7), any_integers((3,), int64)


def choices(x):
    p = tg.full((5,), 0.5)
    drawn = random.bernoulli(p), random.bernoulli_with(0.3, (5,), float32), random.exponential((3,), float64)
    return x, *drawn, multinomial(WEIGHTS, 4, True), multinomial(WEIGHTS, 2)


def seeded_within(x):
    tg.manual_seed(3)
    return x + random.randn((3,), float32), random.rand((2,), float32)


def forked_within(x):
    with fork_rng():
        inside = random.randn((1,), float64)
    return x + random.randn((1,), float64), inside


def own_generator(x):
    return x, random.randn((1,), float64, OWN), random.rand((2,), float32)


PROGRAMS = [uniform_numbers, normal_numbers, integers, choices, seeded_within, forked_within, own_generator]


def run(program, seed):
    """Six calls with eager draws between them, of which some leave a normal number behind; then the states."""
    default_generator.manual_seed(seed)
    OWN.manual_seed(seed + 1)
    drawn = []
    for call in range(6):
        drawn.extend(tensor.ndarray.copy() for tensor in program(tg.zeros(3)))
        drawn.append(random.randn((1 + call % 2,), float64).ndarray)
    return [*drawn, default_generator.get_state().ndarray, OWN.get_state().ndarray]


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("program", PROGRAMS)
def test_eager_and_compiled_draws_continue_each_other(program):
    compiled = CompiledFunction(program)
    for seed in (1, 2):
        for eager, fast in zip(run(program, seed), run(compiled, seed), strict=True):
            # log1p, sin and cos of numpy and of the C differ in the last place of float64.
            rounding = 4e-15 if eager.dtype == np.float64 else 0
            np.testing.assert_allclose(fast, eager, rtol=rounding, atol=rounding)
    assert 1 <= len(compiled.specialisations) <= 2


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_draws_from_many_weights_are_pytorchs(dtype):
    expected = np.load(EXPECTED)[dtype]
    of = tg.tensor(np.random.RandomState(0).rand(2, 5000) ** 3).to(getattr(tg, dtype))
    draw = tg.compile(lambda p: tg.multinomial(p, 6000, replacement=True))
    for _ in range(4):
        tg.manual_seed(0)
        assert np.array_equal(draw(of).numpy(), expected)
    assert draw.specialisations and not draw.reasons
