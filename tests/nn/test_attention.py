"""Scaled dot-product attention: PyTorch's numbers, gradients, draws and refusals; second derivatives; compiled code."""

import inspect
import json

import numpy as np
import pytest
from expected import attention
from expected.compare import STORE, assert_close, load

STORED = load("attention")
TEXTS = json.loads((STORE / "attention.json").read_text(encoding="utf-8"))
# Sums of at most 37 products of order one, through an exponential: some tens of roundings.
TOLERANCE = {"rtol": 1e-11, "atol": 1e-12}


@pytest.mark.parametrize("first", range(0, attention.PRODUCTS, 15))
def test_results_and_gradients(tg, first):
    for number in range(first, first + 15):
        found = attention.packed(attention.of_product(tg, number, tg.float64))
        assert_close(found, STORED[f"product {number}"], **TOLERANCE)


def test_float32(tg):
    for number in range(0, attention.PRODUCTS, 3):
        found = attention.of_product(tg, number, tg.float32)
        assert all(x.dtype == np.float32 for x in found)
        # As above with the larger roundings; a sum of weighted results cancels.
        assert_close(attention.packed(found), STORED[f"product {number}"], rtol=1e-3, atol=2e-5)


def test_signature_and_layout(tg):
    signature = inspect.signature(tg.nn.functional.scaled_dot_product_attention)
    assert list(signature.parameters) == [
        "query", "key", "value", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa",
    ]  # fmt: skip
    assert signature.parameters["scale"].kind is inspect.Parameter.KEYWORD_ONLY


@pytest.mark.parametrize("first", range(0, attention.LAYOUTS, 40))
def test_layouts(tg, first):
    """Results and gradients lie in memory as PyTorch's do, which depends on which of its kernels takes the call."""
    for number in range(first, first + 40):
        assert attention.strides_of(tg, *attention.layout_call(tg, number)) == TEXTS["layouts"][number], number


@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"attn_mask": (5, 5)}, {"dropout_p": 0.5}], ids=str)
def test_layouts_of_compiled_calls(tg, options):
    """Heads are joined by a view, and replays, re-recorded calls and deferred blocks give eager mode's strides."""
    options = {name: tg.zeros(x) if name == "attn_mask" else x for name, x in options.items()}

    def attended(x):
        heads = x.view(2, 5, 4, 3).transpose(1, 2)
        return tg.nn.functional.scaled_dot_product_attention(heads, heads, heads, **options)

    def step(x):
        out = attended(x)
        joined = out.transpose(1, 2)
        joined = joined.reshape(2, 5, 12) if options.get("dropout_p") else joined.view(2, 5, 12)
        return out.detach(), *tg.autograd.grad((joined * joined).sum(), x)

    def looking(x):
        return [*step(x), *([x] if x.sum().item() > 1e9 else [])]

    def deferring(x):
        with tg.deferred():
            return [y.stride() for y in step(x)], [y.numpy() for y in step(x)][0]

    compiled, rerecorded = tg.compile(step), tg.compile(looking)
    for call in range(4):
        tg.manual_seed(call)
        x = tg.randn(2, 5, 12, requires_grad=True)
        expected, *results = [
            [(y.stride(), y) for y in function(x)] for function in (step, compiled, rerecorded) if tg.manual_seed(1)
        ]
        assert all([s for s, _ in found] == [s for s, _ in expected] for found in results)
        for found in results:
            assert_close(found[0][1], expected[0][1].numpy(), rtol=1e-5, atol=1e-6)
        tg.manual_seed(1)
        assert deferring(x)[0] == [s for s, _ in expected]
    assert compiled.way == "replay" and rerecorded.way == "re-record"


def test_rows_that_may_look_at_nothing_are_zero(tg):
    x = tg.ones(1, 3, 2, dtype=tg.float64, requires_grad=True)
    mask = tg.tensor([[True, False, True], [False, False, False], [True, True, True]])
    for given in (mask, tg.where(mask, 0.0, -float("inf"))):
        out = tg.nn.functional.scaled_dot_product_attention(x, x, x, given)
        (gradient,) = tg.autograd.grad((out * out).sum(), x)
        assert out[0].tolist() == [[1.0, 1.0], [0.0, 0.0], [1.0, 1.0]] and gradient.isfinite().all()


SECOND = [n for n in range(attention.PRODUCTS) if sum(x.size for x in attention.product(n)[0]) < 60][:8]


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("number", SECOND)
def test_second_derivatives(tg, number):
    arrays, options = attention.product(number)
    given = [tg.tensor(x, requires_grad=x.dtype != bool and bool(np.isfinite(x).all())) for x in arrays]

    def function(*tensors):
        tg.manual_seed(number)  # the same weights are dropped each time
        return tg.nn.functional.scaled_dot_product_attention(*tensors, **options)

    assert tg.autograd.gradcheck(function, given)
    assert tg.autograd.gradgradcheck(function, given)


def compiled_against_eager(tg, number, dtype, calls=3):
    arrays, options = attention.product(number)

    def step(*tensors):
        out = tg.nn.functional.scaled_dot_product_attention(*tensors, **options)
        return [out, *tg.autograd.grad((out * out).sum(), [x for x in tensors if x.requires_grad])]

    compiled = tg.compile(step)
    for call in range(calls):
        results = []
        for function in (step, compiled):
            tg.manual_seed(call)
            shifted = [x if x.dtype == bool else np.where(np.isfinite(x), x + 0.1 * call, x) for x in arrays]
            results.append(function(*(tg.tensor(x) if x.dtype == bool else
                                      tg.tensor(x, dtype=dtype, requires_grad=True) for x in shifted)))  # fmt: skip
        exact = dtype is tg.float64
        for expected, actual in zip(*results, strict=True):
            assert actual.dtype is dtype
            assert_close(actual, expected.detach().numpy(), **(TOLERANCE if exact else {"rtol": 1e-3, "atol": 2e-5}))
    assert compiled.way == "replay", compiled.explain()


FAST = (0, 4, 13, 21)


@pytest.mark.parametrize(
    "number",
    [n if n in FAST else pytest.param(n, marks=pytest.mark.long(every=17)) for n in range(attention.PRODUCTS)],
)
def test_compiled(tg, number):
    for dtype in (tg.float32, tg.float64)[number in FAST :]:
        compiled_against_eager(tg, number, dtype)


@pytest.mark.parametrize("text", attention.REFUSED)
def test_what_does_not_fit_is_refused(tg, text):
    kind, message = TEXTS["errors"][text]
    found = attention.refusal(tg, text)
    assert found is not None and found[0] == kind
    assert found[1].startswith(message.replace("torch.Size", "tracegrad.Size")[:90].rstrip("."))


def test_kernels_are_not_chosen(tg):
    SDPBackend, sdpa_kernel = tg.nn.attention.SDPBackend, tg.nn.attention.sdpa_kernel
    x = tg.eye(3)
    with sdpa_kernel([SDPBackend.MATH, SDPBackend.FLASH_ATTENTION], set_priority=True):
        inside = tg.nn.functional.scaled_dot_product_attention(x, x, x)
    assert tg.equal(inside, tg.nn.functional.scaled_dot_product_attention(x, x, x))
