"""The other layers and functions of ``nn``: activations, dropouts, pools, paddings, norms, losses, lazy layers."""

from __future__ import annotations

import inspect

import tracegrad as tg

from .author import Author
from .expressions import one_operand, options, writer
from .layers import FIRST, ROWS, spread

#: Numbers where a function jumps or bends are no round ones: operands are, often.
ACTIVATIONS = """
F.celu({x})|F.celu_({x} * 1)|F.elu_({x} * 1)|F.hardtanh_({x} * 1, -0.9137, 0.9137)|F.leaky_relu_({x} * 1, 0.1)|F.relu_({x} * 1)
F.selu_({x} * 1)|F.threshold_({x} * 1, 0.2137, 0.1)|F.softsign({x})|F.softshrink({x}, 0.2137)|F.hardshrink({x}, 0.2137)
F.hardsigmoid({x} + 0.0137)|F.relu6({x} + 0.0137)|F.prelu({x}, tg.tensor(0.25, dtype={x}.dtype))|F.rrelu({x})|F.rrelu_({x} * 1)
F.alpha_dropout({x}, 0.3)|F.feature_alpha_dropout({row}, 0.3)|F.dropout1d({row}, 0.3)|F.dropout2d({image}, 0.3)
F.dropout3d({image}[None], 0.3)[0]|F.gumbel_softmax({x}, tau=2.0)
"""
LOSSES = """
F.binary_cross_entropy({x}.sigmoid(), {x}.detach().cos().abs())|F.gaussian_nll_loss({x}, {x}.sin(), {x} * {x} + 0.5)
F.hinge_embedding_loss({x}, tg.ones_like({x}))|F.l1_loss({x}, {x}.sin() + 0.2137)|F.poisson_nll_loss({x}, {x}.sigmoid())
F.margin_ranking_loss({x}, {x}.sin() + 0.2137, tg.ones_like({x}), margin=0.1)|F.soft_margin_loss({x}, tg.ones_like({x}))
F.multilabel_soft_margin_loss({x}, tg.ones_like({x}))|F.pairwise_distance({x}, {x} * {x} + 0.5)
F.triplet_margin_loss({x}, {x} * {x} + 0.5, {x}.sin() + 0.3137)
F.triplet_margin_with_distance_loss({x}, {x} * {x} + 0.5, {x}.sin() + 0.3137, distance_function=F.pairwise_distance)
"""
OF_ROWS = """
F.cosine_embedding_loss({x}, {x} * {x} + 0.5, tg.ones({x}.shape[0]))|F.multi_margin_loss({x}, tg.zeros({x}.shape[0], dtype=tg.int64))
F.multilabel_margin_loss({x}, tg.zeros({x}.shape, dtype=tg.int64))|F.pdist({x} + tg.arange({x}.shape[0])[:, None] * 0.7)
F.bilinear({x}, {x}, {x}.new_ones(2, {x}.shape[-1], {x}.shape[-1]))|F.ctc_loss({x}[:, None].log_softmax(-1), tg.ones(1, 1, dtype=tg.int64), ({x}.shape[0],), (1,))
F.embedding_bag(tg.zeros(2, 2, dtype=tg.int64), {x})|F.embedding_bag(tg.zeros(1, 2, dtype=tg.int64), {x}, mode='sum')
"""
WINDOWS = """
F.adaptive_avg_pool3d({image}[None], 1)[0]|F.lp_pool2d({image} * {image} + 0.5, 2, 1)|F.lp_pool3d({image}[None] * {image}[None] + 0.5, 2, 1)[0]
F.channel_shuffle({image}.expand(1, 4, -1, -1), 2)|F.pixel_unshuffle({image}, 1)|F.upsample({row}, size=3)
F.upsample_bilinear({image}, scale_factor=2)|F.upsample_nearest({image}, scale_factor=2)
F.conv_tbc({row}, {row}.reshape(1, -1, 1).tanh(), tg.zeros(1, dtype={x}.dtype))
F.grid_sample({image}, F.affine_grid(tg.tensor([[[0.9, 0.1, 0.0], [0.0, 0.8, 0.1]]], dtype={x}.dtype), {image}.shape, align_corners=False), align_corners=False)
"""
LARGEST = """
F.adaptive_max_pool2d({image}, 1)|F.adaptive_max_pool3d({image}[None], 1)[0]|F.max_pool3d({image}[None], 1)[0]
F.adaptive_max_pool1d_with_indices({row}, 1)[0]|F.adaptive_max_pool2d_with_indices({image}, 1)[0]
F.adaptive_max_pool3d_with_indices({image}[None], 1)[0][0]|F.max_pool1d_with_indices({row}, 1)[0]|F.max_pool2d_with_indices({image}, 1)[0]
F.max_pool3d_with_indices({image}[None], 1)[0][0]|F.fractional_max_pool2d({image}, 1, output_size=(1, 1))
F.fractional_max_pool2d_with_indices({image}, 1, output_size=(1, 1))[0]|F.fractional_max_pool3d(F.pad({image}[None], (0, 1, 0, 1, 0, 1)), 1, output_size=(1, 1, 1))[0]
F.fractional_max_pool3d_with_indices(F.pad({image}[None], (0, 1, 0, 1, 0, 1)), 1, output_size=(1, 1, 1))[0][0]
F.max_unpool1d(*F.max_pool1d({row}, 1, return_indices=True), 1)|F.max_unpool2d(*F.max_pool2d({image}, 1, return_indices=True), 1)
F.max_unpool3d(*F.max_pool3d({image}[None], 1, return_indices=True), 1)[0]
"""
EXPRESSIONS = {name: spread(globals()[name]) for name in ("ACTIVATIONS", "LOSSES", "OF_ROWS", "WINDOWS", "LARGEST")}
for _name, _axes, _exact in (
    ("ACTIVATIONS", 1, False),
    ("LOSSES", 1, False),
    ("OF_ROWS", 2, False),
    ("WINDOWS", 1, False),
    ("LARGEST", 1, True),
):
    writer(3)(one_operand(EXPRESSIONS[_name], _axes, exact=_exact, keeps=_exact))

#: What layers below are made with; defined in a program that has one.
HELPERS = """
class Against(nn.Module):
    def __init__(self, loss, *others):
        super().__init__()
        self.loss, self.others = loss, others

    def forward(self, x):
        found = self.loss(x, *[each(x) for each in self.others])
        return x * 0.5 + getattr(found, 'loss', found).sum()
class Unpooled(nn.Module):
    def __init__(self, pool, unpool):
        super().__init__()
        self.pool, self.unpool = pool, unpool

    def forward(self, x):
        return self.unpool(*self.pool(x))
class Held(nn.Module):
    def __init__(self, n, k):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(n, k), nn.Linear(n, k)])
        self.named = nn.ModuleDict({'end': nn.Tanh()})
        self.shifts = nn.ParameterList([tg.ones(k) * 0.5, tg.ones(k)])
        self.factors = nn.ParameterDict({'a': tg.ones(k) * 0.25})

    def forward(self, x):
        found = sum(layer(x) + shift for layer, shift in zip(self.layers, self.shifts))
        return self.named['end'](found * self.factors['a'])
def initialised(layer, n):
    layer(tg.ones(2, n))
    return layer
"""[1:-1]
LINE, PLANE, SPACE = "nn.Unflatten(-1, (1, {n}))", "nn.Unflatten(-1, (1, 1, {n}))", "nn.Unflatten(-1, (1, 1, 1, {n}))"
_ONES, _FIRST = "lambda x: tg.ones_like(x)", "lambda x: tg.zeros(x.shape[0], dtype=tg.int64)"
#: Of rows: layers that follow a Linear, in pairs.
_AFTER = """ELU Softsign|CELU SiLU|SELU Mish|Hardswish LogSigmoid|Hardsigmoid Tanhshrink|Hardtanh LeakyReLU|ReLU6 Identity|RReLU Softshrink
Hardshrink Sigmoid|Threshold(0.2137,0.1) Tanh|Softmax(-1) AlphaDropout(0.2)|Softmin(-1) Tanh|LogSoftmax(-1) Sigmoid|FeatureAlphaDropout(0.2) Tanh"""
#: Of rows that are taken for one, two or three axes of a channel.
_ALONG = {
    LINE: "Dropout1d(0.2) AdaptiveAvgPool1d(2) AdaptiveMaxPool1d(1) MaxPool1d(1) CircularPad1d(1) ConstantPad1d(1,0.5) ReflectionPad1d(1) "
    "ReplicationPad1d(1) ZeroPad1d(1) InstanceNorm1d(1,eps=0.1,affine=True) LocalResponseNorm(2) ChannelShuffle(1) Upsample(scale_factor=2)",
    PLANE: "Dropout2d(0.2) AdaptiveAvgPool2d((1,2)) AdaptiveMaxPool2d(1) MaxPool2d(1) AvgPool2d(1) CircularPad2d((1,1,0,0)) "
    "ConstantPad2d(1,0.5) ReflectionPad2d((1,1,0,0)) ReplicationPad2d(1) ZeroPad2d(1) InstanceNorm2d(1,eps=0.1) BatchNorm2d(1,eps=0.1) "
    "CrossMapLRN2d(2) PixelShuffle(1) PixelUnshuffle(1) UpsamplingBilinear2d(scale_factor=2) UpsamplingNearest2d(scale_factor=2) "
    "Softmax2d FractionalMaxPool2d(1,output_size=(1,1))",
    SPACE: "Dropout3d(0.2) AdaptiveAvgPool3d(1) AdaptiveMaxPool3d(1) MaxPool3d(1) AvgPool3d(1) CircularPad3d((1,1,0,0,0,0)) "
    "ConstantPad3d(1,0.5) ReflectionPad3d((1,1,0,0,0,0)) ReplicationPad3d(1) ZeroPad3d(1) InstanceNorm3d(1,eps=0.1) BatchNorm3d(1,eps=0.1) "
    "ConvTranspose3d(1,2,1) Sequential(nn.ZeroPad3d(1),nn.FractionalMaxPool3d(1,output_size=(2,2,2)))",
}
#: Losses of ``x [batch, features]``, and what they compare it with.
_COMPARED = {
    "BCEWithLogitsLoss() KLDivLoss(reduction='sum')": "lambda x: x.detach().softmax(-1)",
    "HuberLoss() L1Loss() MSELoss() SmoothL1Loss() PairwiseDistance() CosineSimilarity()": "lambda x: x.sin() + 0.2137",
    "HingeEmbeddingLoss() MultiLabelSoftMarginLoss() SoftMarginLoss() PoissonNLLLoss()": _ONES,
    "CrossEntropyLoss() MultiMarginLoss() NLLLoss()": _FIRST,
    "AdaptiveLogSoftmaxWithLoss({n},3,[1])": _FIRST,
    "MultiLabelMarginLoss()": "lambda x: tg.zeros(x.shape, dtype=tg.int64)",
    "MarginRankingLoss(0.1)": f"lambda x: x.sin() + 0.2137, {_ONES}",
    "CosineEmbeddingLoss()": "lambda x: x * x + 0.5, lambda x: tg.ones(x.shape[0])",
    "GaussianNLLLoss()": "lambda x: x.sin(), lambda x: x * x + 0.5",
    "TripletMarginLoss() TripletMarginWithDistanceLoss()": "lambda x: x * x + 0.5, lambda x: x.sin() + 0.3137",
}
_WHOLE = """
nn.Sequential(nn.Linear({n}, 2 * {k}), nn.GLU())|nn.Sequential(nn.Sigmoid(), Against(nn.BCELoss(), lambda x: x.detach().cos().abs()))
nn.Sequential(nn.Unflatten(-1, (1, {n})), nn.LogSoftmax(-1), Against(nn.CTCLoss(), lambda x: tg.ones(1, 1, dtype=tg.int64), lambda x: (x.shape[0],), lambda x: (1,)), nn.Flatten(1))
nn.Sequential(nn.Unflatten(-1, (1, 1, {n})), nn.Unfold(1), nn.Fold((1, {n}), 1), nn.Flatten(1))|Held({n}, {k})
nn.TransformerEncoder(nn.TransformerEncoderLayer({n}, 1, 3, dropout=0.2, layer_norm_eps=0.1), 2, enable_nested_tensor=False)
First(nn.TransformerDecoder(nn.TransformerDecoderLayer({n}, 1, 3, dropout=0.2, layer_norm_eps=0.1), 1), 2)
First(nn.Transformer({n}, 1, 1, 1, 3, dropout=0.2, layer_norm_eps=0.1), 2)|initialised(nn.LazyLinear({k}), {n})
"""


def _layers() -> list[str]:
    """All of these as texts of layers over rows, with {n} and {k}."""

    def made(text: str) -> str:
        return f"nn.{text}" if text.endswith(")") else f"nn.{text}()"

    found = [text for line in _WHOLE.strip().splitlines() for text in line.split("|")]
    for pair in _AFTER.replace("\n", "|").split("|"):
        found.append(f"nn.Sequential(nn.Linear({{n}}, {{k}}), {', '.join(map(made, pair.split()))})")
    for axes, (turn, names) in enumerate(_ALONG.items(), 1):
        found += [f"nn.Sequential({turn}, {made(name)}, nn.Tanh(), nn.Flatten(1))" for name in names.split()]
        found.append(f"nn.Sequential({turn}, nn.Sigmoid(), nn.LPPool{axes}d(2, 1), nn.Flatten(1))")
        pools = f"nn.MaxPool{axes}d(1, return_indices=True), nn.MaxUnpool{axes}d(1)"
        found.append(f"nn.Sequential({turn}, Unpooled({pools}), nn.Flatten(1))")
        for lazy in (f"LazyConv{axes}d({{k}}, 1)", f"LazyConvTranspose{axes}d({{k}}, 1)"):
            norms = f"nn.LazyBatchNorm{axes}d(eps=0.1)", f"nn.LazyInstanceNorm{axes}d(eps=0.1)"
            parts = f"{turn}, nn.{lazy}, {norms['Transpose' in lazy]}, nn.Tanh(), nn.Flatten(1)"
            found.append(f"initialised(nn.Sequential({parts}), {{n}})")
    return found + [f"Against(nn.{loss}, {others})" for losses, others in _COMPARED.items() for loss in losses.split()]


FURTHER_ROWS = _layers()


def add_layer(a: Author, n: int, k: int) -> str:
    """The text of a layer over rows of `n` features; what it needs is defined before."""
    text = a.choice(FURTHER_ROWS if a.chance(0.65) else options(ROWS)).replace("{n}", str(n)).replace("{k}", str(k))
    written = "\n".join(a.lines)
    for helpers, words in ((FIRST, ["First("]), (HELPERS, ["Against(", "Unpooled(", "Held(", "initialised("])):
        if any(word in text for word in words) and helpers not in written:
            a.run(helpers)
    return text


#: Public names that programs do not draw, with the reason.
NOT_DRAWN = {
    "DataParallel": "needs several devices",
    "SyncBatchNorm": "refuses processors in training, as in PyTorch",
    "LinearCrossEntropyLoss": "a prototype of PyTorch's",
    "linear_cross_entropy": "a prototype of PyTorch's",
    "multi_head_attention_forward": "what MultiheadAttention calls",
    "NLLLoss2d": "NLLLoss by an old name",
    "Container": "Module by an old name",
    "RNNBase": "a base class",
    "RNNCellBase": "a base class",
    "Optimizer": "a base class",
    "LRScheduler": "a base class",
    "ReduceLROnPlateau": "its step takes a measurement",
    "SparseAdam": "takes sparse gradients only",
    "Muon": "products in bfloat16 enlarge roundings",
    "Rprop": "goes by the signs of gradients: those of one that would be zero are roundings",
}


def public_names() -> set[str]:
    """The classes and functions of ``nn``, ``nn.functional`` and ``optim``, schedules included, by the last name."""
    functional, nn, optim = tg.nn.functional, tg.nn, tg.optim
    found = {n for n, v in vars(nn).items() if inspect.isclass(v) and issubclass(v, nn.Module)}
    found |= {n for n, v in vars(optim).items() if inspect.isclass(v) and issubclass(v, optim.Optimizer)}
    plans = vars(optim.lr_scheduler)
    found |= {n for n, v in plans.items() if inspect.isclass(v) and issubclass(v, plans["LRScheduler"])}
    return {n for n in found | set(functional.__all__) if not n.startswith("_")}
