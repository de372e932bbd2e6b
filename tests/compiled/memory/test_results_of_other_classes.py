"""Parameters and tensors of other classes that a call makes of what it computes: each call makes its own, of its class,
with its numbers, whether it returns it or leaves it somewhere."""

import copy

import pytest

import tracegrad as tg
from tracegrad import nn


class Sub(tg.Tensor):
    pass


class OfSlots(tg.Tensor):
    __slots__ = ("mark",)


class OwnParameter(nn.Parameter):
    pass


class Model(nn.Module):
    def __init__(self, x):
        super().__init__()
        self.weight = nn.Parameter(x * 2)


def grown(x):
    made = nn.UninitializedParameter()
    made.materialize((3,))
    with tg.no_grad():
        made.copy_(x * 2)
    return made


def of_a_list(x):
    return nn.ParameterList([nn.Parameter(x * 2)])[0]


WEIGHT = nn.Parameter(tg.ones(3))
MADE = {
    "Parameter": lambda x: nn.Parameter(x * 2),
    "Parameter of an argument": lambda x: nn.Parameter(x),
    "Parameter without gradients": lambda x: nn.Parameter(x * 2, requires_grad=False),
    "Parameter of .data": lambda x: nn.Parameter((WEIGHT * x * 2).data),
    "Parameter, scalar": lambda x: nn.Parameter(x[0] * 2),
    "a class of parameters": lambda x: OwnParameter(x * 2),
    "a module's": lambda x: Model(x).weight,
    "ParameterList": of_a_list,
    "UninitializedParameter": grown,
    "Buffer": lambda x: nn.Buffer(x * 2),
    "Tensor": lambda x: tg.Tensor(x * 2),
    "as_subclass": lambda x: (x * 2).as_subclass(Sub),
    "as_subclass with slots": lambda x: (x * 2).as_subclass(OfSlots),
    "_make_subclass": lambda x: tg.Tensor._make_subclass(Sub, x * 2),
    "_make_subclass of Parameter": lambda x: tg.Tensor._make_subclass(nn.Parameter, x * 2),
    "copy": lambda x: copy.copy(x * 2),
    "deepcopy": lambda x: copy.deepcopy((x * 2).detach()),
    "copy of a parameter": lambda x: copy.copy(nn.Parameter(x * 2)),
    "used": lambda x: (nn.Parameter(x * 2) * x).sum(),
    "differentiated": lambda x: (p := nn.Parameter(x * 2), (p * p).sum().backward())[0].grad,
}
PLACES = {
    "returned": lambda make, place: make,
    "in a tuple": lambda make, place: lambda x: (make(x), x * 3),
    "in a dict": lambda make, place: lambda x: {"made": make(x)},
    "stored": lambda make, place: lambda x: (place.update(kept=make(x)), x * 3)[1],
    "appended": lambda make, place: lambda x: (place["list"].append(make(x)), x * 3)[1],
    "in no_grad": lambda make, place: tg.no_grad()(make),
}


def shown(value):
    if isinstance(value, tg.Tensor):
        return type(value), isinstance(value, nn.Parameter), value.requires_grad, value.is_leaf, value.tolist()
    if isinstance(value, dict):
        return {key: shown(each) for key, each in value.items()}
    return [shown(each) for each in value] if isinstance(value, (tuple, list)) else value


def outcome(function, place, i):
    try:
        return shown(function(tg.ones(3) * i)), shown(place)
    except Exception as error:
        return type(error)


@pytest.mark.long(fast=11)
@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("name", MADE)
def test_each_call_makes_its_own(name, where):
    places = [{"list": []} for _ in range(2)]
    eager, program = (PLACES[where](MADE[name], place) for place in places)
    compiled = tg.compile(program)
    for i in range(1, 6):
        assert outcome(compiled, places[1], i) == outcome(eager, places[0], i)
