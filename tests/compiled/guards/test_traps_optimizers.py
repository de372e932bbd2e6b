"""Traps of optimizers: what programs read and change of groups, options and state."""

import functools

import pytest
from compiled.table import Section
from side_by_side import Program, batches, ramp

ask = Section("Traps: optimizers")


def trap(make):
    return ask.either(calls=6)(make)


def stepping(tg, optimizer, between, step=None, state=tuple):
    """A program of one linear layer whose `optimizer` steps; `between` is given it, and the call's number."""
    tg.manual_seed(0)
    model = tg.nn.Linear(3, 2)
    made = optimizer(model.parameters())

    def whole(x):
        made.zero_grad()
        model(x).pow(2).mean().backward()
        made.step()
        return None if step is None else step(made, x)

    return Program(whole, batches(tg, 4, 3), lambda: (list(model.parameters()), state()), lambda i: between(made, i))


@trap
def rate_read_by_the_program(tg):
    """Is a learning rate that the step reads of the groups what it is at each call?"""

    def between(optimizer, i):
        optimizer.param_groups[0]["lr"] = 0.5 if i in (3, 4) else 0.1

    def step(optimizer, x):
        return x * optimizer.param_groups[0]["lr"]

    return stepping(tg, functools.partial(tg.optim.SGD, lr=0.1), between, step)


@trap
def rate_read_by_an_own_optimizer(tg):
    """Does an optimizer of the user's own see its rate change?"""

    class Own(tg.optim.Optimizer):
        def __init__(self, parameters, lr):
            super().__init__(parameters, {"lr": lr})

        @tg.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(p.grad * group["lr"])

    def between(optimizer, i):
        for group in optimizer.param_groups:
            group["lr"] = 0.5 if i in (3, 4) else 0.1

    return stepping(tg, functools.partial(Own, lr=0.1), between)


@trap
def buffer_kept_by_an_own_optimizer(tg):
    """Does an optimizer of the user's own, which keeps a buffer for each parameter, find another one that is put in?"""

    class Own(tg.optim.Optimizer):
        def __init__(self, parameters, lr):
            super().__init__(parameters, {"lr": lr})

        @tg.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    if len(state) == 0:
                        state["mean"] = tg.zeros_like(p)
                    state["mean"].mul_(0.9).add_(p.grad)
                    p.sub_(state["mean"] * group["lr"])

    def between(optimizer, i):
        if i == 3:
            for entry in optimizer.state.values():
                entry["mean"] = entry["mean"] * 2
        if i == 4:
            optimizer.state.clear()

    return stepping(tg, functools.partial(Own, lr=0.1), between)


@trap
def state_looked_at_by_the_program(tg):
    """Is a momentum buffer that the step reads of the state the one that is there?"""

    def between(optimizer, i):
        if i == 3:
            for entry in optimizer.state.values():
                entry["momentum_buffer"] = entry["momentum_buffer"] * 2
        if i == 4:
            optimizer.state.clear()

    def step(optimizer, x):
        return [entry["momentum_buffer"] * 2 for entry in optimizer.state.values()]

    return stepping(tg, functools.partial(tg.optim.SGD, lr=0.1, momentum=0.9), between, step)


@trap
def group_that_is_a_dict_of_the_users(tg):
    """Is a rate seen that changes in a plain dict which was put among the groups?"""

    def between(optimizer, i):
        if i == 1:
            optimizer.param_groups[0] = dict(optimizer.param_groups[0])
        optimizer.param_groups[0]["lr"] = 0.5 if i in (3, 4) else 0.1

    return stepping(tg, functools.partial(tg.optim.SGD, lr=0.1), between)


@trap
def list_of_the_users_in_a_group(tg):
    """Is a parameter left alone that is taken out of a list which was put into a group?"""

    def between(optimizer, i):
        group = optimizer.param_groups[0]
        if i == 1:
            group["params"] = list(group["params"])
        if i == 4:
            group["params"].pop()

    return stepping(tg, functools.partial(tg.optim.SGD, lr=0.1), between)


@trap
def groups_changed_as_lists_are(tg):
    """Are groups and parameters that are popped, removed, sorted and added by slices noticed?"""
    other = tg.nn.Parameter(ramp(tg, 2))
    other.grad = ramp(tg, 2)

    def between(optimizer, i):
        params = optimizer.param_groups[0]["params"]
        if i == 2:
            params[1:] = [other]
        if i == 3:
            params.reverse()
        if i == 4:
            params.pop()
        if i == 5:
            del optimizer.param_groups[0]

    return stepping(tg, functools.partial(tg.optim.Adam, lr=0.1), between, state=lambda: other)


@trap
def groups_changed_inside(tg):
    """Does a step that freezes a parameter by taking it out of its group do so?"""

    def step(optimizer, x):
        if len(optimizer.param_groups[0]["params"]) > 1:
            optimizer.param_groups[0]["params"].pop()

    return stepping(tg, functools.partial(tg.optim.SGD, lr=0.1), lambda optimizer, i: None, step)


@trap
def wrapper_with_groups(tg):
    """Are attributes of the user's own wrapper around an optimizer, which shows its groups, seen?"""

    class Wrapper:
        def __init__(self, optimizer):
            self.inner, self.param_groups, self.scale = optimizer, optimizer.param_groups, 1.0

        def zero_grad(self):
            self.inner.zero_grad()

        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    p.grad.mul_(self.scale)
            self.inner.step()

    def between(optimizer, i):
        optimizer.scale = 3.0 if i in (3, 4) else 1.0

    return stepping(tg, lambda parameters: Wrapper(tg.optim.SGD(parameters, lr=0.1)), between)


@pytest.mark.parametrize("question", ask.rows())
def test_traps_optimizers(answer, question):
    answer(question)
