"""What a guarded call costs over the C that it calls: whole training steps of small tensors, few and many parameters.

    python -m benchmarks.guards [--rounds 200] [--calls 500]

A round times a loop of whole calls and a loop of bare C calls on the same table of addresses, one after the other; the
table shows the quietest round and the median of all rounds, in microseconds for one call.
"""

import argparse
import statistics
import time
from itertools import repeat

import tracegrad as tg

LAYERS = {6: 3, 150: 75}  # parameters: layers, each a weight and a bias
LIMITS = {6: 3.0, 150: 15.0}  # microseconds over the C, for the quietest round
WIDTH = 2


def training_step(layers):
    """A compiled step (zero_grad, forward, backward, SGD) of a chain of `layers` small layers, and its batch."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(*(tg.nn.Linear(WIDTH, WIDTH) for _ in range(layers)))
    optimizer = tg.optim.SGD(model.parameters(), lr=1e-6)

    def step(x, y):
        optimizer.zero_grad()
        loss = tg.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    compiled = tg.compile(step)
    batch = tg.randn(WIDTH, WIDTH), tg.randn(WIDTH, WIDTH)
    for _ in range(5):  # records, then runs as every later call does
        compiled(*batch)
    return compiled, batch


def seconds_of(function, args, calls):
    """One call of `function` in a loop of `calls`; the loop itself takes 0.01 µs, in both loops that are compared."""
    start = time.perf_counter()
    for _ in repeat(None, calls):
        function(*args)
    return (time.perf_counter() - start) / calls


def measure(layers, rounds, calls):
    """Microseconds of whole calls and of bare C calls, one of each for each round."""
    step, batch = training_step(layers)
    (specialisation,) = step.specialisations
    c, table = specialisation.program.library.call, (specialisation.binding.slots.pointer,)
    whole, bare = [], []
    for _ in range(rounds):
        whole.append(seconds_of(step, batch, calls) * 1e6)
        bare.append(seconds_of(c, table, calls) * 1e6)
    return whole, bare


def show(parameters, whole, bare):
    """One line of the table; True if the guards cost no more than they may."""
    over = min(whole) - min(bare)
    print(
        f"{parameters:10}  {min(whole):8.2f} {statistics.median(whole):8.2f}  {min(bare):8.2f}"
        f" {statistics.median(bare):8.2f}  {over:8.2f} {statistics.median(whole) - statistics.median(bare):8.2f}"
        f"  {LIMITS[parameters]:6.1f}"
    )
    return over <= LIMITS[parameters]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--calls", type=int, default=500)
    args = parser.parse_args()
    print("parameters   whole call            C itself            guards              limit")
    print("                  min   median       min   median       min   median")
    within = [show(n, *measure(layers, args.rounds, args.calls)) for n, layers in LAYERS.items()]
    return 0 if all(within) else 1


if __name__ == "__main__":
    raise SystemExit(main())
