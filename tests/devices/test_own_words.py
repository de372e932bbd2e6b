"""Settings refuse what they do not take in the words of PyTorch's functions, which have no parser of arguments."""

import numpy as np
import pytest

import tracegrad as tg

REFUSED = [
    ("set_flush_denormal", RuntimeError, "flush_denormal expects a bool, but got {}"),
    ("set_warn_always", RuntimeError, "setWarnOnlyOnce expects a bool, but got {}"),
    ("set_float32_matmul_precision", RuntimeError, "set_float32_matmul_precision expects a str, but got {}"),
    (
        "use_deterministic_algorithms", TypeError,
        r"_set_deterministic_algorithms\(\): argument 'mode' \(position 1\) must be bool, not {}",
    ),
]  # fmt: skip


@pytest.mark.parametrize("value", [1, 1.5, None])
@pytest.mark.parametrize("name, error, words", REFUSED)
def test_wrong_values_are_refused_in_pytorchs_words(name, error, words, value):
    with pytest.raises(error, match=f"^{words.format(type(value).__name__)}"):
        getattr(tg, name)(value)


@pytest.mark.parametrize("seed", [1.5, "1", True, np.int64(1), tg.tensor(1)])
def test_a_seed_is_whatever_int_takes(seed):
    assert tg.manual_seed(seed) is tg.default_generator and tg.initial_seed() == 1


@pytest.mark.parametrize("size", [np.int64(1), 1.0, None, "a", np.array(1)])
def test_split_tells_one_integer_by_its_class(size):
    x = tg.ones(2, 2)
    for call in (tg.split, tg.Tensor.split):
        with pytest.raises(TypeError, match="must be tuple of ints, not"):
            call(x, size)
        assert len(call(x, 1)) == len(call(x, tg.tensor(1))) == len(call(x, [np.int64(1), 1])) == 2


def test_modules_of_code_that_has_no_name_are_called_after_meta_tensors():
    tg.nn.Linear(2, 2).to("meta")
    names = {"tg": tg}  # without __name__: the functions' __module__ is None
    exec("class Scale(tg.nn.Module):\n    def forward(self, x):\n        return 2 * x", names)
    assert names["Scale"].forward.__module__ is None
    assert names["Scale"]()(tg.tensor([1.0])).item() == 2


@pytest.mark.parametrize("path", ["cuda", "cpu", "mps", "xpu", "distributed", "accelerator", "backends"])
def test_other_modules_have_no_class_of_layers(path):
    assert not hasattr(getattr(tg, path), "Module")
