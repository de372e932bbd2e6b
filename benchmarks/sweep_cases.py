"""Single operations and row work for `python -m benchmarks.sweep`: each written for PyTorch's names and for JAX's."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Arrays = Callable[[np.random.Generator], tuple]


@dataclass(frozen=True)
class Case:
    """A function of tensors. `torch` takes a module of PyTorch's names first, `jax` takes jax.

    With `gradient`, what is measured is the gradient of the result's sum for the first operand.
    """

    name: str
    arrays: Arrays
    torch: Callable
    jax: Callable
    gradient: bool = False


def normal(*shapes):
    """float32 arrays of standard normal numbers."""
    return lambda rng: tuple(rng.standard_normal(shape).astype(np.float32) for shape in shapes)


def positive(*shapes):
    return lambda rng: tuple(rng.uniform(0.5, 2.0, shape).astype(np.float32) for shape in shapes)


def indexed(shape, count, extent, *more):
    """A table, `count` places in its first axis, and more arrays."""
    return lambda rng: (
        rng.standard_normal(shape).astype(np.float32),
        rng.integers(0, extent, count),
        *(rng.standard_normal(s).astype(np.float32) for s in more),
    )


def _layer_norm(jax, x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def _powered_norm(torch, x):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.pow(2).mean(-1, keepdim=True) + 1e-5).pow(0.5)


def _jax_powered_norm(jax, x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / ((centred**2).mean(-1, keepdims=True) + 1e-5) ** 0.5


def _cat_slice_pow(torch, x, y):
    return torch.cat((x[:, 1:], y[:, :-1]), 1).pow(3)


def _chain(torch, x):
    f = torch.nn.functional
    return f.softmax(f.layer_norm(f.gelu(x), (1024,)), -1)


def _cross_entropy(jax, x, labels):
    return -jax.numpy.take_along_axis(jax.nn.log_softmax(x), labels[:, None], 1).mean()


def _mlp(torch, x, w, v):
    return torch.relu(x @ w) @ v


CASES = (
    Case("topk 300x1000 k=10", normal((300, 1000)), lambda t, x: t.topk(x, 10)[0], lambda j, x: j.lax.top_k(x, 10)[0]),
    Case(
        "topk 300x1000 k=100", normal((300, 1000)), lambda t, x: t.topk(x, 100)[0], lambda j, x: j.lax.top_k(x, 100)[0]
    ),
    Case("sort 300x1000", normal((300, 1000)), lambda t, x: t.sort(x)[0], lambda j, x: j.numpy.sort(x, -1)),
    Case("argsort 1000000", normal((1000000,)), lambda t, x: t.argsort(x), lambda j, x: j.numpy.argsort(x)),
    Case("sort dim 0 1000x300", normal((1000, 300)), lambda t, x: t.sort(x, 0)[0], lambda j, x: j.numpy.sort(x, 0)),
    Case(
        "gelu, layer_norm, softmax 1024x1024",
        normal((1024, 1024)),
        _chain,
        lambda j, x: j.nn.softmax(_layer_norm(j, j.nn.gelu(x, approximate=False))),
    ),
    Case(
        "gelu 1024x1024",
        normal((1024, 1024)),
        lambda t, x: t.nn.functional.gelu(x),
        lambda j, x: j.nn.gelu(x, approximate=False),
    ),
    Case(
        "gelu gradient",
        normal((1024, 1024)),
        lambda t, x: t.nn.functional.gelu(x),
        lambda j, x: j.nn.gelu(x, approximate=False),
        True,
    ),
    Case("std dim 0 1000x1000", normal((1000, 1000)), lambda t, x: x.std(0), lambda j, x: x.std(0, ddof=1)),
    Case("std last 1000x1000", normal((1000, 1000)), lambda t, x: x.std(-1), lambda j, x: x.std(-1, ddof=1)),
    Case("pow 1.7 1000x1000", positive((1000, 1000)), lambda t, x: x.pow(1.7), lambda j, x: x**1.7),
    Case("pow 3 1000x1000", normal((1000, 1000)), lambda t, x: x.pow(3), lambda j, x: x**3),
    Case(
        "pow 0.5, -1, -2",
        positive((1000, 1000)),
        lambda t, x: x.pow(0.5) + x.pow(-1) + x.pow(-2),
        lambda j, x: x**0.5 + x**-1 + x**-2,
    ),
    Case("max last 1000x1000", normal((1000, 1000)), lambda t, x: x.amax(-1), lambda j, x: x.max(-1)),
    Case("max with places last", normal((1000, 1000)), lambda t, x: x.max(-1)[1], lambda j, x: x.argmax(-1)),
    Case("argmax dim 0", normal((1000, 1000)), lambda t, x: x.argmax(0), lambda j, x: x.argmax(0)),
    Case("max dim 0", normal((1000, 1000)), lambda t, x: x.amax(0), lambda j, x: x.max(0)),
    Case("sum last", normal((1000, 1000)), lambda t, x: x.sum(-1), lambda j, x: x.sum(-1)),
    Case("sum dim 0", normal((1000, 1000)), lambda t, x: x.sum(0), lambda j, x: x.sum(0)),
    Case("sum all", normal((1000, 1000)), lambda t, x: x.sum(), lambda j, x: x.sum()),
    Case("prod last", positive((1000, 1000)), lambda t, x: x.prod(-1), lambda j, x: x.prod(-1)),
    Case("any of comparison", normal((1000, 1000)), lambda t, x: (x > 5).any(-1), lambda j, x: (x > 5).any(-1)),
    Case(
        "cat, slice, pow",
        normal((1000, 500), (1000, 500)),
        _cat_slice_pow,
        lambda j, x, y: j.numpy.concatenate((x[:, 1:], y[:, :-1]), 1) ** 3,
    ),
    Case(
        "embedding 10000x128",
        indexed((10000, 128), 2048, 10000),
        lambda t, w, i: t.nn.functional.embedding(i, w),
        lambda j, w, i: w[i],
    ),
    Case(
        "embedding gradient",
        indexed((10000, 128), 2048, 10000, (2048, 128)),
        lambda t, w, i, g: t.nn.functional.embedding(i, w) * g,
        lambda j, w, i, g: w[i] * g,
        True,
    ),
    Case("layer_norm 1024x512", normal((1024, 512)), lambda t, x: t.nn.functional.layer_norm(x, (512,)), _layer_norm),
    Case(
        "layer_norm gradient",
        normal((1024, 512), (1024, 512)),
        lambda t, x, g: t.nn.functional.layer_norm(x, (512,)) * g,
        lambda j, x, g: _layer_norm(j, x) * g,
        True,
    ),
    Case("layer_norm with pow", normal((1024, 1024)), _powered_norm, _jax_powered_norm),
    Case("softmax 10000x64", normal((10000, 64)), lambda t, x: x.softmax(-1), lambda j, x: j.nn.softmax(x)),
    Case("softmax 64x10000", normal((64, 10000)), lambda t, x: x.softmax(-1), lambda j, x: j.nn.softmax(x)),
    Case("softmax 8x100000", normal((8, 100000)), lambda t, x: x.softmax(-1), lambda j, x: j.nn.softmax(x)),
    Case("softmax dim 0 1000x500", normal((1000, 500)), lambda t, x: x.softmax(0), lambda j, x: j.nn.softmax(x, 0)),
    Case(
        "softmax gradient 1000x512",
        normal((1000, 512), (1000, 512)),
        lambda t, x, g: x.softmax(-1) * g,
        lambda j, x, g: j.nn.softmax(x) * g,
        True,
    ),
    Case("softmax 50000x10", normal((50000, 10)), lambda t, x: x.softmax(-1), lambda j, x: j.nn.softmax(x)),
    Case("log_softmax 1000x37", normal((1000, 37)), lambda t, x: x.log_softmax(-1), lambda j, x: j.nn.log_softmax(x)),
    Case(
        "cross entropy 4096x10",
        indexed((4096, 10), 4096, 10),
        lambda t, x, i: t.nn.functional.cross_entropy(x, i),
        _cross_entropy,
    ),
    Case(
        "cross entropy 4096x10 gradient",
        indexed((4096, 10), 4096, 10),
        lambda t, x, i: t.nn.functional.cross_entropy(x, i),
        _cross_entropy,
        True,
    ),
    Case("matvec 3000x3000", normal((3000, 3000), (3000,)), lambda t, x, y: x @ y, lambda j, x, y: x @ y),
    Case("outer 3000x3000", normal((3000, 1), (1, 3000)), lambda t, x, y: x @ y, lambda j, x, y: x @ y),
    Case(
        "MLP batch 1 3000-3000",
        normal((1, 3000), (3000, 3000), (3000, 10)),
        _mlp,
        lambda j, x, w, v: j.nn.relu(x @ w) @ v,
    ),
    Case(
        "index_select 500 of 1000x500",
        indexed((1000, 500), 500, 1000),
        lambda t, x, i: t.index_select(x, 0, i),
        lambda j, x, i: x[i],
    ),
    Case(
        "index_select columns",
        indexed((500, 1000), 500, 500),
        lambda t, x, i: t.index_select(x, 1, i),
        lambda j, x, i: x[:, i],
    ),
    Case("cumsum last 1000x1000", normal((1000, 1000)), lambda t, x: x.cumsum(-1), lambda j, x: x.cumsum(-1)),
    Case("cumsum dim 0 1000x1000", normal((1000, 1000)), lambda t, x: x.cumsum(0), lambda j, x: x.cumsum(0)),
    Case(
        "transpose times 1000x1000",
        normal((1000, 1000), (1000, 1000)),
        lambda t, x, y: x.t() * y,
        lambda j, x, y: x.T * y,
    ),
    Case(
        "transpose 64x16x128x64",
        normal((8, 64, 128, 16)),
        lambda t, x: x.transpose(1, 2).contiguous(),
        lambda j, x: x.transpose(0, 2, 1, 3),
    ),
    Case(
        "scatter_add 1000x500",
        lambda rng: (
            np.zeros((1000, 500), np.float32),
            rng.integers(0, 1000, (500, 500)),
            rng.standard_normal((500, 500)).astype(np.float32),
        ),
        lambda t, x, i, s: x.scatter_add(0, i, s),
        lambda j, x, i, s: x.at[i, j.numpy.arange(500)[None]].add(s),
    ),
    Case("add 1000x1000", normal((1000, 1000), (1000, 1000)), lambda t, x, y: x + y, lambda j, x, y: x + y),
    Case("add 8 MB bias", normal((2000, 1000), (1000,)), lambda t, x, y: x + y, lambda j, x, y: x + y),
    Case(
        "where, clamp",
        normal((1000, 1000)),
        lambda t, x: t.where(x > 0, x, x * 0.1).clamp(-1, 1),
        lambda j, x: j.numpy.clip(j.numpy.where(x > 0, x, x * 0.1), -1, 1),
    ),
    Case("tanh 1000x1000", normal((1000, 1000)), lambda t, x: x.tanh(), lambda j, x: j.numpy.tanh(x)),
    Case("sigmoid 1000x1000", normal((1000, 1000)), lambda t, x: x.sigmoid(), lambda j, x: j.nn.sigmoid(x)),
    Case(
        "exp, log",
        positive((1000, 1000)),
        lambda t, x: (x.exp() + 1).log(),
        lambda j, x: j.numpy.log(j.numpy.exp(x) + 1),
    ),
    Case(
        "sin, cos", normal((1000, 1000)), lambda t, x: x.sin() * x.cos(), lambda j, x: j.numpy.sin(x) * j.numpy.cos(x)
    ),
    Case(
        "silu, mish",
        normal((1000, 1000)),
        lambda t, x: t.nn.functional.silu(x) + t.nn.functional.mish(x),
        lambda j, x: j.nn.silu(x) + j.nn.mish(x),
    ),
    Case("logsumexp last", normal((1000, 1000)), lambda t, x: x.logsumexp(-1), lambda j, x: j.nn.logsumexp(x, -1)),
    Case(
        "norm of rows",
        normal((1000, 1000)),
        lambda t, x: x / x.norm(dim=-1, keepdim=True),
        lambda j, x: x / j.numpy.linalg.norm(x, axis=-1, keepdims=True),
    ),
    Case(
        "cdist by broadcasting",
        normal((200, 1, 64), (1, 200, 64)),
        lambda t, x, y: ((x - y) ** 2).sum(-1),
        lambda j, x, y: ((x - y) ** 2).sum(-1),
    ),
    Case(
        "float64 softmax",
        lambda rng: (rng.standard_normal((1000, 500)),),
        lambda t, x: x.softmax(-1),
        lambda j, x: j.nn.softmax(x),
    ),
)
