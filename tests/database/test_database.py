"""PyTorch's operator database, where PyTorch is installed: what was right in `outcomes.json` stays right. Long tier.

By hand: python -m tests.database, and with --update it stores the outcomes anew.
"""

import importlib
import json
from pathlib import Path

import pytest

import tracegrad as tg

pytestmark = pytest.mark.long
OUTCOMES = json.loads(Path(__file__).with_name("outcomes.json").read_text())
RIGHT = {name: [m for m, o in of.items() if o.startswith("right")] for name, of in OUTCOMES.items()}


@pytest.fixture(scope="session")
def judging():
    """The module, whose import takes PyTorch and some seconds."""
    pytest.importorskip("torch", minversion="2.13")
    return importlib.import_module("database.judging")


@pytest.fixture(scope="session")
def workers(judging):
    return importlib.import_module("database.workers")


@pytest.mark.long(every=10)
@pytest.mark.parametrize("name", [name for name, modes in RIGHT.items() if modes])
def test_what_was_right_is_right(workers, judging, name):
    entry = next(op for op in judging.entries() if op.formatted_name == name)
    limits = dict.fromkeys(RIGHT[name], 20) | {"compiled": 2, "forward": 2}  # forward mode was asked of two, too
    verdicts = list(workers.judged([workers.Request(entry, tuple(RIGHT[name]), (), limits)], 1))
    assert {v.mode for v in verdicts} == set(RIGHT[name])
    assert not [v for v in verdicts if v.outcome != "right"]
    served = {way for v in verdicts if v.mode == "compiled" for way in v.reason.split(" and ") if way}
    told = OUTCOMES[name].get("compiled", "").partition(": ")[2].split(" and ")
    assert served <= set(told)  # which is what docs/pytorch.md says; some of more samples may be served otherwise


def wrong_value(x):
    return tg.Tensor.exp(x) * 1.0001


def wrong_dtype(x):
    return tg.Tensor.exp(x).float()


def no_gradient(x):
    return tg.Tensor.exp(x.detach())


def half_the_gradient(x):
    return tg.Tensor.exp(x / 2 + x.detach() / 2)


def another_exception(x):
    raise LookupError("nothing here")


@pytest.mark.parametrize(
    "mode, function, outcome",
    [
        ("function", wrong_value, "wrong"),
        ("function", wrong_dtype, "wrong"),
        ("function", no_gradient, "wrong"),
        ("gradient", half_the_gradient, "wrong"),
        ("second", half_the_gradient, "wrong"),
        ("forward", half_the_gradient, "wrong"),
        ("forward", no_gradient, "wrong"),
        ("function", another_exception, "raised"),
        ("gradient", another_exception, "raised"),
        ("compiled", another_exception, "raised"),
        ("function", None, "absent"),
        ("compiled", None, "absent"),
    ],
)
def test_what_is_not_right_is_seen(judging, monkeypatch, mode, function, outcome):
    entry = next(op for op in judging.entries() if op.name == "exp")
    assert judging.verdict(entry, mode, "float64", 3).outcome == "right"
    if function is None:
        monkeypatch.delattr(tg, "exp")
    else:
        monkeypatch.setattr(tg, "exp", function)
    assert judging.verdict(entry, mode, "float64", 3).outcome == outcome


def test_each_pattern_of_what_is_left_out_names_an_entry(judging):
    database = importlib.import_module("torch.testing._internal.common_methods_invocations").op_db
    left_out = importlib.import_module("database.out_of_scope")
    names = [op.name for op in database]
    unused = [p for p in left_out.OUT_OF_SCOPE if not any(left_out.fnmatchcase(name, p) for name in names)]
    assert not unused
    assert set(left_out.VARIANTS_OUT) <= {op.formatted_name for op in database}


def test_a_process_that_ends_or_hangs_is_a_verdict(judging, workers, monkeypatch):
    entry = next(op for op in judging.entries() if op.name == "exp")
    for death in ("os._exit(3)", "time.sleep(60)"):
        monkeypatch.setattr(
            tg, "exp", lambda x, death=death: eval(death, {m: importlib.import_module(m) for m in ("os", "time")})
        )
        request = workers.Request(entry, ("function",), ("float64", "float32"), {}, patience=2.0)
        verdicts = list(workers.judged([request], 1))
        assert [(v.outcome, v.dtype) for v in verdicts] == [("raised", "float64"), ("raised", "float32")]
