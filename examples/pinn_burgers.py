"""A physics-informed network that solves Burgers' equation without any data.

python examples/pinn_burgers.py [--steps N] [--eager] [--picture FILE]

u_t + u u_x = nu u_xx on [-1, 1], with u(x, 0) = -sin(pi x) and u(-1, t) = u(1, t) = 0. The loss holds derivatives of
the network, the second one among them, and is differentiated once more. The picture shows u.
"""

import math
import sys

import runner

import tracegrad as torch
from tracegrad import nn

VISCOSITY = 0.05
INSIDE = 256
EDGE = 64


class Solution(nn.Module):
    """u at places x and times t, two tensors `[points, 1]`."""

    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, x, t):
        return self.layers(torch.cat([x, t], dim=1))


def derivative(y, x):
    """dy/dx at each point, itself differentiable."""
    return torch.autograd.grad(y, x, torch.ones_like(y), create_graph=True)[0]


def residual(model, x, t):
    """How far u is from satisfying the equation."""
    u = model(x, t)
    u_x = derivative(u, x)
    return derivative(u, t) + u * u_x - VISCOSITY * derivative(u_x, x)


def train(steps, compiled, report):
    torch.manual_seed(0)
    model = Solution()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.999)
    walls = torch.tensor([-1.0, 1.0]).repeat(EDGE // 2).unsqueeze(1)

    def train_step(x, t, start, time):
        optimizer.zero_grad()
        equation = residual(model, x, t).pow(2).mean()
        initial = (model(start, torch.zeros_like(start)) + torch.sin(math.pi * start)).pow(2).mean()
        boundary = model(walls, time).pow(2).mean()
        loss = equation + initial + boundary
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        x = (2 * torch.rand(INSIDE, 1) - 1).requires_grad_()
        t = torch.rand(INSIDE, 1).requires_grad_()
        report(step(x, t, 2 * torch.rand(EDGE, 1) - 1, torch.rand(EDGE, 1)).item())
        scheduler.step()

    places = torch.linspace(-1, 1, 101)
    with torch.no_grad():
        moments = [model(places.unsqueeze(1), torch.full((101, 1), t)) for t in (0.0, 0.25, 0.5, 1.0)]
    return places, moments


def draw(figure, trained):
    places, moments = trained
    axes = figure.subplots()
    for u, t in zip(moments, (0.0, 0.25, 0.5, 1.0), strict=True):
        axes.plot(places.numpy(), u.squeeze(1).numpy(), label=f"t = {t}")
    axes.set(xlabel="x", ylabel="u", title="Burgers' equation: a wave that steepens")
    axes.legend()


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=2000))
