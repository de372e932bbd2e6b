"""A compiled module that is an attribute of a module is its child: optimizers, state and modes find its layers."""

import copy
import pickle

import pytest

import tracegrad as tg
from tracegrad import nn


class Net(nn.Module):
    """`made` tells how the compiled child comes into it."""

    def __init__(self, made):
        super().__init__()
        if made == "before":
            self.body = nn.Linear(3, 3)
            self.body = tg.compile(self.body)
        else:
            self.body = tg.compile(nn.Linear(3, 3))
        self.head = nn.Linear(3, 1)

    def forward(self, x):
        return self.head(self.body(x).tanh())


@pytest.fixture(params=["at once", "before"])
def net(request):
    tg.manual_seed(0)
    return Net(request.param)


def plain_losses():
    tg.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 1))
    return losses_of(net)


def losses_of(net):
    optimizer = tg.optim.SGD(net.parameters(), lr=0.1)
    x, losses = tg.arange(12.0).reshape(4, 3) / 12, []
    for _ in range(5):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_it_trains_as_the_module_does(net):
    assert losses_of(net) == pytest.approx(plain_losses(), rel=1e-6)
    assert net.body.way == "replay"


def test_what_is_done_to_the_whole_is_done_to_it(net):
    assert [name for name, _ in net.named_parameters()] == ["body.weight", "body.bias", "head.weight", "head.bias"]
    assert isinstance(net.body, tg.compiled.CompiledFunction) and net.body.function is net.get_submodule("body")
    assert not net.eval().body.training and net.double().body.weight.dtype is tg.float64
    net.load_state_dict({name: tg.zeros_like(value) for name, value in net.state_dict().items()})
    assert not net.body(tg.ones(2, 3, dtype=tg.float64)).any()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda net: pickle.loads(pickle.dumps(net))])
def test_copies_have_a_child_of_their_own(net, copied):
    other = copied(net)
    assert other.body.function is other.get_submodule("body") is not net.get_submodule("body")
    assert losses_of(other) == losses_of(net)


def test_another_value_takes_its_place(net):
    net.body = nn.Identity()
    assert type(net.body) is nn.Identity and len(list(net.parameters())) == 2
    net.body = tg.compile(nn.Linear(3, 3))
    net.body = None
    assert net.body is None and len(list(net.parameters())) == 2
    net.body = tg.compile(nn.Linear(3, 3))
    del net.body
    assert not hasattr(net, "body") and len(list(net.parameters())) == 2


def test_functions_and_the_module_itself_are_no_children():
    net = Net("at once")
    net.double_it, net.whole = tg.compile(lambda x: x * 2), tg.compile(net)
    assert [name for name, _ in net.named_children()] == ["body", "head"]
    assert net.train().whole(tg.ones(2, 3)).shape == (2, 1)


def in_containers(nn, compiled):
    """Models that hold `compiled` layers in each container, and a batch's result."""
    sequence = nn.Sequential(compiled(nn.Linear(3, 4)), nn.Tanh(), compiled(nn.Linear(4, 2)))
    replaced = nn.Sequential(nn.Identity(), nn.Tanh())
    replaced[0] = compiled(nn.Linear(3, 2))
    listed = nn.ModuleList([compiled(nn.Linear(3, 2))])
    listed.append(compiled(nn.Linear(2, 2)))
    named = nn.ModuleDict({"a": compiled(nn.Linear(3, 2))})
    added = nn.Module()
    added.add_module("layer", compiled(nn.Linear(3, 2)))
    model = nn.ModuleList([sequence, replaced, listed, named, added])
    return model, lambda x: sequence(x) + replaced(x) + listed[1](listed[0](x)) + named["a"](x) + added.layer(x)


def test_containers_keep_compiled_modules_as_modules(tg):
    nn = tg.nn
    losses = {}
    for name, compiled in (("eager", lambda module: module), ("compiled", tg.compile)):
        tg.manual_seed(0)
        model, call = in_containers(nn, compiled)
        optimizer = tg.optim.SGD(model.parameters(), lr=0.05, momentum=0.5)
        losses[name] = []
        for i in range(5):
            optimizer.zero_grad()
            loss = (call(tg.linspace(-1, 1, 12).reshape(4, 3) * (i + 1)) - 1).square().mean()
            loss.backward()
            optimizer.step()
            losses[name].append(loss.item())
    assert losses["compiled"] == pytest.approx(losses["eager"], rel=1e-5)  # sums in another order
    assert [type(child).__name__ for child in model[0]] == ["OptimizedModule", "Tanh", "OptimizedModule"]
    assert "0.0._orig_mod.weight" in model.state_dict() and len(list(model.parameters())) == 14
    model.eval()
    assert not any(module.training for module in model.modules())
    state = {key: value + 0.5 for key, value in model.state_dict().items()}
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        before = copied[0](tg.ones(1, 3)).tolist()
        copied.load_state_dict(state)
        assert copied[0](tg.ones(1, 3)).tolist() != before == model[0](tg.ones(1, 3)).tolist()


def test_a_compiled_function_is_no_module(tg):
    with pytest.raises(TypeError, match="CompiledFunction is not a Module subclass"):
        tg.nn.Sequential(tg.compile(lambda x: x))
