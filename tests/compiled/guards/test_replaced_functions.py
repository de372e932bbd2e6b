"""Functions of the library's modules that are replaced between calls: layers call them, whatever code the step runs."""

import types

import pytest

import tracegrad as tg
from tracegrad.compiled.guards.library_modules import library_modules
from tracegrad.tracing.watch import changes
from tracegrad.tracing.watched_modules import replacements

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


def written(monkeypatch, name):
    """The same past the methods of the module."""
    monkeypatch.setitem(vars(F), name, doubled(getattr(F, name)))


def asked_for(layer, x, monkeypatch):
    """The functions whose replacement changes what the layer computes."""
    wanted, found = first(layer(x)), []
    for name in FUNCTIONS:
        with monkeypatch.context() as patch:
            replaced(patch, name)
            if not tg.equal(first(layer(x)), wanted):
                found.append(name)
    return found


@pytest.mark.parametrize("ways", ["replay", "re-record", "model", "deferred"])
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

    if ways == "deferred":
        step = tg.deferred()(logged)
    else:
        inner = tg.compile({"replay": whole, "re-record": logged, "model": layer}[ways])
        step = inner if ways != "model" else lambda x: first(inner(x)).sum()
    for _ in range(4):
        step(x)
    for name in names:
        for replace in (replaced, written, replaced, written):
            with monkeypatch.context() as patch:
                replace(patch, name)
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


WRITES = {
    "an item": lambda name, function: vars(F).__setitem__(name, function),
    "update": lambda name, function: vars(F).update({name: function}),
    "dict's method": lambda name, function: dict.__setitem__(F.__dict__, name, function),
    "code": lambda name, function: exec(f"{name} = _other", vars(F) | {"_other": function}, vars(F)),
    "taken away": lambda name, function: (vars(F).pop(name), setattr(F, name, function)),
}


@pytest.mark.parametrize("write", WRITES)
def test_each_way_to_write(write):
    """`mock.patch.dict`, reloaders and `exec` write into a module's dict."""
    layer, x = LAYERS["Linear"]()
    step, before = tg.compile(lambda x: layer(x).sum()), F.linear
    for _ in range(3):
        step(x)
    wanted = layer(x).sum()
    try:
        WRITES[write]("linear", doubled(before))
        for _ in range(3):
            tg.testing.assert_close(step(x), wanted * 2)
    finally:
        F.linear = before
    tg.testing.assert_close(step(x), wanted)


@pytest.mark.parametrize("path", replacements.public, ids=lambda module: module.__name__)
def test_a_write_into_each_public_module_is_counted(path):
    """And its undoing; a second look finds nothing."""
    name = next(name for name, found in vars(path).items() if isinstance(found, (types.FunctionType, type)))
    before, looked = vars(path)[name], library_modules()
    for value in (len, before):
        looked.look()
        count = changes.count
        vars(path)[name] = value
        assert not looked.look() and changes.count == count + 1
        assert looked.look() and changes.count == count + 1
