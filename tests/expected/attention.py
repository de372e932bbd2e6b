"""Attention and transformers: drawn programs, their results, gradients and initial parameters."""

import importlib
import random
import warnings

import numpy as np

from . import gpt

PRODUCTS = 90
LAYERS = 60
LAYOUTS = 240

#: Constructors, by the kind of call that they take.
MODULES = {
    "attention": [
        "MultiheadAttention(6, 3{})",
        "MultiheadAttention(6, 2, bias=False{})",
        "MultiheadAttention(6, 3, add_bias_kv=True{})",
        "MultiheadAttention(6, 1, add_zero_attn=True{})",
        "MultiheadAttention(6, 3, 0.4, add_bias_kv=True, add_zero_attn=True{})",
        "MultiheadAttention(6, 2, kdim=5, vdim=4{})",
        "MultiheadAttention(6, 3, vdim=4, bias=False, add_bias_kv=True{})",
    ],
    "encoder": [
        "TransformerEncoderLayer(6, 3, 7{})",
        "TransformerEncoderLayer(6, 2, 7, 0.0, activation='gelu'{})",
        "TransformerEncoderLayer(6, 2, 7, norm_first=True, activation=nn.functional.silu{})",
        "TransformerEncoderLayer(6, 1, 7, bias=False, layer_norm_eps=1e-3{})",
        "TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 7{}), 2)",
        "TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 7, norm_first=True{}), 2, nn.LayerNorm(6, bias=False))",
    ],
    "decoder": [
        "TransformerDecoderLayer(6, 3, 7{})",
        "TransformerDecoderLayer(6, 2, 7, norm_first=True, activation='gelu', bias=False{})",
        "TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 7{}), 2, nn.LayerNorm(6))",
    ],
    "both": [
        "Transformer(6, 2, 2, 1, 7{})",
        "Transformer(6, 3, 1, 2, 7, 0.0, 'gelu', norm_first=True, bias=False{})",
    ],
}


def values(draw, shape):
    flat = [draw.uniform(-1.5, 1.5) for _ in range(int(np.prod(shape)))]
    return np.array(flat, np.float64).reshape(shape)


def truth(draw, shape, chance):
    return np.array([draw.random() < chance for _ in range(int(np.prod(shape)))], bool).reshape(shape)


def narrowed(draw, batch):
    """A batch shape that is broadcast to `batch`."""
    shape = [n if draw.random() < 0.7 else 1 for n in batch]
    while shape and shape[0] == 1 and draw.random() < 0.5:
        shape = shape[1:]
    return tuple(shape)


def product(number):
    """Arrays (query, key, value, perhaps a mask) and options of one `scaled_dot_product_attention`."""
    draw = random.Random(f"product {number}")
    batch = tuple(draw.choice([1, 2, 3]) for _ in range(draw.choice([0, 1, 2, 2, 3])))
    queries, keys, width = draw.choice([1, 3, 5, 37]), draw.choice([1, 4, 5, 37]), draw.choice([1, 2, 5])
    options = {"is_causal": draw.random() < 0.3}
    shapes = [(*batch, queries, width), (*batch, keys, width), (*batch, keys, draw.choice([width, 3]))]
    if len(batch) > 1 and draw.random() < 0.3:
        options["enable_gqa"] = True
        shapes[0] = (*batch[:-1], 6, queries, width)
        shapes[1] = (*batch[:-1], 3, *shapes[1][-2:])
        shapes[2] = (*batch[:-1], draw.choice([3, 3, 2]), *shapes[2][-2:])
        batch = (*batch[:-1], 6)
    elif draw.random() < 0.3:
        shapes[1:] = [(*narrowed(draw, batch), *shape[-2:]) for shape in shapes[1:]]
    arrays = [values(draw, shape) for shape in shapes]
    if not options["is_causal"] and draw.random() < 0.7:
        shape = (*narrowed(draw, batch), draw.choice([1, queries]), draw.choice([1, keys]))
        mask = truth(draw, shape, 0.6)
        mask = mask if draw.random() < 0.5 else np.where(mask, values(draw, shape), draw.choice([0.0, -np.inf]))
        arrays.append(mask)
    if draw.random() < 0.3:
        options["scale"] = draw.choice([0.1, 0.3, -1.2])
    if draw.random() < 0.3:
        options["dropout_p"] = draw.choice([0.2, 0.5, 1.0])
    return arrays, options


def weighted(tg, out):
    """A sum in which each element has another weight."""
    return (out * tg.cos(tg.arange(out.numel(), dtype=out.dtype)).reshape(out.shape)).sum()


def of_product(tg, number, dtype):
    """Result and gradients; draws are repeatable."""
    arrays, options = product(number)
    tg.manual_seed(number)
    tensors = [tg.tensor(x) if x.dtype == bool else tg.tensor(x, dtype=dtype, requires_grad=True) for x in arrays]
    out = tg.nn.functional.scaled_dot_product_attention(*tensors, **options)
    inputs = [x for x in tensors if x.requires_grad]
    return [x.detach().numpy() for x in (out, *tg.autograd.grad(weighted(tg, out), inputs))]


def laid(tg, draw, shape):
    """Zeros whose axes lie in a drawn order, sometimes with gaps."""
    by_positions = (*range(len(shape) - 3), len(shape) - 2, len(shape) - 3, len(shape) - 1)
    order = draw.choice([tuple(range(len(shape))), by_positions, by_positions, by_positions])
    if draw.random() < 0.2:
        order = tuple(draw.sample(range(len(shape)), len(shape)))
    sizes = [shape[axis] for axis in order]
    gap = draw.choice([None, None, None, *range(len(shape))])
    memory = tg.zeros([n * (2 if axis == gap else 1) for axis, n in enumerate(sizes)])
    memory = memory if gap is None else memory.narrow(gap, 0, sizes[gap])
    return memory.permute([order.index(axis) for axis in range(len(shape))])


def layout_call(tg, number):
    """Zeros (query, key, value) that lie in drawn orders, and options of one `scaled_dot_product_attention`."""
    draw = random.Random(f"layout {number}")
    batch, heads, width = draw.choice([1, 2]), draw.choice([1, 4, 4]), draw.choice([1, 3, 3])
    queries, keys, served = draw.choice([1, 5]), draw.choice([5, 6]), draw.choice([heads, heads, 1])
    lead = draw.choice([(batch,)] * 8 + [(), (batch, 2)])
    shapes = [(*lead, heads, queries, width), (*lead, served, keys, width), (*lead, served, keys, width)]
    if draw.random() < 0.1:
        shapes[2] = (*shapes[2][:-1], width + 1)
    options = {"enable_gqa": True} if served != heads else {}
    kind = draw.choice(["none", "causal", "dropped", "mask", "mask", "followed"])
    if kind == "mask":
        shape = draw.choice([(queries, keys), (1, keys), (1, queries, keys), (1,) * len(lead) + (heads, queries, keys)])
        options["attn_mask"] = tg.zeros(shape) if draw.random() < 0.5 else tg.ones(shape, dtype=tg.bool)
    elif kind == "followed":
        options["attn_mask"] = tg.zeros(queries, keys, requires_grad=True)
    options |= {"causal": {"is_causal": True}, "dropped": {"dropout_p": 0.5}}.get(kind, {})
    if kind == "mask" and draw.random() < 0.2:
        options["is_causal"] = True
    tensors = [laid(tg, draw, shape) for shape in shapes]
    return [x.requires_grad_() if draw.random() < 0.7 else x for x in tensors], options


def strides(x):
    """Those of the axes that have some elements."""
    return [n for n, size in zip(x.stride(), x.shape, strict=True) if size > 1]


def strides_of(tg, operands, options):
    """`strides` of the result, and of the gradients of the operands that have one; an error's class."""
    try:
        out = tg.nn.functional.scaled_dot_product_attention(*operands, **options)
    except RuntimeError:
        return "RuntimeError"
    followed = [x for x in operands if x.requires_grad]
    gradients = tg.autograd.grad((out * out).sum(), followed) if followed else ()
    return str([strides(x) for x in (out, *gradients)])


def layouts(tg):
    return [strides_of(tg, *layout_call(tg, number)) for number in range(LAYOUTS)]


def masks(draw, kind, batch, heads, lengths):
    """Keyword arguments that are masks, for a call of that kind; no query is left without a key."""
    names = {
        "attention": [("attn_mask", "key_padding_mask", 0, 1)],
        "encoder": [("mask", "src_key_padding_mask", 0, 0)],
        "decoder": [("tgt_mask", "tgt_key_padding_mask", 0, 0), ("memory_mask", "memory_key_padding_mask", 0, 1)],
        "both": [("src_mask", "src_key_padding_mask", 1, 1), ("tgt_mask", "tgt_key_padding_mask", 0, 0),
                 ("memory_mask", "memory_key_padding_mask", 0, 1)],
    }[kind]  # fmt: skip
    given = {}
    for pairs, padding, q, k in names:
        numbers = draw.random() < 0.4
        if draw.random() < 0.5:
            shape = (lengths[q], lengths[k])
            mask = truth(draw, shape if draw.random() < 0.7 or batch is None else (batch * heads, *shape), 0.3)
            mask[..., 0] = False
            given[pairs] = np.where(mask, -np.inf, values(draw, mask.shape)) if numbers else mask
        if draw.random() < 0.5:
            mask = truth(draw, (lengths[k],) if batch is None else (batch, lengths[k]), 0.3)
            mask[..., 0] = False
            given[padding] = np.where(mask, -np.inf, 0.0) if numbers else mask
    return given


def layer(number):
    """(text, batch_first, arrays, keyword arguments, training) of one layer and its call."""
    draw = random.Random(f"layer {number}")
    kind = draw.choice(["attention", "attention", "encoder", "encoder", "decoder", "both"])
    text, batch_first = draw.choice(MODULES[kind]), draw.random() < 0.5
    heads = int(text.split("(6, ")[1][0])
    batch, lengths = draw.choice([None, 1, 2, 3]), (draw.choice([1, 3, 4]), draw.choice([2, 5]))
    if kind == "encoder":
        lengths = (lengths[1], lengths[1])

    def shape(length, width=6):
        if batch is None:
            return (length, width)
        return (batch, length, width) if batch_first else (length, batch, width)

    keywords = masks(draw, kind, batch, heads, lengths)
    if kind == "attention":
        widths = [int(text.split(f"{name}=")[1][0]) if name in text else 6 for name in ("kdim", "vdim")]
        shapes = [shape(lengths[0]), shape(lengths[1], widths[0]), shape(lengths[1], widths[1])]
        keywords["need_weights"] = draw.random() < 0.5
        keywords["average_attn_weights"] = draw.random() < 0.5
        if widths == [6, 6] and draw.random() < 0.3:
            shapes.pop()  # the keys are the values
    else:
        shapes = [shape(n) for n in (lengths[::-1] if kind == "both" else lengths[: 1 if kind == "encoder" else 2])]
    if text.startswith("TransformerEncoderLayer") and "mask" in keywords:
        keywords["src_mask"] = keywords.pop("mask")
    arrays = [values(draw, s) for s in shapes]
    return text.format(", batch_first=True" if batch_first else ""), arrays, keywords, draw.random() < 0.5


def of_layer(tg, number, dtype):
    """Initial parameters, results and gradients of inputs and parameters."""
    text, arrays, keywords, training = layer(number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of nested tensors, and of masks of two types
        return _of_layer(tg, number, dtype, text, arrays, keywords, training)


def _of_layer(tg, number, dtype, text, arrays, keywords, training):
    tg.manual_seed(number)
    module = eval(f"nn.{text}", {"nn": tg.nn}).to(dtype).train(training)
    initial = [p.detach().clone().numpy() for p in module.parameters()]
    with tg.no_grad():  # the draws of both libraries differ by a rounding
        for k, parameter in enumerate(module.parameters()):
            numbers = 0.5 * np.cos(np.arange(parameter.numel()) + k).reshape(tuple(parameter.shape))
            parameter.copy_(tg.tensor(numbers, dtype=dtype))
    inputs = [tg.tensor(x, dtype=dtype, requires_grad=True) for x in arrays]
    given = {
        name: tg.tensor(x, dtype=None if x.dtype == bool else dtype) if isinstance(x, np.ndarray) else x
        for name, x in keywords.items()
    }
    operands = [*inputs, inputs[-1]] if len(inputs) == 2 and text.startswith("Multihead") else inputs
    results = module(*operands, **given)
    results = [x for x in results if x is not None] if isinstance(results, tuple) else [results]
    total = sum(weighted(tg, x) for x in results)
    gradients = tg.autograd.grad(total, [*inputs, *module.parameters()], allow_unused=True)
    zeros = [np.zeros(0)] * len(gradients)
    found = [z if g is None else g.numpy() for g, z in zip(gradients, zeros, strict=True)]
    return [*initial, *(x.detach().numpy() for x in results), *found]


def packed(arrays):
    """Several arrays as one: of each its number of axes, its shape, its elements."""
    return np.concatenate([np.concatenate([[x.ndim], x.shape, x.ravel()]) for x in arrays])


def make(tg):
    programs = (("product", PRODUCTS, of_product), ("layer", LAYERS, of_layer))
    return {
        f"{name} {number}": packed(function(tg, number, tg.float64))
        for name, count, function in programs
        for number in range(count)
    }


#: Evaluations without gradients, in which PyTorch drops padding: module, batch_first, what is padded.
EVALUATED = [
    ("Encoder(nn.TransformerEncoderLayer(6, 2, 7, batch_first=True), 2, nn.LayerNorm(6))", [[0, 0, 1], [0, 1, 1]]),
    ("Encoder(nn.TransformerEncoderLayer(6, 2, 7, batch_first=True), 2, nn.LayerNorm(6))", [[0, 1, 0], [0, 1, 1]]),
    ("Encoder(nn.TransformerEncoderLayer(6, 2, 7, batch_first=True), 2, mask_check=False)", [[0, 1, 1], [0, 0, 0]]),
    ("Encoder(nn.TransformerEncoderLayer(6, 3, 7, batch_first=True), 2)", [[0, 0, 1], [0, 1, 1]]),
    ("Encoder(nn.TransformerEncoderLayer(6, 2, 7), 2)", [[0, 0, 1], [0, 1, 1]]),
    ("Encoder(nn.TransformerEncoderLayer(6, 2, 7, batch_first=True), 2, None, False)", [[0, 0, 1], [0, 1, 1]]),
    ("EncoderLayer(6, 2, 7, batch_first=True)", [[0, 0, 1], [0, 1, 1]]),
]  # fmt: skip


def of_evaluation(tg, text, padded):
    """The numbers, and the warnings of making the module."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tg.manual_seed(1)
        module = eval(f"nn.Transformer{text}", {"nn": tg.nn}).eval()
    x = tg.tensor(np.cos(np.arange(36, dtype=np.float32)).reshape((2, 3, 6)))
    padding = tg.tensor(padded).bool()
    with tg.no_grad():
        out = module(x if "batch_first" in text else x.transpose(0, 1), src_key_padding_mask=padding)
    return out.numpy(), [str(w.message) for w in caught]


def descriptions(tg):
    """How each module is printed, and its parameters in order; the programs are repeated from their text."""
    found = {}
    for text in (text.format("") for texts in MODULES.values() for text in texts):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = eval(f"nn.{text}", {"nn": tg.nn})
        names = {name: list(x.shape) for name, x in module.state_dict().items()}
        found[text] = {"printed": repr(module), "names": list(names.items())}
    evaluated = []
    for text, padded in EVALUATED:
        numbers, warned = of_evaluation(tg, text, padded)
        evaluated.append({"numbers": numbers.ravel().tolist(), "warned": warned})
    tables = [of_table(tg, options)[0] for options in TABLES]
    return {"modules": found, "evaluated": evaluated, "errors": errors(tg), "gpt": gpt_runs(tg), "tables": tables,
            "layouts": layouts(tg)}  # fmt: skip


#: Calls that are refused; q, k, v, x are float32 of these shapes.
SHAPES = {"q": (2, 3, 5, 4), "k": (2, 3, 7, 4), "v": (2, 3, 7, 6), "x": (5, 2, 6), "y": (7, 2, 6)}
REFUSED = [
    "sdpa(q, k, v, ones(5, 7).bool(), is_causal=True)",
    "sdpa(q, k, v, ones(5, 6).bool())",
    "sdpa(q, k, v, ones(5, 7).int())",
    "sdpa(q, k, v, ones(5, 7).double())",
    "sdpa(q, k, v, ones(7).bool())",
    "sdpa(q, k, v, ones(3, 1, 1, 1, 7).bool())",
    "sdpa(q[0, 0, 0], k[0, 0, 0], v[0, 0, 0])",
    "sdpa(q, k.double(), v)",
    "sdpa(q.long(), k.long(), v.long())",
    "sdpa(q, ones(2, 3, 7, 5), v)",
    "sdpa(q, k, ones(2, 3, 8, 6))",
    "sdpa(q, ones(2, 2, 7, 4), v)",
    "sdpa(q, k, v, dropout_p=1.5)",
    "sdpa(ones(2, 6, 5, 4), ones(2, 4, 7, 4), ones(2, 4, 7, 4), enable_gqa=True)",
    "sdpa(ones(5, 4), ones(5, 4), ones(5, 4), enable_gqa=True)",
    "sdpa(3, k, v)",
    "sdpa(q, k, v, attn_mask=3)",
    "sdpa(q, k, v, None, 0.0, False, 0.5)",
    "nn.MultiheadAttention(6, 4)",
    "nn.MultiheadAttention(0, 4)",
    "nn.MultiheadAttention(6, -1)",
    "nn.MultiheadAttention(6, 2)(q, q, q)",
    "nn.MultiheadAttention(6, 2)(x, x[0], x[0])",
    "nn.MultiheadAttention(6, 2)(x[0], x, x)",
    "nn.MultiheadAttention(6, 2)(x, y, x)",
    "nn.MultiheadAttention(4, 2)(x, y, y)",
    "nn.MultiheadAttention(6, 2)(x, y, y, key_padding_mask=ones(7).bool())",
    "nn.MultiheadAttention(6, 2)(x, y, y, key_padding_mask=ones(2, 6).bool())",
    "nn.MultiheadAttention(6, 2)(x, y, y, key_padding_mask=ones(3, 7).bool())",
    "nn.MultiheadAttention(6, 2)(x, y, y, key_padding_mask=ones(2, 7).int())",
    "nn.MultiheadAttention(6, 2)(x[0], y[0], y[0], key_padding_mask=ones(2, 7).bool())",
    "nn.MultiheadAttention(6, 2)(x, y, y, attn_mask=ones(5, 6).bool())",
    "nn.MultiheadAttention(6, 2)(x, y, y, attn_mask=ones(3, 5, 7).bool())",
    "nn.MultiheadAttention(6, 2)(x, y, y, attn_mask=ones(5).bool())",
    "nn.MultiheadAttention(6, 2)(x[:, 0], y[:, 0], y[:, 0], attn_mask=ones(3, 5, 7).bool())",
    "nn.MultiheadAttention(6, 2)(x, y, y, attn_mask=ones(5, 7).long())",
    "nn.MultiheadAttention(6, 2)(x, y, y, is_causal=True)",
    "nn.MultiheadAttention(6, 2, kdim=4)(x, y, y)",
    "nn.MultiheadAttention(6, 2, kdim=6, vdim=5)(x, y, x[..., :5])",
    "nn.TransformerEncoderLayer(6, 2, activation='tanh')",
    "nn.TransformerEncoderLayer(6, 4)",
    "nn.TransformerEncoderLayer(6, 2)(x, src_mask=ones(5, 5).int())",
    "nn.TransformerDecoderLayer(6, 2)(x, ones(7, 3, 6))",
    "nn.Transformer(6, 2, 1, 1, 7)(x, ones(7, 3, 6))",
    "nn.Transformer(6, 2, 1, 1, 7, batch_first=True)(x, y)",
    "nn.Transformer(4, 2, 1, 1, 7)(x, y)",
    "attention.sdpa_kernel(3).__enter__()",
]


def refusal(tg, text):
    """The class of the error that the call raises, and its message."""
    given = {name: tg.zeros(shape) for name, shape in SHAPES.items()}
    names = {"sdpa": tg.nn.functional.scaled_dot_product_attention, "nn": tg.nn, "ones": tg.ones}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            eval(text, {**names, **given, "attention": importlib.import_module(f"{tg.__name__}.nn.attention")})
    except Exception as error:
        return type(error).__name__, str(error)
    return None


def errors(tg):
    return {text: refusal(tg, text) for text in REFUSED}


#: (flash, dropout) of the language models that are trained.
GPTS = [(True, 0.0), (False, 0.1), (True, 0.1)]


def gpt_runs(tg):
    return [gpt.train(tg, *options, "float64")[:2] for options in GPTS]


#: What tables are asked for besides their rows.
TABLES = [
    {"max_norm": 2.0},
    {"max_norm": 3.0, "norm_type": 1.0, "padding_idx": 1},
    {"max_norm": 1.0, "norm_type": float("inf"), "scale_grad_by_freq": True},
    {"scale_grad_by_freq": True, "padding_idx": -1},
]


def of_table(tg, options, step=lambda function: function):
    """Rows, gradients and the table after three calls; `step` may compile what is called."""
    module = tg.nn.Embedding(5, 3, _weight=tg.tensor(np.cos(np.arange(15.0)).reshape(5, 3) * 2), **options)

    def called(places):
        module.zero_grad()
        rows = module(places)
        weighted(tg, rows).backward()
        return rows

    run, found = step(called), []
    for places in ([[0, 4, 4], [2, 2, 2]], [[1, 1, 0], [3, 4, 0]], [[3, 3, 3], [3, 1, 0]]):
        rows = run(tg.tensor(places))
        found += [rows.detach().numpy().ravel(), module.weight.grad.numpy().ravel().copy()]
    return [repr(module), [float(x) for x in np.concatenate([*found, module.weight.detach().numpy().ravel()])]], run
