"""Functions of the library's modules that are replaced between calls: layers call them, whatever code the step runs."""

import types

import pytest

import tracegrad as tg

F = tg.nn.functional
LAYERS = {
    "Linear": lambda: (tg.nn.Linear(3, 3), tg.randn(2, 3)),
    "Conv1d": lambda: (tg.nn.Conv1d(3, 2, 1), tg.randn(2, 3, 4)),
    "LayerNorm": lambda: (tg.nn.LayerNorm(3), tg.randn(2, 3)),
    "BatchNorm1d": lambda: (tg.nn.BatchNorm1d(3), tg.randn(4, 3)),
    "GELU": lambda: (tg.nn.GELU(), tg.randn(2, 3)),
    "ReLU": lambda: (tg.nn.ReLU(), tg.randn(2, 3)),
    "Softmax": lambda: (tg.nn.Softmax(-1), tg.randn(2, 3)),
    "MaxPool1d": lambda: (tg.nn.MaxPool1d(2), tg.randn(2, 3, 4)),
    "Embedding": lambda: (tg.nn.Embedding(5, 3), tg.tensor([1, 2])),
    "Dropout": lambda: (tg.nn.Dropout(0.5).eval(), tg.randn(2, 3)),
    "Attention": lambda: (tg.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), tg.randn(2, 3, 4)),
    "LSTM": lambda: (tg.nn.LSTM(3, 2), tg.randn(4, 2, 3)),
}
FUNCTIONS = sorted(name for name, found in vars(F).items() if isinstance(found, types.FunctionType) and name[0] != "_")


def first(result):
    return result[0] if isinstance(result, tuple) else result


def doubled(function):
    """Another function: its result is twice as large."""

    def other(*args, **kwargs):
        result = function(*args, **kwargs)
        return (result[0] * 2, *result[1:]) if isinstance(result, tuple) else result * 2

    return other


def replaced(monkeypatch, name):
    monkeypatch.setattr(F, name, doubled(getattr(F, name)))


def asked_for(layer, x, monkeypatch):
    """The functions whose replacement changes what the layer computes."""
    wanted, found = first(layer(x)), []
    for name in FUNCTIONS:
        with monkeypatch.context() as patch:
            replaced(patch, name)
            if not tg.equal(first(layer(x)), wanted):
                found.append(name)
    return found


@pytest.mark.parametrize("ways", ["replay", "re-record", "model"])
@pytest.mark.parametrize("kind", LAYERS)
def test_each_function_that_a_layer_asks_for(kind, ways, monkeypatch):
    layer, x = LAYERS[kind]()
    layer = layer.eval()
    names, log = asked_for(layer, x, monkeypatch), []

    def whole(x):
        return first(layer(x)).sum()

    def logged(x):
        log.append(len(log))
        return whole(x)

    inner = tg.compile({"replay": whole, "re-record": logged, "model": layer}[ways])
    step = inner if ways != "model" else lambda x: first(inner(x)).sum()
    for _ in range(4):
        step(x)
    for name in names:
        for _ in range(2):
            with monkeypatch.context() as patch:
                replaced(patch, name)
                for _ in range(3):
                    tg.testing.assert_close(step(x), whole(x))
            for _ in range(2):
                tg.testing.assert_close(step(x), whole(x))


def test_layers_ask_for_functions(monkeypatch):
    """The test above asks something."""
    layer, x = LAYERS["Linear"]()
    assert "linear" in asked_for(layer, x, monkeypatch)


def test_a_function_put_back_is_served_by_the_program_from_before(monkeypatch):
    layer, x = LAYERS["Linear"]()
    step = tg.compile(lambda x: layer(x).sum())
    for _ in range(3):
        step(x)
    with monkeypatch.context() as patch:
        patch.setattr(F, "silu", lambda *_: None)
        step(x)
    for _ in range(2):
        step(x)
    assert step.way == "replay" and len(step.specialisations) <= 2
