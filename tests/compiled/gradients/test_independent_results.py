"""Results of one call that share no operation: eager mode goes back through each by itself, and so does the tape of a
compiled call. A policy and a value of two networks, each with a loss and an optimizer of its own, are an example."""

import itertools

import pytest

import tracegrad as tg
from tracegrad import nn


class Parts:
    """Weights of three networks, and what is computed of an x by them."""

    def __init__(self):
        tg.manual_seed(3)
        self.networks = [nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)).double() for _ in range(3)]
        self.scale = nn.Parameter(tg.tensor(1.5, dtype=tg.float64))
        self.optimizers = [tg.optim.SGD(network.parameters(), lr=0.1) for network in self.networks]

    def parameters(self):
        return [*itertools.chain(*(network.parameters() for network in self.networks)), self.scale]

    def apart(self, x):
        a, b, c = self.networks
        return a(x), b(x), c(x)

    def of_one_leaf(self, x):
        a, b, _ = self.networks
        return a(x) * self.scale, b(x) * self.scale, (x * self.scale).exp()

    def one_detached(self, x):
        a, b, c = self.networks
        first = a(x)
        return first, b(x) * first.detach(), c(x)

    def two_together(self, x):
        a, b, c = self.networks
        first = a(x).exp()
        return first, b(x) * first, c(x)

    def all_together(self, x):
        a, b, c = self.networks
        trunk = a(x)
        return trunk.sin(), b(tg.cat([trunk, trunk], 1)), c(tg.cat([trunk, -trunk], 1))

    def one_of_numbers(self, x):
        a, b, _ = self.networks
        return a(x), x * 2, b(x).softmax(-1)


GRAPHS = [name for name in vars(Parts) if name not in ("parameters",) and not name.startswith("_")]


def each(parts, results, i):
    """One loss after the other, each in its turn."""
    for result in results:
        if result.requires_grad:
            result.square().sum().backward()


def backwards(parts, results, i):
    each(parts, results[::-1], i)


def updated_between(parts, results, i):
    for optimizer, result in zip(parts.optimizers, results, strict=True):
        if result.requires_grad:
            optimizer.zero_grad()
            result.square().sum().backward()
            optimizer.step()


def at_once(parts, results, i):
    sum(result.square().sum() for result in results).backward()


def two_at_once(parts, results, i):
    (results[0].sum() * 2 + results[2].square().sum()).backward()
    if results[1].requires_grad:
        results[1].sum().backward()


def one_twice(parts, results, i):
    results[0].sum().backward()
    results[0].sum().backward()


def kept(parts, results, i):
    results[0].sum().backward(retain_graph=True)
    results[2].sum().backward()
    results[0].square().sum().backward()


def penalty(parts, results, i):
    network = parts.networks[0]
    found = tg.autograd.grad(results[0].square().sum(), [*network.parameters()], create_graph=True)
    (sum(g.square().sum() for g in found) + results[2].sum()).backward()


def written_between(parts, results, i):
    results[2].sum().backward()
    with tg.no_grad():
        for p in parts.networks[2].parameters():
            p.mul_(0.5)
        results[2].zero_()
    results[0].sum().backward()


def written_before(parts, results, i):
    with tg.no_grad():
        for p in parts.networks[0].parameters():
            p.mul_(0.5)
    results[2].sum().backward()
    results[0].square().sum().backward()


USES = {
    function.__name__: function
    for function in (
        each, backwards, updated_between, at_once, two_at_once, one_twice, kept, penalty, written_between,
        written_before,
    )
}  # fmt: skip


def looking(function):
    """What cannot be replayed: the ops between looks at numbers are programs, and parts of them."""

    def looks(x):
        results = function(x)
        float(results[0].sum())
        return results

    return looks


WAYS = {
    "compiled": tg.compile,
    "re-recorded": lambda function: tg.compile(looking(function)),
    "deferred": lambda function: tg.deferred()(function),
}


def outcomes(graph, use, way):
    parts = Parts()
    function = way(getattr(parts, graph))
    seen = []
    for i in range(5):
        for p in parts.parameters():
            p.grad = None
        results = function(tg.linspace(-1, 1 + i, 12, dtype=tg.float64).sin().reshape(3, 4))
        try:
            USES[use](parts, results, i)
        except RuntimeError:  # eager mode has added to some gradients then, a program to none
            seen.append(RuntimeError)
            continue
        names = [None if result.grad_fn is None else result.grad_fn.name() for result in results]
        names = names[: 1 if "together" in graph else None]  # one node has one name
        seen.append((names, [None if p.grad is None else p.grad.clone() for p in parts.parameters()]))
    return seen


def assert_equal(found, expected):
    assert type(found) is type(expected), (found, expected)
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            assert_equal(one, other)
    elif isinstance(expected, tg.Tensor):
        # float64: sums in another order, some roundings of 1e-16 of numbers up to 100.
        assert tg.allclose(found, expected, rtol=1e-10, atol=1e-12)
    else:
        assert found == expected


@pytest.mark.long(fast=29, every=2)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("graph", GRAPHS)
def test_each_goes_back_by_itself(graph, use, way):
    assert_equal(outcomes(graph, use, WAYS[way]), outcomes(graph, use, lambda function: function))


@pytest.mark.parametrize("way", WAYS)
def test_a_policy_and_a_value_train(way):
    """A whole program of two networks in one module, with losses and optimizers of their own."""

    def trained(wrap):
        tg.manual_seed(5)
        actor, critic = nn.Linear(4, 2).double(), nn.Linear(4, 1).double()

        class Agent(nn.Module):
            def forward(self, x):
                return actor(x).tanh(), critic(x).tanh()

        agent, losses = Agent(), []
        optimizers = [tg.optim.Adam(each.parameters(), lr=0.01) for each in (actor, critic)]
        call = wrap(agent)
        for _ in range(8):
            x = tg.randn(6, 4, dtype=tg.float64)
            policy, value = call(x)
            of_both = (-policy.log_softmax(-1)[:, 0].mean(), value.square().mean())
            for optimizer, loss in zip(optimizers, of_both, strict=True):
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
        return losses

    assert_equal(trained(WAYS[way]), trained(lambda agent: agent))
