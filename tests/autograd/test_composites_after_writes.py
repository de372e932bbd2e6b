"""Composites that are one node, of views that were written to, and derivatives of their derivatives after writes."""

import pytest

COMPOSITES = {
    "gelu": lambda tg, x: tg.nn.functional.gelu(x),
    "silu": lambda tg, x: tg.nn.functional.silu(x),
    "relu": lambda tg, x: tg.nn.functional.relu(x),
    "softplus": lambda tg, x: tg.nn.functional.softplus(x),
    "softmax": lambda tg, x: x.softmax(-1),
    "layer_norm": lambda tg, x: tg.nn.functional.layer_norm(x, (2,)),
}
WRITES = {"a part": lambda x: x[..., 0].mul_(0.5), "all": lambda x: x.mul_(0.5), "a number": lambda x: x[0].fill_(0.25)}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", COMPOSITES)
def test_gradients_go_through_views_that_were_written_to(tg, name, write):
    """The view has a new node, made when the composite asks for it: the composite's own must be the later one."""

    def gradients(between):
        w = (tg.arange(6.0).double().reshape(2, 3) * 0.1 + 0.3).requires_grad_()
        x = (w + 0)[..., 1:]
        WRITES[write](x)
        x = between(x)
        return tg.autograd.grad((COMPOSITES[name](tg, x) ** 3).sum(), [w, x])

    for own, plain in zip(gradients(lambda x: x), gradients(lambda x: x * 1), strict=True):
        tg.testing.assert_close(own, plain)


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_result_that_the_derivative_reads_was_written_to(tg, create_graph):
    x = tg.tensor([0.5, 1.5], requires_grad=True)
    y = tg.nn.functional.relu(x)
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        tg.autograd.grad((y * y).sum(), x, create_graph=create_graph)


def test_what_is_stacked_of_views_without_a_history_requires_gradients(tg):
    w = tg.ones(2, requires_grad=True)
    with tg.no_grad():
        view = w[:1]
    assert view.requires_grad and tg.stack([view, view.detach()]).requires_grad
