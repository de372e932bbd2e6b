"""Meta-learning by gradients of gradients, and the same with torch.func: functional_call, grad, vmap."""

import copy
from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(7)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden1 = nn.Linear(1, 20)
        self.hidden2 = nn.Linear(20, 20)
        self.out = nn.Linear(20, 1)

    def forward(self, x, params=None):
        if params is None:
            params = OrderedDict(self.named_parameters())
        x = F.relu(F.linear(x, params["hidden1.weight"], params["hidden1.bias"]))
        x = torch.sin(F.linear(x, weight=params["hidden2.weight"], bias=params["hidden2.bias"]))
        return F.linear(x, params["out.weight"], params["out.bias"])


def task():
    amplitude, phase = torch.rand(1) * 4.9 + 0.1, torch.rand(1) * 3.14159

    def sample(count):
        x = torch.rand(count, 1) * 10 - 5
        return x, amplitude * torch.sin(x + phase)

    return sample


def adapt(model, sample, inner_lr=0.01, steps=2, first_order=False):
    params = OrderedDict(model.named_parameters())
    x, y = sample(10)
    for _ in range(steps):
        loss = F.mse_loss(model(x, params), y)
        grads = torch.autograd.grad(loss, params.values(), create_graph=not first_order)
        params = OrderedDict((name, p - inner_lr * g) for (name, p), g in zip(params.items(), grads))
    return params


model = Regressor()
initial = copy.deepcopy(model.state_dict())
meta = torch.optim.Adam(model.parameters(), lr=5e-3)
for iteration in range(13):
    meta.zero_grad()
    outer = 0.0
    for _ in range(3):
        sample = task()
        params = adapt(model, sample, first_order=iteration % 4 == 3)
        x, y = sample(10)
        outer = outer + F.mse_loss(model(x, params), y)
    outer = outer / 3
    outer.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    meta.step()
    if iteration % 4 == 0:
        print(f"{iteration}: {outer.item():.4f}")
moved = sum((model.state_dict()[k] - v).norm() ** 2 for k, v in initial.items()).sqrt()
print(f"moved by {moved:.3f}")


def one_loss(params, x, y):
    return F.mse_loss(functional_call(model, params, (x.unsqueeze(0),)), y.unsqueeze(0))


x, y = task()(5)
params = {name: p.detach() for name, p in model.named_parameters()}
per_example = vmap(grad(one_loss), in_dims=(None, 0, 0))(params, x, y)
whole = grad(lambda p: F.mse_loss(functional_call(model, p, (x,)), y))(params)
for name, each in per_example.items():
    assert torch.allclose(each.mean(0), whole[name], atol=1e-5), name
print({name: tuple(each.shape) for name, each in per_example.items()}["out.weight"])
hessian = torch.func.hessian(lambda w: (w**3).sum())(torch.tensor([1.0, 2.0]))
print(hessian.diagonal().tolist())
