"""Recurrent layers and packed sequences: drawn layers, their outputs, states, gradients and second derivatives."""

import random

import numpy as np

KINDS = ("RNN", "LSTM", "GRU")
PER_KIND = 24
CELLS = ("RNNCell", "LSTMCell", "GRUCell")


def options_of(draw, kind):
    options = {"num_layers": draw.choice([1, 1, 2, 3]), "bias": draw.random() < 0.7}
    options["batch_first"] = draw.random() < 0.5
    options["bidirectional"] = draw.random() < 0.4
    if options["num_layers"] > 1 and draw.random() < 0.4:
        options["dropout"] = draw.choice([0.3, 0.5])
    if kind == "RNN":
        options["nonlinearity"] = draw.choice(["tanh", "relu"])
    return options


def layers():
    """(label, class, sizes, options, how it is called)."""
    for kind in KINDS:
        for number in range(PER_KIND):
            draw = random.Random(f"{kind} {number}")
            options = options_of(draw, kind)
            inputs, hidden = draw.choice([1, 3, 5]), draw.choice([1, 2, 4, 7])
            if kind == "LSTM" and hidden > 1 and draw.random() < 0.4:
                options["proj_size"] = draw.randint(1, hidden - 1)
            call = {"time": draw.choice([1, 2, 5]), "batch": draw.choice([None, 1, 2, 3]), "hx": draw.random() < 0.5,
                    "dtype": draw.choice(["float32", "float64"])}  # fmt: skip
            if draw.random() < 0.3:
                longest = call["time"]
                call["lengths"] = [longest, *(draw.randint(1, longest) for _ in range((call["batch"] or 1) - 1))]
                draw.shuffle(call["lengths"])
                call["batch"] = len(call["lengths"])
            yield f"{kind} {number}", kind, (inputs, hidden), options, call


def values(tg, seed, shape, dtype):
    numbers = np.sin(1.3 * np.arange(1, 1 + int(np.prod(shape)), dtype=np.float64) + seed).reshape(shape)
    return tg.tensor(numbers.astype(dtype), requires_grad=True)


def weighted(tg, out):
    """A sum in which each element has another weight."""
    return (out * tg.cos(tg.arange(out.numel(), dtype=out.dtype)).reshape(out.shape)).sum()


def given(tg, layer, sizes, call):
    """The input of a call and, where it gets them, the first states."""
    time, batch, dtype = call["time"], call["batch"], call["dtype"]
    shape = (time, sizes[0]) if batch is None else (time, batch, sizes[0])
    if layer.batch_first and batch is not None:
        shape = (batch, time, sizes[0])
    tensors = [values(tg, 0, shape, dtype)]
    if call["hx"]:
        rows, outputs = layer.num_layers * (1 + layer.bidirectional), layer.proj_size or layer.hidden_size
        states = [outputs, layer.hidden_size] if layer.mode == "LSTM" else [outputs]
        shapes = [(rows, size) if batch is None else (rows, batch, size) for size in states]
        tensors += [values(tg, 1 + n, shape, dtype) for n, shape in enumerate(shapes)]
    return tensors


def called(tg, layer, tensors, call):
    """The output and the last states."""
    x, rnn = tensors[0], tg.nn.utils.rnn
    hx = None if len(tensors) == 1 else tensors[1] if len(tensors) == 2 else tuple(tensors[1:])
    if "lengths" not in call:
        out, hidden = layer(x, hx)
    else:
        packed = rnn.pack_padded_sequence(x, call["lengths"], layer.batch_first, enforce_sorted=False)
        packed, hidden = layer(packed, hx)
        out, lengths = rnn.pad_packed_sequence(packed, layer.batch_first, padding_value=0.5)
        assert lengths.tolist() == call["lengths"]
    return [out, *(hidden if isinstance(hidden, tuple) else (hidden,))]


def run(tg, kind, sizes, options, call):
    """Output, last states, all gradients, and the gradients of their weighted squares."""
    tg.manual_seed(7)
    layer = getattr(tg.nn, kind)(*sizes, **options, dtype=getattr(tg, call["dtype"]))
    tensors = given(tg, layer, sizes, call)
    results, wrt = called(tg, layer, tensors, call), [*tensors, *layer.parameters()]
    loss = sum(weighted(tg, r) for r in results)
    gradients = tg.autograd.grad(loss, wrt, create_graph=True)
    second = tg.autograd.grad(sum(weighted(tg, g * g) for g in gradients), wrt, allow_unused=True)
    second = [tg.zeros_like(x) if g is None else g for g, x in zip(second, wrt, strict=True)]
    return [x.detach().numpy() for x in (*results, *gradients, *second)]


def cell(tg, name, bias, batch, hx, dtype, **options):
    """New states and gradients of a cell, and its parameters as they were drawn."""
    tg.manual_seed(3)
    layer = getattr(tg.nn, name)(3, 4, bias=bias, dtype=getattr(tg, dtype), **options)
    x = values(tg, 0, (3,) if batch is None else (batch, 3), dtype)
    states = [values(tg, 1 + n, (4,) if batch is None else (batch, 4), dtype) for n in range(1 + (name == "LSTMCell"))]
    out = layer(x, None if not hx else tuple(states) if name == "LSTMCell" else states[0])
    out = out if isinstance(out, tuple) else (out,)
    wrt = [x, *(states if hx else []), *layer.parameters()]
    gradients = tg.autograd.grad(sum(weighted(tg, o) for o in out), wrt)
    return [t.detach().numpy() for t in (*out, *gradients, *layer.parameters())]


#: With biases, batch, with states, type.
CALLS = [
    (True, 2, True, "float32"),
    (False, None, True, "float64"),
    (True, 1, False, "float64"),
    (True, None, False, "float32"),
]


def cells():
    for name in CELLS:
        for number, call in enumerate(CALLS):
            yield f"{name} {number}", (name, *call), {}
    yield "RNNCell relu", ("RNNCell", True, 3, True, "float64"), {"nonlinearity": "relu"}


#: What is printed of a layer, and the names of its parameters.
SHOWN = [
    "LSTM(3, 4, 2, bidirectional=True, proj_size=2, dropout=0.5, batch_first=True, bias=False)",
    "LSTM(3, 4, num_layers=2)",
    "RNN(3, 4, 2, 'relu')",
    "RNN(3, 4, bidirectional=True)",
    "GRU(3, 4, bias=False)",
    "GRUCell(2, 3)",
    "RNNCell(2, 3, nonlinearity='relu', bias=False)",
    "LSTMCell(2, 3)",
]

#: What is refused: an expression, in which z(...) makes zeros.
REFUSED = [
    "nn.LSTM(3, 4)(z(0, 5, 3))",
    "nn.GRU(3, 4)(z(0, 5, 3))",
    "nn.LSTM(3, 4)(z(5, 2, 2))",
    "nn.LSTM(3, 4)(z(5))",
    "nn.RNN(3, 4)(z(5, 1, 1, 3))",
    "nn.GRU(3, 4)(z(5, 1, 1, 3))",
    "nn.RNN(3, 4)(z(5, 2, 3), z(1, 4))",
    "nn.RNN(3, 4)(z(5, 3), z(1, 2, 4))",
    "nn.LSTM(3, 4)(z(5, 2, 3), (z(1, 4), z(1, 2, 4)))",
    "nn.LSTM(3, 4)(z(5, 3), (z(1, 4), z(1, 2, 4)))",
    "nn.LSTM(3, 4)(z(5, 2, 3), (z(1, 3, 4), z(1, 2, 4)))",
    "nn.LSTM(3, 4, proj_size=2)(z(5, 2, 3), (z(1, 2, 2), z(1, 2, 2)))",
    "nn.GRU(3, 4)(z(5, 2, 3), z(2, 2, 4))",
    "nn.GRU(3, 4)(rnn.pack_sequence([z(5, 2)]))",
    "nn.LSTM(3, 4, proj_size=4)",
    "nn.LSTM(3, 4, proj_size=-1)",
    "nn.GRU(3, 4, proj_size=2)",
    "nn.RNN(3, 4, proj_size=2)",
    "nn.RNN(3, 4, nonlinearity='x')",
    "nn.LSTM(3, 4, dropout=1.5)",
    "nn.LSTM(3, 4, dropout=True)",
    "nn.LSTM(3, 0)",
    "nn.LSTM(0, 2)",
    "nn.LSTM(3.0, 2)",
    "nn.LSTM(3, 2, bias=1)",
    "nn.LSTM(3, 2, batch_first=1)",
    "nn.LSTM(3, 2, num_layers=0)",
    "nn.RNNBase('x', 3, 2)",
    "nn.LSTMCell(3, 4)(z(2, 2))",
    "nn.LSTMCell(3, 4)(z(2, 3, 4))",
    "nn.LSTMCell(3, 4)(z(2, 3), (z(3, 4), z(2, 4)))",
    "nn.LSTMCell(3, 4)(z(2, 3), (z(2, 4), z(2, 5)))",
    "nn.LSTMCell(3, 4)(z(2, 3), (z(2, 4), z(2, 2, 4)))",
    "nn.GRUCell(3, 4)(z(2, 2))",
    "nn.GRUCell(3, 4)(z(2, 3), z(3, 4))",
    "nn.GRUCell(3, 4)(z(2, 3), z(2, 1, 4))",
    "nn.RNNCell(3, 4)(z(2, 3), z(2, 5))",
    "nn.RNNCell(3, 4, nonlinearity='x')(z(2, 3))",
    "rnn.pack_padded_sequence(z(4, 3, 2), [2, 3, 1])",
    "rnn.pack_padded_sequence(z(4, 3, 2), [3, 2, 0])",
    "rnn.pack_padded_sequence(z(4, 3, 2), [3, 2])",
    "rnn.pack_padded_sequence(z(4, 0, 2), [])",
    "rnn.pack_padded_sequence(z(4, 3, 2), z(1, 3).long())",
    "rnn.pack_sequence([])",
    "rnn.pad_sequence([])",
    "rnn.pad_sequence([z(2, 3)], padding_side='x')",
    "rnn.pad_packed_sequence(rnn.pack_sequence([z(3, 2)]), total_length=2)",
    "rnn.PackedSequence(z(2))",
]


def refusal(tg, text):
    """The class and message of what an expression raises."""
    names = {"nn": tg.nn, "rnn": tg.nn.utils.rnn, "z": tg.zeros}
    try:
        eval(text, names)
    except Exception as error:
        # Without the layer, which Python 3.10 shows as a part of the message.
        return [type(error).__name__, str(error).partition("\n  in ")[0]]
    return None


def sequences(tg):
    """What packing and padding give."""
    rnn, x = tg.nn.utils.rnn, tg.arange(24.0).reshape(4, 3, 2)
    parts = [x[:3, 0], x[:1, 1], x[:2, 2]]
    found = [rnn.pad_sequence(parts), rnn.pad_sequence(parts, True, -1.0), rnn.pad_sequence(parts, True, 2.0, "left")]
    packed = rnn.pack_sequence(parts, enforce_sorted=False)
    found += list(packed)
    found += [*rnn.pad_packed_sequence(packed), *rnn.pad_packed_sequence(packed, True, 9.0, total_length=5)]
    found += rnn.unpack_sequence(packed)
    found += rnn.unpad_sequence(rnn.pad_sequence(parts, batch_first=True), tg.tensor([3, 1, 2]), batch_first=True)
    found += [rnn.invert_permutation(tg.tensor([2, 0, 1]))]
    found += list(rnn.pack_sequence([tg.tensor([1, 2, 3]), tg.tensor([4])]))[:2]
    found += list(rnn.pack_padded_sequence(x, tg.tensor([4, 4, 2])))[:2]
    return [t.numpy() for t in found]


def functions(tg):
    """PyTorch's functions of layers, packed and not."""
    found, x = [], values(tg, 0, (4, 3, 3), "float64")
    for name, kind, options in (
        ("lstm", "LSTM", {"bidirectional": True, "proj_size": 2}),
        ("gru", "GRU", {"num_layers": 2, "bias": False}),
        ("rnn_tanh", "RNN", {}),
        ("rnn_relu", "RNN", {"nonlinearity": "relu"}),
    ):
        tg.manual_seed(5)
        layer = getattr(tg.nn, kind)(3, 4, **options, dtype=tg.float64)
        rows, outputs = layer.num_layers * (1 + layer.bidirectional), layer.proj_size or 4
        sizes = (outputs, 4) if kind == "LSTM" else (4,)
        states = [values(tg, n, (rows, 3, size), "float64") for n, size in enumerate(sizes)]
        hx = states if kind == "LSTM" else states[0]
        options = (layer._flat_weights, layer.bias, layer.num_layers, 0.0, True, layer.bidirectional)
        found += getattr(tg, name)(x, hx, *options, False)
        found += getattr(tg, name)(x.transpose(0, 1), hx, *options, True)
        found += getattr(tg, name)(x.reshape(12, 3)[:10], tg.tensor([3, 3, 2, 2]), hx, *options)
    return [t.detach().numpy() for t in found]


def make(tg):
    stored = {}
    for label, *rest in layers():
        stored.update({f"{label}|{i}": x for i, x in enumerate(run(tg, *rest))})
    for label, args, options in cells():
        stored.update({f"{label}|{i}": x for i, x in enumerate(cell(tg, *args, **options))})
    stored.update({f"functions|{i}": x for i, x in enumerate(functions(tg))})
    stored.update({f"sequences|{i}": x for i, x in enumerate(sequences(tg))})
    return stored


def make_texts(tg):
    shown = {}
    for text in SHOWN:
        layer = eval(f"nn.{text}", {"nn": tg.nn})
        shown[text] = [repr(layer), [[name, list(p.shape)] for name, p in layer.state_dict().items()]]
    return {"shown": shown, "refused": {text: refusal(tg, text) for text in REFUSED}}
