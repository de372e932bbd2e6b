"""Sizes, axes and counts given as numbers, tensors of one number, vectors and sequences of all kinds: what PyTorch
makes of them, or the class of its error."""

FORMS = {
    "number": "2",
    "tensor": "T(2)",
    "vector": "T([2, 2])",
    "list": "[2, 2]",
    "tuple": "(2, 2)",
    "short list": "[2]",
    "long list": "[2, 2, 2]",
    "tensors": "[T(2), T(2)]",
    "mixed": "(T(2), 2)",
    "range": "range(2, 4)",
    "float": "2.0",
    "float tensor": "T(2.0)",
    "floats": "[2.0, 2]",
    "None": "None",
    "Nones": "(None, 2)",
}
CALLS = {
    "adaptive_avg_pool1d": "F.adaptive_avg_pool1d(image[0], {})",
    "adaptive_avg_pool2d": "F.adaptive_avg_pool2d(image, {})",
    "adaptive_max_pool1d": "F.adaptive_max_pool1d(image[0], {})",
    "adaptive_max_pool2d": "F.adaptive_max_pool2d(image, {})",
    "adaptive_avg_pool3d": "F.adaptive_avg_pool3d(image[None], {})",
    "adaptive_max_pool3d": "F.adaptive_max_pool3d(image[None], {})",
    "AdaptiveAvgPool2d": "L.nn.AdaptiveAvgPool2d({})(image)",
    "fold": "F.fold(columns, 4, {})",
    "fold output": "F.fold(columns, {}, 1)",
    "fold stride": "F.fold(one, 4, 2, stride={})",
    "Fold": "L.nn.Fold(4, {})(columns)",
    "unfold": "F.unfold(image, {})",
    "unfold dilation": "F.unfold(image, 1, dilation={})",
    "unfold padding": "F.unfold(image, 1, padding={})",
    "pad": "F.pad(image, {})",
    "pad reflect": "F.pad(image, {}, 'reflect')",
    "pad circular": "F.pad(image, {}, 'circular')",
    "interpolate": "F.interpolate(image, {})",
    "interpolate factor": "F.interpolate(image, scale_factor={})",
    "interpolate area": "F.interpolate(image, {}, mode='area')",
    "histogramdd": "L.histogramdd(points, {})",
    "histogramdd range": "L.histogramdd(points, [2, 2], range={})",
    "tensordot": "L.tensordot(points, points, {})",
    "tensordot axes": "L.tensordot(points, points, ([1], {}))",
    "max_pool2d": "F.max_pool2d(image, {})",
    "avg_pool2d": "F.avg_pool2d(image, {})",
    "conv2d stride": "F.conv2d(image, L.ones(1, 3, 2, 2), stride={})",
    "conv2d padding": "F.conv2d(image, L.ones(1, 3, 2, 2), padding={})",
}
ALSO = (
    "L.tensordot(points, points, T([[0], [0]]))", "L.tensordot(points, points, (T([0]), T([0])))",
    "L.tensordot(points, points, (0, 0))", "L.tensordot(points, points, ([0],))", "L.tensordot(points, points, '2')",
    "L.tensordot(points, points, -1)", "L.tensordot(points, points, 3)", "L.tensordot(points, points, True)",
    "L.histogramdd(points, [T([0.0, 5, 12])] * 2)", "L.histogramdd(points, [2, 2], range=[0.0, 5, 0, 12])",
    "L.histogramdd(points, T([2.0, 3]))", "L.histogramdd(points, [True, 2])",
    "F.pad(image, (1, 1), value=T(3.0))", "F.pad(image, (1, 1), value=T([3.0]))", "F.pad(image, (1, 1), value='a')",
    "F.adaptive_avg_pool2d(image, True)", "F.fold(columns, 4, 2, padding=T(0))",
)  # fmt: skip


def programs():
    """The source of each call by its name."""
    made = {f"{name}|{form}": call.format(text) for name, call in CALLS.items() for form, text in FORMS.items()}
    return {**made, **{call: call for call in ALSO}}


def outcome(library, source):
    """The shapes and sums of the results, or the class of the error."""
    scope = {
        "L": library,
        "F": library.nn.functional,
        "T": library.tensor,
        "image": library.arange(48.0).reshape(1, 3, 4, 4),
        "columns": library.arange(216.0).reshape(2, 12, 9),
        "one": library.arange(12.0).reshape(1, 12, 1).expand(1, 12, 4),
        "points": library.arange(8.0).reshape(4, 2),
    }
    try:
        found = eval(source, scope)
    except Exception as error:
        return type(error).__name__
    return _shown(found, library)


def _shown(value, library):
    if isinstance(value, library.Tensor):
        return [list(value.shape), round(value.double().sum().item(), 6)]
    return [_shown(x, library) for x in value]


def make(torch):
    """PyTorch's outcomes."""
    return {name: outcome(torch, source) for name, source in programs().items()}
