"""The example programs, run in this process for a few epochs."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"

# Eager and compiled sum in different orders; float32 carries about 1e-7, and twenty steps of training amplify it.
SAME = dict(rtol=1e-5)
STEPS = 20


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


def test_digits_train_to_the_promised_accuracy(digits, capsys):
    assert digits.main(["--quiet"]) == 0
    table = capsys.readouterr().out
    assert "test accuracy" in table and ".c" in table


def test_digits_say_when_the_accuracy_is_too_low(digits, capsys):
    assert digits.main(["--quiet", "--epochs", "1", "--min-accuracy", "1.01"]) == 1
    assert "below 1.01" in capsys.readouterr().err


def test_digits_have_the_eager_losses_when_compiled(digits):
    eager, compiled = (digits.train(1, compiled=c, quiet=True).losses for c in (False, True))
    np.testing.assert_allclose(compiled[:STEPS], eager[:STEPS], **SAME)


def test_regression_has_the_eager_losses_when_compiled(regression):
    np.testing.assert_allclose(regression.train(STEPS, True), regression.train(STEPS, False), **SAME)


@pytest.mark.parametrize("flags", [[], ["--eager"]])
def test_regression_fits(regression, capsys, flags):
    assert regression.main(["--epochs", "400", *flags]) == 0
    final = float(capsys.readouterr().out.split("final loss ")[1].split(";")[0])
    assert final < 0.05  # from 0.65; the noise alone is 0.01


def test_classifier_has_the_eager_losses_when_compiled(classifier):
    np.testing.assert_allclose(classifier.train(STEPS, True)[1], classifier.train(STEPS, False)[1], **SAME)


def test_classifier_shows_all_three_levels(classifier, capsys):
    assert classifier.main(["--epochs", "5", "--show"]) == 0
    shown = capsys.readouterr().out
    graph, schedule, c = (shown.split(f"--- {title} ---\n")[1] for title in ("graph", "schedule", "C"))
    assert graph.strip() and schedule.strip()
    assert "step(" in c
