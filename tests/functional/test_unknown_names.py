"""Names that there are not: AttributeError with what is near; ``hasattr`` and ``getattr`` with a default work."""

import sys
from types import ModuleType

import pytest

import tracegrad as tg

MODULES = [
    module
    for name, module in sorted(sys.modules.items())
    if name.partition(".")[0] == "tracegrad" and type(module).__name__ == "WatchedModule"
]


@pytest.mark.parametrize(
    "of, name, near",
    [
        (tg, "matmull", "The nearest name is 'matmul'."),
        (tg, "fx", "Instead, step.graph of a compiled function"),
        (tg.nn, "Lineer", "The nearest name is 'Linear'."),
        (tg.nn, "ReLu", "The nearest name is 'ReLU'."),
        (tg.nn.functional, "sofmax", "The nearest name is 'softmax'."),
        (tg.optim, "SGDD", "The nearest name is 'SGD'."),
        (tg.ones(2), "sume", "The nearest name is 'sum'."),
        (tg.ones(2), "to_mkldnn", "Instead, tensors are dense."),
    ],
)
def test_an_unknown_name_is_answered_with_what_is_near(of, name, near):
    with pytest.raises(AttributeError, match="is not in tracegrad") as refused:
        getattr(of, name)
    assert near in str(refused.value) and f"has no attribute {name!r}" in str(refused.value)
    assert refused.value.name == name and refused.value.obj is of
    assert not hasattr(of, name) and getattr(of, name, 7) == 7


def test_every_module_answers_so():
    assert len(MODULES) > 100 and all(isinstance(module, ModuleType) for module in MODULES)
    for module in MODULES:
        with pytest.raises(AttributeError, match="is not in tracegrad"):
            module.no_such_name
        with pytest.raises(AttributeError) as refused:
            module.__no_such_name__
        assert "is not in tracegrad" not in str(refused.value)


def test_a_compiled_function_may_ask_for_what_is_not_there():
    def step(x):
        return x * (2 if hasattr(tg, "no_such_name") or hasattr(x, "no_such_name") else 3)

    compiled = tg.compile(step)
    for n in range(4):
        assert compiled(tg.ones(2) * n).tolist() == [3.0 * n] * 2
    with pytest.raises(ImportError):
        exec("from tracegrad.nn import NoSuchLayer")
