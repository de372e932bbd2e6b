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


def test_containers_refuse_a_compiled_module():
    """They call the modules that they hold: the compiled form would not be used."""
    for held in (lambda m: nn.Sequential(m), lambda m: nn.ModuleList([m])):
        with pytest.raises(TypeError, match="is not a Module subclass"):
            held(tg.compile(nn.Linear(2, 2)))
    blocks = nn.ModuleList([nn.Linear(2, 2)])
    with pytest.raises(TypeError, match="cannot assign 'CompiledFunction' as child module"):
        blocks[0] = tg.compile(blocks[0])
