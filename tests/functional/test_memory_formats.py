"""Functions of images keep memory formats where PyTorch's do: results and gradients, eager and compiled.

What differs is listed in `expected/formats.json`, and only that: a function that is mended must be taken off the list
(``python tests/functional/test_memory_formats.py`` writes it anew).
"""

import functools
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from expected import formats as cases
from expected.compare import STORE, load

import tracegrad

EXPECTED = json.loads(load("formats")["answers"].tobytes())
KNOWN = STORE / "formats.json"
NAMES = list(dict.fromkeys(key.split("|")[0] for key in EXPECTED))
PARTS = ("results", "gradients by rows", "gradients")


def differing(tg, key):
    """What of the answer is another than PyTorch's."""
    call, dtype = key.rsplit("|", 1)
    found = cases.answer(tg, call, dtype)
    return [part for part, a, b in zip(PARTS, found, EXPECTED[key], strict=True) if a != b]


@functools.cache
def known():
    return json.loads(KNOWN.read_text(encoding="utf-8"))


@pytest.mark.long(fast=11, by_size=True)
@pytest.mark.parametrize("name", NAMES)
def test_formats(tg, name):
    keys = [key for key in EXPECTED if key.split("|")[0] == name]
    assert {key: found for key in keys if (found := differing(tg, key))} == {
        key: known()[key] for key in keys if key in known()
    }


def test_few_differ():
    assert set(known()) <= set(EXPECTED) and len(EXPECTED) > 4000
    assert len(known()) < 0.1 * len(EXPECTED)


CALLS = [key for key in cases.keys() if "|several|" in key and not key.endswith("rows")]


@pytest.mark.long(fast=149, every=29)
@pytest.mark.parametrize("key", CALLS)
def test_compiled_results_lie_as_eager_ones(tg, key):
    """Replayed, where that is how it is served; results, and the gradients that a compiled function gives."""
    call, given = cases.program(tg, key, tg.float32)
    step = tg.compile(lambda: cases.outcome(tg, call, given))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = cases.facts(cases.outcome(tg, call, given))
        for _ in range(3):
            assert cases.facts(step()) == expected


DRAWN = ("dropout", "dropout of channels", "rand_like", "randn_like", "fractional_max_pool", "empty_like")
LAID = [key for key in CALLS if key.split("|")[0] not in DRAWN]


@pytest.mark.parametrize("key", LAID)
def test_formats_change_no_number(tg, key):
    """Sums may be added up in another order: a few roundings of float64 at numbers of about 1."""
    rows = "|".join([*key.split("|")[:-1], "rows"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = (cases.outcome(tg, *cases.program(tg, each, tg.float64)) for each in (key, rows))
    for xs, ys in zip(found, expected, strict=True):
        for x, y in zip(xs, ys, strict=True):
            assert (x is None) == (y is None)
            if x is not None:
                np.testing.assert_allclose(x.detach().numpy(), y.detach().numpy(), rtol=1e-10, atol=1e-12)


def write():
    """Write what differs."""
    found = {key: different for key in EXPECTED if (different := differing(tracegrad, key))}
    KNOWN.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
