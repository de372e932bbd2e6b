"""Modules, optimizers, tensors and settings of the library that change after calls were replayed, by all ways."""

import collections
import os
import sys

import numpy as np
import pytest
from compiled.changing import Programs, assert_changes_are_noticed
from side_by_side import ramp

program = Programs()


def layer_with(tg, **given):
    class Layer(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = 2.0
            self.weight = tg.nn.Parameter(ramp(tg, 3))
            self.register_buffer("mask", ramp(tg, 3))
            self.inner = tg.nn.Identity()

        def forward(self, x):
            return self.inner(x) * self.scale * self.weight + self.mask

    return Layer()


#: How a module is changed, by ways that its own methods do not see.
MODULES = {
    "attribute": lambda tg, m, v: setattr(m, "scale", v),
    "attribute_by_the_dict": lambda tg, m, v: m.__dict__.update(scale=v),
    "attribute_by_vars": lambda tg, m, v: vars(m).__setitem__("scale", v),
    "dict_replaced": lambda tg, m, v: setattr(m, "__dict__", dict(vars(m), scale=v)),
    "parameter_by_the_dict": lambda tg, m, v: m._parameters.__setitem__("weight", tg.nn.Parameter(ramp(tg, 3) * v)),
    "parameters_replaced": lambda tg, m, v: m.__dict__.update(_parameters={"weight": tg.nn.Parameter(ramp(tg, 3) * v)}),
    "buffer_by_the_dict": lambda tg, m, v: m._buffers.__setitem__("mask", ramp(tg, 3) * v),
    "module_by_the_dict": lambda tg, m, v: m._modules.__setitem__(
        "inner", tg.nn.ReLU() if v == 5.0 else tg.nn.Identity()
    ),
    "forward_by_the_dict": lambda tg, m, v: m.__dict__.update(forward=lambda x: x * v),
    "forward_of_a_layer_by_the_dict": lambda tg, m, v: m.inner.__dict__.update(forward=lambda x: x * v),
    "hook_by_the_dict": lambda tg, m, v: m._forward_hooks.__setitem__(7, lambda module, args, out: out * v),
    "data_of_a_parameter": lambda tg, m, v: setattr(m.weight, "data", ramp(tg, 3) * v),
    "numbers_of_a_parameter": lambda tg, m, v: m.weight.data.fill_(v),
    "attribute_of_a_class": lambda tg, m, v: setattr(type(m), "factor", v),
}


def with_module(name, change):
    def maker(tg):
        module = layer_with(tg)
        return lambda x: module(x), lambda v: change(tg, module, v)

    maker.__name__ = f"module_{name}"
    program(maker)


for _name, _change in MODULES.items():
    with_module(_name, _change)


@program
def attribute_of_a_module_that_sets_in_its_own_way(tg):
    class Layer(tg.nn.Module):
        def __setattr__(self, name, value):
            object.__setattr__(self, name, value)

        def forward(self, x):
            return x * self.scale

    layer = Layer()
    layer.scale = 2.0
    return lambda x: layer(x), lambda v: setattr(layer, "scale", v)


@program
def attribute_of_a_module_made_in_its_own_way(tg):
    class Layer(tg.nn.Module):
        def __new__(cls):
            return object.__new__(cls)

        def forward(self, x):
            return x * self.scale

    layer = Layer()
    layer.scale = 2.0
    return lambda x: layer(x), lambda v: layer.__dict__.update(scale=v)


@program
def attribute_of_a_library_layer_by_the_dict(tg):
    layer = tg.nn.LeakyReLU(0.2)
    return lambda x: layer(x - 1), lambda v: layer.__dict__.update(negative_slope=v)


@program
def training_by_the_dict(tg):
    layer = tg.nn.Dropout(0.5)
    layer.eval()
    return lambda x: layer(x), lambda v: layer.__dict__.update(training=v == 5.0)


@program
def attribute_of_a_scheduler(tg):
    optimizer = tg.optim.SGD([tg.ones(2, requires_grad=True)], 0.1)
    scheduler = tg.optim.lr_scheduler.StepLR(optimizer, 2)
    return lambda x: x * scheduler.step_size, lambda v: setattr(scheduler, "step_size", int(v))


@program
def attribute_of_an_optimizer_by_the_dict(tg):
    optimizer = tg.optim.SGD([tg.ones(2, requires_grad=True)], 0.1)
    optimizer.scale = 2.0
    return lambda x: x * optimizer.scale, lambda v: optimizer.__dict__.update(scale=v)


@program
def defaults_of_an_optimizer(tg):
    optimizer = tg.optim.SGD([tg.ones(2, requires_grad=True)], 0.1)
    return lambda x: x * optimizer.defaults["lr"], lambda v: optimizer.defaults.update(lr=v)


@program
def attribute_of_a_tensor_by_the_dict(tg):
    w = ramp(tg, 3)
    w.scale = 2.0
    return lambda x: x * w.scale, lambda v: w.__dict__.update(scale=v)


@program
def attribute_of_a_tensor_that_comes(tg):
    w = ramp(tg, 3)

    def step(x):
        try:
            return x * w.scale
        except AttributeError:
            return x * 2.0

    return step, lambda v: setattr(w, "scale", v)


@program
def attribute_of_a_parameter(tg):
    w = tg.nn.Parameter(ramp(tg, 3))
    w.scale = 2.0
    return lambda x: x * w.scale, lambda v: setattr(w, "scale", v)


@program
def tensor_in_a_set(tg):
    w = ramp(tg, 3)
    kept = {w}
    return lambda x: x * (2.0 if w in kept else 5.0), lambda v: kept.clear() if v == 5.0 else kept.add(w)


@program
def tensor_in_a_chain_map(tg):
    table = collections.ChainMap({}, {"w": ramp(tg, 3)})
    return lambda x: x * table["w"], lambda v: table.update(w=ramp(tg, 3) * v)


@program
def default_type(tg):
    def change(v):
        tg.set_default_dtype(tg.float64 if v == 5.0 else tg.float32)

    return lambda x: x + tg.ones(3), change


@program
def entry_of_the_environment(tg):
    os.environ["CHANGING"] = "2"
    return lambda x: x * float(os.environ["CHANGING"]), lambda v: os.environ.update(CHANGING=str(v))


@program
def recursion_limit(tg):
    before = sys.getrecursionlimit()
    return lambda x: x * (sys.getrecursionlimit() - before + 2), lambda v: sys.setrecursionlimit(before - 2 + int(v))


@program
def print_options_of_numpy(tg):
    np.set_printoptions(precision=2)

    def step(x):
        return x * len(str(np.array([1 / 3])))

    return step, lambda v: np.set_printoptions(precision=8 if v == 2.0 else int(v))


@pytest.mark.parametrize("make", program.rows())
def test_changes_of_library_objects(tg, make):
    assert_changes_are_noticed(tg, make)
