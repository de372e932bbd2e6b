"""Guards: other Python values that the recording looked at. A change is noticed; what was recorded is kept."""

import enum
import types

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Guards")
MODE = "sum"


class Kind(enum.Enum):
    SUM = 1
    MEAN = 2


@ask.replay(specialisations=2, calls=6)
def attribute_of_an_object(tg):
    """Is a changed attribute of an object noticed, and the old program used again when it is changed back?"""
    config = types.SimpleNamespace(how="sum")

    def between(i):
        config.how = "mean" if i in (2, 3) else "sum"

    return Program(lambda x: getattr(x, config.how)(), batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def global_string(tg):
    """Is a changed global noticed?"""

    def between(i):
        global MODE
        MODE = "mean" if i == 3 else "sum"

    return Program(lambda x: x.mean() if MODE == "mean" else x.sum(), batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def closure_cell(tg):
    """Is a changed variable of the enclosing function noticed?"""
    activation = tg.tanh

    def between(i):
        nonlocal activation
        activation = tg.relu if i == 3 else tg.tanh

    return Program(lambda x: activation(x), batches(tg, 3), tuple, between)


@ask.replay(specialisations=3, calls=7)
def list_of_layers(tg):
    """Is a list of layers that grows, shrinks and is reordered noticed?"""
    layers = [tg.tanh, tg.relu]

    def step(x):
        for layer in layers:
            x = layer(x)
        return x

    def between(i):
        if i == 2:
            layers.append(tg.exp)
        if i == 4:
            layers.reverse()
        if i == 6:
            layers.reverse()

    return Program(step, batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def dict_entry(tg):
    """Is a changed entry deep in nested dicts noticed?"""
    config = {"model": {"head": [{"bias": True}]}}

    def between(i):
        config["model"]["head"][0]["bias"] = i != 3

    return Program(lambda x: x + 1 if config["model"]["head"][0]["bias"] else x * 2, batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def dict_key_added(tg):
    """Is a key that is added to a dict which the step only asks with `in` noticed?"""
    options = {}

    def between(i):
        if i == 3:
            options["double"] = None

    return Program(lambda x: x * 2 if "double" in options else x, batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def training_flag(tg):
    """Is a training flag of one inner module noticed?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.Dropout(0.5))

    def between(i):
        model[1].train(i != 3)

    return Program(lambda x: model(x).detach(), batches(tg, 2, 3), tuple, between)


@ask.replay(specialisations=2)
def requires_grad_looked_at(tg):
    """Is a requires_grad flag that the step looks at noticed?"""
    w = weight(tg, 3)

    def between(i):
        w.requires_grad_(i != 3)

    return Program(lambda x: (w * x).detach() if w.requires_grad else x, batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def grad_mode(tg):
    """Is the grad mode of the caller noticed?"""
    w = weight(tg, 3)
    return Program(lambda x: w * x, batches(tg, 3), tuple, lambda i: tg.set_grad_enabled(i != 3))


@ask.replay(specialisations=2)
def inference_mode(tg):
    """Is a caller's inference mode noticed?"""
    w = weight(tg, 3)
    mode = []

    def between(i):
        if i == 3:
            mode.append(tg.no_grad())
            mode[0].__enter__()

    def after(i, out):
        if mode:
            mode.pop().__exit__(None, None, None)

    return Program(lambda x: w * x, batches(tg, 3), tuple, between, after=after)


@ask.replay(specialisations=2)
def default_dtype(tg):
    """Is the default dtype noticed?"""

    def between(i):
        tg.set_default_dtype(tg.float64 if i == 3 else tg.float32)

    return Program(lambda x: x.sum() + tg.ones(2), lambda i: (tg.tensor(i + 1),), tuple, between)


@ask.replay(specialisations=2)
def enum_argument(tg):
    """Is an enum argument a guard?"""
    return Program(
        lambda x, kind: x.sum() if kind is Kind.SUM else x.mean(),
        lambda i: (batch(tg, i, 3), Kind.MEAN if i == 3 else Kind.SUM),
    )


@ask.replay(specialisations=2)
def string_argument(tg):
    """Is a string argument a guard?"""
    return Program(
        lambda x, how="sum": getattr(x, how)(), lambda i: (batch(tg, i, 3), *(["mean"] if i == 3 else [])), tuple
    )


@ask.replay(specialisations=3)
def optional_argument(tg):
    """Is an argument that is left out, None, or a tensor told apart?"""

    def step(x, mask=None):
        return x if mask is None else x * mask

    def args(i):
        return (batch(tg, i, 3), *((), (None,), (ramp(tg, 3),))[i % 3])

    return Program(step, args)


@ask.replay(specialisations=2)
def bool_argument(tg):
    """Is a flag argument a guard?"""
    w = weight(tg, 3)

    def step(x, train):
        w.grad = None
        loss = (w * x).pow(2).sum()
        if train:
            loss.backward()
        return loss.detach()

    return Program(step, lambda i: (batch(tg, i, 3), i != 3), lambda: w)


@ask.replay(specialisations=3)
def structure_of_arguments(tg):
    """Are lists of different length and dicts with different keys told apart?"""

    def step(tensors):
        return sum(tensors.values()) if isinstance(tensors, dict) else sum(tensors)

    def args(i):
        x = batch(tg, i, 3)
        return ([x, x + 1] if i % 3 == 0 else [x] if i % 3 == 1 else {"a": x, "b": x * 2},)

    return Program(step, args)


@ask.replay(specialisations=2)
def dtype_argument(tg):
    """Is a dtype argument a guard?"""
    return Program(lambda x, dtype: x.to(dtype), lambda i: (batch(tg, i, 3), tg.float64 if i == 3 else tg.int64))


@ask.replay(specialisations=2, calls=4)
def shape_argument(tg):
    """Is a tuple that shapes the result a guard?"""
    return Program(lambda x, shape: x.reshape(shape), lambda i: (batch(tg, i, 6), (2, 3) if i < 2 else (3, 2)))


@ask.replay(specialisations=2)
def helper_rebound(tg):
    """Is a helper function that is replaced noticed?"""
    helpers = types.SimpleNamespace(loss=lambda y: y.sum())

    def between(i):
        if i == 3:
            helpers.loss = lambda y: y.mean()

    return Program(lambda x: helpers.loss(x), batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def code_of_a_helper_replaced(tg):
    """Is a helper whose code is replaced in place (as reloading does) noticed?"""

    def helper(x):
        return x * 2

    def other(x):
        return x * 3

    def between(i):
        if i == 3:
            helper.__code__ = other.__code__

    return Program(lambda x: helper(x), batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def method_replaced_on_the_class(tg):
    """Is a method that is replaced on its class noticed?"""

    class Scaler:
        def scale(self, x):
            return x * 2

    scaler = Scaler()

    def between(i):
        if i == 3:
            Scaler.scale = lambda self, x: x * 5

    return Program(lambda x: scaler.scale(x), batches(tg, 3), tuple, between)


@ask.replay(specialisations=2)
def forward_replaced_on_the_instance(tg):
    """Is a module's forward that is replaced on the instance noticed?"""
    model = tg.nn.Linear(3, 3)

    def between(i):
        if i == 3:
            model.forward = lambda x: x * 5

    return Program(lambda x: model(x).detach(), batches(tg, 2, 3), tuple, between)


@ask.replay(specialisations=2)
def parameters_of_the_optimizer(tg):
    """Is a parameter that is added to a group of the optimizer noticed?"""
    a, b = weight(tg, 3), weight(tg, 3)
    optimizer = tg.optim.SGD([a], lr=0.1)

    def step(x):
        a.grad = b.grad = None
        (a * b * x).sum().backward()
        optimizer.step()

    def between(i):
        if i == 3:
            optimizer.add_param_group({"params": [b], "lr": 0.5})

    return Program(step, batches(tg, 3), lambda: (a, b), between)


@ask.replay(specialisations=2)
def flags_of_the_optimizer(tg):
    """Are maximize and nesterov of a group noticed?"""
    w = weight(tg, 3)
    optimizer = tg.optim.SGD([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        (w * x).pow(2).sum().backward()
        optimizer.step()

    def between(i):
        optimizer.param_groups[0]["maximize"] = i == 3

    return Program(step, batches(tg, 3), lambda: w, between)


@ask.replay()
def what_nobody_reads(tg):
    """Do changes of what the step does not read leave the program alone?"""
    config = types.SimpleNamespace(scale=2, unread=0)
    unread = {"a": 1}

    def between(i):
        config.unread = i
        unread["a"] = i

    return Program(lambda x: x * config.scale, batches(tg, 3), lambda: unread, between)


def test_explain_tells_what_differed(tg):
    """Does `explain()` say in one line for each specialisation what differed, from what to what, and where?"""
    config = types.SimpleNamespace(how="sum")

    def step(x):
        return getattr(x, config.how)()

    compiled = tg.compile(step)
    for how in ("sum", "mean", "sum"):
        config.how = how
        compiled(ramp(tg, 3))
    assert len(compiled.specialisations) == 2
    text = compiled.explain()
    assert "how" in text and "sum" in text and "mean" in text and "test_guard_questions.py" in text, text


@pytest.mark.parametrize("question", ask.rows())
def test_guards(answer, question):
    answer(question)
