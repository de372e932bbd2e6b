"""MultiheadAttention and transformers: PyTorch's parameters, draws, numbers, gradients and text; compiled training."""

import inspect
import json
import warnings

import numpy as np
import pytest
from expected import attention, gpt
from expected.compare import STORE, assert_close, load

STORED = load("attention")
TEXTS = json.loads((STORE / "attention.json").read_text(encoding="utf-8"))
# Chains of a few hundred roundings, through normalisations that divide by deviations below one.
TOLERANCE = {"rtol": 1e-9, "atol": 1e-11}


def unpacked(flat):
    """The arrays of which `attention.packed` made one."""
    found = []
    while flat.size:
        ndim = int(flat[0])
        shape = tuple(int(n) for n in flat[1 : 1 + ndim])
        end = 1 + ndim + int(np.prod(shape))
        found.append(flat[1 + ndim : end].reshape(shape))
        flat = flat[end:]
    return found


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("first", range(0, attention.LAYERS, 12))
def test_layers(tg, first):
    for number in range(first, first + 12):
        found, stored = attention.of_layer(tg, number, tg.float64), unpacked(STORED[f"layer {number}"])
        parameters = len(list(module_of(tg, number).parameters()))
        assert len(found) == len(stored)
        for actual, expected in zip(found[:parameters], stored, strict=False):
            assert_close(actual, expected, rtol=0, atol=2.4e-7)  # one rounding of float32 draws
        for actual, expected in zip(found[parameters:], stored[parameters:], strict=True):
            assert_close(actual, expected, **TOLERANCE)


def module_of(tg, number):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(f"nn.{attention.layer(number)[0]}", {"nn": tg.nn})


@pytest.mark.parametrize("text", TEXTS["modules"])
def test_names_and_text(tg, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module, other = (eval(f"nn.{text}", {"nn": tg.nn}) for _ in range(2))
    assert repr(module) == TEXTS["modules"][text]["printed"]
    assert [[name, list(x.shape)] for name, x in module.state_dict().items()] == TEXTS["modules"][text]["names"]
    assert other.load_state_dict(module.state_dict()).missing_keys == []


SIGNATURES = {
    "MultiheadAttention": "embed_dim num_heads dropout bias add_bias_kv add_zero_attn kdim vdim batch_first device "
    "dtype",
    "TransformerEncoderLayer": "d_model nhead dim_feedforward dropout activation layer_norm_eps batch_first norm_first "
    "bias device dtype",
    "TransformerDecoderLayer": "d_model nhead dim_feedforward dropout activation layer_norm_eps batch_first norm_first "
    "bias device dtype",
    "TransformerEncoder": "encoder_layer num_layers norm enable_nested_tensor mask_check",
    "TransformerDecoder": "decoder_layer num_layers norm",
    "Transformer": "d_model nhead num_encoder_layers num_decoder_layers dim_feedforward dropout activation "
    "custom_encoder custom_decoder layer_norm_eps batch_first norm_first bias device dtype",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(tg, name):
    assert " ".join(inspect.signature(getattr(tg.nn, name)).parameters) == SIGNATURES[name]


@pytest.mark.parametrize("case", range(len(attention.EVALUATED)))
def test_padding_in_evaluation(tg, case):
    out, warned = attention.of_evaluation(tg, *attention.EVALUATED[case])
    stored = TEXTS["evaluated"][case]
    assert [text for text in warned if "nested_tensor is" in text] == [
        text for text in stored["warned"] if "nested_tensor is" in text
    ]
    # Initial parameters differ by a rounding, which two layers enlarge.
    assert_close(out.ravel(), np.array(stored["numbers"], np.float32), rtol=1e-4, atol=1e-5)


def test_masks(tg):
    mask = tg.nn.Transformer.generate_square_subsequent_mask(3)
    assert mask.tolist() == [[0.0, -np.inf, -np.inf], [0.0, 0.0, -np.inf], [0.0, 0.0, 0.0]]
    module = tg.nn.MultiheadAttention(6, 2)
    x = tg.ones(3, 1, 6)
    with pytest.warns(UserWarning, match="mismatched key_padding_mask and attn_mask is deprecated"):
        module(x, x, x, key_padding_mask=tg.zeros(1, 3).bool(), attn_mask=mask)
    one, other = module(x, x, x, attn_mask=mask, is_causal=True), module(x, x, x, attn_mask=mask != 0)
    assert_close(one[0], other[0].detach().numpy())


def compiled_against_eager(tg, number, dtype):
    """Training steps of two equal modules, one compiled; dropout draws the same numbers."""
    text, arrays, keywords, training = attention.layer(number)
    given = {
        name: tg.tensor(x, dtype=None if x.dtype == bool else dtype) if isinstance(x, np.ndarray) else x
        for name, x in keywords.items()
    }
    modules = [module_of(tg, number).to(dtype).train(training) for _ in range(2)]
    modules[1].load_state_dict(modules[0].state_dict())
    steps = [step_of(tg, module, given, text, len(arrays)) for module in modules]
    steps[1] = tg.compile(steps[1])
    for call in range(4):
        found = []
        for step in steps:
            tg.manual_seed(call)
            inputs = [tg.tensor(x + 0.1 * call, dtype=dtype) for x in arrays]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(step(*inputs))
        for expected, actual in zip(*found, strict=True):
            assert_close(actual, expected, **TOLERANCE)
    assert steps[1].way == "replay", steps[1].explain()
    for one, other in zip(*(module.parameters() for module in modules), strict=True):
        assert_close(one, other.detach().numpy(), **TOLERANCE)


def step_of(tg, module, given, text, count):
    optimizer = tg.optim.SGD(module.parameters(), lr=0.01)

    def step(*inputs):
        operands = (*inputs, inputs[-1]) if count == 2 and text.startswith("Multihead") else inputs
        out = module(*operands, **given)
        out = out[0] if isinstance(out, tuple) else out
        loss = (out * out * out).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return out, loss

    return step


FAST = (3, 7)


@pytest.mark.parametrize(
    "number", [n if n in FAST else pytest.param(n, marks=pytest.mark.long(every=17)) for n in range(attention.LAYERS)]
)
def test_compiled(tg, number):
    compiled_against_eager(tg, number, tg.float64)


EVERY = [(case, way) for case in range(len(attention.GPTS)) for way in ("nothing", "step", "model")]
USUAL = [(1, "nothing")]


@pytest.mark.parametrize(
    "case, compiled", [c if c in USUAL else pytest.param(*c, marks=pytest.mark.long) for c in EVERY]
)
def test_small_gpt(tg, case, compiled):
    """20 steps with clipped gradients and a falling rate, then sampling: PyTorch's losses and PyTorch's symbols."""
    losses, symbols = TEXTS["gpt"][case]
    found, made, step, model = gpt.train(tg, *attention.GPTS[case], "float64", compiled)
    # The chaos of training enlarges roundings a thousandfold within 20 steps.
    assert_close(np.array(found), np.array(losses), rtol=1e-10, atol=0)
    assert made == symbols
    served = {"step": step, "model": model}.get(compiled)
    assert served is None or served.way == "replay", served.explain()
