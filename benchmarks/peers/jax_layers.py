"""The layers of `benchmarks.layers` in jax: `loss(dims, nhwc)` returns `loss_fn(params, x, y)`."""

import functools

import jax
import jax.numpy as jnp
from jax import lax

from ..layers import GATES
from .jax_models import cross_entropy

ACTIVATIONS = dict(
    ReLU=jax.nn.relu, Tanh=jnp.tanh, SiLU=jax.nn.silu, GELU=functools.partial(jax.nn.gelu, approximate=False)
)
LETTERS = "DHW"


class Application:
    """One pass through the layers: takes parameters in their order, and keeps the running statistics that it makes."""

    def __init__(self, params):
        self.params = iter(params)
        self.statistics = []

    def take(self, count):
        return [next(self.params) for _ in range(count)]

    def sequence(self, layers, x):
        for one in layers:
            x = self.layer(one, x)
        return x

    def layer(self, one, x):
        if one.name in ACTIVATIONS:
            return ACTIVATIONS[one.name](x)
        if one.name == "Residual":
            return x + self.sequence(one.args, x)
        if one.name in GATES:
            return recurrent(one.name, x, *self.take(4))
        if one.name.startswith("Conv"):
            return convolution(one, x, *self.take(2))
        return getattr(self, one.name)(x, *one.args, **one.options)

    def Linear(self, x, n_in, n_out):
        weight, bias = self.take(2)
        return x @ weight.T + bias

    def Embedding(self, x, *shape):
        return self.take(1)[0][x]

    def Flatten(self, x):
        return x.reshape(x.shape[0], -1)

    def Mean(self, x, *dims):
        return x.mean(axis=dims)

    def MaxPool2d(self, x, k):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, k, k), (1, 1, k, k), "VALID")

    def AvgPool2d(self, x, k):
        return lax.reduce_window(x, 0.0, lax.add, (1, 1, k, k), (1, 1, k, k), "VALID") / (k * k)

    def LayerNorm(self, x, width):
        weight, bias = self.take(2)
        return normalised(x, (-1,))[0] * weight + bias

    def GroupNorm(self, x, groups, channels):
        weight, bias = self.take(2)
        y = normalised(x.reshape(x.shape[0], groups, -1), (-1,))[0].reshape(x.shape)
        return y * weight[None, :, None, None] + bias[None, :, None, None]

    def BatchNorm2d(self, x, channels):
        weight, bias = self.take(2)
        y, mean, var = normalised(x, (0, 2, 3))
        self.statistics += [0.1 * mean, 0.9 + 0.1 * var]
        return y * weight[None, :, None, None] + bias[None, :, None, None]

    def SelfAttention(self, x, width, heads, causal=False):
        w_in, b_in, w_out, b_out = self.take(4)
        batch, length, _ = x.shape
        split = jnp.split(x @ w_in.T + b_in, 3, axis=2)
        q, k, v = (t.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for t in split)
        scores = q @ k.transpose(0, 1, 3, 2) * (width // heads) ** -0.5
        if causal:
            scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -jnp.inf)
        o = (jax.nn.softmax(scores, axis=-1) @ v).transpose(0, 2, 1, 3)
        return o.reshape(batch, length, width) @ w_out.T + b_out


def normalised(x, axes, eps=1e-5):
    mean = x.mean(axes, keepdims=True)
    var = ((x - mean) ** 2).mean(axes, keepdims=True)
    return (x - mean) * lax.rsqrt(var + eps), mean.squeeze(axes), var.squeeze(axes)


def convolution(one, x, weight, bias):
    """A convolution or a transposed one, in PyTorch's layouts."""
    rank = x.ndim - 2
    stride, pad = (one.option("stride", 1),) * rank, one.option("padding", 0)
    dilation, groups, letters = one.option("dilation", 1), one.option("groups", 1), LETTERS[3 - rank :]
    shared = dict(feature_group_count=groups, dimension_numbers=("NC" + letters, "OI" + letters, "NC" + letters))
    if one.name.startswith("ConvTranspose"):
        around = weight.shape[2] - 1 - pad
        flipped = jnp.flip(weight, range(2, x.ndim)).swapaxes(0, 1)
        y = lax.conv_general_dilated(x, flipped, (1,) * rank, [(around, around)] * rank, lhs_dilation=stride, **shared)
    else:
        y = lax.conv_general_dilated(x, weight, stride, [(pad, pad)] * rank, rhs_dilation=(dilation,) * rank, **shared)
    return y + bias.reshape(-1, *(1,) * rank)


def recurrent(kind, x, w_in, w_hidden, b_in, b_hidden):
    """All outputs of one layer of cells over [batch, time, features], with the inputs' products outside the loop."""
    hidden = w_hidden.shape[1]
    turns = (x @ w_in.T + b_in).transpose(1, 0, 2)
    zero = jnp.zeros((x.shape[0], hidden), x.dtype)

    def rnn(h, g):
        h = jnp.tanh(g + h @ w_hidden.T + b_hidden)
        return h, h

    def gru(h, g):
        (r, z, n), (hr, hz, hn) = jnp.split(g, 3, axis=1), jnp.split(h @ w_hidden.T + b_hidden, 3, axis=1)
        r, z = jax.nn.sigmoid(r + hr), jax.nn.sigmoid(z + hz)
        h = (1 - z) * jnp.tanh(n + r * hn) + z * h
        return h, h

    def lstm(carry, g):
        h, c = carry
        i, f, n, o = jnp.split(g + h @ w_hidden.T + b_hidden, 4, axis=1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(n)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    cells = {"RNN": (rnn, zero), "GRU": (gru, zero), "LSTM": (lstm, (zero, zero))}
    _, outputs = lax.scan(*cells[kind], turns)
    return outputs.transpose(1, 0, 2)


def loss(dims):
    """`loss_fn(params, x, y)` -> the loss (or the model's results), and running statistics."""
    losses = {
        "cross entropy": cross_entropy,
        "tokens": lambda out, y: cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1)),
        "mse": lambda out, y: ((out - y) ** 2).mean(),
        None: lambda out, y: out,
    }

    def loss_fn(params, x, y):
        applied = Application(params.values())
        result = losses[dims["loss"]](applied.sequence(dims["layers"], x), y)
        return result, lax.stop_gradient(applied.statistics)

    return loss_fn
