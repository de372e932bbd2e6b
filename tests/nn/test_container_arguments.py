"""What modules' containers refuse, in PyTorch's words, and what their methods return."""

from __future__ import annotations

import pytest

import tracegrad as tg

nn = tg.nn


@pytest.mark.parametrize("given", [3, nn.ReLU()])
@pytest.mark.parametrize("kind", [nn.ModuleList, nn.Sequential])
def test_what_is_no_iterable_is_refused(kind, given):
    message = f"{kind.__name__}.extend should be called with an iterable, but got {type(given).__name__}"
    with pytest.raises(TypeError, match=message):
        kind().extend(given)


PAIRS = [
    (3, TypeError, "ModuleDict.update should be called with an iterable of key/value pairs, but got int"),
    ([1], TypeError, "ModuleDict update sequence element #0 should be Iterable"),
    ([("a", nn.ReLU()), ("b", nn.ReLU(), 3)], ValueError, "ModuleDict update sequence element #1 has length 3; 2 is"),
]


@pytest.mark.parametrize(("given", "error", "message"), PAIRS, ids=["a number", "no pairs", "triples"])
def test_what_is_no_pair_is_refused(given, error, message):
    with pytest.raises(error, match=message):
        nn.ModuleDict().update(given)


def test_insert_returns_the_container_for_sequential_alone():
    layers, model = nn.ModuleList([nn.ReLU()]), nn.Sequential(nn.ReLU())
    assert layers.insert(0, nn.Tanh()) is None
    assert model.insert(0, nn.Tanh()) is model
    assert [type(layer) for layer in layers] == [type(layer) for layer in model] == [nn.Tanh, nn.ReLU]


CASTS = {"half": tg.float16, "short": tg.int16, "char": tg.int8, "byte": tg.uint8, "int": tg.int32}


@pytest.mark.parametrize("name", CASTS)
def test_packed_sequences_of_each_type(name):
    packed = nn.utils.rnn.pack_sequence([tg.tensor([1.0, 2.0]), tg.tensor([3.0])])
    cast = getattr(packed, name)()
    assert cast.data.dtype is CASTS[name] and cast.data.tolist() == [1.0, 3.0, 2.0]
    assert cast.batch_sizes is packed.batch_sizes
