"""Subclasses of Tensor, however they are defined. What becomes of them: expected/behaviour/subclasses.py."""

import copy
import pickle
import typing

import pytest

import tracegrad
from tracegrad.functional import in_place
from tracegrad.tensors import indexing, operands, overriding

Item = typing.TypeVar("Item")


def defined(tg):
    """Classes that are defined in unusual ways."""

    class Slotted(tg.Tensor):
        __slots__ = ("extra",)

    class Plain(tg.Tensor):
        pass

    class Meta(type(tg.Tensor)):
        pass

    class WithMeta(tg.Tensor, metaclass=Meta):
        pass

    class Generic(tg.Tensor, typing.Generic[Item]):
        pass

    class Mixed:
        def add(self, other):
            return "mixed"

    class First(Mixed, tg.Tensor):
        pass

    class Last(tg.Tensor, Mixed):
        pass

    class Hooked(tg.Tensor):
        def __init_subclass__(cls, tag=None):
            cls.tag = tag

    class Below(Hooked, tag=3):
        pass

    class Two(First, Plain):
        pass

    return Slotted, Plain, WithMeta, Generic, First, Last, Hooked, Below, Two


def test_classes_defined_in_all_ways_keep_their_class(tg):
    for kind in defined(tg):
        x = kind([1.0, 2.0])
        for result in (x * 2, 2 * x, x[0], x.sum(), tg.exp(x), tg.cat([x, x]), x.T, x.detach(), tg.ones(2) + x):
            assert type(result) is kind, kind
        assert isinstance(x, tg.Tensor) and issubclass(kind, tg.Tensor)


def test_methods_of_other_bases_count_in_their_order(tg):
    *_, first, last, _, below, two = defined(tg)
    assert first([1.0]).add(1) == "mixed" and two([1.0]).add(1) == "mixed"
    assert type(last([1.0]).add(1)) is last
    assert below.tag == 3


def test_slots_are_the_objects_own(tg):
    slotted = defined(tg)[0]
    x = slotted([1.0])
    x.extra = 4
    assert x.extra == 4 and not hasattr(x * 2, "extra") and x.add_(1).extra == 4


class Kept(tracegrad.Tensor):
    """A class that pickle finds by its name."""


@pytest.mark.parametrize("protocol", [2, 5])
def test_pickles_keep_class_attributes_and_flags(protocol):
    x = Kept([1.0, 2.0])
    x.note = [3]
    x.requires_grad_()
    back = pickle.loads(pickle.dumps(x, protocol))
    assert type(back) is Kept and back.note == [3] and back.requires_grad and back.tolist() == [1.0, 2.0]


def test_saved_files_keep_the_class_if_it_may_be_loaded(tmp_path):
    tg = tracegrad
    x = Kept([1.0])
    x.note = 3
    tg.save({"x": x}, tmp_path / "file")
    with pytest.raises(pickle.UnpicklingError, match="Kept"):
        tg.load(tmp_path / "file")
    back = tg.load(tmp_path / "file", weights_only=False)["x"]
    assert type(back) is Kept and back.note == 3


def test_parameters_of_a_subclass_are_parameters_after_copy_and_pickle():
    tg = tracegrad
    parameter = tg.nn.Parameter(Kept([1.0]))
    for back in (copy.copy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert type(back) is Kept and isinstance(back, tg.nn.Parameter) and back.requires_grad


def test_plain_tensors_do_not_ask(monkeypatch):
    """No function or method of plain tensors looks for anybody to ask, as long as a program has no subclass."""
    tg = tracegrad
    asked = []

    def counted(values):
        asked.append(list(values))
        return []

    monkeypatch.setattr(overriding.subclasses, "exist", False)
    for module in (operands, indexing, in_place):
        monkeypatch.setattr(module, "overloaded", counted)
    F, x, w = tg.nn.functional, tg.ones(2, 2), tg.nn.Parameter(tg.ones(2, 2))
    layer = tg.nn.Sequential(tg.nn.Linear(2, 2), tg.nn.ReLU(), tg.nn.LayerNorm(2))
    loss = F.mse_loss(layer(x), x @ w + tg.cat([x[:1], x[1:]]) * 2 - tg.where(x > 0, x, 0.5).clamp(min=0.0))
    loss.backward()
    tg.optim.SGD([w, *layer.parameters()], lr=0.1, momentum=0.9).step()
    y = x.clone().add_(1).mul_(x)
    y[0] = y[1]
    y += tg.stack([x[0], x[1]])
    assert float(tg.max(y, dim=0).values.sum()) and y.T.shape == (2, 2)
    assert tg.mul(x, other=2).sum(dim=0, keepdim=True)[0, 0] == 4
    assert asked == []
