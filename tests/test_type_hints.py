"""``typing.get_type_hints`` of what programs call: all names in signatures can be looked up."""

import inspect
import typing

import pytest

import tracegrad as tg
from tracegrad.tracing import counted

PLACES = {
    "tracegrad": tg, "nn": tg.nn, "nn.functional": tg.nn.functional, "nn.init": tg.nn.init, "nn.utils": tg.nn.utils,
    "nn.utils.rnn": tg.nn.utils.rnn, "linalg": tg.linalg, "fft": tg.fft, "special": tg.special, "optim": tg.optim,
    "optim.lr_scheduler": tg.optim.lr_scheduler, "autograd": tg.autograd, "func": tg.func, "amp": tg.amp,
    "autograd.functional": tg.autograd.functional, "distributions": tg.distributions, "utils.data": tg.utils.data,
}  # fmt: skip


def functions(owner):
    for name, member in vars(owner).items():
        if inspect.isfunction(member):
            yield name, member
        elif inspect.isclass(member) and member.__module__.partition(".")[0] == "tracegrad" and owner is not member:
            yield from ((f"{name}.{n}", m) for n, m in vars(member).items() if inspect.isfunction(m))


@pytest.mark.parametrize("place", PLACES)
def test_names_in_signatures_exist(place):
    unknown, asked = {}, 0
    for name, function in functions(PLACES[place]):
        asked += 1
        try:
            typing.get_type_hints(function)
        except NameError as error:
            unknown[name] = str(error)
    assert asked and not unknown


def test_hints_are_the_classes():
    hints = typing.get_type_hints(tg.sum)
    assert hints["input"] is hints["return"] is tg.Tensor and hints["keepdim"] is bool
    assert typing.get_type_hints(tg.nn.Linear.forward)["return"] is tg.Tensor
    assert typing.get_type_hints(tg.Tensor.clone)["return"] is tg.Tensor


def test_classes_show_the_arguments_of_their_init_in_each_python():
    """Python 3.10 would show the `__new__` that all layers have; what is done there is compared with later Pythons."""
    layers = [c for c in vars(tg.nn).values() if inspect.isclass(c) and issubclass(c, tg.nn.Module)]
    assert len(layers) > 100
    for layer in layers:
        shown = list(inspect.signature(layer).parameters.values())
        assert list(counted._Signature().__get__(None, layer).parameters.values()) == shown
    assert list(inspect.signature(tg.nn.Conv2d).parameters)[:3] == ["in_channels", "out_channels", "kernel_size"]
    assert "input" in inspect.signature(tg.nn.Linear(1, 1).forward).parameters
