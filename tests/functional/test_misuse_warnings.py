"""What PyTorch warns of: the same class and key phrase, at the user's line."""

import ast
import functools
import json
import warnings

import numpy as np
import pytest
from expected import misuses
from package_files import ROOT, trees_with

from tracegrad.tracing import user_warning

STORED = json.loads(misuses.STORE.read_text())
#: Where the beginning of the text is another one, with the reason.
DIFFERENT = {
    "tg.from_numpy(frozen)": "writes through the tensor are errors here",
    "tg.add(x, 2, x)": "the overload is named by the function's signature",
    "x.add_(1, x)": "the overload is named by the function's signature",
    "tg.cuda.memory_cached()": "one text for all renamed functions",
    "tg.set_float32_matmul_precision('unknown')": "the names are listed",
}


@pytest.fixture
def names(tg, monkeypatch):
    if tg.__name__ == "torch":
        pytest.skip("the answers are PyTorch's")
    monkeypatch.setattr(user_warning.once, "texts", set())
    found = {"tg": tg}
    exec(misuses.SETUP, found)
    yield found
    tg.autograd.set_detect_anomaly(False)


@pytest.mark.parametrize("case", misuses.CASES)
def test_a_misuse_is_warned_of(tg, names, case):
    found = misuses.warned(tg, names, case)
    assert [entry[0] for entry in found] == [kind for kind, _ in STORED[case]]
    if case.replace('"', "'") not in DIFFERENT:
        assert [list(entry[:2]) for entry in found] == STORED[case]
    assert all(is_here for *_, is_here in found)


def test_each_has_an_answer():
    assert list(STORED) == misuses.CASES and len(STORED) > 90 and all(STORED.values())


def test_some_come_once_in_a_process(tg, names):
    assert len(misuses.warned(tg, names, "tg.meshgrid(x, x)")) == 1
    assert misuses.warned(tg, names, "tg.meshgrid(x, x)") == []
    tg.set_warn_always(True)
    try:
        assert len(misuses.warned(tg, names, "tg.meshgrid(x, x)")) == 1
    finally:
        tg.set_warn_always(False)


def test_a_compiled_step_warns_as_it_is_recorded(tg, names):
    step = tg.compile(lambda x: tg.nn.functional.softmax(x).sum())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        values = [step(tg.ones(2, 2) * i).item() for i in range(4)]
    assert values == [2.0] * 4
    assert [w.filename for w in caught if "Implicit dimension" in str(w.message)] == [__file__]


@pytest.mark.parametrize("number", ["float", "complex"])
def test_a_number_of_what_has_a_history_is_no_misuse_under_no_grad(tg, names, number):
    """As where LBFGS, PyTorch's and ours, looks at the loss that the closure gives."""
    for mode in ("no_grad", "inference_mode"):
        assert misuses.warned(tg, names, f"tg.{mode}()(lambda x: {number}(x))(leaf(1))") == []
    assert misuses.warned(tg, names, "optim.LBFGS([g]).step(lambda: (g * g).sum())") == []
    assert len(misuses.warned(tg, names, f"{number}(leaf(1))")) == 1


def test_frames_of_numpy_between_are_not_the_users(tg, names):
    """What the library does is decorated by numpy at times."""
    decorated = np.errstate()(functools.partial(user_warning.warn_user, "a text"))
    with pytest.warns(UserWarning, match="a text") as caught:
        decorated()
    assert [w.filename for w in caught] == [__file__]


def test_warnings_go_through_one_function():
    """It finds the user's line; a number of frames (``stacklevel``) would be that of one way to the call."""
    free = {"serialization", "runtime", "compiled"}
    wrong = [
        str(path.relative_to(ROOT))
        for path, tree in trees_with("warn(")
        if path.relative_to(ROOT).parts[0] not in free and path.name != "user_warning.py"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warnings.warn", "warn")
    ]
    assert wrong == []
