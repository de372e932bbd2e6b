"""Results and gradients of PyTorch's operators lie in memory as PyTorch's do, and have a history where those have one.

Operands lie row by row, or with their axes turned. What differs is listed in `expected/layouts.json`, and only that:
an operator that is mended must be taken off the list (``python tests/functional/test_layouts.py`` writes it anew).
"""

import functools
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from expected import layouts as cases
from expected.compare import STORE, load

import tracegrad

STORED = load("layouts")
CALLS = json.loads(STORED["calls"].tobytes())
DATA = STORED["numbers"].tobytes()
KNOWN = STORE / "layouts.json"
EACH = [f"{key}|{way}" for key in CALLS for way in ("rows", "turned")]


def called(tg, key):
    """The function, its arguments and keywords, and PyTorch's answer."""
    name, _, way = key.rpartition("|")
    path, args, kwargs, answers = CALLS[name]
    turned = way == "turned"
    function = functools.reduce(getattr, path.split(".")[1:], tg)
    keywords = {word: cases.read(x, DATA, tg, turned) for word, x in kwargs.items()}
    return function, cases.read(args, DATA, tg, turned), keywords, answers[turned]


def differing(tg, key):
    """What of the answer is another than PyTorch's."""
    function, args, keywords, expected = called(tg, key)
    found = cases.facts(tg, function, args, keywords)
    return [what for what in expected if found[what] != expected[what]]


@functools.cache
def known():
    return json.loads(KNOWN.read_text(encoding="utf-8"))


@pytest.mark.parametrize("key", EACH)
def test_layouts(tg, key):
    assert differing(tg, key) == known().get(key, [])


def test_few_differ():
    rows = [key for key in known() if key.endswith("rows")]
    assert set(known()) <= set(EACH) and len(EACH) > 1000
    assert len(rows) < 0.08 * len(EACH) / 2 and len(known()) < 0.25 * len(EACH)


@pytest.mark.long(every=23)
@pytest.mark.parametrize("key", EACH)
def test_layouts_compiled(tg, key):
    """A compiled function gives what lies as in eager mode, whichever way it is served."""
    function, args, keywords, _ = called(tg, key)
    expected = cases.facts(tg, function, args, keywords)
    step = tg.compile(lambda: cases.outcome(tg, function, args, keywords)[:2])
    for _ in range(3):
        results, gradients = step()
        assert [cases.strides_of(x) for x in results] == expected["results"]
        assert [cases.strides_of(x) for x in gradients] == expected["gradients"]


def write():
    """Write what differs."""
    found = {key: different for key in EACH if (different := differing(tracegrad, key))}
    KNOWN.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
