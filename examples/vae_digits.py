"""A variational autoencoder of handwritten digits: images from points of a plane.

python examples/vae_digits.py [--steps N] [--eager] [--picture FILE]

The data are scikit-learn's bundled 8x8 images; the picture shows what the decoder makes of a grid of codes.
"""

import sys

import runner
from sklearn.datasets import load_digits

import tracegrad as torch
from tracegrad import nn
from tracegrad.nn import functional as F

BATCH = 128
CODE = 2
GRID = 12


class VAE(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, hidden), nn.ReLU(), nn.Linear(hidden, 2 * CODE))
        self.decoder = nn.Sequential(
            nn.Linear(CODE, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 64)
        )

    def forward(self, x):
        """The logits of the reconstructed pixels, and mean and log variance of the code."""
        mean, log_variance = self.encoder(x).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        return self.decoder(code), mean, log_variance


def negative_elbo(logits, x, mean, log_variance):
    """The evidence lower bound's negative, per image: the error of reconstruction and the code's divergence."""
    reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum")
    divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
    return (reconstruction + divergence) / len(x)


def train(steps, compiled, report):
    torch.manual_seed(0)
    images = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    model = VAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    def train_step(x):
        optimizer.zero_grad()
        logits, mean, log_variance = model(x)
        loss = negative_elbo(logits, x, mean, log_variance)
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        report(step(images[torch.randint(len(images), (BATCH,))]).item())

    quantiles = torch.linspace(0.03, 0.97, GRID)
    places = torch.distributions.Normal(0.0, 1.0).icdf(quantiles)
    codes = torch.cartesian_prod(-places, places).flip(1)
    with torch.no_grad():
        return torch.sigmoid(model.decoder(codes)).view(GRID, GRID, 8, 8)


def draw(figure, trained):
    axes = figure.subplots()
    images = F.pad(trained, (1, 1, 1, 1))  # a pixel of space around each
    axes.imshow(images.permute(0, 2, 1, 3).reshape(10 * GRID, 10 * GRID).numpy(), cmap="gray_r")
    axes.set(xticks=[], yticks=[], xlabel="first number of the code", ylabel="second number of the code")


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=1500))
