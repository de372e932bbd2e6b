"""tinygrad: TinyJit over the whole step on the CPU backend (it wants clang)."""

import numpy as np
from tinygrad import Device, Tensor, TinyJit
from tinygrad.helpers import TRAINING
from tinygrad.nn import BatchNorm
from tinygrad.nn.optim import SGD, Adam, AdamW, OptimizerGroup

from . import Peer

SQRT_HALF = 0.7071067811865476


def linear(x, w, b=None):
    y = x @ w.T
    return y if b is None else y + b


def mlp(p, x, n, activation):
    for i in range(n):
        x = linear(x, p[f"l{i}.weight"], p[f"l{i}.bias"])
        if i < n - 1:
            x = activation(x)
    return x


def gelu(x):
    return 0.5 * x * (1 + (x * SQRT_HALF).erf())


def t1(p, dims, norms):
    def loss_fn(x, y):
        score = mlp(p, x, 3, Tensor.relu)[:, 0]
        squares = [(q * q).sum() for q in p.values()]
        return (1 - y * score).relu().mean() + dims["alpha"] * sum(squares[1:], squares[0])

    return loss_fn


def classifier(p, dims, norms):
    return lambda x, y: mlp(p, x, 3, Tensor.relu).sparse_categorical_crossentropy(y)


def t4(p, dims, norms):
    return lambda x, y: ((mlp(p, x, 2, Tensor.relu) - y) ** 2).mean()


def t5(p, dims, norms):
    def loss_fn(x, y):
        h = x.conv2d(p["c0.weight"], p["c0.bias"], padding=2).relu().max_pool2d(2)
        h = h.conv2d(p["c1.weight"], p["c1.bias"], padding=2).relu().max_pool2d(2)
        h = linear(h.flatten(1), p["f0.weight"], p["f0.bias"]).relu()
        return linear(h, p["f1.weight"], p["f1.bias"]).sparse_categorical_crossentropy(y)

    return loss_fn


def t6(p, dims, norms):
    def loss_fn(x, y):
        h = norms["bn"](x.conv2d(p["conv.weight"], padding=1)).relu()
        for block, _, _, stride, shortcut in dims["blocks"]:
            g = norms[block + ".n1"](h.conv2d(p[block + ".c1.weight"], stride=stride, padding=1)).relu()
            g = norms[block + ".n2"](g.conv2d(p[block + ".c2.weight"], padding=1))
            r = norms[block + ".ns"](h.conv2d(p[block + ".cs.weight"], stride=stride)) if shortcut else h
            h = (g + r).relu()
        return linear(h.mean(axis=(2, 3)), p["fc.weight"], p["fc.bias"]).sparse_categorical_crossentropy(y)

    return loss_fn


def t7(p, dims, norms):
    V, C, L, H = (dims[k] for k in "VCLH")

    def layer_norm(x, w):
        return x.layernorm(eps=1e-5) * w

    def loss_fn(idx, targets):
        B, T = idx.shape
        x = p["wte"][idx] + p["wpe"]
        for i in range(L):
            qkv = linear(layer_norm(x, p[f"h{i}.ln1"]), p[f"h{i}.attn"])
            q, k, v = [t.reshape(B, T, H, C // H).transpose(1, 2) for t in qkv.split(C, dim=2)]
            o = q.scaled_dot_product_attention(k, v, is_causal=True)
            x = x + linear(o.transpose(1, 2).reshape(B, T, C), p[f"h{i}.proj"])
            x = x + linear(gelu(linear(layer_norm(x, p[f"h{i}.ln2"]), p[f"h{i}.fc"])), p[f"h{i}.fcp"])
        logits = linear(layer_norm(x, p["lnf"]), p["wte"])
        return logits.reshape(-1, V).sparse_categorical_crossentropy(targets.reshape(-1))

    return loss_fn


def t8(p, dims, norms):
    H, V = dims["H"], dims["V"]

    def loss_fn(idx, targets):
        B, T = idx.shape
        gx = linear(p["emb"][idx], p["w_ih"], p["b_ih"] + p["b_hh"])
        h = c = Tensor.zeros(B, H)
        hs = []
        for t in range(T):
            i, f, g, o = (gx[:, t] + h @ p["w_hh"].T).chunk(4, dim=1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            hs.append(h)
        logits = linear(Tensor.stack(*hs, dim=1).reshape(B * T, H), p["fc.weight"], p["fc.bias"])
        return logits.reshape(-1, V).sparse_categorical_crossentropy(targets.reshape(-1))

    return loss_fn


def t9(p, dims, norms):
    def loss_fn(xt, u0):
        u = mlp(p, xt, 4, Tensor.tanh)
        du = u.sum().gradient(xt)[0]
        u_xx = du[:, 0].sum().gradient(xt)[0][:, 0:1]
        residual = du[:, 1:2] + u * du[:, 0:1] - dims["nu"] * u_xx
        return (residual * residual).mean() + ((u - u0) ** 2).mean()

    return loss_fn


def t10(p, dims, norms):
    def loss_fn(x):
        s = gelu(x * p["a"] + p["b"]).layernorm(eps=1e-5).softmax(axis=-1)
        return (s * s).sum()

    return loss_fn


LOSSES = dict(T1=t1, T2=classifier, T3=classifier, T4=t4, T5=t5, T6=t6, T7=t7, T8=t8, T9=t9, T10=t10)


def make_optimizer(work, params):
    kind, hyper = work.opt
    if kind == "sgd":
        return SGD(params, lr=hyper["lr"], momentum=hyper.get("momentum", 0.0))
    options = dict(lr=hyper["lr"], b1=hyper["betas"][0], b2=hyper["betas"][1], eps=hyper["eps"])
    if kind == "adam":
        return Adam(params, **options)
    matrices = AdamW([q for q in params if q.ndim >= 2], weight_decay=hyper["weight_decay"], **options)
    return OptimizerGroup(matrices, AdamW([q for q in params if q.ndim < 2], weight_decay=0.0, **options))


def batch_norms(work, p):
    norms = {}
    if work.name == "T6":
        for name in (k.removesuffix(".bias") for k in p if k.endswith(".bias") and k != "fc.bias"):
            norms[name] = BatchNorm(p[name + ".bias"].shape[0])
            norms[name].weight, norms[name].bias = p[name + ".weight"], p[name + ".bias"]
    return norms


def whole_step(work, p, loss_fn, optimizer, norms):
    """The jitted step; gradients are taken explicitly where more than the parameters' are wanted."""
    running = [t for norm in norms.values() for t in (norm.running_mean, norm.running_var)]

    def step(*batch):
        optimizer.zero_grad()
        loss, extra = loss_fn(*batch), list(running)
        wanted = [*p.values(), *(batch if work.name == "T10" else ())]
        grads = loss.gradient(*wanted)
        for q, grad in zip(p.values(), grads, strict=False):
            q.grad = grad
        return loss.realize(*extra, *grads[len(p) :], *optimizer.schedule_step())

    return TinyJit(step)


def device(batch):
    tensors = [Tensor(v if v.dtype != np.int64 else v.astype(np.int32)) for v in batch]
    Tensor.realize(*tensors)
    return tuple(tensors)


def build(work, variant, threads):
    TRAINING.value = 1
    p = {k: Tensor(v.copy()) for k, v in work.params.items()}
    Tensor.realize(*p.values())
    norms = batch_norms(work, p)
    loss_fn = LOSSES[work.name](p, work.dims, norms)
    jitted = whole_step(work, p, loss_fn, make_optimizer(work, list(p.values())), norms)

    def step(*batch):
        loss = jitted(*batch)
        Device[Device.DEFAULT].synchronize()
        return loss

    return Peer(step, [device(batch) for batch in work.batches], lambda loss: loss.item())
