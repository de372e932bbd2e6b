"""PyTorch's databases of modules and optimizers, where PyTorch is installed: what was right in `outcomes.json` stays
right. Long tier.

By hand: python -m tests.database.modules, python -m tests.database.optimizers; --update stores the outcomes anew.
"""

import importlib
import json
from pathlib import Path

import pytest

import tracegrad as tg

pytestmark = pytest.mark.long
HERE = Path(__file__).parent
OUTCOMES = {title: json.loads((HERE / title / "outcomes.json").read_text()) for title in ("modules", "optimizers")}
RIGHT = [
    (title, name, tuple(mode for mode, outcome in modes.items() if outcome.startswith("right")))
    for title, outcomes in OUTCOMES.items()
    for name, modes in outcomes.items()
]


@pytest.fixture(scope="session")
def ask():
    """``ask(title, name, modes)``: the verdicts, in a process of their own; the import of PyTorch takes seconds."""
    pytest.importorskip("torch", minversion="2.13")
    workers = importlib.import_module("database.workers")

    def verdicts(title, name, modes):
        database = importlib.import_module(f"database.{title}.__main__").DATABASE
        (entry,) = (e for e in database.entries if database.name_of(e) == name)
        limits = dict.fromkeys(modes, 6) | {"compiled": 1}
        return list(workers.judged([database.request(entry, modes, (), limits)], 1))

    return verdicts


@pytest.mark.long(every=10)
@pytest.mark.parametrize("title, name, modes", RIGHT, ids=[f"{title}-{name}" for title, name, _ in RIGHT])
def test_what_was_right_is_right(ask, title, name, modes):
    assert not [v for v in ask(title, name, modes) if v.outcome != "right"]


def less_accurate(self, x):
    return tg.nn.functional.linear(x, self.weight, self.bias) * 1.0001


def without_bias(self, x):
    bias = None if self.bias is None else self.bias.detach()
    return tg.nn.functional.linear(x, self.weight, bias)


def refusing(self, x):
    raise LookupError("nothing here")


@pytest.mark.parametrize(
    "mode, forward, outcome",
    [
        ("train", less_accurate, "wrong"),
        ("eval", refusing, "raised"),
        ("state", less_accurate, "wrong"),
        ("gradient", without_bias, "wrong"),
        ("compiled", refusing, "raised"),
    ],
)
def test_what_is_not_right_in_a_module_is_seen(ask, monkeypatch, mode, forward, outcome):
    monkeypatch.setattr(tg.nn.Linear, "forward", forward)
    assert {v.outcome for v in ask("modules", "Linear", (mode,))} == {outcome}


@pytest.mark.parametrize("mode", ["values", "complex", "schedules"])
def test_what_is_not_right_in_an_optimizer_is_seen(ask, monkeypatch, mode):
    usual = tg.optim.RMSprop.__init__

    def other(self, *args, **kwargs):
        usual(self, *args, **{**kwargs, "alpha": 0.9})

    monkeypatch.setattr(tg.optim.RMSprop, "__init__", other)
    assert {v.outcome for v in ask("optimizers", "RMSprop", (mode,))} == {"wrong"}
