"""The training steps as a PyTorch user writes them.

`torch` is an argument: the module torch for the torch peers, the module tracegrad for the tracegrad peers
(`import tracegrad as torch`), so that both run the same program.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import layers
from .off_list import INFERENCE


@dataclass
class Program:
    """A model, its loss and its optimizer, each replaceable by a compiled version before `train_step` is made."""

    model: Any
    loss_fn: Callable
    optimizer: Any
    optimizer_step: Callable


def mlp(torch, sizes, activation):
    nn = torch.nn
    layers = []
    for n_in, n_out in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(n_in, n_out), activation()]
    return nn.Sequential(*layers[:-1])


def t1(torch, dims):
    model = mlp(torch, [2, 16, 16, 1], torch.nn.ReLU)
    params = list(model.parameters())

    def loss_fn(x, y):
        score = model(x).squeeze(1)
        data_loss = torch.nn.functional.relu(1 - y * score).mean()
        return data_loss + dims["alpha"] * sum((p * p).sum() for p in params)

    return model, loss_fn


def classifier(torch, model):
    return model, lambda x, y: torch.nn.functional.cross_entropy(model(x), y)


def t2(torch, dims):
    return classifier(torch, mlp(torch, [64, 128, 64, 10], torch.nn.ReLU))


def t3(torch, dims):
    return classifier(torch, mlp(torch, [784, 512, 256, 10], torch.nn.ReLU))


def t4(torch, dims):
    model = mlp(torch, [1024, 4096, 1024], torch.nn.ReLU)
    return model, lambda x, y: torch.nn.functional.mse_loss(model(x), y)


def t5(torch, dims):
    nn = torch.nn
    model = nn.Sequential(
        *(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10)),
    )
    return classifier(torch, model)


def t6(torch, dims):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self, c_in, c, stride, shortcut):
            super().__init__()
            self.c1 = nn.Conv2d(c_in, c, 3, stride=stride, padding=1, bias=False)
            self.n1 = nn.BatchNorm2d(c)
            self.c2 = nn.Conv2d(c, c, 3, padding=1, bias=False)
            self.n2 = nn.BatchNorm2d(c)
            self.shortcut = shortcut
            if shortcut:
                self.cs = nn.Conv2d(c_in, c, 1, stride=stride, bias=False)
                self.ns = nn.BatchNorm2d(c)

        def forward(self, x):
            h = F.relu(self.n1(self.c1(x)))
            h = self.n2(self.c2(h))
            r = self.ns(self.cs(x)) if self.shortcut else x
            return F.relu(h + r)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 16, 3, padding=1, bias=False)
            self.bn = nn.BatchNorm2d(16)
            self.blocks = nn.Sequential(*[Block(*block[1:]) for block in dims["blocks"]])
            self.fc = nn.Linear(64, 10)

        def forward(self, x):
            h = self.blocks(F.relu(self.bn(self.conv(x))))
            return self.fc(h.mean(dim=(2, 3)))

    return classifier(torch, ResNet())


def gpt_block(torch, C, H):
    nn, F = torch.nn, torch.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1 = nn.LayerNorm(C, bias=False)
            self.attn = nn.Linear(C, 3 * C, bias=False)
            self.proj = nn.Linear(C, C, bias=False)
            self.ln2 = nn.LayerNorm(C, bias=False)
            self.fc = nn.Linear(C, 4 * C, bias=False)
            self.fcp = nn.Linear(4 * C, C, bias=False)
            self.gelu = nn.GELU()

        def forward(self, x):
            B, S, _ = x.shape
            heads = [t.view(B, S, H, C // H).transpose(1, 2) for t in self.attn(self.ln1(x)).split(C, dim=2)]
            o = F.scaled_dot_product_attention(*heads, is_causal=True)
            x = x + self.proj(o.transpose(1, 2).contiguous().view(B, S, C))
            return x + self.fcp(self.gelu(self.fc(self.ln2(x))))

    return Block()


def t7(torch, dims):
    nn, F = torch.nn, torch.nn.functional
    V, C, L, H, T = (dims[k] for k in "VCLHT")

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.wte = nn.Embedding(V, C)
            self.wpe = nn.Embedding(T, C)
            self.h = nn.ModuleList([gpt_block(torch, C, H) for _ in range(L)])
            self.lnf = nn.LayerNorm(C, bias=False)
            self.head = nn.Linear(C, V, bias=False)
            self.head.weight = self.wte.weight  # weight tying

        def forward(self, idx, targets):
            x = self.wte(idx) + self.wpe(torch.arange(0, idx.shape[1], dtype=torch.long))
            for block in self.h:
                x = block(x)
            logits = self.head(self.lnf(x))
            return F.cross_entropy(logits.view(-1, V), targets.view(-1))

    model = GPT()
    return model, model


def t8(torch, dims):
    nn, F = torch.nn, torch.nn.functional
    V, C, H = (dims[k] for k in "VCH")

    class CharacterModel(nn.Module):
        def __init__(self):
            super().__init__()
            self.emb = nn.Embedding(V, C)
            self.rnn = nn.LSTM(C, H, batch_first=True)
            self.fc = nn.Linear(H, V)

        def forward(self, idx, targets):
            h, _ = self.rnn(self.emb(idx))
            return F.cross_entropy(self.fc(h).reshape(-1, V), targets.reshape(-1))

    model = CharacterModel()
    return model, model


def t9(torch, dims):
    model = mlp(torch, [2, 64, 64, 64, 1], torch.nn.Tanh)

    def loss_fn(xt, u0):
        xt = xt.detach().requires_grad_(True)
        u = model(xt)
        du = torch.autograd.grad(u.sum(), xt, create_graph=True)[0]
        u_x, u_t = du[:, 0:1], du[:, 1:2]
        u_xx = torch.autograd.grad(u_x.sum(), xt, create_graph=True)[0][:, 0:1]
        residual = u_t + u * u_x - dims["nu"] * u_xx
        return (residual * residual).mean() + ((u - u0) ** 2).mean()

    return model, loss_fn


def t10(torch, dims):
    nn, F = torch.nn, torch.nn.functional

    class Chain(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Parameter(torch.zeros(1024))
            self.b = nn.Parameter(torch.zeros(1024))

        def forward(self, x):
            h = F.layer_norm(F.gelu(x * self.a + self.b), (1024,))
            s = F.softmax(h, dim=-1)
            return (s * s).sum()

    model = Chain()
    return model, model


MODELS: dict[str, Callable] = dict(T1=t1, T2=t2, T3=t3, T4=t4, T5=t5, T6=t6, T7=t7, T8=t8, T9=t9, T10=t10)


def load_weights(torch, model, work):
    with torch.no_grad():
        for p, (name, value) in zip(model.parameters(), work.params.items(), strict=True):
            assert tuple(p.shape) == value.shape, (name, tuple(p.shape), value.shape)
            p.copy_(torch.from_numpy(value.copy()))


def make_optimizer(torch, model, work, options):
    kind, hyper = work.opt
    params = list(model.parameters())
    if kind == "sgd":
        return torch.optim.SGD(params, **hyper, **options)
    if kind == "adam":
        return torch.optim.Adam(params, **hyper, **options)
    rest = {k: v for k, v in hyper.items() if k != "weight_decay"}
    groups = [  # only matrices decay
        dict(params=[p for p in params if p.dim() >= 2], weight_decay=hyper["weight_decay"]),
        dict(params=[p for p in params if p.dim() < 2], weight_decay=0.0),
    ]
    return torch.optim.AdamW(groups, **rest, **options)


def build(torch, work, **optimizer_options):
    model, loss_fn = (MODELS.get(work.name) or layers.program)(torch, work.dims)
    load_weights(torch, model, work)
    optimizer = make_optimizer(torch, model, work, optimizer_options)
    return Program(model, loss_fn, optimizer, optimizer.step)


def train_step(torch, program, work):
    """`step(*batch)` trains once and returns the loss; in inference it returns what the model computes."""
    loss_fn, optimizer, optimizer_step = program.loss_fn, program.optimizer, program.optimizer_step

    def step(x, y):
        optimizer.zero_grad()
        loss = loss_fn(x, y)
        loss.backward()
        optimizer_step()
        return loss

    def step_with_input_gradient(x):
        x.grad = None
        optimizer.zero_grad()
        loss = loss_fn(x)
        loss.backward()
        optimizer_step()
        return loss

    def inference(x, y):
        with torch.no_grad():
            return loss_fn(x, y)

    if work.dims.get("mode") == INFERENCE:
        return inference
    return step_with_input_gradient if work.name == "T10" else step


def batches(torch, work):
    tensors = [tuple(torch.from_numpy(v.copy()) for v in batch) for batch in work.batches]
    if work.name == "T10":
        for (x,) in tensors:
            x.requires_grad_(True)
    return tensors
