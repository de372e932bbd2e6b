"""Buffers that a step binds to new tensors: running means, centres, queues."""

import copy

import pytest
from compiled.table import Section
from side_by_side import Program, batch, ramp

ask = Section("Buffers bound anew")


def inputs(tg, *shape):
    return lambda i: (batch(tg, i % 3, *shape),)


def centring(tg, bind=lambda self, new: setattr(self, "centre", new)):
    """A layer that subtracts a running mean, which it binds anew in training, and a step of it."""

    class Centring(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = tg.nn.Linear(3, 3)
            self.register_buffer("centre", tg.zeros(3))
            self.register_buffer("other", tg.ones(3), persistent=False)
            self.register_buffer("absent", None)

        def forward(self, x):
            y = self.linear(x).tanh()
            if self.training:
                bind(self, 0.9 * self.centre + 0.1 * y.detach().mean(0))
            return y - self.centre

    layer = Centring()
    model = tg.nn.Sequential(layer, tg.nn.Linear(3, 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return model, layer, step


def assign(self, new):
    self.centre = new


@ask.either(calls=9)
def a_running_mean(tg):
    """Is a running mean that a layer binds anew that of the latest call?"""
    model, layer, step = centring(tg, assign)
    return Program(step, inputs(tg, 2, 3), lambda: [layer.centre, *model.state_dict(), *model.parameters()])


@ask.either(calls=12)
def by_a_computed_name(tg):
    """The same where the name is computed."""
    model, layer, step = centring(tg, lambda self, new: setattr(self, "cen" + "tre", new))
    return Program(step, inputs(tg, 2, 3), lambda: [layer.centre])


@ask.either(calls=12)
def in_the_registry(tg):
    """The same where it is put past the attribute."""

    def bind(self, new):
        self._buffers["centre"] = new

    model, layer, step = centring(tg, bind)
    return Program(step, inputs(tg, 2, 3), lambda: [layer.centre])


@ask.either(calls=12)
def the_old_one_kept(tg):
    """Is the tensor that was there before left alone?"""
    model, layer, step = centring(tg, assign)
    kept = []

    def between(i):
        kept.append(layer.centre)

    return Program(step, inputs(tg, 2, 3), lambda: [layer.centre, *kept], between=between)


@ask.either(calls=12)
def set_and_loaded_between(tg):
    """Does it go on from what the program puts there, in each way?"""
    model, layer, step = centring(tg, assign)

    def between(i):
        if i == 4:
            layer.centre = ramp(tg, 3)
        if i == 6:
            layer.centre.fill_(0.5)
        if i == 8:
            model.load_state_dict({name: tensor * 0.5 for name, tensor in model.state_dict().items()})
        if i == 10:
            layer.register_buffer("centre", tg.ones(3))

    return Program(step, inputs(tg, 2, 3), lambda: [layer.centre], between=between)


@ask.either(calls=12)
def modes_by_turns(tg):
    """Is it left alone in evaluation?"""
    model, layer, step = centring(tg, assign)
    return Program(step, inputs(tg, 2, 3), lambda: [layer.centre], between=lambda i: model.train(i % 3 != 1))


@ask.either(calls=12)
def another_function_looks_through_all(tg):
    """Does a function that looks through all buffers, made before or after, find the latest?"""
    model, layer, step = centring(tg, assign)
    total = tg.compile(lambda: sum(buffer.sum() for buffer in model.buffers()))
    total()
    one = tg.compile(lambda: layer.centre * 2)
    return Program(step, inputs(tg, 2, 3), lambda: [total(), one(), layer.centre])


@ask.either(calls=12)
def a_step_that_looks_through_all(tg):
    """Does the step itself, where it looks through all buffers?"""
    model, layer, step = centring(tg, assign)

    def both(x):
        loss = step(x)
        return loss + sum(buffer.sum() for buffer in model.buffers()).detach()

    return Program(both, inputs(tg, 2, 3), lambda: [layer.centre])


@ask.either(calls=12)
def copies(tg):
    """Has a copy of the model a mean of its own?"""
    model, layer, step = centring(tg, assign)
    copied = copy.deepcopy(model)

    def look():
        twin = copy.deepcopy(model)
        twin(ramp(tg, 2, 3))
        return [layer.centre, copied[0].centre, twin[0].centre]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=12)
def two_that_change_places(tg):
    """Are two buffers of which each takes the place of the other where the call has put them?"""
    model, layer, _ = centring(tg)

    def step(x):
        layer.centre, layer.other = layer.other, layer.centre + x.mean(0)
        return layer.centre * 1 + layer.other

    return Program(step, inputs(tg, 2, 3), lambda: [layer.centre, layer.other])


@ask.either(calls=12)
def other_values(tg):
    """Is None, an argument, a view and a tensor that takes the place of None what the buffer is?"""
    model, layer, _ = centring(tg)

    def step(x):
        layer.absent = x[0] if layer.absent is None else None
        layer.other = x
        layer.centre = (x * 2)[1]
        return layer.centre + layer.other.sum()

    def look():
        absent = layer.absent
        return [layer.centre, layer.other, absent if absent is not None else "none", sorted(layer.state_dict())]

    return Program(step, inputs(tg, 2, 3), look)


@ask.either(calls=12)
def a_history(tg):
    """Has a buffer that is bound to something with a history this history, and is a second pass an error?"""
    model, layer, _ = centring(tg)

    def step(x):
        layer.centre = layer.linear(x).mean(0)
        return (layer.centre * x).sum()

    def after(i, outcome):
        layer.linear.zero_grad()
        layer.centre.sum().backward()

    return Program(step, inputs(tg, 2, 3), lambda: [layer.linear.weight.grad], after=after)


@ask.either(calls=12)
def a_queue(tg):
    """Is a queue of keys that a step pushes into that of the latest call?"""

    class Queue(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", tg.zeros(6, 3))
            self.register_buffer("at", tg.zeros(1, dtype=tg.int64))

        def forward(self, x):
            logits = x @ self.keys.t()
            self.keys = tg.cat([x.detach(), self.keys[:-2]])
            self.at = (self.at + 2) % 6
            return logits

    queue = Queue()
    return Program(lambda x: queue(x), inputs(tg, 2, 3), lambda: [queue.keys, queue.at])


@pytest.mark.parametrize("question", ask.rows())
def test_stored_buffers(answer, question):
    answer(question)
