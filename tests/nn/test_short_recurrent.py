"""Recurrent layers with 16-bit numbers: each op is rounded where PyTorch rounds it."""

import json
from pathlib import Path

import numpy as np
import pytest

import tracegrad as tg

EXPECTED = json.loads((Path(__file__).parents[1] / "expected" / "short_recurrent.json").read_text(encoding="utf-8"))
ULP = {"float16": 2.0**-10, "bfloat16": 2.0**-7}


@pytest.mark.parametrize("case", EXPECTED)
def test_outputs_are_pytorchs(case):
    layer, dtype = case.split()
    tg.manual_seed(0)
    module = getattr(tg.nn, layer)(3, 4).to(getattr(tg, dtype))
    x = tg.randn(5, 7, 3).to(getattr(tg, dtype))
    out = module(x[0] if layer.endswith("Cell") else x)
    out = out[0] if isinstance(out, tuple) else out
    assert out.dtype is getattr(tg, dtype)
    out.float().sum().backward()
    found, wanted = np.array(out.float().tolist()), np.array(EXPECTED[case]["out"])
    if case != "LSTM bfloat16":  # which oneDNN computes as a whole, without the roundings between
        assert np.mean(found != wanted) < 0.03
    np.testing.assert_allclose(found, wanted, rtol=0, atol=ULP[dtype])
    for name, parameter in module.named_parameters():  # sums of many terms, in another order
        gradient = np.array(EXPECTED[case][name])
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(parameter.grad.float().tolist(), gradient, rtol=0, atol=4 * ULP[dtype] * scale)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("layer", ["LSTM", "GRU", "RNN"])
def test_compiled_steps_round_alike(layer):
    module = getattr(tg.nn, layer)(3, 4).half()

    def step(x):
        module.zero_grad()
        out = module(x)[0]
        out.float().sum().backward()
        return out

    compiled = tg.compile(step)
    for i in range(4):
        x = tg.randn(5, 2, 3).half() * (i + 1)
        expected = step(x).detach().float().numpy()
        gradients = [p.grad.clone() for p in module.parameters()]
        # An elementary function may be another last bit, which a recurrence carries on.
        np.testing.assert_allclose(compiled(x).detach().float().numpy(), expected, rtol=0, atol=2 * ULP["float16"])
        for parameter, gradient in zip(module.parameters(), gradients, strict=True):
            tg.testing.assert_close(parameter.grad, gradient, rtol=4 * ULP["float16"], atol=4 * ULP["float16"])


def test_cells_refuse_another_type():
    for cell in (tg.nn.LSTMCell(3, 2), tg.nn.GRUCell(3, 2), tg.nn.RNNCell(3, 2)):
        with pytest.raises(RuntimeError, match="mat1 and mat2 must have the same dtype, but got Half and Float"):
            cell(tg.ones(2, 3).half())
