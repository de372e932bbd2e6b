"""An LSTM that reads handwritten digits from top to bottom, one row of pixels at a time.

python examples/lstm_digits.py [--steps N] [--eager] [--picture FILE]

The data are scikit-learn's bundled 8x8 images; the picture shows how sure the network is after each row.
"""

import sys

import runner
from sklearn.datasets import load_digits

import tracegrad as torch
from tracegrad import nn
from tracegrad.nn import functional as F

BATCH = 64
HIDDEN = 64
TEST_IMAGES = 360


class RowReader(nn.Module):
    """The class of an image after each of its rows: `[batch, rows, columns]` to `[batch, rows, 10]`."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, HIDDEN, batch_first=True)
        self.classify = nn.Linear(HIDDEN, 10)

    def forward(self, x):
        states, _ = self.lstm(x)
        return self.classify(states)


def load_data():
    """Training images and labels, test images and labels; pixels scaled to [0, 1]."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    order = torch.randperm(len(images))
    test, rest = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return images[rest], labels[rest], images[test], labels[test]


def train(steps, compiled, report):
    torch.manual_seed(0)
    images, labels, test_images, test_labels = load_data()
    model = RowReader()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

    def train_step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x)[:, -1], y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        chosen = torch.randint(len(images), (BATCH,))
        report(step(images[chosen], labels[chosen]).item())

    with torch.no_grad():
        probabilities = F.softmax(model(test_images), dim=-1)
    read = probabilities[:, -1].argmax(dim=1)
    print(f"test accuracy {(read == test_labels).float().mean().item():.4f}")
    return test_images, probabilities


def draw(figure, trained):
    images, probabilities = trained
    for place, (above, below) in enumerate(figure.subplots(2, 6).T):
        above.imshow(images[place].numpy(), cmap="gray_r")
        above.axis("off")
        below.imshow(probabilities[place].numpy(), cmap="viridis", vmin=0, vmax=1, aspect="auto")
        below.set(xticks=range(10), yticks=[], xlabel="digit", ylabel="rows read" if place == 0 else "")
        below.tick_params(labelsize=6)


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=300))
