"""The calls of samples.txt, where PyTorch is installed: what was found stays so. Long tier.

By hand: python -m tests.names.asking [PATH ...], which stores the outcomes anew.
"""

import importlib
import json

import pytest
from names import calls, table

SAMPLES = list(calls.samples())


@pytest.mark.long(every=10)
@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.path for sample in SAMPLES])
def test_what_was_found_is_found(sample):
    pytest.importorskip("torch", minversion="2.13")
    asking = importlib.import_module("names.asking")
    assert asking.asked(sample) == json.loads(table.SAMPLES.read_text())[sample.path]


@pytest.mark.long(fast=13, every=1)
@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.path for sample in SAMPLES])
def test_a_sample_runs(tg, sample):
    """Without PyTorch: the call has numbers, and as many derivatives as are told."""
    told = json.loads(table.SAMPLES.read_text())[sample.path]
    found = calls.run(tg, sample, sum(mode in told for mode in ("gradient", "second")))
    assert len(found) == calls.CALLS and all(len(call) == len(found[0]) for call in found)
