"""numpy, forward and backward by hand, in-place optimizers: what one writes without any framework.

Each function `tN(p, dims)` returns `loss_and_grads(*batch)`. T6 is not written.
"""

import numpy as np

from . import Peer
from .numpy_gpt import t7
from .numpy_lstm import t8
from .numpy_parts import (
    Optimizer,
    col2im,
    conv,
    conv_backward,
    cross_entropy,
    f32,
    gelu,
    gelu_derivative,
    layer_norm,
    layer_norm_backward,
    max_pool,
    max_pool_backward,
    mlp,
    mlp_backward,
)


def t1(p, dims):
    alpha = dims["alpha"]

    def loss_and_grads(x, y):
        acts = mlp(p, x, 3)
        margin = 1 - y * acts[-1][:, 0]
        loss = np.maximum(margin, 0).mean() + alpha * sum((q * q).sum() for q in p.values())
        d = (-(y * (margin > 0)) * f32(1 / len(y)))[:, None].astype(f32)
        grads = mlp_backward(p, acts, d, 3)
        for k in p:
            grads[k] += f32(2 * alpha) * p[k]
        return loss, grads

    return loss_and_grads


def classifier(p, dims):
    def loss_and_grads(x, y):
        acts = mlp(p, x, 3)
        loss, d = cross_entropy(acts[-1], y)
        return loss, mlp_backward(p, acts, d, 3)

    return loss_and_grads


def t4(p, dims):
    def loss_and_grads(x, y):
        acts = mlp(p, x, 2)
        d = acts[-1] - y
        loss = (d * d).mean()
        d *= f32(2 / d.size)
        return loss, mlp_backward(p, acts, d, 2)

    return loss_and_grads


def t5(p, dims):
    def loss_and_grads(x, y):
        g = {}
        h0, c0 = conv(x, p["c0.weight"], p["c0.bias"], pad=2)
        p0, a0 = max_pool(np.maximum(h0, 0))
        h1, c1 = conv(p0, p["c1.weight"], p["c1.bias"], pad=2)
        p1, a1 = max_pool(np.maximum(h1, 0))
        flat = p1.reshape(len(y), -1)
        z0 = np.maximum(flat @ p["f0.weight"].T + p["f0.bias"], 0)
        loss, d = cross_entropy(z0 @ p["f1.weight"].T + p["f1.bias"], y)
        g["f1.weight"], g["f1.bias"] = d.T @ z0, d.sum(0)
        d = (d @ p["f1.weight"]) * (z0 > 0)
        g["f0.weight"], g["f0.bias"] = d.T @ flat, d.sum(0)
        d = max_pool_backward((d @ p["f0.weight"]).reshape(p1.shape), a1) * (h1 > 0)
        d, g["c1.weight"], g["c1.bias"] = conv_backward(d, c1, p["c1.weight"])
        d = max_pool_backward(col2im(d, p0.shape, 5, 2), a0) * (h0 > 0)
        flat = d.transpose(0, 2, 3, 1).reshape(-1, 16)  # the images need no gradient
        g["c0.weight"], g["c0.bias"] = (flat.T @ c0).reshape(16, 1, 5, 5), flat.sum(0)
        return loss, g

    return loss_and_grads


def pinn_forward(p, xt):
    """The network's value with its x, t and xx derivatives (forward mode), and what the reverse pass needs."""
    B = len(xt)
    h = np.concatenate([xt, np.tile(f32([[1, 0]]), (B, 1)), np.tile(f32([[0, 1]]), (B, 1)), np.zeros_like(xt)])
    tape = []
    for i in range(3):
        z = h @ p[f"l{i}.weight"].T
        z[:B] += p[f"l{i}.bias"]
        a, ax, at, axx = z.reshape(4, B, -1)
        t = np.tanh(a)
        s = 1 - t * t
        tape.append((h, t, s, ax, at, axx))
        h = np.concatenate([t, s * ax, s * at, s * axx - 2 * t * s * ax * ax])
    z = h @ p["l3.weight"].T
    z[:B] += p["l3.bias"]
    return z.reshape(4, B, 1), h, tape


def t9(p, dims):
    nu = f32(dims["nu"])

    def loss_and_grads(xt, u0):
        B, g = len(xt), {}
        (u, ux, ut, uxx), h, tape = pinn_forward(p, xt)
        residual, error = ut + u * ux - nu * uxx, u - u0
        loss = (residual * residual).mean() + (error * error).mean()
        r = residual * f32(2 / B)
        d = np.concatenate([r * ux + error * f32(2 / B), r * u, r, -nu * r])
        g["l3.weight"], g["l3.bias"] = d.T @ h, d[:B].sum(0)
        for i in range(2, -1, -1):
            h, t, s, ax, at, axx = tape[i]
            dh, dx, dt, dxx = (d @ p[f"l{i + 1}.weight"]).reshape(4, B, -1)
            ds = dx * ax + dt * at + dxx * (axx - 2 * t * ax * ax)
            da = (dh - 2 * t * ds - 2 * s * ax * ax * dxx) * s
            d = np.concatenate([da, s * (dx - 4 * t * ax * dxx), s * dt, s * dxx])
            g[f"l{i}.weight"], g[f"l{i}.bias"] = d.T @ h, d[:B].sum(0)
        return loss, g

    return loss_and_grads


def t10(p, dims):
    def loss_and_grads(x):
        h = x * p["a"]
        h += p["b"]
        activated, cdf = gelu(h)
        z, saved = layer_norm(activated)
        s = np.exp(z - z.max(1, keepdims=True))
        s /= s.sum(1, keepdims=True)
        ds = 2 * s
        dz = s * (ds - (ds * s).sum(1, keepdims=True))
        dh = layer_norm_backward(dz, None, saved)[0] * gelu_derivative(h, cdf)
        return (s * s).sum(), {"a": (dh * x).sum(0), "b": dh.sum(0), "x": dh * p["a"]}

    return loss_and_grads


STEPS = dict(T1=t1, T2=classifier, T3=classifier, T4=t4, T5=t5, T7=t7, T8=t8, T9=t9, T10=t10)


def build(work, variant, threads):
    if work.name not in STEPS:
        raise NotImplementedError(f"{work.name} is not written in numpy")
    params = {k: v.copy() for k, v in work.params.items()}
    optimizer = Optimizer(work, params)
    loss_and_grads = STEPS[work.name](params, work.dims)

    def step(*batch):
        loss, grads = loss_and_grads(*batch)
        optimizer.step(grads)
        return loss

    return Peer(step, work.batches)
