"""Models as lists of layers, from which PyTorch's names and JAX build the same function.

A layer is its name in `torch.nn` or in `own_layers`, its arguments and its options; `parameters` draws what it trains,
in the order of PyTorch's `model.parameters()`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
NORMS = ("BatchNorm2d", "LayerNorm", "GroupNorm")


@dataclass(frozen=True)
class Layer:
    name: str
    args: tuple = ()
    options: dict[str, Any] = field(default_factory=dict)

    def option(self, name, default):
        return self.options.get(name, default)


def layer(name, *args, **options):
    return Layer(name, args, options)


# ---------------------------------------------------------------------------------------------------------- parameters


def shapes(one: Layer) -> list[tuple[int, ...]]:
    """The shapes of a layer's parameters."""
    if one.name == "Linear":
        n_in, n_out = one.args
        return [(n_out, n_in), (n_out,)]
    if one.name.startswith("Conv"):
        return convolution_shapes(one)
    if one.name in NORMS:
        return [(one.args[-1],)] * 2
    if one.name == "Embedding":
        return [one.args]
    if one.name in GATES:
        n_in, hidden = one.args
        return [(GATES[one.name] * hidden, n) for n in (n_in, hidden)] + [(GATES[one.name] * hidden,)] * 2
    if one.name == "SelfAttention":
        width = one.args[0]
        return [(3 * width, width), (3 * width,), (width, width), (width,)]
    return []


def convolution_shapes(one: Layer) -> list[tuple[int, ...]]:
    c_in, c_out, k = one.args
    groups, dims = one.option("groups", 1), int(one.name[-2])
    if one.name.startswith("ConvTranspose"):
        return [(c_in, c_out // groups) + (k,) * dims, (c_out,)]
    return [(c_out, c_in // groups) + (k,) * dims, (c_out,)]


def parameters(layers, rng, dtype) -> list[np.ndarray]:
    """Initial values of all layers' parameters."""
    drawn = []
    for one in layers:
        if one.name == "Residual":
            drawn += parameters(one.args, rng, dtype)
        elif one.name in NORMS:
            drawn += [np.ones(one.args[-1], dtype), np.zeros(one.args[-1], dtype)]
        else:
            drawn += [uniform(rng, shape, shapes(one)[0], dtype) for shape in shapes(one)]
    return drawn


def uniform(rng, shape, weight, dtype):
    """Uniform within one over the root of the number of inputs, as PyTorch's layers are by default."""
    bound = 1 / math.sqrt(max(1, math.prod(weight[1:])))
    return rng.uniform(-bound, bound, shape).astype(dtype)


# ------------------------------------------------------------------------------------------------------ PyTorch's names


def own_layers(torch):
    """Modules that `torch.nn` does not have under one name."""
    nn, F = torch.nn, torch.nn.functional

    class SelfAttention(nn.Module):
        def __init__(self, width, heads, causal=False):
            super().__init__()
            self.heads, self.causal = heads, causal
            self.inputs, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x):
            batch, length, width = x.shape
            split = self.inputs(x).split(width, dim=2)
            q, k, v = (t.view(batch, length, self.heads, width // self.heads).transpose(1, 2) for t in split)
            o = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
            return self.out(o.transpose(1, 2).reshape(batch, length, width))

    class Residual(nn.Module):
        def __init__(self, *layers):
            super().__init__()
            self.body = sequence(torch, layers)

        def forward(self, x):
            return x + self.body(x)

    class Recurrent(nn.Module):
        def __init__(self, kind, *args):
            super().__init__()
            self.cells = getattr(nn, kind)(*args, batch_first=True)

        def forward(self, x):
            return self.cells(x)[0]

    class Mean(nn.Module):
        def __init__(self, *dims):
            super().__init__()
            self.dims = dims

        def forward(self, x):
            return x.mean(dim=self.dims)

    return dict(SelfAttention=SelfAttention, Residual=Residual, Recurrent=Recurrent, Mean=Mean)


def sequence(torch, layers):
    own = own_layers(torch)
    return torch.nn.Sequential(*(module(torch, own, one) for one in layers))


def module(torch, own, one: Layer):
    if one.name in GATES:
        return own["Recurrent"](one.name, *one.args)
    make = own.get(one.name) or getattr(torch.nn, one.name)
    return make(*one.args, **one.options)


def program(torch, dims, model=None):
    """The model, or the one that is given, and its loss; without a loss, what the model computes."""
    F = torch.nn.functional
    if model is None:
        model = sequence(torch, dims["layers"]).to(getattr(torch, dims["dtype"]))
    losses = {
        "cross entropy": lambda x, y: F.cross_entropy(model(x), y),
        "tokens": lambda x, y: F.cross_entropy(model(x).flatten(0, 1), y.flatten()),
        "mse": lambda x, y: F.mse_loss(model(x), y),
        None: lambda x, y: model(x),
    }
    return model, losses[dims["loss"]]
