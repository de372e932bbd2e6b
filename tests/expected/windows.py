"""Convolution, pooling, padding and folding over one to three axes: drawn programs, their results and gradients."""

import random

import numpy as np

CASES = {"conv": 60, "conv_transpose": 40, "max_pool": 50, "avg_pool": 40, "lp_pool": 12, "adaptive_max_pool": 24,
         "adaptive_avg_pool": 24, "pad": 40, "unfold": 12, "fold": 12}  # fmt: skip
LAYERS = [
    "Conv1d(2, 4, 3, padding='same', padding_mode='circular')",
    "Conv2d(2, 4, 3, padding=1, groups=2, bias=False, padding_mode='reflect')",
    "Conv2d(2, 4, 3, padding='same', dilation=2)",
    "Conv3d(2, 4, (3, 2, 1), stride=2, padding=1, padding_mode='replicate')",
    "ConvTranspose1d(2, 4, 3, stride=2, groups=2)",
    "ConvTranspose2d(2, 4, 3, stride=2, output_padding=1)",
    "ConvTranspose3d(2, 2, 2)",
    "MaxPool2d(2)",
    "AvgPool1d(2)",
    "AvgPool2d(2)",
    "AvgPool3d(2, 1, 1, divisor_override=3)",
    "LPPool2d(2, 3)",
    "AdaptiveAvgPool2d((1, None))",
    "AdaptiveMaxPool3d(2)",
    "Unfold(3)",
    "ZeroPad2d(1)",
    "ConstantPad1d(2, 3.0)",
    "ReflectionPad2d(1)",
    "CircularPad1d((1, 2))",
    "ReplicationPad3d(1)",
    "BatchNorm3d(2)",
]


def numbers(draw, axes, low, high):
    return [draw.randint(low, high) for _ in range(axes)]


def values(draw, shape, coarse):
    """Float64; where `coarse`, few different ones, so that maxima are met twice."""
    flat = [draw.randint(-2, 2) if coarse else draw.uniform(-2, 2) for _ in range(int(np.prod(shape)))]
    return np.array(flat, np.float64).reshape(shape)


def conv(draw, axes, transposed=False):
    groups, own, results = draw.choice([1, 1, 2, 3]), draw.choice([1, 2]), draw.choice([1, 2, 3])
    kernel, space = numbers(draw, axes, 1, 3), numbers(draw, axes, 5, 6)
    options = {"stride": numbers(draw, axes, 1, 3), "dilation": numbers(draw, axes, 1, 2), "groups": groups}
    options["padding"] = numbers(draw, axes, 0, 2)
    if transposed:
        bounds = zip(options["stride"], options["dilation"], strict=True)
        options["output_padding"] = [draw.randint(0, max(pair) - 1) for pair in bounds]
    elif draw.random() < 0.2:
        options.update(stride=1, padding=draw.choice(["same", "valid"]))
    weight = (groups * own, results) if transposed else (groups * results, own)
    shapes = [(draw.randint(0, 2), groups * own, *space), (*weight, *kernel), (groups * results,)]
    if draw.random() < 0.3:
        shapes[0] = shapes[0][1:]
    arrays = [values(draw, shape, False) for shape in shapes[: draw.choice([2, 3])]]
    return arrays, (), options


def conv_transpose(draw, axes):
    return conv(draw, axes, transposed=True)


def pooled(draw, axes):
    shape = [draw.randint(0, 2), draw.choice([1, 3]), *numbers(draw, axes, 3, 7)]
    return values(draw, shape if draw.random() < 0.7 else shape[1:], True)


def pool_options(draw, axes, kernel):
    options = {"stride": numbers(draw, axes, 1, 3)} if draw.random() < 0.7 else {}
    if draw.random() < 0.6:
        options["padding"] = [draw.randint(0, k // 2) for k in kernel]
    return {**options, "ceil_mode": draw.random() < 0.5}


def max_pool(draw, axes):
    kernel, x = numbers(draw, axes, 1, 3), pooled(draw, axes)
    for special in (-np.inf, np.nan):
        if draw.random() < 0.3:
            x[np.array([draw.random() < 0.2 for _ in range(x.size)], bool).reshape(x.shape)] = special
    options = {**pool_options(draw, axes, kernel), "return_indices": True}
    return [x], (kernel,), {**options, "dilation": numbers(draw, axes, 1, 2)}


def avg_pool(draw, axes):
    kernel = numbers(draw, axes, 1, 3)
    options = {**pool_options(draw, axes, kernel), "count_include_pad": draw.random() < 0.5}
    if axes > 1 and draw.random() < 0.3:
        options["divisor_override"] = draw.randint(1, 5)
    return [pooled(draw, axes)], (kernel,), options


def lp_pool(draw, axes):
    kernel = numbers(draw, axes, 1, 3)
    return [np.abs(pooled(draw, axes)) + 0.1], (draw.choice([2, 3]), kernel[0] if axes == 1 else kernel), {}


def adaptive_avg_pool(draw, axes):
    x = pooled(draw, axes)
    return [x], ([draw.choice([draw.randint(1, 5), extent]) for extent in x.shape[-axes:]],), {}


def adaptive_max_pool(draw, axes):
    arrays, args, _ = adaptive_avg_pool(draw, axes)
    return arrays, args, {"return_indices": True}


def pad(draw, axes):
    mode = draw.choice(["constant", "reflect", "replicate", "circular"])
    x = pooled(draw, axes)
    low = -1 if mode in ("constant", "replicate") else 0
    return [x], (numbers(draw, 2 * axes, low, 2),), {"mode": mode}


def blocks(draw):
    bounds = {"kernel_size": (1, 3), "dilation": (1, 2), "padding": (0, 2), "stride": (1, 3)}
    return {name: numbers(draw, 2, *bound) for name, bound in bounds.items()}


def unfold(draw, axes):
    return [values(draw, (draw.randint(0, 2), 2, 6, 7), False)], (), blocks(draw)


def fold(draw, axes):
    options = blocks(draw)
    counts = [
        (n + 2 * low - gap * (k - 1) - 1) // step + 1
        for n, k, gap, low, step in zip((6, 7), *options.values(), strict=True)
    ]
    rows = 2 * int(np.prod(options["kernel_size"]))
    return [values(draw, (draw.randint(1, 2), rows, int(np.prod(counts))), False)], ((6, 7),), options


MAKERS = {f.__name__: f for f in (conv, conv_transpose, max_pool, avg_pool, lp_pool, adaptive_max_pool,
                                  adaptive_avg_pool, pad, unfold, fold)}  # fmt: skip


def cases():
    """(label, function's name, arrays, further arguments, options)."""
    for kind, count in CASES.items():
        for number in range(count):
            draw = random.Random(f"{kind} {number}")
            axes = draw.choice([1, 2, 3])
            name = kind if kind in ("pad", "unfold", "fold") else f"{kind}{axes}d"
            yield (f"{name} {number}", name, *MAKERS[kind](draw, axes))


def weighted(tg, out):
    """A sum in which each element has another weight."""
    return (out * tg.cos(tg.arange(out.numel(), dtype=out.dtype)).reshape(out.shape)).sum()


def run(tg, function, arrays, args, options):
    """Result (and places, where there are any) and first gradients."""
    tensors = [tg.tensor(array, requires_grad=True) for array in arrays]
    out = function(*tensors, *args, **options)
    out, *places = out if isinstance(out, tuple) else (out,)
    gradients = tg.autograd.grad(weighted(tg, out), tensors)
    return [out.detach(), *places, *gradients]


def make(tg):
    stored = {}
    for label, name, arrays, args, options in cases():
        try:
            found = run(tg, getattr(tg.nn.functional, name), arrays, args, options)
        except RuntimeError:
            stored[f"{label}|refused"] = np.zeros(0)
            continue
        stored.update({f"{label}|{i}": np.asarray(x.numpy()) for i, x in enumerate(found)})
    for text in LAYERS:
        stored.update({f"{text}|{i}": x for i, x in enumerate(of_layer(tg, text))})
    return stored


def of_layer(tg, text):
    """Output, gradient of the input, and the initial parameters."""
    tg.manual_seed(5)
    layer = eval(f"nn.{text}", {"nn": tg.nn})
    axes = next((n for n in (1, 3) if f"{n}d" in text), 2)
    x = tg.tensor(np.sin(np.arange(4 * 6**axes, dtype=np.float32)).reshape(2, 2, *(6,) * axes), requires_grad=True)
    out = layer(x)
    (gradient,) = tg.autograd.grad(weighted(tg, out), [x])
    return [x.detach().numpy() for x in (out, gradient, *layer.parameters())]
