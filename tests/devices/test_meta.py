"""Tensors on the device meta: PyTorch's outcomes, and shapes of all functions beside those on the CPU."""

import copy
import io
import json
import re
import warnings
from pathlib import Path

import pytest

import tracegrad
from tracegrad.tensors.meta.memory import Blank

#: PyTorch's outcomes: what is printed, or the class of the error.
EXPECTED = json.loads((Path(__file__).parents[1] / "expected" / "meta_device.json").read_text(encoding="utf-8"))


def outcome(tg, text):
    names = {"torch": tg, "nn": tg.nn, "F": tg.nn.functional}
    *statements, expression = text.split(";")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(";".join(statements), names)
            return re.sub(r"\s+", " ", repr(eval(expression, names)).replace("tracegrad.", "torch."))
    except Exception as error:
        return type(error).__name__
    finally:
        tg.set_default_device(None)


@pytest.mark.parametrize("text", EXPECTED)
@pytest.mark.long(fast=2)
def test_outcomes(tg, text):
    assert outcome(tg, text) == EXPECTED[text]


# ------------------------------------------------------------------------------------- shapes beside those on the CPU


#: Functions without a tensor among their results, or whose results are whole programs'.
NO_SHAPES = frozenset("compile deferred save load cond while_loop from_dlpack to_dlpack vmap is_storage".split())
ARGUMENTS = [
    lambda x: (x,), lambda x: (x, x), lambda x: (x, 1), lambda x: (x, x, x), lambda x: (x, 0, 1), lambda x: (x, (9,)),
    lambda x: ([x, x],), lambda x: (x, (1, 0)), lambda x: (x, x > 0, 1.0), lambda x: (x, 0, (x > 9).long(), 1.0),
    lambda x: (x.unsqueeze(0), x.unsqueeze(0)), lambda x: (x.reshape(1, 1, 3, 3), 2), lambda x: (x[0], x[0]),
]  # fmt: skip


def functions():
    """Public functions and methods by name, with the arguments that the CPU takes first, made of a matrix."""
    tg = tracegrad
    spaces = {"": tg, "nn.functional.": tg.nn.functional, "special.": tg.special, "linalg.": tg.linalg}
    for prefix, space in {**spaces, "Tensor.": tg.Tensor}.items():
        for name in sorted(dir(space)):
            function = getattr(space, name)
            public = name[0] != "_" and name not in NO_SHAPES and not re.match("set_|is_|(un)?register", name)
            if public and callable(function) and not isinstance(function, type):
                yield prefix + name, as_method(name) if prefix == "Tensor." else function


def as_method(name):
    return lambda x, *rest: getattr(x, name)(*rest)


def tensors_in(value):
    if isinstance(value, tracegrad.Tensor):
        return [value]
    return [t for item in value for t in tensors_in(item)] if isinstance(value, (tuple, list)) else []


def called(function, make, device):
    x = tracegrad.ones(3, 3, device=device)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return tensors_in(function(*make(x)))
    except Exception:
        return None


@pytest.mark.parametrize("name, function", list(functions()))
@pytest.mark.long(fast=13, every=3)
def test_results_have_the_shapes_of_those_on_the_cpu(name, function):
    """Or the function refuses: no result ever has numbers."""
    for make in ARGUMENTS:
        on_cpu = called(function, make, "cpu")
        on_meta = called(function, make, "meta")
        if on_meta is not None:
            assert all(t.is_meta and isinstance(t.ndarray, Blank) for t in on_meta)
        if on_cpu and on_meta is not None:
            assert [(t.shape, t.dtype) for t in on_meta] == [(t.shape, t.dtype) for t in on_cpu]


@pytest.mark.long
def test_few_functions_refuse():
    """What works on the CPU works on the device meta, but for what depends on numbers, and what numpy computes."""
    worked = refused = 0
    for _, function in functions():
        for make in ARGUMENTS:
            if called(function, make, "cpu"):
                worked += 1
                refused += called(function, make, "meta") is None
    assert worked > 1000 and refused < worked // 5, (worked, refused)


# ------------------------------------------------------------------------------------------------- what programs do


def test_a_model_that_fits_in_no_memory(tg):
    with tg.device("meta"):
        model = tg.nn.Sequential(tg.nn.Linear(10**6, 10**7), tg.nn.ReLU(), tg.nn.Linear(10**7, 10))
    assert sum(p.numel() for p in model.parameters()) == 10**13 + 10**7 + 10**8 + 10
    loss = model(tg.empty(4, 10**6, device="meta")).square().mean()
    loss.backward()
    assert model[0].weight.grad.shape == (10**7, 10**6) and model[0].weight.grad.is_meta


def test_weights_that_are_assigned(tg):
    source = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.BatchNorm1d(4))
    with tg.device("meta"):
        model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.BatchNorm1d(4))
    file = io.BytesIO()
    tg.save(source.state_dict(), file)
    file.seek(0)
    model.load_state_dict(tg.load(file), assign=True)
    x = tg.rand(5, 3)
    assert tg.equal(model(x), source(x)) and all(p.requires_grad for p in model.parameters())


def test_loading_without_assigning_warns(tg):
    model = tg.nn.Linear(3, 2, device="meta")
    with pytest.warns(UserWarning, match="for (weight|bias): copying from a non-meta parameter"):
        model.load_state_dict(tg.nn.Linear(3, 2).state_dict())
    assert model.weight.is_meta


def test_memory_that_is_filled_then(tg):
    model = tg.nn.Linear(3, 2, device="meta").to_empty(device="cpu")
    tg.manual_seed(3)
    model.reset_parameters()
    tg.manual_seed(3)
    expected = tg.nn.Linear(3, 2)
    assert tg.equal(model.weight, expected.weight) and type(model.weight) is type(expected.weight)


def test_a_module_that_loses_its_numbers(tg):
    model = tg.nn.Linear(3, 2)
    model(tg.ones(1, 3)).sum().backward()
    before = model.weight
    model.to("meta")
    assert model.weight is not before and model.weight.is_meta and model.weight.grad.is_meta and not before.is_meta


def test_draws_leave_the_generator_as_it_is(tg):
    before = tg.get_rng_state()
    tg.randn(4, 5, device="meta"), tg.nn.Linear(3, 2, device="meta"), tg.randperm(4, device="meta")
    tg.nn.functional.dropout(tg.ones(3, 3, device="meta"))
    assert tg.equal(tg.get_rng_state(), before)


def test_views_share_what_they_show(tg):
    x = tg.empty(4, 6, device="meta")
    view = x.t()[1:]
    assert view._base is x and view.stride() == (1, 6) and view.storage_offset() == 1
    version = x._version
    view.add_(1)
    assert x._version == version + 1


def test_copies_and_files(tg):
    model = tg.nn.Linear(3, 2, device="meta")
    copied = copy.deepcopy(model)
    assert copied.weight is not model.weight and isinstance(copied.weight, tg.nn.Parameter) and copied.weight.is_meta
    file = io.BytesIO()
    tg.save({"x": tg.empty(2, 3, device="meta").t(), **model.state_dict()}, file)
    file.seek(0)
    loaded = tg.load(file)
    assert loaded["x"].is_meta and loaded["x"].stride() == (1, 3) and loaded["weight"].shape == (2, 3)


def test_lazy_layers_refuse(tg):
    with pytest.raises(NotImplementedError, match="meta devices"):
        tg.nn.LazyLinear(3, device="meta")


# --------------------------------------------------------------------------------------------------------- compiled


def test_compiled_functions_go_on_without_a_program(tg):
    model = tg.nn.Linear(3, 2)
    step = tg.compile(lambda x: model(x).sum())
    x = tg.ones(4, 3)
    for _ in range(3):
        expected = step(x)
    model.to("meta")
    with pytest.raises(RuntimeError, match="Tensor on device meta is not on the expected device cpu"):
        step(x)
    assert step(tg.empty(4, 3, device="meta")).is_meta
    assert "a tensor on the device meta" in str(step.explain())
    model.to_empty(device="cpu")
    tg.nn.init.zeros_(model.weight), tg.nn.init.ones_(model.bias)
    for _ in range(3):
        assert step(x).item() == 8.0 != expected.item()


def test_shapes_within_compiled_functions(tg):
    def width(x):
        with tg.device("meta"):
            shape = (tg.empty(4, 3) @ tg.empty(3, 5)).shape
        return x * shape[1]

    step = tg.compile(width)
    for i in range(4):
        assert tg.equal(step(tg.ones(2) * i), width(tg.ones(2) * i))
