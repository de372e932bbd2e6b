"""PyTorch's CPU random numbers from the same seed (stored; see expected/random_numbers.py)."""

import numpy as np
import pytest
from expected.compare import assert_close, load
from expected.random_numbers import EXPRESSIONS, SEEDS, draw

STORED = load("random_numbers")
# These recipes go through log, cos or a multiply-add in float32, where libraries differ in the last digit.
# All others are exact.
ROUNDED = ("randn", "normal", "uniform", "exponential", "Linear", "Embedding", "init")
COMPILED = [
    "tg.rand(5)",
    "tg.rand(700)",
    "tg.rand(3, 4, dtype=tg.float64)",
    "tg.randn(7)",
    "tg.randn(16)",
    "tg.randn(17)",
    "tg.randn(40)",
    "tg.randint(10, (20,))",
    "tg.randperm(10)",
    "tg.bernoulli(tg.full((20,), 0.3))",
    "tg.multinomial(tg.tensor([0.1, 0.2, 0.7]), 20, replacement=True)",
    "tg.empty(20).normal_(2, 0.5)",
    "F.dropout(tg.ones(30))",
    "F.dropout(tg.ones(4, 10), 0.2)",
    "(tg.rand(3), tg.randn(3), tg.rand(3))",
    "(tg.randn(1), tg.randn(1), tg.randn(1))",
    "(tg.randn(3), tg.randn(20), tg.randn(1))",
    "(tg.rand(623), tg.rand(3), tg.rand(1, dtype=tg.float64))",
    "(F.dropout(tg.ones(8)), tg.rand(2), F.dropout(tg.ones(8), 0.1))",
]


def assert_stored(drawn, expression):
    for i, tensor in enumerate(drawn):
        expected = STORED[f"{expression}|{i}"]
        assert tensor.detach().numpy().dtype == expected.dtype
        if not any(word in expression for word in ROUNDED):
            assert np.array_equal(tensor.numpy(), expected)
        else:
            # 1.2e-7 is one rounding of float32; a draw of size 4 scaled by 3 carries a few of them.
            assert_close(
                tensor,
                expected,
                rtol=1e-6 if expected.dtype == np.float32 else 1e-14,
                atol=3e-7 if expected.dtype == np.float32 else 1e-14,
            )


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_draw(tg, expression):
    assert_stored(draw(tg, expression), expression)


@pytest.mark.parametrize("expression", COMPILED)
def test_compiled_draw(tg, call, expression):
    def run():
        drawn = eval(expression, {"tg": tg, "F": tg.nn.functional})
        return drawn if isinstance(drawn, tuple) else (drawn,)

    def seed():
        tg.manual_seed(42)
        return ()

    assert_stored(call(run, seed), expression)


@pytest.mark.parametrize("seed", SEEDS)
def test_seed(tg, seed):
    assert np.array_equal(draw(tg, "tg.rand(4)", seed)[0].numpy(), STORED[f"seed {seed}"])


FRESH = [
    "tg.rand(3)",
    "tg.randn(3)",
    "tg.randn(20)",
    "tg.randint(1000, (3,))",
    "tg.randperm(7)",
    "tg.bernoulli(tg.full((50,), 0.5))",
    "tg.multinomial(tg.ones(1000), 3, replacement=True)",
    "F.dropout(tg.ones(50))",
    "tg.zeros(3).uniform_()",
]


@pytest.mark.parametrize("expression", FRESH)
def test_every_compiled_call_draws_afresh(tg, maybe_compile, expression):
    def noise():
        return eval(expression, {"tg": tg, "F": tg.nn.functional})

    program = maybe_compile(noise)
    tg.manual_seed(1)
    drawn = [program() for _ in range(5)]
    tg.manual_seed(1)
    for tensor in drawn:
        assert_close(tensor, noise())
    assert drawn[3].tolist() != drawn[4].tolist()


def test_compiled_and_eager_draws_share_one_generator(tg, maybe_compile):
    noise = maybe_compile(lambda x: x + tg.randn(3))
    tg.manual_seed(1)
    mixed = [(noise(tg.zeros(3)) if i % 2 else tg.randn(3)).tolist() for i in range(8)]
    tg.manual_seed(1)
    assert mixed == [tg.randn(3).tolist() for _ in range(8)]


def test_state_round_trip(tg):
    tg.manual_seed(3)
    tg.randn(3)
    state = tg.get_rng_state()
    first = (tg.randn(5), tg.rand(2))
    tg.set_rng_state(state)
    second = (tg.randn(5), tg.rand(2))
    assert [t.tolist() for t in first] == [t.tolist() for t in second]


def test_generators_are_independent(tg):
    generator = tg.Generator()
    assert generator.manual_seed(42) is generator and generator.initial_seed() == 42
    tg.manual_seed(0)
    expected = tg.rand(3).tolist()
    tg.manual_seed(0)
    assert np.array_equal(tg.rand(5, generator=generator).numpy(), STORED["tg.rand(5)|0"])
    assert tg.rand(3).tolist() == expected


def test_manual_seed_returns_the_generator(tg):
    assert tg.manual_seed(42) is tg.default_generator and tg.initial_seed() == 42


DRAWN_LIKE = {
    "rand_like": lambda tg, x: tg.rand_like(x),
    "randn_like": lambda tg, x: tg.randn_like(x),
    "randint_like": lambda tg, x: tg.randint_like(x, 0, 9),
    "dropout": lambda tg, x: tg.nn.functional.dropout(x, 0.3),
}


@pytest.mark.parametrize("draw", DRAWN_LIKE.values(), ids=DRAWN_LIKE)
def test_draws_like_a_transposed_tensor_go_by_its_memory(tg, draw):
    """Few enough for randn_like to draw one by one whatever the layout is."""
    x = tg.ones(3, 5)
    tg.manual_seed(0)
    straight = draw(tg, x)
    tg.manual_seed(0)
    turned = draw(tg, x.t())
    assert turned.stride() == (1, 5)
    assert turned.t().tolist() == straight.tolist()


def test_a_generator_of_its_own_with_the_same_state(tg):
    g = tg.Generator().manual_seed(3)
    tg.randn(3, generator=g)  # one more is ready
    other = g.clone_state()
    assert type(other) is tg.Generator and other.initial_seed() == 3 and other.device == g.device
    drawn = tg.randn(5, generator=g)
    assert tg.equal(tg.randn(5, generator=other), drawn) and tg.equal(other.get_state(), g.get_state())
    other.manual_seed(4)
    assert g.initial_seed() == 3
    for call in (g.graphsafe_get_state, lambda: g.graphsafe_set_state(other)):
        with pytest.raises(NotImplementedError, match="graphsafe_.et_state is not supported in this Generator"):
            call()
    for call in (g.get_offset, lambda: g.set_offset(0)):
        with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
            call()


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_no_numbers_are_of_any_type(tg, shape):
    for dtype in (tg.int32, tg.int64, tg.uint8, tg.bool):
        x = tg.zeros(shape, dtype=dtype)
        for drawn in (tg.randn(shape, dtype=dtype), tg.randn_like(x), x.normal_(), x.exponential_(), x.log_normal_()):
            assert drawn.shape == shape and drawn.dtype is dtype
        with pytest.raises(NotImplementedError, match="normal_kernel_cpu"):
            tg.randn(2, dtype=dtype)
