"""The linear classifier of the autograd tutorials, binary cross entropy on its logits, as a training loop.

python examples/classifier_bce.py [--epochs N] [--eager] [--show]

`--show` prints what the training step became: its graph, its schedule and its C.
"""

import argparse
import sys

import tracegrad as tg
from tracegrad import optim
from tracegrad.nn import functional as F

SEED = 0


def make_train_step(w, b, optimizer):
    def train_step(x, y):
        optimizer.zero_grad()
        z = tg.matmul(x, w) + b
        loss = F.binary_cross_entropy_with_logits(z, y)
        loss.backward()
        optimizer.step()
        return loss

    return train_step


def train(epochs, compiled):
    """The training step and the loss of each epoch."""
    tg.manual_seed(SEED)
    x = tg.ones(5)  # input
    y = tg.zeros(3)  # expected output
    w = tg.randn(5, 3, requires_grad=True)
    b = tg.randn(3, requires_grad=True)
    step = make_train_step(w, b, optim.SGD([w, b], lr=0.1))
    if compiled:
        step = tg.compile(step)
    return step, [step(x, y).item() for _ in range(epochs)]


def show_levels(step):
    for title, text in [("graph", step.graph), ("schedule", step.schedule), ("C", step.source)]:
        print(f"\n--- {title} ---\n{text}")


def main(argv=None):
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--eager", action="store_true", help="do not compile")
    parser.add_argument("--show", action="store_true", help="print graph, schedule and C of the compiled step")
    args = parser.parse_args(argv)
    if args.show and args.eager:
        parser.error("--show needs the compiled step: leave out --eager")

    step, losses = train(args.epochs, compiled=not args.eager)
    print(f"loss {losses[0]:.5f} at the start, {losses[-1]:.5f} after {args.epochs} epochs")
    if args.show:
        show_levels(step)
    return 0


if __name__ == "__main__":
    sys.exit(main())
