"""Recurrent layers, cells and packed sequences: PyTorch's numbers, gradients, second derivatives, names and errors."""

import json

import numpy as np
import pytest
from expected import recurrent
from expected.compare import STORE, load

STORED = load("recurrent")
TEXTS = json.loads((STORE / "recurrent.json").read_text(encoding="utf-8"))
LAYERS = {label: rest for label, *rest in recurrent.layers()}
CELLS = {label: rest for label, *rest in recurrent.cells()}

# Five turns of sums of up to 14 numbers of order one; second derivatives add up some hundred of them.
ROUNDINGS = 500


def stored(label):
    found = []
    while f"{label}|{len(found)}" in STORED:
        found.append(STORED[f"{label}|{len(found)}"])
    return found


def assert_stored(label, found):
    assert len(found) == len(stored(label)) > 0
    for actual, expected in zip(found, stored(label), strict=True):
        assert actual.dtype == expected.dtype and actual.shape == expected.shape
        scale = max(1.0, float(np.abs(expected).max(initial=0)))
        allowed = ROUNDINGS * np.finfo(actual.dtype).eps * scale if actual.dtype.kind == "f" else 0
        np.testing.assert_allclose(actual, expected, rtol=0, atol=allowed, err_msg=label)


def thinned(labels):
    """Every third one quickly, the others with what takes long."""
    return [pytest.param(label, marks=pytest.mark.long if place % 3 else ()) for place, label in enumerate(labels)]


@pytest.mark.parametrize("label", thinned(LAYERS))
def test_layers(tg, label):
    assert_stored(label, recurrent.run(tg, *LAYERS[label]))


@pytest.mark.parametrize("label", CELLS)
def test_cells(tg, label):
    args, options = CELLS[label]
    assert_stored(label, recurrent.cell(tg, *args, **options))


def test_sequences(tg):
    assert_stored("sequences", recurrent.sequences(tg))


def test_functions(tg):
    assert_stored("functions", recurrent.functions(tg))


@pytest.mark.parametrize("text", recurrent.SHOWN)
def test_names(tg, text):
    layer = eval(f"nn.{text}", {"nn": tg.nn})
    shown, names = TEXTS["shown"][text]
    assert repr(layer) == shown
    assert [[name, list(p.shape)] for name, p in layer.state_dict().items()] == names


@pytest.mark.parametrize("text", recurrent.REFUSED)
def test_refused(tg, text):
    assert recurrent.refusal(tg, text) == TEXTS["refused"][text]


@pytest.mark.parametrize("batch_first", [True, False])
def test_unpadded_sequences_have_memory_of_their_own(tg, batch_first):
    padded = tg.arange(12.0).reshape(2, 3, 2) if batch_first else tg.arange(12.0).reshape(3, 2, 2)
    parts = tg.nn.utils.rnn.unpad_sequence(padded, tg.tensor([5, -1]), batch_first)
    assert [part.tolist() for part in parts] == [(padded if batch_first else padded.transpose(0, 1))[0].tolist(), []]
    assert all(part.is_contiguous() for part in parts)
    parts[0].fill_(7.0)
    assert padded.tolist() == tg.arange(12.0).reshape(padded.shape).tolist()
