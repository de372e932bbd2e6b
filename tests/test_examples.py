"""The example programs, run in this process for a few epochs."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from expected.examples import NAMES, STEPS, STORED, TEXT, losses_of
from expected.examples import load as load_for_runner

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

# Eager and compiled sum in different orders; float32 carries about 1e-7, and twenty steps of training amplify it.
SAME = dict(rtol=1e-5)
FEW = 20
# Against PyTorch's stored losses: both round each number at 6e-8, in other orders, ten steps in a row. Losses near zero
# are differences of larger numbers.
AS_PYTORCH = dict(rtol=2e-5, atol=2e-6)
EXPECTED = json.loads(STORED.read_text(encoding="utf-8"))


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def digits():
    pytest.importorskip("sklearn")
    pytest.importorskip("tqdm")
    return load("train_digits")


@pytest.fixture
def regression():
    return load("regression")


@pytest.fixture
def classifier():
    return load("classifier_bce")


@pytest.mark.long
def test_digits_train_to_the_promised_accuracy(digits, capsys):
    assert digits.main(["--quiet"]) == 0
    table = capsys.readouterr().out
    assert "test accuracy" in table and ".c" in table


@pytest.mark.long
def test_digits_say_when_the_accuracy_is_too_low(digits, capsys):
    assert digits.main(["--quiet", "--epochs", "1", "--min-accuracy", "1.01"]) == 1
    assert "below 1.01" in capsys.readouterr().err


@pytest.mark.long
def test_digits_have_the_eager_losses_when_compiled(digits):
    eager, compiled = (digits.train(1, compiled=c, quiet=True).losses for c in (False, True))
    np.testing.assert_allclose(compiled[:FEW], eager[:FEW], **SAME)


def test_regression_has_the_eager_losses_when_compiled(regression):
    np.testing.assert_allclose(regression.train(FEW, True), regression.train(FEW, False), **SAME)


@pytest.mark.parametrize("flags", [[], ["--eager"]])
def test_regression_fits(regression, capsys, flags):
    assert regression.main(["--epochs", "400", *flags]) == 0
    final = float(capsys.readouterr().out.split("final loss ")[1].split(";")[0])
    assert final < 0.05  # from 0.65; the noise alone is 0.01


def test_classifier_has_the_eager_losses_when_compiled(classifier):
    np.testing.assert_allclose(classifier.train(FEW, True)[1], classifier.train(FEW, False)[1], **SAME)


def test_classifier_shows_all_three_levels(classifier, capsys):
    assert classifier.main(["--epochs", "5", "--show"]) == 0
    shown = capsys.readouterr().out
    graph, schedule, c = (shown.split(f"--- {title} ---\n")[1] for title in ("graph", "schedule", "C"))
    assert graph.strip() and schedule.strip()
    assert "step(" in c


def example(name):
    """An example of the runner, as a module; skips where its data are not what PyTorch saw."""
    text = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    if "sklearn" in text:
        pytest.importorskip("sklearn")
    if "pydoc_data" in text and TEXT != EXPECTED["text"]:
        pytest.skip("this version of Python brings another text along")
    return load_for_runner(name)


def test_pytorchs_losses_are_stored_for_each_example():
    assert len(NAMES) >= 12 and list(EXPECTED["losses"]) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_first_losses_are_pytorchs(name):
    assert losses_of(example(name), steps=3) == pytest.approx(
        EXPECTED["losses"][name][:3], rel=AS_PYTORCH["rtol"], abs=AS_PYTORCH["atol"]
    )


@pytest.mark.long(every=13)
@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize("name", NAMES)
def test_the_losses_are_pytorchs(name, compiled):
    np.testing.assert_allclose(losses_of(example(name), compiled), EXPECTED["losses"][name], **AS_PYTORCH)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_examples_run_to_their_picture(name, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "result.png"
    module = example(name)
    assert module.runner.main(module.train, module.draw, STEPS, ["--picture", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    shown = capsys.readouterr().out
    assert f"{STEPS}/{STEPS}" in shown and "median step: eager" in shown


def test_an_example_says_what_it_takes(capsys):
    module = example("karate_club")
    with pytest.raises(SystemExit):
        module.runner.main(module.train, module.draw, STEPS, ["--steps", "0"])
    assert "at least one step" in capsys.readouterr().err
    assert module.runner.main(module.train, module.draw, STEPS, ["--eager", "--quiet"]) == 0
    assert "members on the right side" in capsys.readouterr().out
