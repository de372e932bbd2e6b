"""What PyTorch does not differentiate raises, where a gradient of zero, or none, would be a silent difference.

The words are PyTorch's; `tests/database/test_refused_derivatives.py` asks its whole database.
"""

import pytest

#: Of vectors x and y, a matrix w [3, 2], integers i [2] and classes j [3].
WITHOUT_DERIVATIVE = {
    "tg.floor_divide(x, y)": "aten::floor_divide is not implemented",
    "x // 2": "aten::floor_divide is not implemented",
    "x.clone().floor_divide_(y)": "aten::floor_divide is not implemented",
    "tg.heaviside(x, y)": "aten::heaviside is not implemented",
    "tg.heaviside(x.detach(), y)": "aten::heaviside is not implemented",
    "x.clone().heaviside_(y)": "aten::heaviside is not implemented",
    "tg.unique(x)": "'_unique2' is not implemented",
    "tg.unique(w, dim=0)": "'unique_dim' is not implemented",
    "tg.unique(x, return_counts=True)[0]": "'_unique2' is not implemented",
    "tg.unique_consecutive(x)": "'unique_consecutive' is not implemented",
    "tg.bincount(i, x[:2])": "aten::bincount is not implemented",
    "tg.histogram(x, 2).hist": "aten::histogram is not implemented",
    "tg.histogram(x, 2).bin_edges": "aten::histogram is not implemented",
    "tg.histogramdd(w, [2, 2]).hist": "aten::_histogramdd_from_bin_cts is not implemented",
    "F.huber_loss(x, y.double())": "Found dtype Double but expected Float",
    "F.huber_loss(x.detach().double(), y)": "Found dtype Double but expected Float",
    "F.huber_loss(w[0], i, reduction='none')": "Found dtype Long but expected Float",
    "F.huber_loss(x, tg.tensor(1.0).half(), delta=0.1, weight=x.detach())": "Found dtype Half but expected Float",
    "F.leaky_relu_(x - 0.5, -0.5)": "In-place leakyReLu backward calculation is triggered with a negative slope",
    "F.leaky_relu(x.clone(), -2.0, inplace=True)": "In-place leakyReLu backward calculation is triggered",
    "F.rrelu_(x.clone(), -1.0, 0.5)": "In-place leakyReLu backward calculation is triggered with a negative slope",
    "F.elu_(x.clone(), -0.5)": "In-place elu backward calculation is triggered with a negative slope",
    "F.celu(x - 0.5, -0.5, inplace=True)": "In-place elu backward calculation is triggered with a negative slope",
}
#: The same for arguments that may not require a gradient: function and argument, which PyTorch names at the call.
CONSTANT = {
    "F.cross_entropy(w, j, weight=y[:2])": ("nll_loss_forward", "weight"),
    "F.nll_loss(w, j, weight=y[:2])": ("nll_loss_forward", "weight"),
    "F.binary_cross_entropy(w, w.detach(), weight=w)": ("binary_cross_entropy", "weight"),
    "F.binary_cross_entropy_with_logits(w, w, weight=w)": ("binary_cross_entropy_with_logits", "weight"),
    "F.binary_cross_entropy_with_logits(w, w, pos_weight=w)": ("binary_cross_entropy_with_logits", "pos_weight"),
    "F.soft_margin_loss(w, w)": ("soft_margin_loss", "target"),
    "F.multi_margin_loss(w, j, weight=x[:2])": ("multi_margin_loss", "weight"),
    "F.batch_norm(w, x[:2], None, training=True)": ("native_batch_norm", "running_mean"),
    "F.batch_norm(w, x[:2].detach(), x[:2])": ("native_batch_norm", "running_var"),
    "F.instance_norm(w[None], x, x)": ("native_batch_norm", "running_mean"),
    "F.fractional_max_pool2d(w[None], 1, output_size=1, _random_samples=w[None, None, 0])": (
        "fractional_max_pool2d",
        "random_samples",
    ),
}


def _operands(tg):
    numbers = ([0.5, 0.25, 0.75], [0.1, 0.2, 0.3], [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    return [tg.tensor(each, requires_grad=True) for each in numbers]


def _program(tg, expression):
    names = {"tg": tg, "F": tg.nn.functional, "i": tg.tensor([1, 2]), "j": tg.tensor([0, 1, 1])}
    exec(f"def step(x, y, w):\n    out = {expression}\n    out.sum().backward()\n    return out\n", names)
    return names["step"]


@pytest.mark.parametrize("expression", WITHOUT_DERIVATIVE)
def test_the_backward_pass_raises(tg, expression):
    step = _program(tg, expression)
    for run in (step, *[tg.compile(step)] * 2):
        operands = _operands(tg)
        with pytest.raises(RuntimeError, match=WITHOUT_DERIVATIVE[expression]):
            run(*operands)
        assert all(x.grad is None for x in operands)


@pytest.mark.parametrize("expression", WITHOUT_DERIVATIVE)
def test_without_gradients_nothing_is_refused(tg, expression):
    names = {"tg": tg, "F": tg.nn.functional, "i": tg.tensor([1, 2])}
    x, y, w = _operands(tg)
    tracked = eval(expression, {**names, "x": x, "y": y, "w": w})
    x, y, w = (each.detach() for each in (x, y, w))
    plain = eval(expression, {**names, "x": x, "y": y, "w": w})
    assert tracked.requires_grad and not tracked.is_leaf and not plain.requires_grad
    assert tracked.tolist() == plain.tolist()


@pytest.mark.parametrize("expression", CONSTANT)
def test_the_call_raises(tg, expression):
    step = _program(tg, expression)
    function, argument = CONSTANT[expression]
    words = f"function '{function}' is not differentiable with respect to argument '{argument}'"
    for run in (step, *[tg.compile(step)] * 2):
        with pytest.raises(RuntimeError, match=words):
            run(*_operands(tg))
    with tg.no_grad():  # there nothing is asked
        names = {"tg": tg, "F": tg.nn.functional, "j": tg.tensor([0, 1, 1])}
        if "training" not in expression and "instance" not in expression:
            eval(expression, {**names, **dict(zip("xyw", _operands(tg), strict=True))})


def test_slopes_in_place_that_are_not_negative(tg):
    for slope in (0.0, 0.5):
        x = tg.tensor([-1.0, 2.0], requires_grad=True)
        for overwrite in (tg.nn.functional.leaky_relu_, tg.nn.functional.elu_):
            overwrite(x.clone(), slope).sum().backward()
        assert x.grad.tolist() == pytest.approx([slope * (1 + 0.36787944), 2.0])


@pytest.mark.parametrize("form", ["tg.div(x, y, rounding_mode='floor')", "tg.div(x, y, rounding_mode='trunc')"])
def test_the_derivative_of_rounded_division_is_zero(tg, form):
    step = _program(tg, form)
    for run in (step, *[tg.compile(step)] * 2):
        x, y, w = _operands(tg)
        run(x, y, w)
        assert x.grad.tolist() == y.grad.tolist() == [0.0] * 3


def test_second_derivatives_of_remainders(tg):
    """The first one names a quotient that is rounded down, whose derivative is zero."""
    for name in ("remainder", "fmod"):
        x, y, _ = _operands(tg)
        (g,) = tg.autograd.grad(getattr(tg, name)(x, y).sum(), y, create_graph=True)
        (second,) = tg.autograd.grad((g * g).sum() + y.sum(), y)
        assert second.tolist() == [1.0] * 3
