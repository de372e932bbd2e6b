"""Truth values and integers that PyTorch's Python functions hand on to its C, which takes no others for them."""

import pytest

#: In each, V is a truth value that C sees.
FLAGS = """
F.dropout(x, 0.5, V) | F.dropout(x, 0.5, training=V) | F.dropout2d(x, 0.5, training=V) | F.dropout3d(x[None], 0.5, V)
F.alpha_dropout(x, 0.5, training=V) | F.feature_alpha_dropout(x, 0.5, training=V) | F.rrelu(x, training=V)
F.batch_norm(x, tg.zeros(3), tg.ones(3), training=V) | F.instance_norm(x, tg.zeros(3), tg.ones(3), use_input_stats=V)
F.embedding(i, w, scale_grad_by_freq=V) | F.embedding(i, w, sparse=V) | F.embedding_bag(i[None], w, sparse=V)
F.interpolate(x, size=3, mode="bilinear", align_corners=V) | F.grid_sample(x, grid, align_corners=V)
F.kl_div(x, x, log_target=V) | F.max_pool1d(x[0], 2, ceil_mode=V) | F.max_pool2d(x, 2, ceil_mode=V)
F.lp_pool2d(x, 2, 2, ceil_mode=V) | F.poisson_nll_loss(x, x, full=V) | F.poisson_nll_loss(x, x, log_input=V)
F.triplet_margin_loss(w, w, w, swap=V) | tg.unique(i, sorted=V) | tg.unique(i, return_inverse=V)
tg.unique_consecutive(i, return_counts=V) | tg.norm(w, 2, 1, keepdim=V)
"""
#: In each, V is an integer that C sees.
INTEGERS = """
F.group_norm(x, V) | F.nll_loss(w, classes, ignore_index=V) | F.cross_entropy(w, classes, ignore_index=V)
F.embedding(i, w, padding_idx=V) | F.unfold(x, V) | F.unfold(x, 1, V) | F.lp_pool2d(x, 2, V)
F.local_response_norm(x, V) | F.fractional_max_pool2d(x, V, output_size=1) | F.conv2d(x, kernel, padding=V)
"""
#: By these PyTorch's Python decides: anything is true or not.
DECIDED = """
F.dropout(x.clone(), 0.5, inplace=V) | F.relu(x.clone(), inplace=V) | F.max_pool2d(x, 2, return_indices=V)
F.gumbel_softmax(x, hard=V) | F.gaussian_nll_loss(x, x, x, full=V) | F.embedding_bag(i[None], w, include_last_offset=V)
"""


def _split(text):
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


def _names(tg, value):
    return {
        "tg": tg, "F": tg.nn.functional, "V": value, "x": tg.rand(2, 3, 4, 4), "i": tg.tensor([0, 1]),
        "w": tg.rand(3, 3), "grid": tg.rand(2, 2, 2, 2), "classes": tg.tensor([0, 1, 2]), "kernel": tg.rand(2, 3, 2, 2),
    }  # fmt: skip


@pytest.mark.long(fast=5)
@pytest.mark.parametrize("call", _split(FLAGS))
def test_truth_values(tg, call):
    for value in (True, False):
        eval(call, _names(tg, value))
    for value in (1, 0, "yes", 1.0, [True], tg.tensor(True)):
        with pytest.raises(TypeError):
            eval(call, _names(tg, value))


@pytest.mark.long(fast=3)
@pytest.mark.parametrize("call", _split(INTEGERS))
def test_integers(tg, call):
    eval(call, _names(tg, 1))
    for value in (True, False, 1.5):
        with pytest.raises(TypeError):
            eval(call, _names(tg, value))


@pytest.mark.parametrize("call", _split(DECIDED))
def test_what_python_decides_by(tg, call):
    for value in (True, False, 1, "yes"):
        eval(call, _names(tg, value))
