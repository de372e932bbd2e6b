"""Functions of the library, single ops, moved parameters and changed options in re-recorded calls that are expected.

Each program does the same for some calls, so that its events are expected, and something else then.
"""

import sys

import pytest
from side_by_side import Program, batch
from side_by_side import ramp as single_ramp

FROM = 8  # calls that are alike
CALLS = 18


def ramp(tg, *shape):
    """In float64, where roundings are small beside what a wrong operand or gradient would make."""
    return single_ramp(tg, *shape).double()


FUNCTIONS = {
    "softmax": lambda tg, x, n: tg.nn.functional.softmax(x, dim=n % 2),
    "log_softmax": lambda tg, x, n: tg.nn.functional.log_softmax(x, n % 2),
    "normalize": lambda tg, x, n: tg.nn.functional.normalize(x, p=2.0 + n % 2, dim=1),
    "norm": lambda tg, x, n: x.norm(dim=n % 2, keepdim=True) * x,
    "norm_of_all": lambda tg, x, n: x / x.norm(),
    "var": lambda tg, x, n: x - x.var(dim=0, unbiased=bool(n % 2)),
    "std": lambda tg, x, n: x / (x.std() + 1.0),
    "logsumexp": lambda tg, x, n: x - x.logsumexp(dim=1, keepdim=True),
    "leaky_relu": lambda tg, x, n: tg.nn.functional.leaky_relu(x, 0.1 * (n % 3)),
    "elu": lambda tg, x, n: tg.nn.functional.elu(x, [0.0, -0.0, 1.0][n % 3]),
    "selu": lambda tg, x, n: tg.nn.functional.selu(x),
    "gelu": lambda tg, x, n: tg.nn.functional.gelu(x, approximate=["none", "tanh"][n % 2]),
    "silu": lambda tg, x, n: tg.nn.functional.silu(x),
    "layer_norm": lambda tg, x, n: tg.nn.functional.layer_norm(x, (3,)),
    "linear": lambda tg, x, n: tg.nn.functional.linear(x, x[:3]) + 1.0,
    "randn_like": lambda tg, x, n: x + tg.randn_like(x),
    "rand": lambda tg, x, n: x * tg.rand(5, 3) + tg.rand(3),
    "mse_loss": lambda tg, x, n: x * tg.nn.functional.mse_loss(x, x + 1.0, reduction=["mean", "sum", "none"][n % 3]),
    "cross_entropy": lambda tg, x, n: x * tg.nn.functional.cross_entropy(
        x, tg.tensor([0, 1, 2, 0, 1]), label_smoothing=[0.0, 0.1][n % 2]
    ),
    "numbers": lambda tg, x, n: (x * [2.0, 2, 0.0, -0.0, True][n % 5] + 1) / (3 - n % 2),
    "ops": lambda tg, x, n: tg.tanh(x) * x.exp() - x / (1.5 + x.abs()),
    "double": lambda tg, x, n: x * tg.ones(3, dtype=tg.float32 if n % 3 == 2 else tg.float64),
}  # fmt: skip


def calling(tg, function, disturb):
    tg.manual_seed(0)
    weight = tg.nn.Parameter(ramp(tg, 3, 3))
    kept = {"n": 0}

    def step(x):
        kept["n"] += 1
        n = kept["n"] if kept["n"] > FROM and disturb == "constant" else 0
        x = x @ weight
        if kept["n"] > FROM and kept["n"] % 2:
            if disturb == "detached":
                x = x.detach()
            elif disturb == "leaf":
                x = tg.nn.Parameter(x.detach())
            elif disturb == "view":
                x = x.t().t()
            elif disturb == "fewer":
                x = x[:3] if x.shape[0] > 3 else x
            elif disturb == "no_grad":
                with tg.no_grad():
                    return function(tg, x, 0)
            elif disturb == "default_dtype":
                tg.set_default_dtype(tg.float64)
        try:
            out = function(tg, x, n)
        finally:
            tg.set_default_dtype(tg.float32)
        if disturb == "written" and kept["n"] > FROM:
            with tg.no_grad():
                out.mul_(2.0)
        if out.requires_grad:
            weight.grad = None
            (out * ramp(tg, *out.shape)).sum().backward()  # of different weights, so that gradients do not cancel
        return out

    return Program(
        step, lambda i: (batch(tg, i, 5, 3).double(),), lambda: [weight, kept], raises=(RuntimeError, IndexError)
    )


DISTURB = ["nothing", "constant", "detached", "leaf", "view", "fewer", "no_grad", "default_dtype", "written"]


@pytest.mark.parametrize("disturb", [pytest.param(d, marks=[] if d in DISTURB[:2] else pytest.mark.long(every=12))
                                     for d in DISTURB])  # fmt: skip
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_do_what_they_do_in_eager_mode(agree, name, disturb):
    if (name, disturb) in (("linear", "fewer"), ("cross_entropy", "fewer"), ("rand", "fewer")):
        pytest.skip("needs all rows")
    assert agree(lambda tg: calling(tg, FUNCTIONS[name], disturb), calls=CALLS).way in ("re-record", "eager")


@pytest.mark.parametrize("name", ["log_softmax", "normalize", "norm_of_all", "ops", "gelu"])
def test_ops_of_functions_are_not_noted_one_by_one(tg, name):
    """What goes the general way are the product before, and the sum behind: each op of the function is expected."""
    step = tg.compile(calling(tg, FUNCTIONS[name], "nothing").step)
    data = [batch(tg, i, 5, 3).double() for i in range(4)]
    for i in range(40):
        step(data[i % 4])
    count = 0

    def listen(frame, event, argument):
        nonlocal count
        is_op = frame.f_code.co_name == "evaluate" and frame.f_code.co_filename.endswith("lazy/interpreter.py")
        count += event == "call" and is_op

    sys.setprofile(listen)
    try:
        for x in data:
            step(x)
    finally:
        sys.setprofile(None)
    assert step.way == "re-record"
    assert count / len(data) <= 3, step.explain()


# ------------------------------------------------------------------------------------------------- other memory


def moving(tg, disturb, trained):
    """A model whose parameters get other memory at each call; `disturb` happens at some of them."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 3)).double()
    for p in model.parameters():
        p.requires_grad = trained
    kept = {"n": 0}

    def step(x):
        kept["n"] += 1
        for p in model.parameters():
            p.data = p.data * 0.97 + 0.01
            p.grad = None
        if kept["n"] > FROM and kept["n"] % 3 == 0:
            x = disturb(tg, model, x)
        out = tg.tanh(model(x))
        if out.requires_grad:
            (out * ramp(tg, *out.shape)).sum().backward()
        return out

    return Program(step, lambda i: (batch(tg, i, 5, 3).double(),), lambda: [list(model.parameters()), kept])


def shares_with_the_argument(tg, model, x):
    model[0].weight.data = x[:4]
    return x


def shares_among_each_other(tg, model, x):
    model[2].bias.data = model[0].weight.data[0]
    return x


def lies_otherwise(tg, model, x):
    model[0].weight.data = tg.ones(3, 4).double().t() * 0.5
    return x


def takes_a_gradient(tg, model, x):
    p = model[0].weight
    p.requires_grad = not p.requires_grad
    return x


def takes_an_attribute(tg, model, x):
    model[0].weight.note = "seen"
    return x


def hooks(tg, model, x):
    if model[0].weight.requires_grad:
        model[0].weight.register_hook(lambda g: g * 2)
    return x


def is_written(tg, model, x):
    with tg.no_grad():
        model[0].weight.add_(x.sum())
    return x


def stays(tg, model, x):
    model[0].weight.data = model[0].weight.data
    return x


MOVES = [
    shares_with_the_argument, shares_among_each_other, lies_otherwise, takes_a_gradient, takes_an_attribute, hooks,
    is_written, stays,
]  # fmt: skip


@pytest.mark.parametrize("trained", [False, True], ids=["frozen", "trained"])
@pytest.mark.parametrize("disturb", MOVES, ids=lambda function: function.__name__)
def test_parameters_with_other_memory_at_each_call(agree, disturb, trained):
    assert agree(lambda tg: moving(tg, disturb, trained), calls=CALLS).way in ("re-record", "eager")


# ------------------------------------------------------------------------------------------------------- options


OPTIONS = {
    "lr": lambda g, n: 0.1 / n,
    "weight_decay": lambda g, n: [0.0, 0.1][n % 2],
    "momentum": lambda g, n: [0.9, 0.0][n // 3 % 2],
    "maximize": lambda g, n: n % 4 == 0,
    "nesterov": lambda g, n: n > FROM,
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_that_change(agree, option):
    def program(tg):
        tg.manual_seed(0)
        model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 3)).double()
        optimizer = tg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        kept = {"n": 0}

        def step(x):
            kept["n"] += 1
            optimizer.param_groups[0][option] = OPTIONS[option](optimizer.param_groups[0], kept["n"])
            optimizer.zero_grad()
            loss = model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            return loss.item()

        return Program(step, lambda i: (batch(tg, i, 5, 3).double(),), lambda: [list(model.parameters()), kept])

    agree(program, calls=CALLS)
