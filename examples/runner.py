"""What the examples share: a command line, progress, the time of eager and compiled steps, and a picture.

An example has a function ``train(steps, compiled, report)``, which calls ``report(loss)`` after each step and returns
what its function ``draw(figure, trained)`` shows.
"""

import argparse
import statistics
import sys
import time

WARM = 3  # the first steps of a compiled function record and build


class Report:
    """Keeps each step's loss and wall time, and prints ten lines of progress."""

    def __init__(self, label, steps, quiet=False):
        self.label, self.steps, self.quiet = label, steps, quiet
        self.losses, self.seconds = [], []
        self.since = time.perf_counter()

    def __call__(self, loss):
        now = time.perf_counter()
        self.seconds.append(now - self.since)
        self.losses.append(loss)
        done = len(self.losses)
        if not self.quiet and (done == 1 or done % max(1, self.steps // 10) == 0):
            print(f"{self.label:8} step {done:5}/{self.steps}  loss {loss:.5f}", flush=True)
        self.since = time.perf_counter()

    @property
    def median(self):
        """Of the steps after the first ones."""
        return statistics.median(self.seconds[WARM:] or self.seconds)


def show_times(eager, compiled):
    start = f"{max(compiled.seconds[:WARM]):.2f} s for the slowest of the first {WARM}, which records and builds"
    print(f"median step: eager {eager.median * 1e3:.3f} ms, compiled {compiled.median * 1e3:.3f} ms ({start})")
    print(f"last loss:   eager {eager.losses[-1]:.6f}, compiled {compiled.losses[-1]:.6f}")


def save_picture(draw, trained, path):
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415  an extra, for those who want a picture
    except ImportError:
        raise SystemExit(f"cannot draw {path}: matplotlib is not installed; pip install matplotlib") from None
    figure = Figure(figsize=(8, 4), layout="constrained")
    draw(figure, trained)
    figure.savefig(path, dpi=100)
    print(f"picture: {path}")


def main(train, draw, steps, argv=None):
    """Trains eagerly and then, from the same seed, compiled; 0, the exit status."""
    docstring = sys.modules[train.__module__].__doc__ or ""
    parser = argparse.ArgumentParser(description=docstring.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=steps, help="training steps (default %(default)s)")
    parser.add_argument("--eager", action="store_true", help="do not compile")
    parser.add_argument("--picture", metavar="FILE", help="draw the result with matplotlib, e.g. to result.png")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    args = parser.parse_args(argv)
    if args.steps < 1:
        parser.error(f"--steps {args.steps}: at least one step is needed")

    reports, trained = {}, None
    for label in ["eager"] if args.eager else ["eager", "compiled"]:
        reports[label] = Report(label, args.steps, args.quiet)
        trained = train(args.steps, label == "compiled", reports[label])
    if not args.eager:
        show_times(**reports)
    if args.picture:
        save_picture(draw, trained, args.picture)
    return 0
