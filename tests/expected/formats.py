"""In which memory format functions of images give results and gradients, for images that lie in each of them.

`CALLS` are the functions, in names that both libraries share; `FORMS` are shapes of images and how they lie. What both
libraries are asked is `facts`: strides.
"""

import json
import warnings

import numpy as np

#: Functions of images with two axes in space and with three: of a library and an image [batch, channels, *space].
#: Other operands are made by rows by `weight`.
BOTH = {
    "conv": lambda tg, F, n, x, w: getattr(F, f"conv{n}d")(x, w(4, x.shape[1], *(3,) * n), w(4), padding=1),
    "conv 1": lambda tg, F, n, x, w: getattr(F, f"conv{n}d")(x, w(4, x.shape[1], *(1,) * n)),
    "conv by a laid weight": lambda tg, F, n, x, w: getattr(F, f"conv{n}d")(
        x, last(tg, w(4, x.shape[1], *(3,) * n)), stride=2, padding=1
    ),
    "conv of groups": lambda tg, F, n, x, w: getattr(F, f"conv{n}d")(
        x, w(x.shape[1] * 2, 1, *(3,) * n), w(x.shape[1] * 2), padding=1, groups=x.shape[1]
    ),
    "conv dilated": lambda tg, F, n, x, w: getattr(F, f"conv{n}d")(
        x, w(2, x.shape[1], *(3,) * n), padding=2, dilation=2
    ),
    "conv_transpose": lambda tg, F, n, x, w: getattr(F, f"conv_transpose{n}d")(x, w(x.shape[1], 4, *(3,) * n), w(4)),
    "conv_transpose of groups": lambda tg, F, n, x, w: getattr(F, f"conv_transpose{n}d")(
        x, w(x.shape[1], 2, *(3,) * n), stride=2, groups=x.shape[1]
    ),
    "avg_pool": lambda tg, F, n, x, w: getattr(F, f"avg_pool{n}d")(x, 2, 1, padding=1),
    "lp_pool": lambda tg, F, n, x, w: getattr(F, f"lp_pool{n}d")(x, 2.0, 2, 1, True),
    "max_pool": lambda tg, F, n, x, w: getattr(F, f"max_pool{n}d")(x, 2, 1, padding=1),
    "max_pool with places": lambda tg, F, n, x, w: getattr(F, f"max_pool{n}d")(x, 2, 1, padding=1, return_indices=True),
    "max_unpool": lambda tg, F, n, x, w: getattr(F, f"max_unpool{n}d")(
        *getattr(F, f"max_pool{n}d")(x, 2, 1, padding=1, return_indices=True), 2, 1, 1
    ),
    "adaptive_avg_pool": lambda tg, F, n, x, w: getattr(F, f"adaptive_avg_pool{n}d")(x, 2),
    "adaptive_avg_pool 1": lambda tg, F, n, x, w: getattr(F, f"adaptive_avg_pool{n}d")(x, 1),
    "adaptive_max_pool": lambda tg, F, n, x, w: getattr(F, f"adaptive_max_pool{n}d")(x, 2),
    "batch_norm": lambda tg, F, n, x, w: F.batch_norm(x, None, None, w(x.shape[1]), w(x.shape[1]), True),
    "batch_norm bare": lambda tg, F, n, x, w: F.batch_norm(x, None, None, None, None, True),
    "batch_norm by statistics": lambda tg, F, n, x, w: F.batch_norm(
        x, tg.zeros(x.shape[1], dtype=x.dtype), tg.ones(x.shape[1], dtype=x.dtype), w(x.shape[1]), w(x.shape[1])
    ),
    "group_norm": lambda tg, F, n, x, w: F.group_norm(x, 1, w(x.shape[1]), w(x.shape[1])),
    "group_norm bare": lambda tg, F, n, x, w: F.group_norm(x, 1),
    "instance_norm": lambda tg, F, n, x, w: F.instance_norm(x, weight=w(x.shape[1]), bias=w(x.shape[1])),
    "layer_norm": lambda tg, F, n, x, w: F.layer_norm(x, x.shape[-1:], w(x.shape[-1]), w(x.shape[-1])),
    "layer_norm of all": lambda tg, F, n, x, w: F.layer_norm(x, x.shape[1:]),
    "rms_norm": lambda tg, F, n, x, w: F.rms_norm(x, x.shape[-1:], w(x.shape[-1])),
    "local_response_norm": lambda tg, F, n, x, w: F.local_response_norm(x, 2),
    "normalize": lambda tg, F, n, x, w: F.normalize(x, dim=1),
    "pad": lambda tg, F, n, x, w: F.pad(x, (1, 2) * n),
    "pad by cutting": lambda tg, F, n, x, w: F.pad(x, (-1, 0) * n),
    "pad reflect": lambda tg, F, n, x, w: F.pad(x, (1,) * 2 * n, "reflect"),
    "pad replicate": lambda tg, F, n, x, w: F.pad(x, (1,) * 2 * n, "replicate"),
    "pad circular": lambda tg, F, n, x, w: F.pad(x, (1,) * 2 * n, "circular"),
    "interpolate nearest": lambda tg, F, n, x, w: F.interpolate(x, scale_factor=2),
    "interpolate nearest-exact": lambda tg, F, n, x, w: F.interpolate(x, scale_factor=2, mode="nearest-exact"),
    "interpolate linear": lambda tg, F, n, x, w: F.interpolate(
        x, scale_factor=2, mode="bilinear" if n == 2 else "trilinear"
    ),
    "interpolate area": lambda tg, F, n, x, w: F.interpolate(x, size=(2,) * n, mode="area"),
    "interpolate to the same": lambda tg, F, n, x, w: F.interpolate(x, size=x.shape[2:]),
    "grid_sample": lambda tg, F, n, x, w: F.grid_sample(x, w(x.shape[0], *(2,) * n, n), align_corners=False),
    "softmax": lambda tg, F, n, x, w: F.softmax(x, 1),
    "log_softmax": lambda tg, F, n, x, w: F.log_softmax(x, -1),
    "relu": lambda tg, F, n, x, w: F.relu(x),
    "relu6": lambda tg, F, n, x, w: F.relu6(x),
    "leaky_relu": lambda tg, F, n, x, w: F.leaky_relu(x),
    "prelu": lambda tg, F, n, x, w: F.prelu(x, w(x.shape[1])),
    "elu": lambda tg, F, n, x, w: F.elu(x),
    "celu": lambda tg, F, n, x, w: F.celu(x),
    "selu": lambda tg, F, n, x, w: F.selu(x),
    "gelu": lambda tg, F, n, x, w: F.gelu(x),
    "gelu tanh": lambda tg, F, n, x, w: F.gelu(x, approximate="tanh"),
    "silu": lambda tg, F, n, x, w: F.silu(x),
    "mish": lambda tg, F, n, x, w: F.mish(x),
    "glu": lambda tg, F, n, x, w: F.glu(tg.cat([x, x], 1), 1),
    "softplus": lambda tg, F, n, x, w: F.softplus(x),
    "softsign": lambda tg, F, n, x, w: F.softsign(x),
    "tanhshrink": lambda tg, F, n, x, w: F.tanhshrink(x),
    "hardtanh": lambda tg, F, n, x, w: F.hardtanh(x),
    "hardswish": lambda tg, F, n, x, w: F.hardswish(x),
    "hardsigmoid": lambda tg, F, n, x, w: F.hardsigmoid(x),
    "hardshrink": lambda tg, F, n, x, w: F.hardshrink(x),
    "softshrink": lambda tg, F, n, x, w: F.softshrink(x),
    "threshold": lambda tg, F, n, x, w: F.threshold(x, 0.1, 0.0),
    "logsigmoid": lambda tg, F, n, x, w: F.logsigmoid(x),
    "sigmoid": lambda tg, F, n, x, w: tg.sigmoid(x),
    "tanh": lambda tg, F, n, x, w: tg.tanh(x),
    "dropout": lambda tg, F, n, x, w: F.dropout(x, 0.5, True),
    "dropout of channels": lambda tg, F, n, x, w: getattr(F, f"dropout{n}d")(x, 0.5, True),
    "mse_loss": lambda tg, F, n, x, w: F.mse_loss(x, w(*x.shape)),
    "mse_loss none": lambda tg, F, n, x, w: F.mse_loss(x, w(*x.shape), reduction="none"),
    "mse_loss none alike": lambda tg, F, n, x, w: F.mse_loss(x, x.detach() + 1, reduction="none"),
    "l1_loss": lambda tg, F, n, x, w: F.l1_loss(x, w(*x.shape)),
    "smooth_l1_loss": lambda tg, F, n, x, w: F.smooth_l1_loss(x, w(*x.shape)),
    "huber_loss": lambda tg, F, n, x, w: F.huber_loss(x, w(*x.shape)),
    "cross_entropy": lambda tg, F, n, x, w: F.cross_entropy(x, tg.zeros(x.shape[0], *x.shape[2:], dtype=tg.int64)),
    "cross_entropy none": lambda tg, F, n, x, w: F.cross_entropy(
        x, tg.zeros(x.shape[0], *x.shape[2:], dtype=tg.int64), reduction="none"
    ),
    "cross_entropy of shares": lambda tg, F, n, x, w: F.cross_entropy(x, tg.ones_like(x)),
    "nll_loss": lambda tg, F, n, x, w: F.nll_loss(x, tg.zeros(x.shape[0], *x.shape[2:], dtype=tg.int64)),
    "binary_cross_entropy": lambda tg, F, n, x, w: F.binary_cross_entropy(tg.sigmoid(x), tg.ones_like(x)),
    "binary_cross_entropy_with_logits": lambda tg, F, n, x, w: F.binary_cross_entropy_with_logits(x, tg.ones_like(x)),
    "kl_div": lambda tg, F, n, x, w: F.kl_div(x, tg.ones_like(x), reduction="sum"),
    "cosine_similarity": lambda tg, F, n, x, w: F.cosine_similarity(x, x.detach() * 2, 1),
    "add a number": lambda tg, F, n, x, w: x + 1,
    "add rows": lambda tg, F, n, x, w: x + w(*x.shape),
    "rows add": lambda tg, F, n, x, w: w(*x.shape) + x,
    "add alike": lambda tg, F, n, x, w: x * x + x,
    "add a channel": lambda tg, F, n, x, w: x + w(x.shape[1], *(1,) * n),
    "add to a channel": lambda tg, F, n, x, w: w(1, x.shape[1], *(1,) * n) + x,
    "add a row": lambda tg, F, n, x, w: x + w(x.shape[-1]),
    "gate": lambda tg, F, n, x, w: x * tg.sigmoid(x.mean(tuple(range(2, n + 2)), keepdim=True)),
    "where": lambda tg, F, n, x, w: tg.where(x > 0, x, w(*x.shape)),
    "lerp": lambda tg, F, n, x, w: tg.lerp(x, w(*x.shape), 0.5),
    "addcmul": lambda tg, F, n, x, w: tg.addcmul(x, w(*x.shape), w(*x.shape)),
    "clamp": lambda tg, F, n, x, w: x.clamp(-1, 1),
    "compare": lambda tg, F, n, x, w: x > 0,
    "cat": lambda tg, F, n, x, w: tg.cat([x, x * 2], 1),
    "cat with rows": lambda tg, F, n, x, w: tg.cat([x, w(*x.shape)], 1),
    "stack": lambda tg, F, n, x, w: tg.stack([x, x], 1),
    "chunk": lambda tg, F, n, x, w: tg.cat(list(x.chunk(2, 0)), 0),
    "flip": lambda tg, F, n, x, w: x.flip(-1),
    "roll": lambda tg, F, n, x, w: x.roll(1, -1),
    "clone": lambda tg, F, n, x, w: x.clone(),
    "contiguous": lambda tg, F, n, x, w: x.contiguous(),
    "contiguous last": lambda tg, F, n, x, w: last_of(tg, x),
    "to double": lambda tg, F, n, x, w: x.double() + 0,
    "to a type": lambda tg, F, n, x, w: x.to(tg.float16),
    "empty_like": lambda tg, F, n, x, w: tg.empty_like(x),
    "zeros_like": lambda tg, F, n, x, w: tg.zeros_like(x),
    "full_like": lambda tg, F, n, x, w: tg.full_like(x, 2),
    "rand_like": lambda tg, F, n, x, w: tg.rand_like(x),
    "randn_like": lambda tg, F, n, x, w: tg.randn_like(x),
    "zeros_like of a type": lambda tg, F, n, x, w: tg.zeros_like(x, dtype=tg.int64),
    "zeros_like by rows": lambda tg, F, n, x, w: tg.zeros_like(x, memory_format=tg.contiguous_format),
    "new_zeros": lambda tg, F, n, x, w: x.new_zeros(x.shape),
    "sum": lambda tg, F, n, x, w: x.sum(1),
    "sum kept": lambda tg, F, n, x, w: x.sum(1, keepdim=True),
    "mean of space": lambda tg, F, n, x, w: x.mean(tuple(range(2, n + 2))),
    "mean of space kept": lambda tg, F, n, x, w: x.mean(tuple(range(2, n + 2)), keepdim=True),
    "amax": lambda tg, F, n, x, w: x.amax(1),
    "max": lambda tg, F, n, x, w: x.max(1)[0],
    "argmax": lambda tg, F, n, x, w: x.argmax(1),
    "var": lambda tg, F, n, x, w: x.var(1),
    "cumsum": lambda tg, F, n, x, w: x.cumsum(1),
    "sort": lambda tg, F, n, x, w: x.sort(1),
    "pow": lambda tg, F, n, x, w: x**2,
    "sqrt": lambda tg, F, n, x, w: x.abs().sqrt(),
    "masked_fill": lambda tg, F, n, x, w: x.masked_fill(x > 0, 0.0),
    "flatten": lambda tg, F, n, x, w: x.flatten(1),
    "repeat": lambda tg, F, n, x, w: x.repeat(1, 2, *(1,) * n),
    "index": lambda tg, F, n, x, w: x[:, tg.tensor([0, 0])],
    "part": lambda tg, F, n, x, w: x[:, :, 1:] * 2,
    "narrowed": lambda tg, F, n, x, w: x[:1] + 1,
}
#: Of images with two axes in space only.
IMAGES = {
    "pixel_shuffle": lambda tg, F, n, x, w: F.pixel_shuffle(tg.cat([x] * 4, 1), 2),
    "pixel_unshuffle": lambda tg, F, n, x, w: F.pixel_unshuffle(F.pad(x, (0, x.shape[3], 0, x.shape[2])), 2),
    "channel_shuffle": lambda tg, F, n, x, w: F.channel_shuffle(tg.cat([x, x], 1), 2),
    "interpolate bicubic": lambda tg, F, n, x, w: F.interpolate(x, scale_factor=2, mode="bicubic"),
    "interpolate antialias": lambda tg, F, n, x, w: F.interpolate(x, size=(2, 2), mode="bilinear", antialias=True),
    "unfold": lambda tg, F, n, x, w: F.unfold(x, 2),
    "fold": lambda tg, F, n, x, w: F.fold(F.unfold(x, 2), x.shape[2:], 2),
    "affine_grid": lambda tg, F, n, x, w: F.grid_sample(x, F.affine_grid(w(x.shape[0], 2, 3), x.shape)),
    "fractional_max_pool": lambda tg, F, n, x, w: F.fractional_max_pool2d(x, 2, output_size=2),
}
#: Whole layers, whose parameters are given the image's format.
LAYERS = {
    "Conv": lambda tg, n, channels: getattr(tg.nn, f"Conv{n}d")(channels, 4, 3, padding=1),
    "ConvTranspose": lambda tg, n, channels: getattr(tg.nn, f"ConvTranspose{n}d")(channels, 4, 2, 2),
    "BatchNorm": lambda tg, n, channels: getattr(tg.nn, f"BatchNorm{n}d")(channels),
    "network": lambda tg, n, channels: tg.nn.Sequential(
        getattr(tg.nn, f"Conv{n}d")(channels, 4, 3, padding=1, bias=False),
        getattr(tg.nn, f"BatchNorm{n}d")(4),
        tg.nn.ReLU(),
        getattr(tg.nn, f"MaxPool{n}d")(2, 1, 1),
        getattr(tg.nn, f"Conv{n}d")(4, 4, 1),
        tg.nn.SiLU(),
        getattr(tg.nn, f"AdaptiveAvgPool{n}d")(1),
        tg.nn.Flatten(),
        tg.nn.Linear(4, 2),
    ),
}
#: [batch, channels] of images with the extents of their space, and whether they lie with the channels last.
SHAPES = {"several": (2, 3, (4, 5, 6)), "one channel": (2, 1, (4, 5, 6)), "one image": (1, 3, (4, 5, 6))}
FORMATS = ("rows", "last", "turned")


def last(tg, x):
    return x.detach().to(memory_format=tg.channels_last if x.dim() == 4 else tg.channels_last_3d).requires_grad_()


def last_of(tg, x):
    return x.contiguous(memory_format=tg.channels_last if x.dim() == 4 else tg.channels_last_3d)


def keys():
    """function|axes in space|shape|format, of all calls.

    Not of convolutions of one image with three axes in space, for which PyTorch's kernel depends on the machine.
    """
    names = [(name, n) for n in (2, 3) for name in (*BOTH, *(IMAGES if n == 2 else ()), *LAYERS)]
    every = [(name, n, shape, how) for name, n in names for shape in SHAPES for how in FORMATS]
    convolves = ("conv", "Conv", "network")
    return [
        f"{name}|{n}|{shape}|{how}"
        for name, n, shape, how in every
        if not (n == 3 and shape == "one image" and name.startswith(convolves))
    ]


def image(tg, n, shape, how, dtype):
    """Leaf numbers [batch, channels, *space] that lie as `how` says."""
    batch, channels, space = SHAPES[shape]
    extents = (batch, channels, *space[:n])
    count = 1
    for extent in extents:
        count *= extent
    x = (tg.arange(count, dtype=tg.float32) / count - 0.3).to(dtype).reshape(extents)
    if how == "turned":  # neither format: the axes of space the other way round
        order = (0, *range(n + 1, 1, -1), 1)
        return x.permute(order).contiguous().permute(0, n + 1, *range(n, 0, -1)).detach().requires_grad_()
    return last(tg, x) if how == "last" else x.requires_grad_()


def program(tg, key, dtype):
    """The function of `key`, without arguments, and the leaves by which its results may be differentiated."""
    name, n, shape, how = key.split("|")
    n = int(n)
    tg.manual_seed(0)
    x = image(tg, n, shape, how, dtype)
    if name in LAYERS:
        layer = LAYERS[name](tg, n, x.shape[1]).to(dtype)
        if how == "last":
            convert = getattr(tg.nn.utils, f"convert_conv{n}d_weight_memory_format")
            layer = convert(layer, tg.channels_last if n == 2 else tg.channels_last_3d)
        return lambda: layer(x), [x, *layer.parameters()]
    made, given = {}, [x]

    def weight(*extents):
        count = weight.count
        weight.count += 1
        if count not in made:
            made[count] = tg.ones(extents, dtype=dtype).requires_grad_()
            given.append(made[count])
        return made[count]

    function = {**BOTH, **IMAGES}[name]

    def call():
        weight.count = 0
        return function(tg, tg.nn.functional, n, x, weight)

    call()
    return call, given


def outcome(tg, call, given):
    """Results, gradients for a cotangent by rows, and for one that lies as the first result does; None where there is
    none."""
    results = call()
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    value, found = results[0], [results]
    for like in (False, True):
        if not value.requires_grad:
            found.append([])
            continue
        ones = tg.ones_like(value) if like else tg.ones(tuple(value.shape), dtype=value.dtype)
        found.append(list(tg.autograd.grad([value], given, [ones], retain_graph=True, allow_unused=True)))
    return found


def strides_of(x):
    """The strides of the axes of several elements; None where there is no tensor."""
    return None if x is None else [s for extent, s in zip(x.shape, x.stride(), strict=True) if extent > 1]


def facts(found):
    """What of `outcome` is compared."""
    return [[strides_of(x) for x in xs] for xs in found]


def answer(tg, key, dtype="float32"):
    """The facts of one call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return facts(outcome(tg, *program(tg, key, getattr(tg, dtype))))


def make(torch):
    """PyTorch's answers as text, by dtype; without what PyTorch cannot differentiate for these operands."""
    answers = {}
    for dtype in ("float32", "float64"):
        for key in keys():
            try:
                answers[f"{key}|{dtype}"] = answer(torch, key, dtype)
            except RuntimeError:
                continue
    return {"answers": np.frombuffer(json.dumps(answers, separators=(",", ":")).encode(), np.uint8)}
