"""The file of a function may have been edited since it was read: its text is used only where it still is the text."""

import inspect
import itertools
import sys

import pytest

STEP = "def step(x):\n    kept.append((x * 2).sum().item())\n    return x\n"

EDITED = {
    "as it was": STEP,
    "empty": "",
    "blank lines": "\n\n\n",
    "comments": "# one\n# two\n# three\n",
    "a shorter file": "kept = []\n",
    "another statement": "kept.append(1)\n",
    "another function": "def other(x):\n    return x\n",
    "other numbers": STEP.replace("2", "3"),
    "another body": "def step(x):\n    return x\n",
    "a class": "class step:\n    pass\n",
    "broken": "def step(x:\n",
    "cut off in a bracket": "def step(x):\n    kept.append((x * 2\n",
    "turned left": "if True:\n    x = 1\n",
    "a tab": "\tdef step(x):\n\t\treturn x\n",
}

numbers = itertools.count()


@pytest.mark.parametrize("text", EDITED.values(), ids=EDITED)
def test_what_the_file_says_now_changes_nothing(tg, text, tmp_path, monkeypatch):
    name = f"edited_{next(numbers)}"
    (tmp_path / f"{name}.py").write_text(f"kept = []\n\n{STEP}")
    monkeypatch.syspath_prepend(tmp_path)
    module = __import__(name)
    monkeypatch.setitem(sys.modules, name, module)
    (tmp_path / f"{name}.py").write_text(f"kept = []\n\n{text}")
    step = tg.compile(module.step)
    for i in range(4):
        step(tg.ones(3) * i)
    assert module.kept == [0.0, 6.0, 12.0, 18.0]


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="knows the text of what was typed in")
def test_code_without_a_file_is_looked_for_in_no_module(tg, monkeypatch):
    """There are some thousand, and to look at all of them takes 20 ms."""
    looked = []
    monkeypatch.setattr(inspect, "getmodule", lambda *args, **kwargs: looked.append(args))
    kept = []
    place = {"kept": kept}
    exec(compile(STEP, "<made>", "exec"), place)
    step = tg.compile(place["step"])
    for i in range(3):
        step(tg.ones(3) * i)
    assert kept == [0.0, 6.0, 12.0] and looked == []
