"""An LSTM character model's training step in numpy; gates in PyTorch's order i, f, g, o."""

import numpy as np

from .numpy_parts import cross_entropy, f32, sigmoid


def recurrence(gx, w_hh):
    """Hidden states, cell states (each with the zero state first) and gates of every time step."""
    T, B, H4 = gx.shape
    H = H4 // 4
    hs, cs = np.zeros((T + 1, B, H), f32), np.zeros((T + 1, B, H), f32)
    gates = np.empty((T, B, H4), f32)
    w = np.ascontiguousarray(w_hh.T)
    for t in range(T):
        z = gates[t]
        np.matmul(hs[t], w, out=z)
        z += gx[t]
        z[:, : 2 * H] = sigmoid(z[:, : 2 * H])
        z[:, 2 * H : 3 * H] = np.tanh(z[:, 2 * H : 3 * H])
        z[:, 3 * H :] = sigmoid(z[:, 3 * H :])
        i, f, g, o = np.split(z, 4, axis=1)
        cs[t + 1] = f * cs[t] + i * g
        hs[t + 1] = o * np.tanh(cs[t + 1])
    return hs, cs, gates


def recurrence_backward(d_hs, cs, gates, w_hh):
    """The gradient of the gates before their activations."""
    T, B, H = d_hs.shape
    dz = np.empty_like(gates)
    dh, dc = np.zeros((B, H), f32), np.zeros((B, H), f32)
    for t in range(T - 1, -1, -1):
        i, f, g, o = np.split(gates[t], 4, axis=1)
        dh = dh + d_hs[t]
        tanh_c = np.tanh(cs[t + 1])
        dc = dc + dh * o * (1 - tanh_c * tanh_c)
        dz[t, :, :H] = dc * g * i * (1 - i)
        dz[t, :, H : 2 * H] = dc * cs[t] * f * (1 - f)
        dz[t, :, 2 * H : 3 * H] = dc * i * (1 - g * g)
        dz[t, :, 3 * H :] = dh * tanh_c * o * (1 - o)
        dc = dc * f
        dh = dz[t] @ w_hh
    return dz


def t8(p, dims):
    H = dims["H"]

    def loss_and_grads(idx, targets):
        B, T = idx.shape
        e = p["emb"][idx.T].reshape(T * B, -1)
        gx = (e @ p["w_ih"].T + (p["b_ih"] + p["b_hh"])).reshape(T, B, 4 * H)
        hs, cs, gates = recurrence(gx, p["w_hh"])
        hidden = hs[1:].reshape(T * B, H)
        loss, d = cross_entropy(hidden @ p["fc.weight"].T + p["fc.bias"], targets.T.reshape(-1))
        g = {"fc.weight": d.T @ hidden, "fc.bias": d.sum(0)}
        dz = recurrence_backward((d @ p["fc.weight"]).reshape(T, B, H), cs, gates, p["w_hh"]).reshape(T * B, 4 * H)
        g["w_hh"], g["w_ih"] = dz.T @ hs[:-1].reshape(T * B, H), dz.T @ e
        g["b_ih"] = g["b_hh"] = dz.sum(0)
        g["emb"] = np.zeros_like(p["emb"])
        np.add.at(g["emb"], idx.T.reshape(-1), dz @ p["w_ih"])
        return loss, g

    return loss_and_grads
