"""Traps of tensors: parameters, gradients, optimizers and modules that are changed behind a recording's back."""

import copy
import functools
import weakref

import numpy as np
import pytest
from semantics.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Traps: tensors")


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
def gradient_shared_by_two_parameters(tg):
    """Are two parameters whose `.grad` is one tensor accumulated into one?"""
    a, b = weight(tg, 3), weight(tg, 3)

    def between(i):
        if i == 2:
            a.grad = b.grad = tg.zeros(3)

    return Program(lambda x: (a * x + b * x * 2).sum().backward(), batches(tg, 3), lambda: (a, b), between)


@trap
def gradient_that_is_a_view(tg):
    """Are gradients that are views of one flat buffer (as gradient bucketing makes) accumulated in it?"""
    a, b, flat = weight(tg, 3), weight(tg, 2), tg.zeros(5)
    a.grad, b.grad = flat[:3], flat[3:]

    def step(x):
        flat.zero_()
        (a * x).sum().backward()
        (b * x[:2]).pow(2).sum().backward()

    return Program(step, batches(tg, 3), lambda: (a, b, flat))


@trap
def gradient_that_is_the_parameter(tg):
    """Is a gradient that is the parameter's own memory accumulated into the parameter?"""
    w = weight(tg, 3)

    def between(i):
        w.grad = w.detach()

    def step(x):
        loss = (w.detach() * w * x).sum()
        loss.backward()
        return loss.detach()

    return Program(step, batches(tg, 3), lambda: w, between)


@trap
def gradient_that_requires_grad(tg):
    """Does a gradient that was made with create_graph=True keep its history outside?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        (w * x).pow(3).sum().backward(create_graph=True)
        return w.grad.requires_grad

    return Program(step, batches(tg, 3), lambda: w.grad.detach(), after=lambda i, out: setattr(w, "grad", w.grad))


@trap
def in_place_on_the_gradient_kept_outside(tg):
    """Does an in-place change inside reach a gradient that the caller holds under another name?"""
    w = weight(tg, 3)
    w.grad = ramp(tg, 3)
    held = w.grad

    def step(x):
        w.grad.mul_(0.5).add_(x)

    return Program(step, batches(tg, 3), lambda: (held, w))


@trap
def parameter_swapped_with_another(tg):
    """Are two parameters that exchange their `.data` between calls each other?"""
    a, b = weight(tg, 3), weight(tg, 3)

    def between(i):
        if i % 2:
            a.data, b.data = b.data, a.data

    def step(x):
        a.grad = b.grad = None
        (a * x + b.pow(2) * x).sum().backward()

    return Program(step, batches(tg, 3), lambda: (a, b), between)


@trap
def data_made_an_alias(tg):
    """Do two tensors that come to share one memory by `.data` share it inside, too?"""
    a, b = ramp(tg, 3), ramp(tg, 3) * 2

    def between(i):
        if i == 3:
            b.data = a.data

    def step(x):
        a.add_(x)
        return a * b

    return Program(step, batches(tg, 3), lambda: (a, b), between)


@trap
def captured_view_rebased(tg):
    """Is a captured view whose base is written to by the caller's in-place transpose read as it is then?"""
    base = ramp(tg, 3, 3)
    view = base[0]
    return Program(lambda x: x * view, batches(tg, 3), lambda: (base, view), lambda i: base.add_(i).t_())


@trap
def expanded_tensor_captured(tg):
    """Is a captured expanded tensor, all of whose elements are one, read after its element changed?"""
    one = ramp(tg, 1)
    wide = one.expand(3)
    return Program(lambda x: x * wide, batches(tg, 3), lambda: (one, wide), lambda i: one.add_(i))


@trap
def argument_shares_memory_with_a_captured_tensor(tg):
    """Is an argument that is the captured memory itself read after the write?"""
    w = ramp(tg, 6)

    def step(x):
        w.mul_(2.0)
        return x + w[:3]

    def args(i):
        return ((w[:3], w[3:], ramp(tg, 3), w.detach()[:3])[i % 4],)

    return Program(step, args, lambda: w)


@trap
def arguments_swapped(tg):
    """Are two arguments that are passed the other way round written the other way round?"""
    a, b = ramp(tg, 3), ramp(tg, 3) * 2

    def step(first, second):
        first.add_(second)
        return first - second

    return Program(step, lambda i: (a, b) if i % 2 else (b, a), lambda: (a, b))


@trap
def numpy_view_of_a_result(tg):
    """Is numpy's view of a result, kept by the caller, left alone by later calls?"""
    kept = []
    return Program(lambda x: x * 2, batches(tg, 3), lambda: kept, after=lambda i, out: kept.append(out.numpy()))


@trap
def part_of_a_result_kept(tg):
    """Is a view of a result, the only thing that is kept, left alone by later calls?"""
    kept = []
    return Program(
        lambda x: (x * 2, x.sum()), batches(tg, 3), lambda: kept, after=lambda i, out: kept.append(out[0][1:])
    )


@trap
def list_that_is_returned(tg):
    """Is a captured list that is returned that list?"""
    held = [1.0, 2.0]

    def step(x):
        return x * held[0], held

    return Program(step, batches(tg, 3), lambda: held, after=lambda i, out: out[1].__setitem__(0, float(i)))


@trap
def new_list_that_is_returned(tg):
    """Is a list that the step makes a new one at each call, which the caller may change?"""

    def after(i, out):
        out[0].append("changed")
        out[1]["k"] = "changed"

    return Program(lambda x: ([x * 2], {"k": x + 1}), batches(tg, 3), after=after)


@trap
def constant_tensor_returned(tg):
    """Is a constant that the step makes, changed by the caller, made anew?"""
    return Program(
        lambda x: (tg.zeros(3), tg.tensor([1.0, 2.0]), x * 1),
        batches(tg, 3),
        after=lambda i, out: [t.add_(7.0) for t in out],
    )


@trap
def result_is_none_sometimes(tg):
    """Is `is None` of an attribute that becomes a tensor asked anew?"""
    world = {"mask": None}

    def between(i):
        world["mask"] = ramp(tg, 3) if i in (3, 4) else None

    return Program(lambda x: x * 2 if world["mask"] is None else x * world["mask"], batches(tg, 3), tuple, between)


@trap
def tensor_as_a_key(tg):
    """Is a dict whose keys are tensors, by identity, looked up by this call's tensor?"""
    a, b = ramp(tg, 3), ramp(tg, 3) * 2
    table = {a: 2.0, b: 5.0}
    return Program(lambda x: x * table[x], lambda i: ((a, b)[i % 2],))


@trap
def tensor_identity(tg):
    """Is `x is w` asked anew for each argument?"""
    w = ramp(tg, 3)
    return Program(lambda x: x * 2 if x is w else x * 3, lambda i: (w if i in (3, 4) else ramp(tg, 3),))


@trap
def tensor_identity_among_arguments(tg):
    """Is `a is b` asked anew, also for equal views?"""
    x = ramp(tg, 3)

    def args(i):
        return ((x, x), (x, ramp(tg, 3)), (x, x.detach()))[i % 3]

    return Program(lambda a, b: a * 2 if a is b else a * 3, args)


@trap
def attribute_on_a_tensor(tg):
    """Is an attribute of the user's on a tensor or a parameter seen?"""
    w = weight(tg, 3)

    def between(i):
        w.scale = 5.0 if i in (3, 4) else 2.0

    return Program(lambda x: (w * x * w.scale).detach(), batches(tg, 3), tuple, between)


@trap
def attribute_on_an_argument(tg):
    """Is an attribute of the user's on an argument seen?"""

    def args(i):
        x = ramp(tg, 3)
        x.kind = "double" if i in (3, 4) else "single"
        return (x,)

    return Program(lambda x: x * 2 if x.kind == "double" else x * 1, args)


@trap
def history_of_an_argument(tg):
    """Are a leaf and a computed tensor as an argument told apart (is_leaf, grad_fn)?"""
    w = weight(tg, 3)

    def step(x):
        return x.detach() * 2 if x.is_leaf else x.detach() * 3

    return Program(step, lambda i: (w * 1 if i in (3, 4) else w,))


@trap
def version_of_an_argument(tg):
    """Is `_version`, which in-place writes count up, the eager one?"""
    x = ramp(tg, 3)

    def step(x):
        x.add_(1.0)
        return x * 2

    return Program(step, lambda i: (x,), lambda: x._version)


@trap
def flags_by_contiguity(tg):
    """Is `is_contiguous()` of an argument asked anew?"""
    data = ramp(tg, 3, 3)

    def step(x):
        return x * 2 if x.is_contiguous() else x * 3

    return Program(step, lambda i: (data.t() if i in (3, 4) else data,))


@trap
def gradient_none_asked(tg):
    """Is `w.grad is None` asked anew?"""
    w = weight(tg, 3)

    def between(i):
        w.grad = tg.ones(3) if i in (3, 4) else None

    return Program(lambda x: x * 2 if w.grad is None else x * w.grad, batches(tg, 3), tuple, between)


@trap
def accumulated_by_turns(tg):
    """Is an accumulation that zeroes at every other call by a flag of the surroundings right?"""
    w, clock = weight(tg, 3), {"i": 0}

    def step(x):
        (w * x).sum().backward()
        if clock["i"] % 2:
            w.grad.zero_()

    return Program(step, batches(tg, 3), lambda: w, lambda i: clock.update(i=i))


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


@trap
def default_dtype_switched_inside(tg):
    """Does a default dtype that is switched and restored inside hold for that part?"""

    def step(x):
        tg.set_default_dtype(tg.float64)
        y = tg.ones(3) * 2
        tg.set_default_dtype(tg.float32)
        return y, x + tg.ones(3)

    return Program(step, batches(tg, 3))


@trap
def default_dtype_left_switched(tg):
    """Does a default dtype that the step leaves switched stay switched?"""

    def step(x):
        y = x + tg.ones(3)
        tg.set_default_dtype(tg.float64)
        return y

    return Program(step, batches(tg, 3))


@trap
def grad_mode_left_switched(tg):
    """Does a grad mode that the step leaves switched stay switched?"""
    w = weight(tg, 3)

    def step(x):
        y = w * x
        tg.set_grad_enabled(not tg.is_grad_enabled())
        return y.detach()

    return Program(step, batches(tg, 3))


@trap
def grad_mode_asked(tg):
    """Does is_grad_enabled() inside answer for this call?"""
    return Program(
        lambda x: x * 2 if tg.is_grad_enabled() else x * 3,
        batches(tg, 3),
        tuple,
        lambda i: tg.set_grad_enabled(i not in (3, 4)),
    )


@trap
def decorated_by_no_grad(tg):
    """Is a function under @no_grad whose caller's mode changes right?"""
    w = weight(tg, 3)
    inner = tg.no_grad()(lambda x: w * x)
    return Program(lambda x: inner(x), batches(tg, 3), tuple, lambda i: tg.set_grad_enabled(i not in (3, 4)))


@trap
def weak_reference_to_a_tensor(tg):
    """Is a captured tensor that only a weak reference holds, and that dies, missed?"""
    world = {"w": ramp(tg, 3)}
    reference = weakref.ref(world["w"])

    def between(i):
        if i == 3:
            world["w"] = None

    def step(x):
        w = reference()
        return x if w is None else x * w

    return Program(step, batches(tg, 3), tuple, between)


@trap
def results_die(tg):
    """Do weak references to results and inner tensors die as in eager mode?"""
    references, alive = [], []

    def step(x):
        y = x * 2
        return y + 1

    def after(i, out):
        alive.append([r() is None for r in references])
        references.append(weakref.ref(out))

    return Program(step, batches(tg, 3), lambda: alive, after=after)


@trap
def numpy_array_reallocated(tg):
    """Is an array behind from_numpy at each call the array of this call?"""
    world = {"table": np.ones(3, np.float32)}

    def between(i):
        world["table"] = np.full(3, i, np.float32)

    return Program(lambda x: x + tg.from_numpy(world["table"]), batches(tg, 3), tuple, between)


@trap
def tensor_made_of_a_python_list(tg):
    """Is a tensor that is made of a captured list, changed in place, made of this call's numbers?"""
    numbers = [1.0, 2.0, 3.0]
    return Program(lambda x: x * tg.tensor(numbers), batches(tg, 3), tuple, lambda i: numbers.__setitem__(1, float(i)))


@trap
def index_by_a_python_list(tg):
    """Is an index that is a captured list, changed in place, this call's?"""
    order = [0, 1, 2]

    def between(i):
        order[:] = order[1:] + order[:1]

    return Program(lambda x: (x[order], x[:, order]), lambda i: (batch(tg, i, 3, 3),), tuple, between)


@trap
def slice_by_attributes(tg):
    """Is a slice whose bounds are in an object this call's?"""
    bounds = {"lo": 0, "hi": 2}

    def between(i):
        bounds.update(lo=i % 2, hi=2 + i % 3)

    return Program(lambda x: x[bounds["lo"] : bounds["hi"]] * 2, batches(tg, 5), tuple, between)


@trap
def ring_buffer(tg):
    """Does a buffer that is written at a place which Python counts on fill up round by round?"""
    memory, world = tg.zeros(3, 2), {"at": 0}

    def step(x):
        memory[world["at"] % 3] = x
        world["at"] += 1
        return memory.mean(0)

    return Program(step, batches(tg, 2), lambda: (memory, world["at"]))


@trap
def exponential_moving_average_with_warm_up(tg):
    """Does a decay that grows with a Python counter grow?"""
    w, mean, world = ramp(tg, 3), tg.zeros(3), {"n": 0}

    def step(x):
        w.add_(x)
        world["n"] += 1
        decay = min(0.9, (1 + world["n"]) / (10 + world["n"]))
        mean.mul_(decay).add_(w, alpha=1 - decay)

    return Program(step, batches(tg, 3), lambda: (w, mean, world))


@pytest.mark.parametrize("question", ask.rows())
def test_traps_tensors(answer, question):
    answer(question)
