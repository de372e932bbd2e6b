"""Models that are copied anew in each call: served by the program of an earlier copy where they are built alike."""

import copy
import functools

import numpy as np
import pytest

from tracegrad.compiled.parts import twins
from tracegrad.compiled.parts.subprograms import OFTEN
from tracegrad.runtime import provide

CALLS = 12
FACTOR = {"outside": 1.0}


def model_of(tg):
    """A model with an attribute of its own class, a number in it, and something that a function outside says."""

    class Scaled(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor, self.sizes, self.bias = 2.0, [1.0], tg.nn.Parameter(tg.ones(6))

        def forward(self, x):
            sign = 1.0 if str(self.factor)[0] != "-" else -1.0
            return x * (self.factor * self.sizes[0] * FACTOR["outside"]) + self.bias * sign

    tg.manual_seed(0)
    nn = tg.nn
    return nn.Sequential(nn.Linear(4, 6), Scaled(), nn.BatchNorm1d(6), nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 3))


def set_number(tg, model, i):
    model[1].factor = (1.5, -0.0, 0.0)[i % 3]


def set_list(tg, model, i):
    model[1].sizes[0] = float(i % 3)


def set_outside(tg, model, i):
    FACTOR["outside"] = 1.0 + i % 2


def switch_mode(tg, model, i):
    model.train(i % 2 == 0)


def evaluate(tg, model, i):
    model.eval()


def freeze(tg, model, i):
    model[0].requires_grad_(i % 2 == 0)


def tie(tg, model, i):
    if i % 2:
        model[3].weight = tg.nn.Parameter(model[3].weight.detach())
        model[3].bias = model[1].bias


def hook(tg, model, i):
    if i % 2:
        model[3].register_forward_hook(lambda module, args, out: out * 2)


def hook_on_gradient(tg, model, i):
    if i % 2:
        model[3].weight.register_hook(lambda g: g * 2)


def other_layer(tg, model, i):
    if i % 2:
        model[4] = tg.nn.Tanh()


def other_forward(tg, model, i):
    if i % 2:
        model[1].forward = lambda x: x + 3


def other_memory(tg, model, i):
    weight = model[3].weight
    weight.data = weight.data.t().contiguous().t() if i % 2 else weight.data * 0.5


def one_memory(tg, model, i):
    """All copies show the first one's memory, which the optimizer writes to."""
    model[3].weight.data = ORIGINAL[0][3].weight.data


def other_class(tg, model, i):
    if i % 2:
        model[4].__class__ = tg.nn.Sigmoid


def mark(tg, model, i):
    if i % 2:
        model[3].weight.note = "marked"


def gradient_there(tg, model, i):
    if i % 2:
        model[0].weight.grad = tg.ones(6, 4)


def bias_as_buffer(tg, model, i):
    if i % 2:
        bias = model[3].bias.detach().clone()
        del model[3].bias
        model[3].register_buffer("bias", bias)


def plain_weight(tg, model, i):
    if i % 2:
        weight = model[3].weight.detach() * 2
        del model[3].weight
        model[3].weight = weight


def other_size(tg, model, i):
    if i % 2:
        model[3], model[5] = tg.nn.Linear(6, 5), tg.nn.Linear(5, 3)


def nothing(tg, model, i):
    pass


ORIGINAL = [None]
CHANGES = (
    nothing, set_number, set_list, set_outside, switch_mode, evaluate, freeze, tie, hook, hook_on_gradient, other_layer,
    other_forward, other_memory, one_memory, other_class, mark, gradient_there, bias_as_buffer, plain_weight,
    other_size,
)  # fmt: skip


def of_copies(tg, change, calls, is_trained, wrap):
    """Results and gradients of calls of copies that are changed, each of them called `calls` times."""
    FACTOR["outside"], found = 1.0, []
    ORIGINAL[0] = model = model_of(tg)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x, i):
        other = copy.deepcopy(model)
        change(tg, other, i)
        for _ in range(calls):
            if is_trained:
                loss = other(x).square().mean()
                loss.backward()
            else:
                with tg.no_grad():
                    target = other(x)
                optimizer.zero_grad()
                loss = (model(x) - target).square().mean() + model(x).square().mean()
                loss.backward()
                optimizer.step()
        kept = [*other.parameters(), *other.buffers(), *model.parameters(), *model.buffers()]
        found.append([np.array(each.detach().numpy()) for each in kept])
        found.append([np.array(p.grad.numpy()) for p in other.parameters() if p.grad is not None])
        return loss.item()

    step = wrap(step)
    for i in range(CALLS):
        found.append([step(tg.arange(20.0).reshape(5, 4).sin() + i / 10, i)])
    return found


@pytest.mark.long(fast="first", every=23)
@pytest.mark.parametrize("is_trained", [True, False], ids=["trained", "asked"])
@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_copy_does_what_it_does_in_eager_mode(tg, change, calls, is_trained):
    run = functools.partial(of_copies, tg, change, calls, is_trained)
    for given, wanted in zip(run(tg.compile), run(lambda step: step), strict=True):
        assert len(given) == len(wanted)
        for one, other in zip(given, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)  # roundings of float32 over 36 steps


@pytest.mark.long(every=23)
@pytest.mark.parametrize("is_tiered", [False, True], ids=["built at once", "tiered"])
@pytest.mark.parametrize("calls", [1, 3])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_copy_in_a_whole_program_does_what_it_does_in_eager_mode(tg, monkeypatch, change, calls, is_tiered):
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    wanted = of_copies(tg, change, calls, False, lambda step: step)
    with tg.deferred(tiered=is_tiered):
        given = of_copies(tg, change, calls, False, lambda step: step)
    for one, other in zip(given, wanted, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("steps", [3, 40])
def test_models_and_optimizers_that_come_anew_in_a_whole_program_are_not_recorded(tg, monkeypatch, steps):
    """The fast weights of meta-learning: copies that are trained for a few steps share one program, and
    their optimizers a part, which leaves room for what stays. What is trained for longer gets a program of its own."""
    monkeypatch.setenv("TRACEGRAD_WARM_UP", "0")
    model, block = tg.nn.Sequential(tg.nn.Linear(4, 60), tg.nn.ReLU(), tg.nn.Linear(60, 3)), tg.deferred(tiered=True)
    with block:
        for _ in range(16):
            inner = copy.deepcopy(model)
            optimizer = tg.optim.Adam(inner.parameters())
            for _ in range(steps):
                optimizer.zero_grad()
                inner(tg.ones(50, 4)).square().mean().backward()
                optimizer.step()
    served = block.parts.titles()
    if steps < OFTEN:
        # Of optimizers: those of two calls, as before, and the one that all others share.
        assert served.count("Sequential") == 1 and served.count("Adam") <= 2 + 1
    else:
        assert served.count("Adam") > 8


@pytest.mark.parametrize("is_copied_late", [False, True], ids=["each call", "every eighth call"])
def test_copies_make_no_programs(tg, monkeypatch, is_copied_late):
    """Neither with a history nor without, from the fourth copy on; however many there are."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(4, 6), tg.nn.ReLU(), tg.nn.Linear(6, 3))
    optimizer, made, state = tg.optim.Adam(model.parameters()), [], {}

    @tg.compile
    def step(x, i):
        if i % 8 == 0 or not is_copied_late:
            state["teacher"] = copy.deepcopy(model).eval()
        with tg.no_grad():
            target = state["teacher"](x).softmax(1)
        loss = -(target * model(x).log_softmax(1)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    load = provide.load
    monkeypatch.setattr(provide, "load", lambda *args, **kwargs: (made.append(args), load(*args, **kwargs))[1])
    for i in range(80):
        step(tg.ones(2, 4) + i / 80, i)
        if i == 30:
            early = len(made)
    assert len(made) == early <= 5, step.explain()


OWN = {
    "a parameter": lambda module: module.scale,
    "the module": lambda module: module,
    "a part": lambda module: module.first,
    "a parameter of a part": lambda module: module.first.weight,
    "a buffer": lambda module: module.offset,
    "detached": lambda module: module.scale.detach(),
    "a view": lambda module: module.first.weight.t(),
    "data": lambda module: module.scale.data,
    "in a dict": lambda module: {"scale": module.scale},
    "a number": lambda module: module.scale.detach()[0].item(),
    "computed": lambda module: module.scale * 2,
}


@pytest.mark.parametrize("own", OWN.values(), ids=OWN)
def test_a_copy_returns_its_own(tg, own):
    """What a forward returns of the module is the copy's, never that of the module that has the program."""

    class Giving(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = tg.nn.Linear(3, 3), tg.nn.Linear(3, 3)
            self.scale = tg.nn.Parameter(tg.ones(3))
            self.register_buffer("offset", tg.ones(3))

        def forward(self, x):
            return self.second(self.first(x).relu()).tanh() * self.scale + self.offset, own(self)

    tg.manual_seed(0)
    model, found = Giving(), []

    @tg.compile
    def step(x, i):
        other = copy.deepcopy(model)
        with tg.no_grad():
            for tensor in (*other.parameters(), *other.buffers()):
                tensor += i
        for _ in range(4):
            y, given = other(x)
            wanted = own(other)
            if isinstance(given, (tg.nn.Module, tg.nn.Parameter)):
                found.append(given is wanted)
            elif isinstance(given, tg.Tensor):
                found.append(given.tolist() == wanted.tolist() and given.requires_grad == wanted.requires_grad)
                if given.data_ptr() == own(other).data_ptr():  # they show its memory
                    found.append(given._base is None or given._base is other.first.weight)
            else:
                found.append(given == wanted)
            y.sum().backward()
        return y.sum().item()

    for i in range(CALLS):
        step(tg.ones(2, 3), i)
    assert all(found) and len(found) >= 4 * CALLS


def test_calls_of_copies_are_noted_by_written_functions(tg, monkeypatch):
    """Nothing that is made anew counts as a change: from the ninth call on no guard is looked at again, each copy is
    looked through once, and nothing of the model that has the program."""
    noted, looked, seen = [], [], []
    of = {
        (twins.TwinPlan, "note"): noted, (twins.Looks, "hold"): looked, (twins, "structure_of"): seen,
    }  # fmt: skip
    for (owner, name), into in of.items():
        function = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *args, of=function, to=into: (to.append(args), of(*args))[1])
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(4, 6), tg.nn.ReLU(), tg.nn.Linear(6, 3))

    @tg.compile
    def step(x):
        inner = copy.deepcopy(model)
        optimizer = tg.optim.SGD(inner.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = inner(x).square().mean()
            loss.backward()
            optimizer.step()
        return loss.item()

    for i in range(24):
        if i == 16:
            for each in of.values():
                each.clear()
        step(tg.ones(2, 4) + i / 24)
    assert (len(noted), len(looked), len(seen)) == (0, 0, 8)
