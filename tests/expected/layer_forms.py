"""How the layers of these chapters print, what their states are called, what they start with, and what they refuse."""

import numpy as np

LAYERS = [
    "GroupNorm(2, 4)", "GroupNorm(2, 4, bias=False)", "GroupNorm(2, 4, affine=False)", "InstanceNorm1d(3)",
    "InstanceNorm2d(3, affine=True, track_running_stats=True)", "InstanceNorm3d(3, momentum=None)",
    "LocalResponseNorm(2)", "CrossMapLRN2d(3, 0.1)", "SyncBatchNorm(4)", "Dropout1d()", "Dropout2d(0.2, True)",
    "Dropout3d()", "AlphaDropout(0.1)", "FeatureAlphaDropout()", "LazyLinear(3)", "LazyLinear(3, bias=False)",
    "LazyConv1d(4, 3)", "LazyConv2d(4, (3, 2), padding='same')", "LazyConv3d(4, 3, groups=2)",
    "LazyConvTranspose1d(4, 3)", "LazyConvTranspose2d(4, 3, output_padding=1, stride=2)", "LazyConvTranspose3d(2, 2)",
    "LazyBatchNorm1d()", "LazyBatchNorm2d(affine=False)", "LazyBatchNorm3d(track_running_stats=False)",
    "LazyInstanceNorm1d()", "LazyInstanceNorm2d()", "LazyInstanceNorm3d(bias=False)", "Upsample(scale_factor=2)",
    "Upsample((3, 4), mode='bilinear')", "UpsamplingNearest2d(3)", "UpsamplingBilinear2d(scale_factor=1.5)",
    "PixelShuffle(2)", "PixelUnshuffle(3)", "ChannelShuffle(2)", "FractionalMaxPool2d(2, 3)",
    "FractionalMaxPool3d(2, output_ratio=0.5)", "Softmax2d()", "MarginRankingLoss(0.1)", "HingeEmbeddingLoss()",
    "CosineEmbeddingLoss()", "SoftMarginLoss()", "MultiLabelMarginLoss()", "MultiLabelSoftMarginLoss()",
    "MultiMarginLoss(2)", "TripletMarginLoss()", "TripletMarginWithDistanceLoss()", "PoissonNLLLoss()",
    "GaussianNLLLoss()", "CTCLoss(1)", "NLLLoss2d()", "AdaptiveLogSoftmaxWithLoss(8, 20, [5, 10], 2.0)",
    "AdaptiveLogSoftmaxWithLoss(8, 20, [5], head_bias=True)", "CosineSimilarity()", "PairwiseDistance()",
    "EmbeddingBag(5, 3)", "EmbeddingBag(5, 3, max_norm=1.0, padding_idx=-1, mode='sum')", "Hardshrink(0.3)",
    "Softshrink()", "RReLU()", "RReLU(inplace=True)", "Threshold(0.1, 20)", "Hardtanh(-2, 2)", "BatchNorm2d(3)",
    "Container(a=nn.ReLU())", "Linear(2, 3, dtype=complex64)", "Conv2d(1, 2, 2, dtype=complex64)",
    "ConvTranspose1d(2, 1, 2, dtype=complex64)", "Bilinear(2, 2, 1, dtype=complex64)", "LSTM(1, 2, dtype=complex64)",
    "Embedding(3, 2, dtype=complex64)", "MultiheadAttention(2, 1, dtype=complex64)",
]  # fmt: skip

#: Expressions that raise; x is 4-D, v a vector, y classes.
REFUSED = [
    "nn.GroupNorm(3, 4)", "F.group_norm(v, 1)",
    "F.group_norm(x, 2, v)", "F.instance_norm(x[:, :, :1, :1])", "nn.InstanceNorm2d(5, affine=True)(x)",
    "nn.InstanceNorm1d(5)(x)", "nn.CrossMapLRN2d(2)(x[0])",
    "nn.SyncBatchNorm(3)(v)", "F.dropout1d(x)", "F.dropout2d(x, 1.5)", "nn.Dropout3d(-1)", "F.dropout2d(v)",
    "F.alpha_dropout(x, 2)", "F.interpolate(x)", "F.interpolate(x, 2, 2)", "F.interpolate(x, (2, 3, 4))",
    "F.interpolate(x, 3, mode='linear')", "F.interpolate(x, 3, align_corners=True)", "F.interpolate(v, 3)",
    "F.interpolate(x, 3, mode='foo')", "F.interpolate(x, 3, antialias=True)", "F.interpolate(x, 0)",
    "F.interpolate(x, (2, 2), recompute_scale_factor=True)", "F.interpolate(x[:, :0], 3)",
    "F.interpolate(x, 3, mode='lanczos')", "F.grid_sample(x, x)", "F.grid_sample(x, x[..., :2], 'foo')",
    "F.grid_sample(x, x[..., :2], padding_mode='foo')", "F.grid_sample(x, x[:1, ..., :2])",
    "F.grid_sample(x, x[..., :2].double())", "F.affine_grid(x, (2, 3, 4, 4))", "F.affine_grid(y, (2, 3, 4, 4))",
    "F.affine_grid(x[0, :, :2, :3], (3, 1, 2))", "F.pixel_shuffle(x, 2)", "F.pixel_shuffle(v, 2)",
    "F.pixel_shuffle(x, 0)", "F.pixel_unshuffle(x, 3)", "F.channel_shuffle(x, 2)", "F.channel_shuffle(v, 1)",
    "F.fractional_max_pool2d(x, 2)", "F.fractional_max_pool2d(x, 3, 3)", "nn.FractionalMaxPool2d(2)",
    "nn.FractionalMaxPool2d(2, 2, 0.5)", "nn.FractionalMaxPool3d(2, output_ratio=1.5)", "nn.Softmax2d()(v)",
    "F.soft_margin_loss(v, v, reduction='foo')", "F.margin_ranking_loss(v, v, x)", "F.multi_margin_loss(x, y)",
    "F.multi_margin_loss(v, y[0], 3)", "F.multi_margin_loss(v, y[0] + 9)", "F.multilabel_margin_loss(v, y)",
    "F.multilabel_soft_margin_loss(v, v, reduction='foo')", "F.cosine_embedding_loss(v, v, v)",
    "F.triplet_margin_loss(v, v, v, margin=0)", "F.triplet_margin_loss(v, v, x)", "nn.TripletMarginLoss(-1)",
    "F.ctc_loss(x[0], y[:2], (9, 9), (1, 1))", "F.ctc_loss(x[0], y[:2], (3, 3, 3), (1, 1))",
    "F.ctc_loss(x[0], y[:4], (3,) * 4, (1, 1, 1, 2))", "F.ctc_loss(x[0], y[:4], (3,) * 4, (1,) * 4, blank=7)",
    "F.ctc_loss(v, y, (1,), (1,))", "F.ctc_loss(x[0], y, (3,) * 4, (1,) * 4, reduction='foo')",
    "F.embedding_bag(y, x[0, 0])", "F.embedding_bag(y, v)", "F.embedding_bag(y, x[0, 0], y[:2] + 1)",
    "F.embedding_bag(y, x[0, 0], y[:1], mode='foo')", "F.embedding_bag(y[None], x[0, 0], y[:1])",
    "F.embedding_bag(y[None], x[0, 0], per_sample_weights=v)", "F.embedding_bag(y[None] + 9, x[0, 0])",
    "nn.EmbeddingBag(3, 2, padding_idx=3)", "nn.AdaptiveLogSoftmaxWithLoss(8, 20, [])",
    "nn.AdaptiveLogSoftmaxWithLoss(8, 20, [5, 5])", "nn.AdaptiveLogSoftmaxWithLoss(4, 20, [5])(x[0, 0], y)",
    "nn.AdaptiveLogSoftmaxWithLoss(4, 20, [5])(x[0, 0], y[:4] + 20)", "F.softshrink(v, -1)", "F.hardshrink(y)",
    "F.rrelu(v, 1, 0.5)", "nn.LazyLinear(3).weight.shape", "nn.LazyLinear(3).weight + 1",
    "nn.Linear(2, 3).load_state_dict(nn.LazyLinear(3).state_dict())", "nn.LazyConv2d(3, 2)(v)",
    "nn.LazyConv2d(4, 2, groups=2)(x)", "nn.LazyBatchNorm2d()(x[0])", "nn.init.dirac_(v)",
    "nn.init.dirac_(x, 3)", "nn.init.sparse_(v, 0.5)", "nn.factory_kwargs({'foo': 1})",
    "nn.factory_kwargs({'dtype': 1, 'factory_kwargs': {'dtype': 2}})", "F.batch_norm(x, None, None, eps=-1.0)",
    "F.batch_norm(x, None, None, training=True, eps=0.0)", "F.mse_loss(v, v, weight=x)", "F.hardtanh(v, 1, 0)",
    "nn.Hardtanh(1, 0)", "F.cross_entropy(x[0, 0], y[:12].reshape(3, 4))", "F.max_pool1d(x[0], 0)",
    "F.cross_entropy(x[0, 0], x[0, 0], ignore_index=1)", "F.cross_entropy(x[0, 0], y[:4], label_smoothing=2)",
    "F.max_unpool1d(v[None], y[None, :4], 2, output_size=(10,))", "F.threshold(y.char(), 0, 300)",
    "F.max_unpool1d(v[None], y[None, :4], 2, output_size=(6,))", "F.threshold(y.byte(), 0, -1.5)",
    "F.max_unpool1d(v[None], y[None, :4], 2, output_size=(1, 9))", "F.threshold(y, 0, float('inf'))",
    "nn.MaxUnpool2d(2)(x[0], y[:1].reshape(1, 1, 1).expand(3, 4, 4), (8, 11))", "nn.init.orthogonal_(c)",
    "nn.MaxUnpool3d(2)(x, y[:1].reshape(1, 1, 1, 1).expand(2, 3, 4, 4), (6, 8, 5))", "nn.init.trunc_normal_(c)",
]  # fmt: skip

#: Expressions that hold, and give what PyTorch gives.
HOLDING = [
    "F.threshold(y, 2, -7)", "F.threshold(y, 1.5, 8.9)", "F.threshold(y.char(), 2.9, -1.9)",
    "F.threshold(y.byte(), 1, -1)", "F.threshold(y.short(), 300, 7)", "F.threshold(y.clone(), 1, 5, True)",
    "F.max_unpool1d(v[None], y[None, :4], 2, output_size=(9,))",
    "F.max_unpool1d(v[None, None], y[None, None, :4], 2, output_size=(1, 1, 7))",
]  # fmt: skip


def describe(tg, text):
    """Print, names of the state, and its numbers before the first call where they are no draws' roundings."""
    tg.manual_seed(2)
    layer = eval(f"nn.{text}", {"nn": tg.nn, "complex64": tg.complex64})
    lazy = tg.nn.parameter.is_lazy
    state = layer.state_dict()
    shapes = {key: None if lazy(value) else list(value.shape) for key, value in state.items()}
    numbers = {key: tg.view_as_real(x) if not lazy(x) and x.is_complex() else x for key, x in state.items()}
    firsts = {key: value.flatten()[:3].tolist() for key, value in numbers.items() if not lazy(value)}
    return {"repr": repr(layer), "shapes": shapes, "firsts": firsts, "version": layer._version}


def names(tg):
    """What expressions may name."""
    x = tg.tensor(np.sin(np.arange(2 * 3 * 4 * 4.0)).astype(np.float32).reshape(2, 3, 4, 4))
    tensors = {"x": x, "v": x[0, 0, 0], "y": tg.tensor(np.arange(12) % 4), "c": tg.zeros(2, 2, dtype=tg.complex64)}
    return {**tensors, "F": tg.nn.functional, "nn": tg.nn}


def value(tg, text):
    """The type's name and the numbers of what an expression gives."""
    found = eval(text, names(tg))
    return [str(found.dtype).rpartition(".")[2], found.tolist()]


def refusal(tg, text):
    """The classes of an error that are Python's, and its message."""
    try:
        eval(text, names(tg))
    except Exception as error:
        return {
            "class": next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"),
            "text": str(error),
        }
    return None


def make(tg):
    tg.manual_seed(3)
    return {
        "sparse": tg.nn.init.sparse_(tg.empty(6, 4), 0.4, std=2.0).tolist(),
        "layers": {text: describe(tg, text) for text in LAYERS},
        "refused": {text: refusal(tg, text) for text in REFUSED},
        "holding": {text: value(tg, text) for text in HOLDING},
    }
