"""A generative adversarial network that learns a ring of eight Gaussians, and has to find all eight.

python examples/gan_ring.py [--steps N] [--eager] [--picture FILE]

Two networks and two optimizers in one training step; the picture shows real and generated points.
"""

import math
import sys

import runner

import tracegrad as torch
from tracegrad import nn
from tracegrad.nn import functional as F

BATCH = 128
NOISE = 8
MODES = 8
SPREAD = 0.1


def real_points(count):
    angles = torch.randint(MODES, (count,)) * (2 * math.pi / MODES)
    return 2 * torch.stack([torch.cos(angles), torch.sin(angles)], dim=1) + SPREAD * torch.randn(count, 2)


def network(inputs, outputs, width=64):
    return nn.Sequential(
        nn.Linear(inputs, width),
        nn.LeakyReLU(0.2),
        nn.Linear(width, width),
        nn.LeakyReLU(0.2),
        nn.Linear(width, outputs),
    )


def modes_found(points):
    """How many of the Gaussians have at least a fiftieth of the points within three standard deviations."""
    angles = torch.arange(MODES) * (2 * math.pi / MODES)
    centres = 2 * torch.stack([torch.cos(angles), torch.sin(angles)], dim=1)
    near = torch.cdist(points, centres) < 3 * SPREAD
    return (near.float().mean(dim=0) > 0.02).sum().item()


def train(steps, compiled, report):
    torch.manual_seed(0)
    generator, discriminator = network(NOISE, 2), network(2, 1)
    for_generator = torch.optim.Adam(generator.parameters(), lr=3e-4, betas=(0.5, 0.9))
    for_discriminator = torch.optim.Adam(discriminator.parameters(), lr=3e-4, betas=(0.5, 0.9))
    ones, zeros = torch.ones(BATCH, 1), torch.zeros(BATCH, 1)

    def train_step(real):
        fake = generator(torch.randn(BATCH, NOISE))

        for_discriminator.zero_grad()
        on_real = F.binary_cross_entropy_with_logits(discriminator(real), ones)
        on_fake = F.binary_cross_entropy_with_logits(discriminator(fake.detach()), zeros)
        loss = on_real + on_fake
        loss.backward()
        for_discriminator.step()

        for_generator.zero_grad()
        fooled = F.binary_cross_entropy_with_logits(discriminator(fake), ones)
        fooled.backward()
        for_generator.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        report(step(real_points(BATCH)).item())

    with torch.no_grad():
        points = generator(torch.randn(1000, NOISE))
    print(f"{modes_found(points)} of {MODES} Gaussians found")
    return real_points(1000), points


def draw(figure, trained):
    for axes, points, title in zip(figure.subplots(1, 2), trained, ["real", "generated"], strict=True):
        axes.scatter(*points.numpy().T, s=3)
        axes.set(xlim=(-3, 3), ylim=(-3, 3), aspect="equal", title=title)


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=3000))
