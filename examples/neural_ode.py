"""A neural differential equation, fitted to a noisy spiral: the network is the velocity, not the place.

python examples/neural_ode.py [--steps N] [--eager] [--picture FILE]

The classical Runge-Kutta method carries places forward; the gradient goes back through all of its steps. The
picture shows the spiral, what was measured of it, and the path that follows from the network.
"""

import sys

import runner

import tracegrad as torch
from tracegrad import nn

MOMENTS = 200  # of the whole spiral
SECONDS = 12.0
AHEAD = 10  # moments that a training path is long
BATCH = 64
NOISE = 0.03


def runge_kutta(velocity, place, seconds):
    """Where `place` is after `seconds`, by one step of fourth order."""
    k1 = velocity(place)
    k2 = velocity(place + seconds / 2 * k1)
    k3 = velocity(place + seconds / 2 * k2)
    k4 = velocity(place + seconds * k3)
    return place + seconds / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def path(velocity, place, moments, seconds):
    """The places at `moments` moments after the first, `[moments, ..., 2]`."""
    places = []
    for _ in range(moments):
        place = runge_kutta(velocity, place, seconds)
        places.append(place)
    return torch.stack(places)


def spiral(place):
    """The velocity that is to be found: a damped rotation, faster far from the middle."""
    return place**3 @ torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


class Velocity(nn.Module):
    def __init__(self, width=50):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, place):
        return self.layers(place**3)


def train(steps, compiled, report):
    torch.manual_seed(0)
    seconds = SECONDS / MOMENTS
    start = torch.tensor([[2.0, 0.0]])
    true = torch.cat([start.unsqueeze(0), path(spiral, start, MOMENTS - 1, seconds)]).squeeze(1)
    measured = true + NOISE * torch.randn_like(true)
    model = Velocity()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    def train_step(start, target):
        optimizer.zero_grad()
        loss = (path(model, start, AHEAD, seconds) - target).abs().mean()
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        moments = torch.randint(MOMENTS - AHEAD, (BATCH,))
        target = measured[moments + torch.arange(1, AHEAD + 1).unsqueeze(1)]
        report(step(measured[moments], target).item())

    with torch.no_grad():
        found = path(model, start, MOMENTS - 1, seconds).squeeze(1)
    print(f"mean distance from the true path {(found - true[1:]).norm(dim=1).mean().item():.3f}")
    return true, measured, found


def draw(figure, trained):
    true, measured, found = (places.numpy().T for places in trained)
    axes = figure.subplots()
    axes.plot(*true, color="gray", label="true")
    axes.scatter(*measured, s=5, color="black", label="measured")
    axes.plot(*found, color="tab:red", label="found")
    axes.set(aspect="equal")
    axes.legend()


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=500))
