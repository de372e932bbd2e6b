"""Compiled functions whose variables, arguments, parameters and own names mean something in C, against eager mode."""

import builtins
import keyword

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn

#: Locals of templates, macros, types, functions, keywords; names of what the program is called with.
NAMES = """
    row column line k place before best value linux unix NAN INFINITY M_PI NULL INT64_MAX int64_t memcpy double
    i j p i0 v1 z0 n n0 n1 in0 out0 acc arena slots detail sizes scratch dot_row dot_sum dot_scalar0 dot_add_0 tg_expf
    static void _ __x__ größe α index_ x_ x_2 size_t bool_ sum_0 tracegrad_step main errno stdin
""".split()
METHODS = ("argmax(1)", "argsort(1)", "cumsum(1)", "max(1).values", "sum(0)", "softmax(1)", "exp()", "matmul({0}.T)")


def defined(name, arguments, body):
    """A function of that name; its file is no file, its line is 1."""
    names = {"tg": tg}
    exec(f"def {name}({', '.join(arguments)}):\n    return ({body},)", names)
    return names[name]


def agree(function, arguments):
    step = tg.compile(function)
    for number in range(3):
        given = [tensor + number for tensor in arguments]
        for result, expected in zip(step(*given), function(*given), strict=True):
            np.testing.assert_allclose(result.numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    assert step.way == "replay", step.explain()


def test_the_names_here_are_pythons_own():
    assert not [name for name in NAMES if keyword.iskeyword(name) or not name.isidentifier()]
    assert not set(NAMES) & set(dir(builtins)) - {"_"}  # which a prompt sets to what it has printed


@pytest.mark.parametrize("method", METHODS)
def test_arguments_and_functions(method):
    tg.manual_seed(0)
    body = ", ".join(f"{name}.{method.format(name)}" for name in NAMES)
    agree(defined("row", NAMES, body), [tg.randn(3, 4) for _ in NAMES])


@pytest.mark.parametrize("name", ["main", "row", "α", "__x__", "x" * 300, "tracegrad_step", "argmax_0", "linux"])
def test_names_of_functions(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_DUMP", str(tmp_path))  # the stages go into files that are called like the function
    agree(defined(name, [name], f"{name}.argmax(1), {name} @ {name}.T + 1"), [tg.randn(3, 4)])
    assert list(tmp_path.glob("*.c"))


NO_IDENTIFIERS = ["", "a\0b", "\n", "\ud800", "*/ #error /*", "{{ x }}", "../x", "/", "%s", "<>", "ü\x1b["]


@pytest.mark.parametrize("name", NO_IDENTIFIERS)
def test_names_that_are_no_identifiers(name, tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_DUMP", str(tmp_path))
    function = defined("row", ["row"], "row.argmax(1), row @ row.T + 1")
    function.__name__ = function.__qualname__ = name
    agree(function, [tg.randn(3, 4)])
    assert list(tmp_path.glob("*.c"))


class Named(nn.Module):
    """Parameters and modules of given names."""

    def __init__(self, names):
        super().__init__()
        for name in names:
            self.register_parameter(name, nn.Parameter(tg.randn(4)))
            self.add_module(f"{name}_", nn.Linear(4, 4))
            self.add_module(f"{name}__", nn.Linear(4, 4))

    def forward(self, x):
        for name, parameter in self.named_parameters(recurse=False):
            x = tg.tanh(getattr(self, f"{name}__")(getattr(self, f"{name}_")(x)) * parameter)
        return x


def trained(names, compiled):
    tg.manual_seed(0)
    model = Named(names)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def step(sizes, n0):
        optimizer.zero_grad()
        loss = ((model(sizes) - n0) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    step = tg.compile(step) if compiled else step
    losses = [step(tg.ones(n, 4), tg.zeros(n, 4)).item() for n in (5, 5, 5, 7, 7, 7, 6, 6)]
    return losses, [p.detach().numpy().copy() for p in model.parameters()]


@pytest.mark.parametrize("part", range(3))
def test_parameters_gradients_and_state(part):
    """One of several sizes, so that the sizes have names in C, too."""
    names = ["??/", "/*", "a*/b", "x" * 300, *NAMES[part::12]]
    losses, parameters = trained(names, compiled=True)
    expected, wanted = trained(names, compiled=False)
    np.testing.assert_allclose(losses, expected, rtol=1e-5)
    for one, other in zip(parameters, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
