"""Eager mode where overhead decides: single operations, gradients and a whole training step, with PyTorch beside it.

    python -m benchmarks.eager [--rounds 40] [--only softmax,T2] [--threads 1]

Each row is the quietest of many rounds of calls in one loop, in microseconds for one call; rounds of the two libraries
alternate. The last column is the ratio. Without PyTorch only tracegrad is measured.
"""

import argparse
import importlib
import os
import time

BUDGET = 0.004  # seconds for a round


def programs(lib):
    """Name -> a function without arguments."""
    F, nn = lib.nn.functional, lib.nn
    lib.manual_seed(0)
    x, y = lib.randn(64, 64), lib.randn(64, 64)
    tracked = lib.randn(64, 64, requires_grad=True)
    weight, bias = lib.ones(64, requires_grad=True), lib.zeros(64, requires_grad=True)
    large = lib.randn(1_000_000)
    batch, classes = lib.randn(32, 64), lib.randint(0, 10, (32,))
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = lib.optim.Adam(model.parameters(), lr=1e-3)

    images, kernel = lib.randn(4, 3, 8, 8), lib.randn(6, 3, 3, 3, requires_grad=True)
    norm = nn.BatchNorm2d(3)

    def backward():
        optimizer.zero_grad()
        F.cross_entropy(model(batch), classes).backward()

    def step():
        backward()
        optimizer.step()

    backward()
    return {
        "add": lambda: x + y,
        "add with gradient": lambda: tracked + y,
        "relu": lambda: F.relu(x),
        "softmax": lambda: F.softmax(x, -1),
        "layer_norm": lambda: F.layer_norm(x, (64,), weight.detach(), bias.detach()),
        "layer_norm forward and backward": lambda: F.layer_norm(tracked, (64,), weight, bias).backward(y),
        "gelu": lambda: F.gelu(x),
        "linear": lambda: F.linear(batch, x, bias),
        "clamp": lambda: x.clamp(-1, 1),
        "stack": lambda: lib.stack((x, y)),
        "cat": lambda: lib.cat((x, y), 1),
        "mask": lambda: x[x > 0],
        "masked_fill": lambda: x.masked_fill(x > 0, 0.0),
        "where": lambda: lib.where(x > 0, x, y),
        "sum": lambda: x.sum(),
        "mean of rows": lambda: x.mean(-1),
        "index": lambda: x[3],
        "view and transpose": lambda: x.view(32, 128).t(),
        "matmul": lambda: x @ y,
        "Categorical": lambda: sampled(lib, x),
        "conv2d": lambda: F.conv2d(images, kernel),
        "conv2d forward and backward": lambda: F.conv2d(images, kernel).sum().backward(),
        "batch_norm": lambda: norm(images),
        "20 additions forward and backward": lambda: chain(tracked).backward(),
        "gelu of 10^6": lambda: F.gelu(large),
        "MLP forward and backward": backward,
        "Adam": optimizer.step,
        "T2": step,
    }


def sampled(lib, logits):
    """An agent's choice and its logarithm."""
    choice = lib.distributions.Categorical(logits=logits)
    action = choice.sample()
    return action, choice.log_prob(action), choice.entropy()


def chain(x):
    for _ in range(20):
        x = x + 1.0
    return x.sum()


def round_of(function, calls):
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - start) / calls


def measure(functions, rounds):
    """Microseconds of one call of each function, the best of `rounds` rounds in turn."""
    calls = [max(1, int(BUDGET / max(round_of(f, 3), 1e-7))) for f in functions]
    times = [[round_of(f, n) for f, n in zip(functions, calls, strict=True)] for _ in range(rounds)]
    return [1e6 * min(column) for column in zip(*times, strict=True)]


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.eager", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", help="names of rows, separated by commas")
    parser.add_argument("--threads", type=int, default=1, help="of either library")
    args = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", str(args.threads))
    peers = {}
    for name in ("torch", "tracegrad"):
        try:
            peers[name] = importlib.import_module(name)
        except ModuleNotFoundError:
            print(f"{name} is not installed")
    if "torch" in peers:
        peers["torch"].set_num_threads(args.threads)
    tables = {name: programs(lib) for name, lib in peers.items()}
    rows = args.only.split(",") if args.only else list(tables["tracegrad"])
    print(f"{'':34}" + "".join(f"{name:>12}" for name in peers) + "       ratio")
    for row in rows:
        times = measure([table[row] for table in tables.values()], args.rounds)
        ratio = f"{times[-1] / times[0]:12.2f}" if len(times) > 1 else ""
        print(f"{row:34}" + "".join(f"{t:12.2f}" for t in times) + ratio, flush=True)


if __name__ == "__main__":
    main()
