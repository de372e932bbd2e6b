"""TRACEGRAD_CHECK_NAN=1: the first operation that makes a NaN or an infinity is an error that names it.

The variable is read when the library is imported, so the programs run in a process of their own, which prints for each
case what was raised.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tracegrad as tg

PROGRAM = """
import json, sys, warnings
import tracegrad as tg
from tracegrad import nn
F = tg.nn.functional
warnings.simplefilter("ignore")

class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(tg.ones(3))
    def forward(self, x, case):
        x = x * self.weight
        if case == "log":
            return x.log()  # log
        if case == "division":
            return x / (x - x)  # division
        if case == "reflected":
            return 1 / (x - x)  # reflected
        if case == "function":
            return tg.sqrt(x)  # function
        if case == "in place":
            return (x * 1).log_()  # in place
        if case == "overflow":
            return F.softplus(x * 1e30) * 1e30  # overflow
        if case == "derivative":
            return (x * 0).sqrt() * 0  # derivative
        if case == "infinite derivative":
            return (x * x * 0).sqrt()  # infinite derivative
        if case == "product":
            return tg.ones(2, 3) @ (x * CASES[case])  # product
        if case == "mask":
            return x.masked_fill(x < 0, -float("inf")).softmax(-1)
        if case == "made mask":
            return (x + tg.full((3,), -float("inf")).triu(1) if x.ndim > 1 else x).exp()
        zero = (x * 0).detach()
        if case == "hidden":  # what the library leaves out again within is nobody's
            return F.kl_div(x.log_softmax(-1), tg.tensor([0.0, 0.5, 0.5]), reduction="sum") + tg.xlogy(zero, zero)
        if case == "integers":
            return x + (x > 0) + tg.arange(3)
        if case == "double":
            return (x.double() * 1e200 * 1e200).sum()  # double
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Identity())
        self.layer = Inner()
    def forward(self, x, case):
        return self.layer(self.inner(x), case)

CASES = json.loads(sys.argv[1])
CASES = {case: float("nan") if case == "product" else 0.0 for case in CASES}

def outcome(serve, case):
    tg.manual_seed(0)
    net = Net()
    optimizer = tg.optim.SGD(net.parameters(), lr=3e38 if case == "optimizer" else 0.1)
    def step(x, case):
        optimizer.zero_grad()
        loss = net(x, case).sum()
        if case == "loss":
            loss = (loss * 0).log()  # loss
        loss.backward()  # backward
        optimizer.step()  # optimizer
        return loss
    step = serve(step)
    try:
        for _ in range(3):
            step(tg.tensor([1.0, -2.0, 3.0]), case)
    except RuntimeError as error:
        return [str(error), *getattr(error, "__notes__", ())]
    return getattr(step, "way", "fine")

serves = {"eager": lambda f: f, "compiled": tg.compile, "deferred": tg.deferred()}
print(json.dumps({way: {case: outcome(serve, case) for case in CASES} for way, serve in serves.items()}))
"""
#: case: what the message begins with, and whether the layer is named; None where nothing is wrong.
CASES = {
    "fine": None,
    "log": ("log() made NaN (1 of 3 elements, the first at [1]) of operands without", True),
    "division": ("div() made infinity (3 of 3 elements, the first at [0]) of finite operands", True),
    "reflected": ("div() made infinity (3 of 3 elements, the first at [0]) of finite operands", True),
    "function": ("sqrt() made NaN (1 of 3 elements, the first at [1]) of operands without", True),
    "in place": ("log() made NaN (1 of 3 elements, the first at [1]) of operands without", True),
    "overflow": ("mul() made infinity (2 of 3 elements, the first at [0]) of finite operands", True),
    "double": ("mul() made infinity (3 of 3 elements, the first at [0]) of finite operands", True),
    "derivative": ("Function 'SqrtBackward0' returned nan values in its 0th output.", True),
    "infinite derivative": ("Function 'SqrtBackward0' returned infinite values in its 0th output.", True),
    "product": ("matmul() was given NaN (3 of 3 elements, the first at [0]) in its tensor 1", True),
    "loss": ("log() made infinity of finite operands", False),
    "optimizer": ("SGD.step() made infinity (2 of 3 elements, the first at [1]) of parameter 0 (shape [3])", False),
    "mask": None,
    "made mask": None,
    "hidden": None,
    "integers": None,
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    file = tmp_path_factory.mktemp("programs") / "program.py"
    file.write_text(PROGRAM, encoding="utf-8")
    environment = {**os.environ, "TRACEGRAD_CHECK_NAN": "1"}
    command = [sys.executable, str(file), json.dumps(list(CASES))]
    run = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert not run.returncode, run.stderr
    return json.loads(run.stdout), file


def line_of(file: Path, case):
    lines = file.read_text(encoding="utf-8").splitlines()
    return f"{file}:{[i for i, line in enumerate(lines, 1) if line.endswith(f'  # {case}')][0]}"


@pytest.mark.long(fast="first", by_size=True)
@pytest.mark.parametrize("way", ["eager", "compiled", "deferred"])
@pytest.mark.parametrize("case", CASES)
def test_the_first_number_that_is_none_is_named(case, way, outcomes):
    found, file = outcomes
    got = found[way][case]
    if CASES[case] is None:
        assert got == ("eager" if way == "compiled" else "fine")  # a compiled function runs eagerly in this mode
        return
    text, is_in_layer = CASES[case]
    message, *notes = got
    assert message.startswith(text)
    assert line_of(file, case) in "\n".join(got)
    assert ("Net.layer: Inner()" in "\n".join(notes)) is is_in_layer


def test_nothing_is_looked_at_without_the_variable():
    x = tg.tensor([-1.0, 0.0])
    assert tg.isnan(x.log()).tolist() == [True, False]
    assert tg.isinf(1 / x).tolist() == [False, True]


@pytest.mark.parametrize("compiled", [False, True])
def test_detect_anomaly_names_layer_and_line(compiled):
    class Root(tg.nn.Module):
        def forward(self, x):
            return (x * 0).sqrt() * 0  # the line

    net = tg.nn.Sequential(tg.nn.Linear(3, 3), Root())

    def step(x):
        loss = net(x).sum()
        loss.backward()
        return loss

    step = tg.compile(step) if compiled else step
    with tg.autograd.detect_anomaly():
        for _ in range(3):
            with pytest.raises(RuntimeError, match="Function 'SqrtBackward0' returned nan values") as caught:
                with pytest.warns(UserWarning, match="Error detected in SqrtBackward0"):
                    step(tg.ones(2, 3))
            (note,) = caught.value.__notes__
            assert "in the derivative of SqrtBackward0, computed in Sequential.1: Root()\n" in note
            line = [
                i for i, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith("# the line")
            ]
            assert note.endswith(f"{__file__}:{line[0]}")
