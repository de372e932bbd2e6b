"""The losses of the workloads in jax. `LOSSES[name](dims, nhwc)` returns `loss_fn(params, *batch)`."""

import functools

import jax
import jax.numpy as jnp
from jax import lax


def linear(x, w, b=None):
    y = x @ w.T
    return y if b is None else y + b


def cross_entropy(logits, y):
    logz = jax.scipy.special.logsumexp(logits, axis=-1)
    return (logz - jnp.take_along_axis(logits, y[:, None], axis=1)[:, 0]).mean()


def mlp(p, x, n, activation):
    for i in range(n):
        x = linear(x, p[f"l{i}.weight"], p[f"l{i}.bias"])
        if i < n - 1:
            x = activation(x)
    return x


def conv(x, w, stride=1, pad=0, bias=None, nhwc=False):
    """A convolution of `x` in the wanted layout with a weight in PyTorch's layout."""
    layout = ("NHWC", "HWIO", "NHWC") if nhwc else ("NCHW", "OIHW", "NCHW")
    if nhwc:
        w = w.transpose(2, 3, 1, 0)
    y = lax.conv_general_dilated(x, w, (stride, stride), [(pad, pad)] * 2, dimension_numbers=layout)
    if bias is None:
        return y
    return y + (bias if nhwc else bias[None, :, None, None])


def max_pool(x, nhwc):
    if nhwc:
        B, H, W, C = x.shape
        return x.reshape(B, H // 2, 2, W // 2, 2, C).max(axis=(2, 4))
    B, C, H, W = x.shape
    return x.reshape(B, C, H // 2, 2, W // 2, 2).max(axis=(3, 5))


def layer_norm(x, w=None, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    y = (x - mean) * lax.rsqrt(var + eps)
    return y if w is None else y * w


def gelu(x):
    return jax.nn.gelu(x, approximate=False)


def t1(dims, nhwc):
    def loss_fn(p, x, y):
        score = mlp(p, x, 3, jax.nn.relu)[:, 0]
        return jax.nn.relu(1 - y * score).mean() + dims["alpha"] * sum((q * q).sum() for q in p.values())

    return loss_fn


def classifier(dims, nhwc):
    return lambda p, x, y: cross_entropy(mlp(p, x, 3, jax.nn.relu), y)


def t4(dims, nhwc):
    return lambda p, x, y: ((mlp(p, x, 2, jax.nn.relu) - y) ** 2).mean()


def t5(dims, nhwc):
    def loss_fn(p, x, y):
        if nhwc:
            x = x.transpose(0, 2, 3, 1)
        h = max_pool(jax.nn.relu(conv(x, p["c0.weight"], 1, 2, p["c0.bias"], nhwc)), nhwc)
        h = max_pool(jax.nn.relu(conv(h, p["c1.weight"], 1, 2, p["c1.bias"], nhwc)), nhwc)
        if nhwc:
            h = h.transpose(0, 3, 1, 2)
        h = jax.nn.relu(linear(h.reshape(h.shape[0], -1), p["f0.weight"], p["f0.bias"]))
        return cross_entropy(linear(h, p["f1.weight"], p["f1.bias"]), y)

    return loss_fn


def batch_norm(h, weight, bias, running, nhwc):
    """The normalised activations and the new running mean and variance."""
    axes, shape = ((0, 1, 2), (1, 1, 1, -1)) if nhwc else ((0, 2, 3), (1, -1, 1, 1))
    mean = h.mean(axis=axes)
    var = ((h - mean.reshape(shape)) ** 2).mean(axis=axes)
    count = h.size / mean.size
    new = (0.9 * running[0] + 0.1 * mean, 0.9 * running[1] + 0.1 * var * (count / (count - 1)))
    scale = lax.rsqrt(var + 1e-5) * weight
    return (h - mean.reshape(shape)) * scale.reshape(shape) + bias.reshape(shape), new


def t6(dims, nhwc):
    c = functools.partial(conv, nhwc=nhwc)

    def loss_fn(p, x, y, running):
        new = {}

        def bn(h, name):
            h, new[name] = batch_norm(h, p[name + ".weight"], p[name + ".bias"], running[name], nhwc)
            return h

        if nhwc:
            x = x.transpose(0, 2, 3, 1)
        h = jax.nn.relu(bn(c(x, p["conv.weight"], 1, 1), "bn"))
        for block, _, _, stride, shortcut in dims["blocks"]:
            g = jax.nn.relu(bn(c(h, p[block + ".c1.weight"], stride, 1), block + ".n1"))
            g = bn(c(g, p[block + ".c2.weight"], 1, 1), block + ".n2")
            r = bn(c(h, p[block + ".cs.weight"], stride, 0), block + ".ns") if shortcut else h
            h = jax.nn.relu(g + r)
        h = h.mean(axis=(1, 2) if nhwc else (2, 3))
        return cross_entropy(linear(h, p["fc.weight"], p["fc.bias"]), y), lax.stop_gradient(new)

    return loss_fn


def attention(qkv, H, mask):
    B, T, C3 = qkv.shape
    D = C3 // 3 // H
    q, k, v = [t.reshape(B, T, H, D).transpose(0, 2, 1, 3) for t in jnp.split(qkv, 3, axis=2)]
    a = (q @ k.transpose(0, 1, 3, 2)) * (1.0 / D**0.5)
    a = jax.nn.softmax(jnp.where(mask, a, -jnp.inf), axis=-1)
    return (a @ v).transpose(0, 2, 1, 3).reshape(B, T, H * D)


def t7(dims, nhwc):
    V, L, H = dims["V"], dims["L"], dims["H"]

    def loss_fn(p, idx, targets):
        T = idx.shape[1]
        x = p["wte"][idx] + p["wpe"][jnp.arange(T)]
        mask = jnp.tril(jnp.ones((T, T), bool))
        for i in range(L):
            qkv = linear(layer_norm(x, p[f"h{i}.ln1"]), p[f"h{i}.attn"])
            x = x + linear(attention(qkv, H, mask), p[f"h{i}.proj"])
            x = x + linear(gelu(linear(layer_norm(x, p[f"h{i}.ln2"]), p[f"h{i}.fc"])), p[f"h{i}.fcp"])
        logits = linear(layer_norm(x, p["lnf"]), p["wte"])
        return cross_entropy(logits.reshape(-1, V), targets.reshape(-1))

    return loss_fn


def t8(dims, nhwc):
    H = dims["H"]

    def loss_fn(p, idx, targets):
        B, T = idx.shape
        gx = linear(p["emb"][idx], p["w_ih"], p["b_ih"] + p["b_hh"])

        def cell(carry, g):
            h, c = carry
            i, f, g, o = jnp.split(g + h @ p["w_hh"].T, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        zero = jnp.zeros((B, H), jnp.float32)
        _, hs = lax.scan(cell, (zero, zero), gx.transpose(1, 0, 2))
        logits = linear(hs.transpose(1, 0, 2).reshape(B * T, H), p["fc.weight"], p["fc.bias"])
        return cross_entropy(logits, targets.reshape(-1))

    return loss_fn


def t9(dims, nhwc):
    nu = dims["nu"]

    def loss_fn(p, xt, u0):
        def net(z):
            return mlp(p, z, 4, jnp.tanh)

        first = jax.grad(lambda z: net(z).sum())
        u, du = net(xt), first(xt)
        u_xx = jax.grad(lambda z: first(z)[:, 0].sum())(xt)[:, 0:1]
        residual = du[:, 1:2] + u * du[:, 0:1] - nu * u_xx
        return (residual * residual).mean() + ((u - u0) ** 2).mean()

    return loss_fn


def t10(dims, nhwc):
    def loss_fn(p, x):
        s = jax.nn.softmax(layer_norm(gelu(x * p["a"] + p["b"])), axis=-1)
        return (s * s).sum()

    return loss_fn


LOSSES = dict(T1=t1, T2=classifier, T3=classifier, T4=t4, T5=t5, T6=t6, T7=t7, T8=t8, T9=t9, T10=t10)
