"""docs/pytorch.md says what is there."""

import inspect
import json

import pytest
from names import calls, database_counts, exports, reasons, table
from names.store import NAMES, PLACES

import tracegrad as tg


def test_the_document_is_up_to_date():
    assert table.DOCUMENT.read_text(encoding="utf-8") == table.text(), "stale: python -m tests.names writes it anew"


def test_a_name_that_goes_makes_it_stale(monkeypatch):
    before = table.text()
    monkeypatch.delattr(tg, "exp")
    monkeypatch.delattr(tg.nn.functional, "softplus")
    after = table.text()
    for name in ("exp", "softplus"):
        assert before.count(f"\n| `{name}` |") == after.count(f"\n| `{name}` |") + 1


def test_the_stored_names_are_pytorchs():
    names = json.loads(NAMES.read_text())
    assert tuple(names) == PLACES
    assert {"exp", "matmul", "float32", "Tensor"} <= set(names["torch"]) and "Linear" in names["torch.nn"]
    assert {"backward", "add_", "shape"} <= set(names["torch.Tensor"]) and len(names["torch.nn"]) > 140


def test_all_public_names_are_listed():
    assert exports.FILE.read_text(encoding="utf-8") == exports.text(), "stale: python -m tests.names writes it anew"
    assert tg.__all__ == exports.names()
    assert all(hasattr(tg, name) for name in tg.__all__)


@pytest.mark.parametrize("module", [tg, tg.nn, tg.nn.functional, tg.optim, tg.autograd, tg.linalg, tg.fft])
def test_completion_shows_the_arguments_of_public_functions(module):
    """Each has a signature with names, not only ``*args, **kwargs``, which is what wrappers show.

    In-place forms are made of the functions, and take what these take.
    """
    nameless = []
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isfunction(value) and not name.endswith("_"):
            parameters = set(inspect.signature(value).parameters) - {"self", "input"}
            if parameters == {"args", "kwargs"}:
                nameless.append(name)
    assert nameless == []


def test_of_each_name_something_is_said():
    """What was asked of it, or why nothing was; why it is absent, or what to use."""
    found = table.Found()
    for place, names in json.loads(NAMES.read_text()).items():
        rows = table._rows(place, names, found)
        silent = [n for n, cells in rows.items() if cells == table.EMPTY and not reasons.unasked(f"{place}.{n}")]
        assert silent == [], f"{place}: a call belongs into samples.txt, or a reason into reasons.py"
        assert [n for n in names if n not in rows and not reasons.absence(n)] == []


def test_nothing_is_said_of_what_nobody_asked():
    found = table.Found()
    for place, name in (("torch", "Generator"), ("torch", "save"), ("torch.Tensor", "is_pinned"), ("torch", "nothing")):
        assert found.cells(place, name) == table.EMPTY
    assert found.cells("torch", "arccos") == found.cells("torch", "acos") == ("yes", "replay", "yes", "yes")
    assert found.cells("torch", "acos_") == ("yes", "", "", "")
    assert found.cells("torch.special", "polygamma")[0] == found.cells("torch", "polygamma")[0] == "not all"


def test_each_sample_has_an_outcome_and_what_is_wrong_a_reason():
    outcomes = json.loads(table.SAMPLES.read_text())
    paths = [sample.path for sample in calls.samples()]
    assert list(outcomes) == paths and len(set(paths)) == len(paths)
    wrong = {path for path, of in outcomes.items() if any(not o.startswith("right") for o in of.values())}
    assert all(outcomes.values()) and wrong == set(reasons.DIFFERENCES)


@pytest.mark.parametrize("folder", ["", "modules", "optimizers"])
def test_what_is_not_right_in_the_database_has_a_reason(folder):
    outcomes = json.loads((database_counts.DATABASE / folder / "outcomes.json").read_text())
    wrong = {(name, mode) for name, of in outcomes.items() for mode, o in of.items() if not o.startswith("right")}
    listed = {(name, mode): why for name, of in database_counts.reasons(folder).items() for mode, why in of.items()}
    assert sorted(wrong - set(listed)) == [] and all(listed.values())
    assert sorted(set(listed) - wrong) == [], "it is right now: take it from differences.json"
