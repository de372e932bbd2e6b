"""A small network fitted to a noisy function of one variable, with MSELoss and SGD with momentum.

python examples/regression.py [--epochs N] [--eager]
"""

import argparse
import sys

import tracegrad as tg
from tracegrad import nn, optim

SEED = 0
POINTS = 256
NOISE = 0.1


def make_data():
    """`POINTS` samples of sin(3x) + x/2 with Gaussian noise, as a column of inputs and a column of targets."""
    x = tg.linspace(-2, 2, POINTS).unsqueeze(1)
    return x, tg.sin(3 * x) + x / 2 + NOISE * tg.randn(POINTS, 1)


def make_train_step(model, optimizer):
    criterion = nn.MSELoss()

    def train_step(x, y):
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return train_step


def train(epochs, compiled):
    """The loss of each epoch; the whole data set is one batch."""
    tg.manual_seed(SEED)
    x, y = make_data()
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    step = make_train_step(model, optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
    if compiled:
        step = tg.compile(step)
    return [step(x, y).item() for _ in range(epochs)]


def main(argv=None):
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=1000)
    parser.add_argument("--eager", action="store_true", help="do not compile")
    args = parser.parse_args(argv)

    losses = train(args.epochs, compiled=not args.eager)
    every = max(1, args.epochs // 10)
    for epoch in range(0, args.epochs, every):
        print(f"epoch {epoch:5}  loss {losses[epoch]:.5f}")
    print(f"final loss {losses[-1]:.5f}; the noise alone is {NOISE**2:.5f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
