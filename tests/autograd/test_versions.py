"""Version counters: a write to a tensor that backward still needs is an error, any other write is not."""

import pytest

PHRASE = "one of the variables needed for gradient computation has been modified by an inplace operation"


def tracked(tg):
    x = tg.tensor([1.0, 2.0], requires_grad=True)
    return x, x * 1


def test_counter_counts_writes(tg):
    x = tg.ones(2)
    assert x._version == 0
    x.add_(1)
    x[0] = 3.0
    x.zero_()
    assert x._version == 3


def test_views_and_detached_tensors_share_the_counter_data_does_not(tg):
    x = tg.ones(2)
    x.detach().add_(1)
    x.view(2, 1).add_(1)
    assert x._version == 2
    x.data.add_(1)
    assert x._version == 2


@pytest.mark.parametrize("saves_input", ["y.sin()", "y * y", "y ** 2", "y.log()", "y.abs()", "y @ y"])
def test_write_to_a_saved_input(tg, saves_input):
    x, y = tracked(tg)
    z = eval(saves_input, {"y": y})
    y.add_(1)
    with pytest.raises(RuntimeError, match=PHRASE) as caught:
        z.sum().backward()
    assert "is at version 1; expected version 0 instead" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        "b.t_()", "b.transpose_(0, 1)", "b.swapaxes_(0, 1)", "b.swapdims_(0, 1)", "b.unsqueeze_(0)", "b.squeeze_()",
        "b.resize_(1, 2)", "b.resize_as_(tg.ones(4))", "b.set_(tg.ones(2, 3))", "b.as_strided_((3, 2), (1, 3))",
    ],
)  # fmt: skip
@pytest.mark.parametrize("saves_input", ["x @ b", "x[:, :1].t() * b[:1, :2]", "F.linear(x, b.t())"])
def test_another_shape_of_a_saved_input_is_a_write(tg, change, saves_input):
    """The backward pass would meet the new shape, and fail somewhere within or, where it fits, be right by accident."""
    x, b = tg.ones(2, 2, requires_grad=True), tg.arange(6.0).reshape(2, 3)
    z = eval(saves_input, {"x": x, "b": b, "F": tg.nn.functional})
    eval(change, {"b": b, "tg": tg})
    assert b._version == 1
    with pytest.raises(RuntimeError, match=PHRASE):
        z.sum().backward()


@pytest.mark.parametrize("saves_output", ["y.exp()", "y.tanh()", "y.sigmoid()", "y.sqrt()"])
def test_operations_that_save_their_output(tg, saves_output):
    x, y = tracked(tg)
    z = eval(saves_output, {"y": y})
    y.add_(1)
    z.sum().backward()
    x, y = tracked(tg)
    z = eval(saves_output, {"y": y})
    z.mul_(2)
    with pytest.raises(RuntimeError, match=PHRASE):
        z.sum().backward()


@pytest.mark.parametrize("saves_nothing", ["y + 1", "-y", "y.sum()", "y.mean()", "y.expand(3, 2)", "y.clone()"])
def test_writes_that_do_no_harm(tg, saves_nothing):
    x, y = tracked(tg)
    z = eval(saves_nothing, {"y": y})
    y.add_(1)
    z.sum().backward()
    assert x.grad is not None


def test_relu_in_place_saves_its_result(tg):
    x, y = tracked(tg)
    y.relu_().sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_write_through_a_view_counts(tg):
    x, y = tracked(tg)
    z = y.sin()
    y[0] = 5.0
    with pytest.raises(RuntimeError, match=PHRASE):
        z.sum().backward()


def test_write_through_detach_counts(tg):
    x, y = tracked(tg)
    z = y.sin()
    y.detach().zero_()
    with pytest.raises(RuntimeError, match=PHRASE):
        z.sum().backward()


def test_write_through_data_goes_unnoticed(tg):
    x, y = tracked(tg)
    z = (y * y).sum()
    y.data.zero_()
    z.backward()
    assert x.grad.tolist() == [0.0, 0.0]


def test_parameter_changed_between_forward_and_backward(tg):
    w = tg.nn.Parameter(tg.ones(2, 2))
    loss = (tg.ones(1, 2) @ w @ w).sum()
    tg.optim.SGD([w], lr=0.1).zero_grad()
    with tg.no_grad():
        w.mul_(2)
    with pytest.raises(RuntimeError, match=PHRASE):
        loss.backward()


FUNCTIONS = """
F.gelu(t)|F.silu(t)|F.softplus(t)|F.mish(t)|F.elu(t)|F.selu(t)|F.leaky_relu(t)|F.hardswish(t)|F.logsigmoid(t)|F.relu(t)
t.exp()|t.sin()|t.tanh()|t.sigmoid()|t * w|t / (w + 9)|t.square()|t.abs()|t ** 3|t + 1|t.softmax(-1)|t @ t|t.clone()|-t
F.log_softmax(t, -1)|t.cumsum(0)|tg.where(t > 0, t, w)|t.clamp(-1, 1)|F.layer_norm(t, (3,))|F.normalize(t)
t.logsumexp(0)|tg.atan2(t, w)|tg.lerp(t, w, 0.3)|F.linear(t, t)
"""
WRITES = """
t.add_({o})|t.sub_({o})|t.mul_({o})|t.addcmul_({o}, {o}, value=0.1)|t.lerp_({o}, 0.3)|t += {o}|t *= {o}|t.copy_({o})
t[0] = {o}.sum()|t[...] = {o}|t[0].add_({o}.mean())|t.div_({o} * {o} + 1)
"""


def options(text):
    return [part for line in text.strip().split("\n") for part in line.split("|")]


@pytest.mark.parametrize("function", options(FUNCTIONS))
def test_a_write_counts_whatever_is_written(tg, function):
    """A write to what `function` has kept is an error, or none, be it made of numbers or of the result itself."""

    def outcome(write, operand):
        tg.manual_seed(0)
        w = tg.rand(3, 3, dtype=tg.float64).requires_grad_()
        names = {"tg": tg, "F": tg.nn.functional, "w": w, "t": w * 0.5 + 0.1}
        names["out"] = eval(function, names)
        exec(write.replace("{o}", operand), names)
        try:
            (names["t"].sum() + names["out"].sum()).backward()
        except RuntimeError as error:
            return str(error).partition(":")[0]
        return ""

    for write in options(WRITES):
        assert outcome(write, "out") == outcome(write, "out.detach()"), write
