"""Programs in plain PyTorch, unlike each other, in processes of their own: they print what they print under PyTorch."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).with_name("programs")
EXPECTED = json.loads(Path(__file__).with_name("expected.json").read_text())
NUMBER = re.compile(r"-?\d+\.\d+|-?\d+")
# Losses of float32 after some dozens of steps, as printed to 3 digits or more: sums in another order have grown.
RELATIVE = 2e-3
# Two networks against each other, where what comes later follows from roundings.
WIDER = {"gan": 0.1}


def run(*words, **options):
    command = [sys.executable, "-m", "tracegrad", "run", *map(str, words)]
    environment = os.environ | {"TRACEGRAD_WARM_UP": "0"}
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, **options)


def compare(printed, expected, relative):
    """The words are the same, and so are the numbers, within `relative` or one in the last place that is printed."""
    assert NUMBER.split(printed) == NUMBER.split(expected)
    for ours, theirs in zip(NUMBER.findall(printed), NUMBER.findall(expected), strict=True):
        last = 1.01 * 10.0 ** -len(theirs.partition(".")[2]) if "." in theirs else 0.0
        assert abs(float(ours) - float(theirs)) <= max(last, relative * abs(float(theirs)) * ("." in theirs))


@pytest.mark.slow
@pytest.mark.long(every=7)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_program_prints_what_it_prints_under_pytorch(name):
    done = run(FOLDER / f"{name}.py")
    assert done.returncode == 0, done.stderr
    compare(done.stdout, EXPECTED[name], WIDER.get(name, RELATIVE))


@pytest.mark.long(every=9)
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_program_prints_the_same_when_it_is_compiled(name):
    done = run("--compile", FOLDER / f"{name}.py")
    assert done.returncode == 0, done.stderr
    compare(done.stdout, EXPECTED[name], WIDER.get(name, RELATIVE))


def test_there_is_an_answer_for_each_program():
    assert sorted(EXPECTED) == sorted(path.stem for path in FOLDER.glob("*.py")) and len(EXPECTED) >= 10


def test_the_comparison_sees_another_word_and_another_number():
    compare("loss 1.2345 at 3", "loss 1.2344 at 3", RELATIVE)
    for wrong in ("loss 1.2405 at 3", "loss 1.2344 at 4", "lost 1.2344 at 3"):
        with pytest.raises(AssertionError):
            compare(wrong, "loss 1.2344 at 3", RELATIVE)
