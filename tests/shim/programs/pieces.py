"""Parts of one's own: an autograd Function, an Optimizer, hooks, packed sequences, weight norm, compile, checkpoints."""

import torch
import torch.nn as nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.nn.utils.weight_norm import weight_norm
from torch.optim.optimizer import Optimizer, required
from torch.utils.checkpoint import checkpoint

torch.manual_seed(3)


class Swish(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad_output * (s * (1 + x * (1 - s)))


class Lion(Optimizer):
    def __init__(self, params, lr=required, betas=(0.9, 0.99), weight_decay=0.0):
        if lr is not required and lr < 0.0:
            raise ValueError("Invalid learning rate: {}".format(lr))
        super(Lion, self).__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.data.mul_(1 - group["lr"] * group["weight_decay"])
                state = self.state[p]
                if len(state) == 0:
                    state["exp_avg"] = torch.zeros_like(p)
                beta1, beta2 = group["betas"]
                update = state["exp_avg"] * beta1 + p.grad * (1 - beta1)
                p.add_(torch.sign(update), alpha=-group["lr"])
                state["exp_avg"].mul_(beta2).add_(p.grad, alpha=1 - beta2)
        return loss


class Encoder(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        self.gru = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.mix = weight_norm(nn.Linear(2 * width, width))
        self.head = nn.Linear(width, 2)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(self.embedding(x), lengths, batch_first=True, enforce_sorted=False)
        out, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        mask = (x != 0).unsqueeze(-1).float()
        mean = (out * mask).sum(1) / mask.sum(1)
        hidden = checkpoint(lambda h: Swish.apply(self.mix(h)), mean, use_reentrant=False)
        return self.head(hidden)


sentences, labels = [], []
for _ in range(48):
    length = int(torch.randint(2, 9, (1,)))
    words = torch.randint(1, 12, (length,))
    sentences.append(words)
    labels.append(int((words > 6).float().mean() > 0.5))
x, lengths, y = (
    pad_sequence(sentences, batch_first=True),
    torch.tensor([len(s) for s in sentences]),
    torch.tensor(labels),
)
model = Encoder(12, 10)
norms = []
handle = model.head.register_forward_hook(lambda module, args, output: norms.append(output.norm().item()))
model.embedding.weight.register_hook(lambda g: g.clamp(-0.1, 0.1))
optimizer = Lion(model.parameters(), lr=3e-3, weight_decay=0.01)
criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.5]))
for epoch in range(25):

    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x, lengths), y)
        loss.backward()
        return loss

    loss = optimizer.step(closure)
    if epoch % 8 == 0:
        print(f"{epoch} {loss.item():.4f} {norms[-1]:.3f}")
handle.remove()
try:
    print(Lion(model.parameters(), lr=-1.0))
except ValueError as error:
    print(error)


@torch.compile
def fused(a, b):
    return torch.tanh(a) * b + a.sum()


compiled = torch.compile(model.head, mode="reduce-overhead", fullgraph=False)
inside = torch.randn(3, 10)
print(torch.allclose(fused(inside, inside), torch.tanh(inside) * inside + inside.sum()))
print(torch.allclose(compiled(inside), model.head(inside)), sorted(compiled.state_dict()), len(norms))
