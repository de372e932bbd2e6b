"""Tensors under copy, deepcopy, pickle, save and load."""

import copy
import pickle

import pytest


def test_deepcopy_has_memory_and_gradient_of_its_own(tg):
    x = tg.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    copied = copy.deepcopy(x)
    with tg.no_grad():
        copied.add_(1)
    copied.grad.zero_()
    assert x.tolist() == [1.0, 1.0] and x.grad.tolist() == [3.0, 3.0] and copied.requires_grad


def test_deepcopy_keeps_sharing_inside_a_structure(tg):
    x = tg.ones(2)
    first, second = copy.deepcopy([x, x])
    assert first is second


def test_deepcopy_of_a_result_is_refused(tg):
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(tg.ones(2, requires_grad=True) * 2)


def test_pickle_keeps_numbers_type_and_flag(tg):
    x = tg.arange(6.0, dtype=tg.float64).view(2, 3).t().requires_grad_()
    loaded = pickle.loads(pickle.dumps(x))
    assert loaded.tolist() == x.tolist() and loaded.dtype is x.dtype and loaded.requires_grad


def test_save_replaces_the_file_whole_or_not_at_all(tg, tmp_path):
    path = tmp_path / "state.pt"
    tg.save({"x": tg.ones(2)}, path)
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        tg.save({"x": lambda: None}, path)
    assert tg.load(path)["x"].tolist() == [1.0, 1.0]
    assert [p.name for p in tmp_path.iterdir()] == ["state.pt"]
