"""A classifier of handwritten digits, trained eagerly and then, by the same code, compiled to C.

    python examples/train_digits.py [--epochs N] [--min-accuracy A] [--quiet]

The data are scikit-learn's bundled 8x8 images. The program ends with a table that compares the two runs, and with
exit status 1 when one of them is less accurate than asked for.
"""

import argparse
import statistics
import sys
import time
from dataclasses import dataclass, field

from sklearn.datasets import load_digits
from tqdm import tqdm

import tracegrad as tg
from tracegrad import nn, optim
from tracegrad.nn import functional as F
from tracegrad.utils.data import DataLoader, TensorDataset

SEED = 2  # the split of so few images decides about one percent of accuracy
BATCH = 64
TEST_IMAGES = 360  # a fifth


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 128)
        self.fc2 = nn.Linear(128, 64)
        self.fc3 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


@dataclass
class Run:
    """What one training run leaves behind."""

    step: object
    losses: list = field(default_factory=list)
    seconds: list = field(default_factory=list)  # of each step
    accuracy: float = 0.0

    @property
    def median(self):
        return statistics.median(self.seconds)

    @property
    def slowest_start(self):
        """The step among the first three that recorded and built; in eager mode, the one that warmed up."""
        return max(self.seconds[:3])


def load_data():
    """The training set and the test set, split by a seeded permutation; pixels scaled to [0, 1]."""
    digits = load_digits()
    images = tg.tensor(digits.data, dtype=tg.float32) / 16
    labels = tg.tensor(digits.target, dtype=tg.int64)
    order = tg.randperm(len(images), generator=tg.Generator().manual_seed(SEED))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return TensorDataset(images[train], labels[train]), TensorDataset(images[test], labels[test])


def make_train_step(model, optimizer):
    def train_step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return train_step


def train_epoch(run, batches):
    """One pass over `batches`, a progress bar over a DataLoader; the bar shows the running mean of the loss."""
    total = 0.0
    for count, (x, y) in enumerate(batches, start=1):
        start = time.perf_counter()
        loss = run.step(x, y)
        run.seconds.append(time.perf_counter() - start)
        run.losses.append(loss.item())
        total += run.losses[-1]
        batches.set_postfix(loss=f"{total / count:.4f}")


@tg.no_grad()
def accuracy(model, dataset):
    images, labels = dataset.tensors
    return (model(images).argmax(dim=1) == labels).float().mean().item()


def train(epochs, compiled, quiet=False):
    """Trains a fresh model from the same seed, so that two runs see the same weights and the same batches."""
    tg.manual_seed(SEED)
    train_set, test_set = load_data()
    model = Classifier()
    optimizer = optim.Adam(model.parameters(), lr=2e-3)
    step = make_train_step(model, optimizer)
    run = Run(tg.compile(step) if compiled else step)
    loader = DataLoader(train_set, batch_size=BATCH, shuffle=True, drop_last=True)
    label = "compiled" if compiled else "eager"
    for epoch in range(1, epochs + 1):
        with tqdm(loader, desc=f"{label:8} epoch {epoch:2}/{epochs}", disable=quiet or None) as batches:
            train_epoch(run, batches)
    run.accuracy = accuracy(model, test_set)
    return run


def show_table(eager, compiled):
    print(f"{'':22}{'eager':>12}{'compiled':>12}")
    print(f"{'test accuracy':22}{eager.accuracy:12.4f}{compiled.accuracy:12.4f}")
    print(f"{'time per step, median':22}{eager.median * 1e6:9.1f} us{compiled.median * 1e6:9.1f} us")
    print(f"{'first step':22}{eager.slowest_start * 1e3:9.1f} ms{compiled.slowest_start * 1e3:9.1f} ms")
    if compiled.step.way != "replay":  # without a C compiler
        print(compiled.step.explain())
        return
    origin = "loaded from the cache" if compiled.step.from_cache else "built now"
    print(f"generated C ({origin}): {compiled.step.source_path}")


def main(argv=None):
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--min-accuracy", type=float, default=0.97, help="on the test images, of both runs")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    args = parser.parse_args(argv)

    eager = train(args.epochs, compiled=False, quiet=args.quiet)
    compiled = train(args.epochs, compiled=True, quiet=args.quiet)
    show_table(eager, compiled)
    worst = min(eager.accuracy, compiled.accuracy)
    if worst < args.min_accuracy:
        print(f"test accuracy {worst:.4f} is below {args.min_accuracy}: train longer (--epochs)", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
