"""What keeps its result for the backward pass, in place or not, and a write behind it: an error in backward(), as in
PyTorch, whoever lets the memory go since; and nothing else is one."""

import contextlib

import pytest

import tracegrad as tg

F = tg.nn.functional


def first_element(y):
    y[0] = 1.0
    return y


KEEP_THE_RESULT = {
    "relu_": tg.Tensor.relu_,
    "sigmoid_": tg.Tensor.sigmoid_,
    "tanh_": tg.Tensor.tanh_,
    "exp_": tg.Tensor.exp_,
    "sqrt_": tg.Tensor.sqrt_,
    "reciprocal_": tg.Tensor.reciprocal_,
    "relu(inplace)": lambda y: F.relu(y, inplace=True),
    "elu(inplace)": lambda y: F.elu(y, inplace=True),
    "selu(inplace)": lambda y: F.selu(y, inplace=True),
    "leaky_relu(inplace)": lambda y: F.leaky_relu(y, inplace=True),
    "relu": F.relu,
    "exp": tg.exp,
    "softmax": lambda y: F.softmax(y, 0),
    "logsumexp": lambda y: y.logsumexp(0, keepdim=True),
}
KEEP_NOTHING_OF_IT = {  # but what they are given, which they copy where they overwrite it
    "mul_": lambda y: y.mul_(2),
    "clamp_": lambda y: y.clamp_(0, 1),
    "square_": tg.Tensor.square_,
    "log_": tg.Tensor.log_,
    "abs_": tg.Tensor.abs_,
    "sin_": tg.Tensor.sin_,
    "y[0] =": first_element,
    "cumsum_": lambda y: y.cumsum_(0),
    "masked_fill_": lambda y: y.masked_fill_(y.detach() > 0.4, 1.0),
    "silu(inplace)": lambda y: F.silu(y, inplace=True),
    "mish(inplace)": lambda y: F.mish(y, inplace=True),
    "hardtanh(inplace)": lambda y: F.hardtanh(y, inplace=True),
    "hardswish(inplace)": lambda y: F.hardswish(y, inplace=True),
    "addcmul_": lambda y: y.addcmul_(y.detach() * 2, y.detach() * 3),
    "lerp_": lambda y: y.lerp_(tg.ones_like(y), 0.3),
    "xlogy_": lambda y: y.xlogy_(2.0),
    "sinc_": tg.Tensor.sinc_,
    "logit_": tg.Tensor.logit_,
}
NO_WRITES = {
    "relu": F.relu,
    "exp": tg.exp,
    "softmax": lambda y: F.softmax(y, 0),
    "gelu": F.gelu,
    "silu": F.silu,
    "softplus": F.softplus,
    "y * y": lambda y: y * y,
    "clamp": lambda y: y.clamp(0, 1),
}
WRITES = {
    name: f for name, f in {**KEEP_THE_RESULT, **KEEP_NOTHING_OF_IT}.items() if name not in [*NO_WRITES, "logsumexp"]
}
FIRST = {**KEEP_THE_RESULT, **KEEP_NOTHING_OF_IT, **NO_WRITES}
THEN = {**WRITES, **NO_WRITES}


def refusals(first, then, block):
    """Whether each of five backward passes is refused; nobody holds what is computed in between."""
    found = []
    with block():
        for i in range(5):
            w = tg.full((3,), 0.5, requires_grad=True)
            try:
                (then(first(w * (tg.ones(3) * (i + 1) / 3))) * 2).sum().backward()
                found.append(False)
            except RuntimeError as error:
                assert "modified by an inplace operation" in str(error)
                found.append(True)
    return found


@pytest.mark.long(fast=19, every=11)
@pytest.mark.parametrize("block", [contextlib.nullcontext, tg.deferred], ids=["eager", "deferred"])
@pytest.mark.parametrize("first", FIRST)
def test_a_write_behind_what_keeps_its_result(first, block):
    is_kept = first in KEEP_THE_RESULT
    found = {then: refusals(FIRST[first], THEN[then], block) for then in THEN}
    assert found == {then: [is_kept and then in WRITES] * 5 for then in THEN}
