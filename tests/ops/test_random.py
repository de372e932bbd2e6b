"""Random numbers against stored ones of PyTorch 2.13, drawn one after another from one generator."""

import sys
import zlib

import numpy as np
import pytest
from expected.compare import STORE
from expected.random_draws import LAYOUTS, SEEDS, draws, ends, probabilities, weights

from tracegrad.functional.statistics.weighted_draws import multinomial
from tracegrad.ops.random import changed_at_once, random_seed, random_words
from tracegrad.ops.sampling import ahead
from tracegrad.ops.types import dtype_named
from tracegrad.tensors import random
from tracegrad.tensors.drawing import integers
from tracegrad.tensors.generator import Generator
from tracegrad.tensors.tensor import make

SHAPES = {"transposed": (6, 8), "strided": (8, 6), "permuted": (3, 5, 4)}
# In elements: as PyTorch lays out (8, 6).t(), (8, 12)[:, ::2] and (4, 3, 5).permute(1, 2, 0).
STRIDES = {"transposed": (1, 6), "strided": (12, 2), "permuted": (5, 1, 15)}

# Everything else is equal bit for bit. In float64 the log, sin and cos of two libraries differ in the last place, and
# PyTorch fuses product and sum.
ROUNDINGS = {
    ("randn", "float64"): 2e-15,
    ("normal", "float64"): 2e-15,
    ("uniform", "float64"): 2e-16,
    ("exponential", "float64"): 2e-15,
    ("exponential", "float32"): 5e-7,
}


def draw(kind, where, dtype_name, rest, generator):
    dtype = dtype_named(dtype_name)
    if kind == "randint":
        return integers.randint(*rest, (where,), dtype, generator)
    if kind == "randperm":
        return integers.randperm(where, dtype, generator)
    if kind == "bernoulli":
        return random.bernoulli(make(probabilities(where, dtype_name)), generator)
    if kind == "multinomial":
        return multinomial(make(weights(dtype_name)), *rest, generator)
    layout = {"generator": generator}
    shape = (where,)
    if where in LAYOUTS:
        shape = SHAPES[where]
        layout["strides"] = tuple(dtype.itemsize * s for s in STRIDES[where])
    if kind == "bernoulli_with":
        return random.bernoulli_with(*rest, shape, dtype, **layout)
    return getattr(integers if kind == "random" else random, kind)(shape, dtype, *rest, **layout)


@pytest.mark.parametrize("seed", SEEDS)
def test_draws_are_those_of_pytorch(seed):
    with np.load(STORE / "random_draws.npz") as file:
        stored = {key.split(" ")[1]: file[key] for key in file.files if key.startswith(f"{seed} ")}
    generator = Generator().manual_seed(seed)
    used = dict.fromkeys(stored, 0)
    for kind, where, dtype, rest in draws():
        drawn = draw(kind, where, dtype, rest, generator)
        assert drawn.ndarray.dtype == (np.int64 if kind == "multinomial" else dtype)
        actual = ends(drawn.ndarray)
        name = actual.dtype.name
        expected = stored[name][used[name] : used[name] + actual.size]
        used[name] += actual.size
        tolerance = ROUNDINGS.get((kind, dtype), 0.0)
        np.testing.assert_allclose(actual, expected, tolerance, tolerance, err_msg=f"{kind} {where} {dtype} {rest}")
    assert all(used[name] == stored[name].size for name in used if name != "state")
    np.testing.assert_array_equal(generator.get_state().ndarray, stored["state"])


@pytest.mark.parametrize("seed", [0, 42])
def test_few_numbers_drawn_ahead_are_those_drawn_for_themselves(seed, monkeypatch):
    """Whatever was drawn before them, and where the words that are ready come to an end among them."""

    def drawn():
        generator, other = Generator().manual_seed(seed), Generator().manual_seed(seed + 1)
        chosen = np.random.RandomState(seed)
        rows = []
        for turn in range(400):
            kind, dtype = (
                chosen.choice(["rand", "randn", "uniform", "exponential"]),
                chosen.choice(["float32", "float64"]),
            )
            of = other if turn % 7 == 0 else generator
            count = int(chosen.choice([0, 1, 2, 3, 15, 16, 17, 31, 32, 40, 100, 192, 193]))
            rows.append(draw(kind, count, dtype, (), of).ndarray.tobytes())
            rows.append(draw("randint", count, "int64", (-2, 7), of).ndarray.tobytes())
        return rows, generator.get_state().ndarray.tobytes()

    ahead_of_time = drawn()
    monkeypatch.setattr(ahead, "FEW", -1)
    assert ahead_of_time == drawn()


def test_results_own_their_memory():
    """A drawn tensor is no view: in-place writes and gradients have nothing to do with how it was made."""
    generator = Generator()
    for what in draws():
        assert draw(*what, generator).base is None, what


@pytest.mark.parametrize("position", [0, 1, 300, 623, 624])
@pytest.mark.parametrize("count", [0, 1, 623, 624, 625, 2000])
def test_words_are_those_of_numpy(position, count):
    reference = np.random.RandomState(5)
    reference.randint(0, 2**32, position, np.uint32)
    state, _ = random_words(random_seed(np.int64(5)), position)
    before = state.ndarray.copy()
    after, words = random_words(state, count)
    expected = reference.randint(0, 2**32, count, np.uint32)
    np.testing.assert_array_equal(words.ndarray.view(np.uint32), expected)
    np.testing.assert_array_equal(after.ndarray, numpy_state(reference))
    np.testing.assert_array_equal(state.ndarray, before)


def numpy_state(reference):
    _, key, position, *_ = reference.get_state()
    return np.append(key, np.uint32(position)).view(np.int32)


def test_draws_like_a_tensor_take_its_order_but_no_gaps():
    x = np.zeros((4, 6, 10), np.float32)[:, :, ::2].transpose(1, 2, 0)
    assert random.strides_like(x, dtype_named("float64")) == (40, 8, 240)
    assert random.strides_like(np.zeros((3, 4)), dtype_named("float32")) == (16, 4)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 999, 1000, 1001, 20_000])
def test_permutations_made_at_once_are_those_made_step_by_step(n):
    for seed in range(5):
        offsets = np.random.RandomState(seed).randint(0, 2**32, n - 1, np.uint64) % np.arange(n, 1, -1, dtype=np.uint64)
        order = list(range(n))
        for i, offset in enumerate(offsets.tolist()):
            order[i], order[i + offset] = order[i + offset], order[i]
        found = changed_at_once(offsets.astype(np.uint32))
        assert found.tolist() == order and found.dtype == np.int64


#: Checksums of PyTorch's, one drawn after the other with seed 0.
PERMUTATIONS = {1000: 1167042831, 100_000: 4250504622, 1_000_000: 1670289112}


def test_long_permutations_are_pytorchs_and_no_loop_of_python():
    generator, lines = Generator().manual_seed(0), []

    def counted(frame, event, arg):
        lines.append(event)
        return counted

    for n, checksum in PERMUTATIONS.items():
        tracer = sys.gettrace()
        sys.settrace(counted)
        try:
            drawn = integers.randperm(n, generator=generator)
        finally:
            sys.settrace(tracer)
        assert zlib.crc32(drawn.ndarray.tobytes()) == checksum
    assert len(lines) < 5000


def test_permutations_are_permutations():
    generator = Generator().manual_seed(3)
    for n in (0, 1, 2, 1000):
        assert sorted(integers.randperm(n, generator=generator).ndarray.tolist()) == list(range(n))


@pytest.mark.parametrize(
    "make_draw, error, words",
    [
        (
            lambda f, i: integers.randint(5, 5, (2,)),
            RuntimeError,
            "'from' to be less than 'to', but got from=5 >= to=5",
        ),
        (
            lambda f, i: integers.randint(0, 2**33, (), dtype_named("int32")),
            RuntimeError,
            "to - 1 is out of bounds",
        ),
        (
            lambda f, i: integers.randint(-1, 1, (2,), dtype_named("bool")),
            RuntimeError,
            "from is out of bounds for bool",
        ),
        (lambda f, i: random.rand((2,), i), NotImplementedError, "not implemented for 'Long'"),
        (lambda f, i: random.randn((2,), i), NotImplementedError, "\"normal_kernel_cpu\" not implemented for 'Long'"),
        (lambda f, i: random.uniform((2,), f, 2, 1), RuntimeError, "found from=2 > to=1"),
        (lambda f, i: random.normal((2,), f, 0, -1), RuntimeError, "normal expects std >= 0.0, but found std -1"),
        (lambda f, i: random.normal_around(0.0, make(np.array([-1.0]))), RuntimeError, "all elements of std >= 0.0"),
        (lambda f, i: random.bernoulli_with(1.5, (2,), f), RuntimeError, r"p to be in \[0, 1\], but got p=1.5"),
        (lambda f, i: random.bernoulli(make(np.array([1.5]))), RuntimeError, "p_in >= 0 && p_in <= 1"),
        (lambda f, i: random.exponential((2,), f, 0), RuntimeError, "exponential_ expects lambda > 0.0"),
        (lambda f, i: random.geometric((2,), f, 1), RuntimeError, r"p to be in \(0, 1\)"),
        (lambda f, i: integers.randperm(-1), RuntimeError, "negative dimension -1"),
        (lambda f, i: multinomial(make(np.ones(2)), 3), RuntimeError, "cannot sample n_sample > prob_dist.size"),
        (lambda f, i: multinomial(make(np.ones(2)), 0), RuntimeError, "cannot sample n_sample <= 0"),
        (lambda f, i: multinomial(make(np.zeros(2)), 1), RuntimeError, "sum of probabilities <= 0"),
        (lambda f, i: multinomial(make(np.array([-1.0, 2])), 1), RuntimeError, "`inf`, `nan` or element < 0"),
        (lambda f, i: multinomial(make(np.ones(2, np.int64)), 1), RuntimeError, "only supports floating-point"),
        (lambda f, i: multinomial(make(np.ones((1, 1, 1))), 1), RuntimeError, "must be 1 or 2 dim"),
    ],
)
def test_impossible_draws_are_refused(make_draw, error, words):
    with pytest.raises(error, match=words):
        make_draw(dtype_named("float32"), dtype_named("int64"))


def test_normal_around_tensors_broadcasts():
    generator = Generator().manual_seed(42)
    drawn = random.normal_around(make(np.zeros((3, 1), np.float32)), make(np.ones((1, 2), np.float32)), generator)
    standard = random.randn((3, 2), dtype_named("float32"), generator.manual_seed(42))
    np.testing.assert_array_equal(drawn.ndarray, standard.ndarray)
