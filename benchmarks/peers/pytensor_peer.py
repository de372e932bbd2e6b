"""pytensor: one compiled function with updates of shared variables."""

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor import grad, shared

from . import Peer

f32 = np.float32


def relu(x):
    return pt.maximum(x, f32(0))


def mlp(p, x, n, activation):
    for i in range(n):
        x = x @ p[f"l{i}.weight"].T + p[f"l{i}.bias"]
        if i < n - 1:
            x = activation(x)
    return x


def cross_entropy(logits, y):
    z = logits - logits.max(axis=1, keepdims=True)
    logz = pt.log(pt.exp(z).sum(axis=1))
    return (logz - z[pt.arange(y.shape[0]), y]).mean()


def t1(p, dims, x, y):
    score = mlp(p, x, 3, relu)[:, 0]
    return relu(f32(1) - y * score).mean() + f32(dims["alpha"]) * sum((q * q).sum() for q in p.values())


def classifier(p, dims, x, y):
    return cross_entropy(mlp(p, x, 3, relu), y)


def t4(p, dims, x, y):
    return ((mlp(p, x, 2, relu) - y) ** 2).mean()


def t9(p, dims, xt, u0):
    u = mlp(p, xt, 4, pt.tanh)
    du = grad(u.sum(), xt)
    u_xx = grad(du[:, 0].sum(), xt)[:, 0:1]
    residual = du[:, 1:2] + u * du[:, 0:1] - f32(dims["nu"]) * u_xx
    return (residual * residual).mean() + ((u - u0) ** 2).mean()


def t10(p, dims, x):
    h = x * p["a"] + p["b"]
    h = f32(0.5) * h * (f32(1) + pt.erf(h * f32(np.sqrt(0.5))))
    centered = h - h.mean(axis=1, keepdims=True)
    h = centered / pt.sqrt((centered**2).mean(axis=1, keepdims=True) + f32(1e-5))
    e = pt.exp(h - h.max(axis=1, keepdims=True))
    s = e / e.sum(axis=1, keepdims=True)
    return (s * s).sum()


LOSSES = dict(T1=t1, T2=classifier, T3=classifier, T4=t4, T9=t9, T10=t10)


def sgd(hyper, params, grads):
    return [(q, q - f32(hyper["lr"]) * g) for q, g in zip(params, grads, strict=True)]


def adam(hyper, params, grads):
    b1, b2 = map(f32, hyper["betas"])
    t = shared(f32(0))
    t1 = t + f32(1)
    c1, c2 = f32(1) - b1**t1, f32(1) - b2**t1
    updates = [(t, t1)]
    for q, g in zip(params, grads, strict=True):
        m, v = (shared(np.zeros_like(q.get_value(borrow=True))) for _ in range(2))
        m1, v1 = b1 * m + (f32(1) - b1) * g, b2 * v + (f32(1) - b2) * g * g
        change = f32(hyper["lr"]) * (m1 / c1) / (pt.sqrt(v1 / c2) + f32(hyper["eps"]))
        updates += [(m, m1), (v, v1), (q, q - change)]
    return updates


def build(work, variant, threads):
    if work.name not in LOSSES:
        raise NotImplementedError(f"{work.name} is not written in pytensor")
    pytensor.config.floatX = "float32"
    p = {k: shared(v.copy(), name=k) for k, v in work.params.items()}
    inputs = [pt.tensor(dtype=str(v.dtype), shape=v.shape) for v in work.batches[0]]
    loss = LOSSES[work.name](p, work.dims, *inputs)
    kind, hyper = work.opt
    updates = (sgd if kind == "sgd" else adam)(hyper, list(p.values()), grad(loss, list(p.values())))
    updates = [(variable, new.astype("float32")) for variable, new in updates]
    extra = [grad(loss, inputs[0])] if work.name == "T10" else []
    function = pytensor.function(inputs, [loss, *extra], updates=updates, mode="CVM" if variant == "c" else None)
    function.trust_input = True
    return Peer(lambda *batch: function(*batch)[0], work.batches)
