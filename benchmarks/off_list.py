"""Training steps and models of sizes that nobody tunes for: odd and prime, one row, one channel, deep, wide, long.

Each row is layers, the shape of a batch, a loss and an optimizer; `workload(name)` draws its numbers.
"""

from dataclasses import dataclass

import numpy as np

from .layers import layer, parameters
from .workloads import ADAM, Workload

SGD = ("sgd", dict(lr=0.01))
MOMENTUM = ("sgd", dict(lr=0.01, momentum=0.9))
TRAIN, INFERENCE, EAGER_LOOP = "training step", "inference", "eager loop"


@dataclass(frozen=True)
class Row:
    """`shape` of one batch of inputs; `classes` of the labels, or of tokens where the inputs are integers."""

    title: str
    layers: tuple
    shape: tuple[int, ...]
    loss: str | None = "cross entropy"
    classes: int = 10
    vocabulary: int = 0
    opt: tuple = ADAM
    dtype: str = "float32"
    mode: str = TRAIN

    @property
    def images(self):
        """Whether PyTorch's channels_last is worth a try."""
        return len(self.shape) == 4


def mlp(*sizes, activation="ReLU"):
    layers = [one for n, m in zip(sizes, sizes[1:], strict=False) for one in (layer("Linear", n, m), layer(activation))]
    return tuple(layers[:-1])


def head(channels, classes=10):
    """What images end in: the mean over their pixels and a linear layer."""
    return layer("Mean", 2, 3), layer("Linear", channels, classes)


def conv(c_in, c_out, k, dims=2, **options):
    return layer(f"Conv{dims}d", c_in, c_out, k, **options), layer("ReLU")


def encoder(width, heads, causal=False):
    attention = layer("SelfAttention", width, heads, causal=causal)
    return (
        layer("Residual", layer("LayerNorm", width), attention),
        layer("Residual", layer("LayerNorm", width), *mlp(width, 4 * width, width, activation="GELU")),
    )


def separable(c_in, c_out):
    return *conv(c_in, c_in, 3, padding=1, groups=c_in), *conv(c_in, c_out, 1)


DIGITS, MNIST = mlp(64, 128, 64, 10), mlp(784, 512, 256, 10)
FEW = (*conv(3, 16, 3, padding=1), layer("MaxPool2d", 2), *conv(16, 32, 3, padding=1), *head(32))
WAVE = tuple(layer("Residual", *conv(32, 32, 3, dims=1, dilation=2**i, padding=2**i)) for i in range(4))
BLOCKS = tuple(layer("Residual", layer("LayerNorm", 96), *mlp(96, 192, 96, activation="GELU")) for _ in range(8))
LAST = (layer("Mean", 1),)

ROWS = {
    "mlp-odd": Row("MLP 63-127-61-9, batch 31", mlp(63, 127, 61, 9), (31, 63), classes=9),
    "mlp-prime": Row("MLP 211-509-257-11, batch 97", mlp(211, 509, 257, 11), (97, 211), classes=11),
    "mlp-large-prime": Row("MLP 1021-2039-1021, batch 257", mlp(1021, 2039, 1021), (257, 1021), loss="mse", opt=SGD),
    "mlp-batch-1": Row("MLP 784-512-256-10, batch 1", MNIST, (1, 784)),
    "mlp-wide-batch-1": Row("MLP 3000-3000-10, batch 1, SGD", mlp(3000, 3000, 10), (1, 3000), opt=SGD),
    "mlp-batch-7": Row("MLP 100-100-10, batch 7, momentum", mlp(100, 100, 10), (7, 100), opt=MOMENTUM),
    "mlp-batch-4096": Row("MLP 16-16-2, batch 4096", mlp(16, 16, 2), (4096, 16), classes=2),
    "mlp-deep": Row("50 layers of 32, batch 32", mlp(*[32] * 50, 10), (32, 32)),
    "mlp-deeper": Row("100 layers of 16, batch 8, SGD", mlp(*[16] * 100, 10), (8, 16), opt=SGD),
    "mlp-8192": Row("MLP 512-8192-10, batch 64", mlp(512, 8192, 10), (64, 512)),
    "mlp-8192-mse": Row("MLP 1024-8192-1024, batch 32", mlp(1024, 8192, 1024), (32, 1024), loss="mse", opt=SGD),
    "mlp-tanh": Row("MLP 13-50-50-1, tanh, batch 100", mlp(13, 50, 50, 1, activation="Tanh"), (100, 13), loss="mse"),
    "mlp-silu": Row("MLP 300-300-300-7, SiLU, batch 50", mlp(*[300] * 3, 7, activation="SiLU"), (50, 300), classes=7),
    "mlp-double": Row("MLP 64-128-64-10, float64", DIGITS, (64, 64), dtype="float64"),
    "mlp-double-large": Row("MLP 784-512-256-10, float64", MNIST, (128, 784), dtype="float64"),
    "mlp-inference": Row("MLP 784-512-256-10, inference", MNIST, (128, 784), loss=None, mode=INFERENCE),
    "mlp-inference-1": Row("the same, batch 1", MNIST, (1, 784), loss=None, mode=INFERENCE),
    "blocks": Row("8 residual blocks of 96, LayerNorm, GELU", (*BLOCKS, layer("Linear", 96, 10)), (100, 96)),
    "norm-37": Row("LayerNorm over 37 of 1000 rows", (layer("LayerNorm", 37), *mlp(37, 37, 5)), (1000, 37), classes=5),
    "embedding": Row(
        "embedding 10007 x 48, mean of 23 tokens",
        (layer("Embedding", 10007, 48), layer("Mean", 1), layer("Linear", 48, 10)), (64, 23), vocabulary=10007,
    ),
    "conv-3-channels": Row("conv 5x5, 3 to 7 channels, 33x33, batch 5", (*conv(3, 7, 5), *head(7)), (5, 3, 33, 33)),
    "conv-56": Row("conv 3x3, 64 to 64 channels, 56x56, batch 8",
                   (*conv(64, 64, 3, padding=1), *head(64)), (8, 64, 56, 56)),
    "conv-strided": Row("strided convs 3-32-64, 64x64, batch 16",
                        (*conv(3, 32, 3, stride=2, padding=1), *conv(32, 64, 3, stride=2, padding=1), *head(64)),
                        (16, 3, 64, 64)),
    "conv-stride-3": Row("conv 7x7 of stride 3, 3 to 24, 61x61, batch 9",
                         (*conv(3, 24, 7, stride=3), *head(24)), (9, 3, 61, 61)),
    "conv-dilated": Row("conv 3x3 of dilation 2, 16 to 16, 32x32, batch 16",
                        (*conv(16, 16, 3, dilation=2, padding=2), *head(16)), (16, 16, 32, 32)),
    "conv-depthwise": Row("depthwise and 1x1, 32-64-64, 32x32, batch 16",
                          (*separable(32, 64), *separable(64, 64), *head(64)), (16, 32, 32, 32)),
    "conv-depthwise-odd": Row("depthwise 5x5, 17 channels, 29x29, batch 11",
                              (*conv(17, 17, 5, groups=17, padding=2), *head(17)), (11, 17, 29, 29)),
    "conv-groups": Row("conv 3x3 in 4 groups, 32 to 48, 28x28, batch 16",
                       (*conv(32, 48, 3, groups=4, padding=1), *head(48)), (16, 32, 28, 28)),
    "conv-1x1": Row("conv 1x1, 64 to 128, 14x14, batch 32", (*conv(64, 128, 1), *head(128)), (32, 64, 14, 14)),
    "conv-transposed": Row("transposed convs 16-8-3 of stride 2, 16x16, batch 16",
                           (layer("ConvTranspose2d", 16, 8, 4, stride=2, padding=1), layer("ReLU"),
                            layer("ConvTranspose2d", 8, 3, 4, stride=2, padding=1), *head(3)), (16, 16, 16, 16)),
    "conv-batch-1": Row("CNN 3-16-32, 32x32, batch 1", FEW, (1, 3, 32, 32)),
    "conv-inference": Row("CNN 3-16-32, 32x32, batch 32, inference", FEW, (32, 3, 32, 32), loss=None, mode=INFERENCE),
    "conv-norm": Row("conv 3x3 and BatchNorm, 13 channels, 27x27, batch 16",
                     (layer("Conv2d", 3, 13, 3), layer("BatchNorm2d", 13), layer("ReLU"), *head(13)), (16, 3, 27, 27)),
    "conv-groupnorm": Row("conv 3x3, GroupNorm and AvgPool, 24 channels, 24x24, batch 16",
                          (layer("Conv2d", 3, 24, 3, padding=1), layer("GroupNorm", 4, 24), layer("ReLU"),
                           layer("AvgPool2d", 2), *head(24)), (16, 3, 24, 24)),
    "conv1d-dilated": Row("4 residual conv1d of dilation 1 to 8, 32 channels, T = 512, batch 8",
                          (*WAVE, layer("Mean", 2), layer("Linear", 32, 10)), (8, 32, 512)),
    "conv1d-odd": Row("conv1d of 9, 5 to 23 channels, T = 1003, batch 7",
                      (*conv(5, 23, 9, dims=1), layer("Mean", 2), layer("Linear", 23, 10)), (7, 5, 1003)),
    "conv3d": Row("conv3d 3x3x3, 4 to 12 channels, 8x16x16, batch 4",
                  (*conv(4, 12, 3, dims=3, padding=1), layer("Mean", 2, 3, 4), layer("Linear", 12, 10)),
                  (4, 4, 8, 16, 16)),
    "gru": Row("GRU 64 to 96, T = 50, batch 16", (layer("GRU", 64, 96), *LAST, layer("Linear", 96, 10)), (16, 50, 64)),
    "gru-512": Row("GRU 32 to 32, T = 512, batch 4",
                   (layer("GRU", 32, 32), *LAST, layer("Linear", 32, 10)), (4, 512, 32)),
    "lstm-37": Row("2 LSTM of 70, T = 37, batch 13",
                   (layer("LSTM", 50, 70), layer("LSTM", 70, 70), *LAST, layer("Linear", 70, 10)), (13, 37, 50)),
    "lstm-batch-1": Row("LSTM 40 to 100, T = 200, batch 1",
                        (layer("LSTM", 40, 100), *LAST, layer("Linear", 100, 10)), (1, 200, 40)),
    "rnn": Row("RNN 32 to 64, T = 100, batch 16",
               (layer("RNN", 32, 64), *LAST, layer("Linear", 64, 10)), (16, 100, 32)),
    "attention-37": Row("transformer block of 60, 3 heads, T = 37, batch 9",
                        (*encoder(60, 3), *LAST, layer("Linear", 60, 10)), (9, 37, 60)),
    "attention-512": Row("causal transformer block of 64, 4 heads, T = 512, batch 2",
                         (*encoder(64, 4, causal=True), *LAST, layer("Linear", 64, 10)), (2, 512, 64)),
    "attention-batch-1": Row("2 causal blocks of 128, tokens, T = 128, batch 1",
                             (layer("Embedding", 97, 128), *encoder(128, 4, causal=True), *encoder(128, 4, causal=True),
                              layer("Linear", 128, 97)), (1, 128), loss="tokens", classes=97, vocabulary=97),
    "attention-inference": Row("2 transformer blocks of 96, T = 37, batch 8, inference",
                               (*encoder(96, 6), *encoder(96, 6)), (8, 37, 96), loss=None, mode=INFERENCE),
    "loop-mlp": Row("compiled model in an eager loop: MLP 64-128-64-10", DIGITS, (64, 64), mode=EAGER_LOOP),
    "loop-cnn": Row("compiled model in an eager loop: CNN 3-16-32, batch 16", FEW, (16, 3, 32, 32), mode=EAGER_LOOP),
    "loop-attention": Row("compiled model in an eager loop: transformer block of 60, T = 37, batch 9",
                          (*encoder(60, 3), *LAST, layer("Linear", 60, 10)), (9, 37, 60), mode=EAGER_LOOP),
}  # fmt: skip


def batch(row, rng):
    """Inputs and what they should give."""
    if row.vocabulary:
        x = rng.integers(0, row.vocabulary, row.shape)
    else:
        x = rng.standard_normal(row.shape).astype(row.dtype)
    if row.loss == "mse":
        return x, rng.standard_normal((row.shape[0], row.layers[-1].args[1])).astype(row.dtype)
    labels = row.shape if row.loss == "tokens" else row.shape[:1]
    return x, rng.integers(0, row.classes, labels)


def workload(name):
    """The row called `name`; every call draws the same numbers."""
    row, rng = ROWS[name], np.random.default_rng(1234)
    params = {f"{i:03}": value for i, value in enumerate(parameters(row.layers, rng, row.dtype))}
    dims = dict(layers=row.layers, loss=row.loss, dtype=row.dtype, mode=row.mode)
    return Workload(name, params, [batch(row, rng) for _ in range(4)], row.opt, dims)
