"""How a diabetes patient's disease progresses in a year, from ten measurements: regression with uncertainty.

python examples/tabular_regression.py [--steps N] [--eager] [--picture FILE]

The data are scikit-learn's bundled table of 442 patients. The network gives each patient a mean and a standard
deviation, fitted by the Gaussian negative log likelihood; the picture holds both against what was measured.
"""

import sys

import runner
from sklearn.datasets import load_diabetes

import tracegrad as torch
from tracegrad import nn

TEST_ROWS = 88  # a fifth


class Regressor(nn.Module):
    """The mean and the variance of the target: `[batch, 10]` to two tensors `[batch]`."""

    def __init__(self, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(10, width), nn.SiLU(), nn.Dropout(0.3), nn.Linear(width, width), nn.SiLU(), nn.Dropout(0.3)
        )
        self.mean = nn.Linear(width, 1)
        self.spread = nn.Linear(width, 1)

    def forward(self, x):
        features = self.body(x)
        return self.mean(features).squeeze(1), nn.functional.softplus(self.spread(features)).squeeze(1) + 1e-3


def load_data():
    """Training inputs and targets, test inputs and targets, all with the training rows' mean 0 and deviation 1."""
    table = load_diabetes()
    x = torch.tensor(table.data, dtype=torch.float32)
    y = torch.tensor(table.target, dtype=torch.float32)
    order = torch.randperm(len(x))
    test, rest = order[:TEST_ROWS], order[TEST_ROWS:]
    x = (x - x[rest].mean(dim=0)) / x[rest].std(dim=0)
    y = (y - y[rest].mean()) / y[rest].std()
    return x[rest], y[rest], x[test], y[test]


def train(steps, compiled, report):
    torch.manual_seed(0)
    x, y, test_x, test_y = load_data()
    model = Regressor()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.1)
    criterion = nn.GaussianNLLLoss()

    def train_step(x, y):
        optimizer.zero_grad()
        mean, variance = model(x)
        loss = criterion(mean, y, variance)
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        report(step(x, y).item())

    model.eval()
    with torch.no_grad():
        mean, variance = model(test_x)
    explained = 1 - ((test_y - mean) ** 2).mean() / test_y.var(correction=0)
    within = ((test_y - mean).abs() < variance.sqrt()).float().mean()
    print(f"test rows: R2 {explained.item():.3f}, {within.item():.0%} within one standard deviation (a Gaussian: 68%)")
    return test_y, mean, variance.sqrt()


def draw(figure, trained):
    measured, mean, deviation = (tensor.numpy() for tensor in trained)
    axes = figure.subplots()
    axes.errorbar(measured, mean, yerr=deviation, fmt="o", markersize=3, elinewidth=0.5)
    axes.axline((0, 0), slope=1, color="gray", linewidth=0.5)
    axes.set(xlabel="measured", ylabel="predicted, one standard deviation")


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=400))
