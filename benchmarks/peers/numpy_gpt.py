"""A GPT's training step in numpy."""

import numpy as np

from .numpy_parts import cross_entropy, f32, gelu, gelu_derivative, layer_norm, layer_norm_backward


class Attention:
    """Causal attention over [tokens, channels] rows, forward and backward."""

    def __init__(self, dims):
        self.C, self.H, self.T = (dims[k] for k in "CHT")
        self.D = self.C // self.H
        self.scale = f32(1 / np.sqrt(self.D))
        self.mask = np.triu(np.full((self.T, self.T), -np.inf, f32), 1)

    def heads(self, rows):
        return np.ascontiguousarray(rows.reshape(-1, self.T, self.H, self.D).transpose(0, 2, 1, 3))

    def merge(self, heads):
        return np.ascontiguousarray(heads.transpose(0, 2, 1, 3)).reshape(-1, self.C)

    def forward(self, qkv):
        q, k, v = (self.heads(part) for part in np.split(qkv, 3, axis=1))
        a = q @ k.swapaxes(-1, -2)
        a *= self.scale
        a += self.mask
        a -= a.max(-1, keepdims=True)
        np.exp(a, out=a)
        a /= a.sum(-1, keepdims=True)
        return self.merge(a @ v), (q, k, v, a)

    def backward(self, d, saved):
        q, k, v, a = saved
        d = self.heads(d)
        dv = a.swapaxes(-1, -2) @ d
        da = d @ v.swapaxes(-1, -2)
        da -= (da * a).sum(-1, keepdims=True)
        da *= a
        da *= self.scale
        return np.concatenate([self.merge(t) for t in (da @ k, da.swapaxes(-1, -2) @ q, dv)], axis=1)


class Block:
    """One transformer block; `forward` keeps what `backward` needs."""

    def __init__(self, p, name, attention):
        self.p, self.name, self.attention = p, name, attention

    def weight(self, part):
        return self.p[f"{self.name}.{part}"]

    def forward(self, x):
        self.h1, self.norm1 = layer_norm(x, self.weight("ln1"))
        self.o, self.attended = self.attention.forward(self.h1 @ self.weight("attn").T)
        x = x + self.o @ self.weight("proj").T
        self.h2, self.norm2 = layer_norm(x, self.weight("ln2"))
        self.u = self.h2 @ self.weight("fc").T
        self.activated, self.cdf = gelu(self.u)
        return x + self.activated @ self.weight("fcp").T

    def backward(self, d, grads):
        g = {"fcp": d.T @ self.activated}
        du = (d @ self.weight("fcp")) * gelu_derivative(self.u, self.cdf)
        g["fc"] = du.T @ self.h2
        dh, g["ln2"] = layer_norm_backward(du @ self.weight("fc"), self.weight("ln2"), self.norm2)
        d = d + dh
        g["proj"] = d.T @ self.o
        dqkv = self.attention.backward(d @ self.weight("proj"), self.attended)
        g["attn"] = dqkv.T @ self.h1
        dh, g["ln1"] = layer_norm_backward(dqkv @ self.weight("attn"), self.weight("ln1"), self.norm1)
        grads.update({f"{self.name}.{part}": value for part, value in g.items()})
        return d + dh


def t7(p, dims):
    C, T, L = (dims[k] for k in "CTL")
    attention = Attention(dims)
    blocks = [Block(p, f"h{i}", attention) for i in range(L)]

    def loss_and_grads(idx, targets):
        grads = {}
        x = (p["wte"][idx] + p["wpe"]).reshape(-1, C)
        for block in blocks:
            x = block.forward(x)
        final, norm = layer_norm(x, p["lnf"])
        loss, d = cross_entropy(final @ p["wte"].T, targets.reshape(-1))
        grads["wte"] = d.T @ final
        d, grads["lnf"] = layer_norm_backward(d @ p["wte"], p["lnf"], norm)
        for block in reversed(blocks):
            d = block.backward(d, grads)
        grads["wpe"] = d.reshape(-1, T, C).sum(0)
        np.add.at(grads["wte"], idx.reshape(-1), d)
        return loss, grads

    return loss_and_grads
