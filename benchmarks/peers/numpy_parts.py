"""Layers in numpy, forward and backward by hand; a forward returns what its backward needs."""

import numpy as np
from scipy.special import erf

f32 = np.float32
SQRT_HALF = f32(1 / np.sqrt(2))
INV_SQRT_2PI = f32(1 / np.sqrt(2 * np.pi))


class Optimizer:
    """SGD, Adam and AdamW, in place."""

    def __init__(self, work, params):
        self.kind, self.hyper = work.opt
        self.params, self.t = params, 0
        self.m = {k: np.zeros_like(v) for k, v in params.items()}
        self.v = {k: np.zeros_like(v) for k, v in params.items()}
        self.tmp = {k: np.empty_like(v) for k, v in params.items()}

    def step(self, grads):
        (self.sgd if self.kind == "sgd" else self.adam)(grads)

    def sgd(self, grads):
        lr, momentum = f32(self.hyper["lr"]), self.hyper.get("momentum")
        for k, p in self.params.items():
            g = grads[k]
            if momentum:
                self.m[k] *= f32(momentum)
                self.m[k] += g
                g = self.m[k]
            p -= lr * g

    def adam(self, grads):
        self.t += 1
        lr, (b1, b2), eps = self.hyper["lr"], self.hyper["betas"], self.hyper["eps"]
        c1, c2 = 1 - b1**self.t, 1 - b2**self.t
        decay = self.hyper.get("weight_decay", 0.0)
        for k, p in self.params.items():
            m, v, t, g = self.m[k], self.v[k], self.tmp[k], grads[k]
            if decay and p.ndim >= 2:
                p *= f32(1 - lr * decay)
            m *= f32(b1)
            np.multiply(g, f32(1 - b1), out=t)
            m += t
            v *= f32(b2)
            np.multiply(g, g, out=t)
            t *= f32(1 - b2)
            v += t
            np.sqrt(v, out=t)
            t *= f32(1 / np.sqrt(c2))
            t += f32(eps)
            np.divide(m, t, out=t)
            t *= f32(lr / c1)
            p -= t


def cross_entropy(z, y):
    """The mean loss and its gradient."""
    n = len(y)
    z = z - z.max(1, keepdims=True)
    e = np.exp(z)
    s = e.sum(1, keepdims=True)
    loss = (np.log(s[:, 0]) - z[np.arange(n), y]).mean()
    d = e / s
    d[np.arange(n), y] -= 1
    d *= f32(1 / n)
    return loss, d


def mlp(p, x, n):
    acts = [x]
    for i in range(n):
        x = x @ p[f"l{i}.weight"].T
        x += p[f"l{i}.bias"]
        if i < n - 1:
            np.maximum(x, 0, out=x)
        acts.append(x)
    return acts


def mlp_backward(p, acts, d, n):
    grads = {}
    for i in range(n - 1, -1, -1):
        grads[f"l{i}.weight"] = d.T @ acts[i]
        grads[f"l{i}.bias"] = d.sum(0)
        if i:
            d = d @ p[f"l{i}.weight"]
            d *= acts[i] > 0
    return grads


def im2col(x, k, pad):
    """[B, C, H, W] -> [B*H*W, C*k*k]; stride 1, same size."""
    B, C, H, W = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (k, k), axis=(2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(B * H * W, C * k * k)


def col2im(columns, shape, k, pad):
    B, C, H, W = shape
    taps = columns.reshape(B, H, W, C, k, k).transpose(4, 5, 0, 3, 1, 2)
    padded = np.zeros((B, C, H + 2 * pad, W + 2 * pad), f32)
    for i in range(k):
        for j in range(k):
            padded[:, :, i : i + H, j : j + W] += taps[i, j]
    return padded[:, :, pad:-pad, pad:-pad]


def conv(x, weight, bias, pad):
    """The convolution in [B, C, H, W], and the columns that its backward needs."""
    B, _, H, W = x.shape
    c_out, _, k, _ = weight.shape
    columns = im2col(x, k, pad)
    out = columns @ weight.reshape(c_out, -1).T + bias
    return out.reshape(B, H, W, c_out).transpose(0, 3, 1, 2), columns


def conv_backward(d, columns, weight):
    """Gradients of the columns, the weight and the bias."""
    flat = d.transpose(0, 2, 3, 1).reshape(-1, weight.shape[0])
    return flat @ weight.reshape(weight.shape[0], -1), (flat.T @ columns).reshape(weight.shape), flat.sum(0)


def max_pool(x):
    """2x2 windows, and the position of each window's maximum."""
    B, C, H, W = x.shape
    r = x.reshape(B, C, H // 2, 2, W // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(B, C, H // 2, W // 2, 4)
    where = r.argmax(-1)[..., None]
    return np.take_along_axis(r, where, -1)[..., 0], where


def max_pool_backward(d, where):
    B, C, H, W = d.shape
    r = np.zeros((B, C, H, W, 4), f32)
    np.put_along_axis(r, where, d[..., None], -1)
    return r.reshape(B, C, H, W, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(B, C, H * 2, W * 2)


def layer_norm(x, weight=None):
    centered = x - x.mean(-1, keepdims=True)
    r = 1 / np.sqrt((centered * centered).mean(-1, keepdims=True) + f32(1e-5))
    normal = centered * r
    return (normal if weight is None else normal * weight), (normal, r)


def layer_norm_backward(d, weight, saved):
    """Gradients of the input and of the weight."""
    normal, r = saved
    d_weight = (d * normal).reshape(-1, normal.shape[-1]).sum(0)
    if weight is not None:
        d = d * weight
    return r * (d - d.mean(-1, keepdims=True) - normal * (d * normal).mean(-1, keepdims=True)), d_weight


def gelu(x):
    cdf = f32(0.5) * (1 + erf(x * SQRT_HALF))
    return x * cdf, cdf


def gelu_derivative(x, cdf):
    return cdf + x * INV_SQRT_2PI * np.exp(f32(-0.5) * x * x)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))
