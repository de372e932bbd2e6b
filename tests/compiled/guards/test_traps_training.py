"""Traps of training: optimizers, modules and hooks that are changed behind a recording's back."""

import copy
import functools

import pytest
from compiled.table import Section
from side_by_side import Program, batches, ramp, weight

ask = Section("Traps: training")


def trap(make):
    return ask.either(calls=6)(make)


def training(tg, between, model=None, optimizer=None, state=None, calls=None):
    """A usual training step; ``between(world, i)`` may change ``model`` and ``optimizer`` of the world."""
    world = {"model": model if model is not None else tg.nn.Linear(3, 2)}
    make = optimizer or functools.partial(tg.optim.SGD, lr=0.1, momentum=0.9)
    world["optimizer"] = make(world["model"].parameters())

    def step(x):
        world["optimizer"].zero_grad()
        loss = world["model"](x).pow(2).mean()
        loss.backward()
        world["optimizer"].step()
        return loss

    def everything():
        return dict(world["model"].state_dict()), list(world["model"].parameters())

    return Program(step, batches(tg, 4, 3), state or everything, lambda i: between(world, i))


@trap
def optimizer_swapped(tg):
    """Is an optimizer that is swapped for one of another kind the one that steps?"""

    def between(world, i):
        if i == 3:
            world["optimizer"] = tg.optim.Adam(world["model"].parameters(), lr=0.01)

    return training(tg, between)


@trap
def optimizer_of_the_same_kind_swapped(tg):
    """Does a new optimizer of the same kind start with new momentum?"""

    def between(world, i):
        if i == 3:
            world["optimizer"] = tg.optim.SGD(world["model"].parameters(), lr=0.1, momentum=0.9)

    return training(tg, between)


@trap
def optimizer_state_cleared(tg):
    """Is an optimizer's state that is cleared made anew?"""

    def between(world, i):
        if i == 3:
            world["optimizer"].state.clear()

    return training(tg, between)


@trap
def optimizer_state_edited(tg):
    """Are momentum buffers that are changed in place, and replaced, used?"""

    def between(world, i):
        for state in world["optimizer"].state.values():
            if i == 3:
                state["momentum_buffer"].zero_()
            if i == 4:
                state["momentum_buffer"] = tg.ones_like(state["momentum_buffer"])

    return training(tg, between)


@trap
def adam_steps_edited(tg):
    """Is Adam's count of steps, set back, the one of the bias correction?"""

    def between(world, i):
        if i == 3:
            for state in world["optimizer"].state.values():
                state["step"].zero_()

    return training(tg, between, optimizer=functools.partial(tg.optim.Adam, lr=0.01))


@trap
def optimizer_state_loaded(tg):
    """Does the optimizer's load_state_dict bring back its buffers and options?"""
    kept = {}

    def between(world, i):
        if i == 2:
            kept.update(copy.deepcopy(world["optimizer"].state_dict()))
            kept["param_groups"][0]["lr"] = 0.5
        if i == 4:
            world["optimizer"].load_state_dict(kept)

    return training(tg, between)


@trap
def parameter_groups_edited(tg):
    """Is a parameter that is taken out of its group, or a group that is replaced, left alone from then on?"""

    def between(world, i):
        groups = world["optimizer"].param_groups
        if i == 3:
            groups[0]["params"] = groups[0]["params"][:1]
        if i == 4:
            groups[0] = dict(groups[0], lr=0.5)

    return training(tg, between)


@trap
def parameters_of_a_group_swapped_in_place(tg):
    """Is a parameter that replaces another in a group's list the one that is updated?"""
    other = tg.nn.Parameter(ramp(tg, 2, 3))
    other.grad = ramp(tg, 2, 3)

    def between(world, i):
        if i == 3:
            world["optimizer"].param_groups[0]["params"][0] = other

    program = training(tg, between, optimizer=functools.partial(tg.optim.SGD, lr=0.1))
    inner = program.state
    program.state = lambda: (inner(), other)
    return program


@trap
def model_swapped(tg):
    """Is a model that is swapped for its deep copy, which the optimizer does not know, left alone?"""

    def between(world, i):
        if i == 3:
            world["model"] = copy.deepcopy(world["model"])

    return training(tg, between)


@trap
def weights_loaded_with_assign(tg):
    """Are parameters that load_state_dict(assign=True) replaces the ones that count?"""
    new = {"weight": ramp(tg, 2, 3), "bias": ramp(tg, 2)}

    def between(world, i):
        if i == 3:
            world["model"].load_state_dict(new, assign=True)

    return training(tg, between)


@trap
def parameter_registered_as_a_buffer(tg):
    """Is a parameter that becomes a buffer of the same name constant?"""

    def between(world, i):
        if i == 3:
            kept = world["model"].bias.detach().clone()
            del world["model"].bias
            world["model"].register_buffer("bias", kept)

    return training(tg, between)


@trap
def module_frozen_by_eval_of_a_child(tg):
    """Is one BatchNorm in eval mode within a model in training mode seen?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 2), tg.nn.BatchNorm1d(2), tg.nn.Linear(2, 1))

    def between(world, i):
        model[1].eval() if i in (3, 4) else model[1].train()

    return training(tg, between, model)


@trap
def layers_in_a_module_list(tg):
    """Are layers that are appended, inserted and deleted in a ModuleList run?"""
    layers = tg.nn.ModuleList([tg.nn.Linear(3, 3)])

    def step(x):
        for k, layer in enumerate(layers):
            x = layer(x) * (k + 1)
        return x.detach()

    def between(i):
        if i == 2:
            layers.append(tg.nn.Tanh())
        if i == 4:
            layers[0] = tg.nn.ReLU()
        if i == 5:
            del layers[1]

    return Program(step, batches(tg, 2, 3), tuple, between)


@trap
def module_in_a_plain_list(tg):
    """Is a module in a plain list, which no module knows, swapped for another one?"""
    layers = [tg.nn.Linear(3, 3), tg.nn.Dropout(0.5)]

    def between(i):
        layers[1].train(i % 2 == 0)
        if i == 3:
            layers[0] = tg.nn.Linear(3, 3)

    return Program(lambda x: layers[1](layers[0](x)).detach(), batches(tg, 2, 3), tuple, between)


@trap
def attribute_of_a_layer(tg):
    """Are a layer's own options (negative_slope, eps, p) that change seen?"""
    model = tg.nn.Sequential(tg.nn.LeakyReLU(0.1), tg.nn.LayerNorm(3, eps=1e-5), tg.nn.Dropout(0.5))

    def between(i):
        model[0].negative_slope = 0.1 * i
        model[1].eps = 10.0 ** -(i % 3)
        model[2].p = 0.5 if i < 3 else 0.0

    return Program(lambda x: model(x).detach(), batches(tg, 2, 3), tuple, between)


@trap
def bias_set_to_none(tg):
    """Is a bias that is set to None, and set again, seen?"""
    model = tg.nn.Linear(3, 2)
    kept = model.bias

    def between(i):
        model.bias = None if i in (3, 4) else kept

    return Program(lambda x: model(x).detach(), batches(tg, 2, 3), tuple, between)


@trap
def weight_tied_later(tg):
    """Are two layers that come to share one parameter updated as one?"""
    model = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.Tanh(), tg.nn.Linear(3, 3))

    def between(world, i):
        if i == 3:
            model[2].weight = model[0].weight

    return training(tg, between, model, functools.partial(tg.optim.SGD, lr=0.1))


@trap
def module_hook_removed(tg):
    """Is a forward hook that is removed, and a global list of hooks that is emptied, gone?"""
    model, handles = tg.nn.Linear(3, 2), []

    def between(i):
        if i == 2:
            handles.append(model.register_forward_hook(lambda module, args, out: out * 10))
        if i == 4:
            handles.pop().remove()

    return Program(lambda x: model(x).detach(), batches(tg, 2, 3), tuple, between)


@trap
def variable_of_a_hook(tg):
    """Is a variable that only a parameter's hook reads seen?"""
    w, scale = weight(tg, 3), {"value": 2.0}
    w.register_hook(lambda g: g * scale["value"])

    def step(x):
        w.grad = None
        (w * x).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: w, lambda i: scale.update(value=5.0 if i in (3, 4) else 2.0))


@trap
def variable_of_a_module_hook(tg):
    """Is a variable that only a forward hook reads seen?"""
    model, scale = tg.nn.Linear(3, 2), {"value": 2.0}
    model.register_forward_hook(lambda module, args, out: out * scale["value"])
    return Program(
        lambda x: model(x).detach(),
        batches(tg, 2, 3),
        tuple,
        lambda i: scale.update(value=5.0 if i in (3, 4) else 2.0),
    )


@trap
def variable_of_an_own_function(tg):
    """Is a variable that only the backward of a custom Function reads seen?"""
    w, scale = weight(tg, 3), {"value": 2.0}

    class Scaled(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * scale["value"]

    def step(x):
        w.grad = None
        Scaled.apply(w * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: w, lambda i: scale.update(value=5.0 if i in (3, 4) else 2.0))


@trap
def backward_of_an_own_function_replaced(tg):
    """Is a backward that is replaced on a custom Function believed?"""
    w = weight(tg, 3)

    class Scaled(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def step(x):
        w.grad = None
        Scaled.apply(w * x).sum().backward()

    def between(i):
        if i == 3:
            Scaled.backward = staticmethod(lambda ctx, g: g * 5)

    return Program(step, batches(tg, 3), lambda: w, between)


@trap
def subclass_of_an_optimizer(tg):
    """Does an optimizer of the user's own, which reads an attribute of itself, see its change?"""

    class Own(tg.optim.Optimizer):
        def __init__(self, parameters, lr):
            super().__init__(parameters, {"lr": lr})
            self.noise = 0.0

        @tg.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(group["lr"] * (p.grad + self.noise))

    def between(world, i):
        world["optimizer"].noise = 1.0 if i in (3, 4) else 0.0

    return training(tg, between, optimizer=functools.partial(Own, lr=0.1))


@trap
def counter_in_an_own_optimizer(tg):
    """Does an optimizer of the user's own that counts its steps in Python count?"""

    class Own(tg.optim.Optimizer):
        def __init__(self, parameters, lr):
            super().__init__(parameters, {"lr": lr})
            self.steps = 0

        @tg.no_grad()
        def step(self):
            self.steps += 1
            for group in self.param_groups:
                for p in group["params"]:
                    p.sub_(group["lr"] / self.steps * p.grad)

    return training(tg, lambda world, i: None, optimizer=functools.partial(Own, lr=0.1))


@trap
def own_optimizer_with_state_dict_entries(tg):
    """Does an optimizer of the user's own, whose state holds Python numbers, count them up?"""

    class Own(tg.optim.Optimizer):
        def __init__(self, parameters, lr):
            super().__init__(parameters, {"lr": lr})

        @tg.no_grad()
        def step(self):
            for group in self.param_groups:
                for p in group["params"]:
                    state = self.state[p]
                    state["step"] = state.get("step", 0) + 1
                    p.sub_(group["lr"] / state["step"] * p.grad)

    return training(tg, lambda world, i: None, optimizer=functools.partial(Own, lr=0.1))


@pytest.mark.parametrize("question", ask.rows())
def test_traps_training(answer, question):
    answer(question)
