"""The ten workloads: sizes, seeded initial weights, seeded batches.

Everything comes from numpy with fixed seeds, so that every peer trains from the same state on the same data and the
losses after some steps can be compared.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

ADAM = ("adam", dict(lr=1e-3, betas=(0.9, 0.999), eps=1e-8))


@dataclass
class Workload:
    """One training step's data.

    `params` maps names to float32 arrays in the order of `model.parameters()` in PyTorch, in PyTorch's layouts;
    the steps cycle through `batches`, tuples of arrays; `opt` is a kind (sgd, adam, adamw) and its hyper-parameters;
    `dims` holds what else the programs need to know.
    """

    name: str
    params: dict[str, np.ndarray]
    batches: list[tuple[np.ndarray, ...]]
    opt: tuple[str, dict]
    dims: dict = field(default_factory=dict)


@dataclass
class Weights:
    """Draws named parameters one after the other from one generator, as PyTorch initialises them by default."""

    rng: np.random.Generator
    params: dict[str, np.ndarray] = field(default_factory=dict)

    def uniform(self, name, shape, bound):
        self.params[name] = self.rng.uniform(-bound, bound, shape).astype(np.float32)

    def normal(self, name, shape, std=0.02):
        self.params[name] = (self.rng.standard_normal(shape) * std).astype(np.float32)

    def linear(self, name, n_out, n_in):
        bound = 1.0 / np.sqrt(n_in)
        self.uniform(name + ".weight", (n_out, n_in), bound)
        self.uniform(name + ".bias", (n_out,), bound)

    def mlp(self, *sizes):
        for i, (n_in, n_out) in enumerate(zip(sizes, sizes[1:], strict=False)):
            self.linear(f"l{i}", n_out, n_in)

    def conv(self, name, c_out, c_in, k, bias=True):
        bound = 1.0 / np.sqrt(c_in * k * k)
        self.uniform(name + ".weight", (c_out, c_in, k, k), bound)
        if bias:
            self.uniform(name + ".bias", (c_out,), bound)

    def norm(self, name, c):
        self.params[name + ".weight"] = np.ones(c, np.float32)
        self.params[name + ".bias"] = np.zeros(c, np.float32)


def classes(rng, count, shape, n_classes=10):
    """Batches of inputs with a class-dependent mean, so that the loss goes down."""
    centers = rng.standard_normal((n_classes,) + shape[1:]).astype(np.float32) * (4 / np.sqrt(np.prod(shape[1:])))
    batches = []
    for _ in range(count):
        y = rng.integers(0, n_classes, shape[0]).astype(np.int64)
        x = centers[y] + rng.standard_normal(shape).astype(np.float32)
        batches.append((x.astype(np.float32), y))
    return batches


def sequences(rng, count, batch, length, vocabulary):
    """Batches of slowly climbing token sequences and the same sequences one token later."""
    batches = []
    for _ in range(count):
        t = np.cumsum(rng.integers(0, 3, (batch, length + 1)), axis=1) % vocabulary
        batches.append((t[:, :-1].astype(np.int64).copy(), t[:, 1:].astype(np.int64).copy()))
    return batches


def moons(rng, count, batch):
    batches = []
    for _ in range(count):
        t = rng.uniform(0, np.pi, batch)
        c = rng.integers(0, 2, batch)
        x = np.where(c[:, None] == 0, np.c_[np.cos(t), np.sin(t)], np.c_[1 - np.cos(t), 0.5 - np.sin(t)])
        x = x + 0.1 * rng.standard_normal((batch, 2))
        batches.append((x.astype(np.float32), (c * 2 - 1).astype(np.float32)))
    return batches


def t1(w):
    """MLP 2-16-16-1 relu, hinge + L2 loss, batch 32, SGD (two moons)"""
    w.mlp(2, 16, 16, 1)
    return moons(w.rng, 8, 32), ("sgd", dict(lr=0.1)), dict(alpha=1e-4)


def t2(w):
    """MLP 64-128-64-10 relu, cross entropy, batch 64, Adam (digits)"""
    w.mlp(64, 128, 64, 10)
    return classes(w.rng, 8, (64, 64)), ADAM, {}


def t3(w):
    """MLP 784-512-256-10 relu, cross entropy, batch 128, Adam (MNIST-like)"""
    w.mlp(784, 512, 256, 10)
    return classes(w.rng, 8, (128, 784)), ADAM, {}


def t4(w):
    """MLP 1024-4096-1024 relu, MSE, batch 256, SGD (matrix products)"""
    w.mlp(1024, 4096, 1024)

    def draw():
        return w.rng.standard_normal((256, 1024)).astype(np.float32)

    return [(draw(), draw()) for _ in range(4)], ("sgd", dict(lr=0.05)), {}


def t5(w):
    """CNN conv5x5x16-pool-conv5x5x32-pool-fc128-fc10 on 1x28x28, batch 64, Adam"""
    w.conv("c0", 16, 1, 5)
    w.conv("c1", 32, 16, 5)
    w.linear("f0", 128, 32 * 7 * 7)
    w.linear("f1", 10, 128)
    return classes(w.rng, 8, (64, 1, 28, 28)), ADAM, {}


def t6(w):
    """ResNet 3 stages x 2 blocks 16/32/64 on 3x32x32 with BatchNorm, batch 32, SGD momentum"""
    w.conv("conv", 16, 3, 3, bias=False)
    w.norm("bn", 16)
    c_in, blocks = 16, []
    for stage, c in enumerate([16, 32, 64]):
        for j in range(2):
            stride = 2 if stage > 0 and j == 0 else 1
            shortcut = stride != 1 or c_in != c
            name = f"b{stage}{j}"
            residual_block(w, name, c_in, c, shortcut)
            blocks.append((name, c_in, c, stride, shortcut))
            c_in = c
    w.linear("fc", 10, 64)
    return classes(w.rng, 8, (32, 3, 32, 32)), ("sgd", dict(lr=0.005, momentum=0.9)), dict(blocks=blocks)


def residual_block(w, name, c_in, c, shortcut):
    w.conv(name + ".c1", c, c_in, 3, bias=False)
    w.norm(name + ".n1", c)
    w.conv(name + ".c2", c, c, 3, bias=False)
    w.norm(name + ".n2", c)
    if shortcut:
        w.conv(name + ".cs", c, c_in, 1, bias=False)
        w.norm(name + ".ns", c)


def t7(w):
    """GPT 4 layers 4 heads 128 embd block 64 batch 12 vocab 65, AdamW"""
    dims = dict(V=65, C=128, L=4, H=4, T=64, B=12)
    V, C, L, T = (dims[k] for k in "VCLT")
    w.normal("wte", (V, C))
    w.normal("wpe", (T, C))
    for i in range(L):
        w.params[f"h{i}.ln1"] = np.ones(C, np.float32)
        w.normal(f"h{i}.attn", (3 * C, C))
        w.normal(f"h{i}.proj", (C, C), std=0.02 / np.sqrt(2 * L))
        w.params[f"h{i}.ln2"] = np.ones(C, np.float32)
        w.normal(f"h{i}.fc", (4 * C, C))
        w.normal(f"h{i}.fcp", (C, 4 * C), std=0.02 / np.sqrt(2 * L))
    w.params["lnf"] = np.ones(C, np.float32)
    opt = ("adamw", dict(lr=1e-3, betas=(0.9, 0.99), eps=1e-8, weight_decay=0.1))
    return sequences(w.rng, 8, dims["B"], T, V), opt, dims


def t8(w):
    """LSTM character model: vocab 65, embedding 128, hidden 128, 64 steps, batch 32, Adam"""
    dims = dict(V=65, C=128, H=128, T=64, B=32)
    V, C, H, T, B = (dims[k] for k in "VCHTB")
    w.normal("emb", (V, C), std=1.0)
    for name, shape in [("w_ih", (4 * H, C)), ("w_hh", (4 * H, H)), ("b_ih", (4 * H,)), ("b_hh", (4 * H,))]:
        w.uniform(name, shape, 1 / np.sqrt(H))
    w.linear("fc", V, H)
    return sequences(w.rng, 8, B, T, V), ADAM, dims


def t9(w):
    """PINN (Burgers): MLP 2-64-64-64-1 tanh, second derivatives, batch 1024, Adam"""
    w.mlp(2, 64, 64, 64, 1)
    batches = []
    for _ in range(8):
        xt = np.c_[w.rng.uniform(-1, 1, 1024), w.rng.uniform(0, 1, 1024)].astype(np.float32)
        batches.append((xt, (-np.sin(np.pi * xt[:, :1])).astype(np.float32)))
    return batches, ADAM, dict(nu=0.01 / np.pi)


def t10(w):
    """sum(softmax(layernorm(gelu(x*a+b)))**2) on 4096x1024, gradients of x, a, b; SGD on a, b"""
    w.params["a"] = (1 + 0.1 * w.rng.standard_normal(1024)).astype(np.float32)
    w.params["b"] = (0.1 * w.rng.standard_normal(1024)).astype(np.float32)
    return [(w.rng.standard_normal((4096, 1024)).astype(np.float32),) for _ in range(2)], ("sgd", dict(lr=0.1)), {}


BUILDERS: dict[str, Callable] = dict(T1=t1, T2=t2, T3=t3, T4=t4, T5=t5, T6=t6, T7=t7, T8=t8, T9=t9, T10=t10)


def workload(name):
    """The workload called `name`; every call draws the same numbers."""
    weights = Weights(np.random.default_rng(1234))
    batches, opt, dims = BUILDERS[name](weights)
    return Workload(name, weights.params, batches, opt, dims)
