"""Whole programs under ``with tg.deferred():``: loops with evaluation, counters, prints, and no compiled function.

    python -m benchmarks.deferred_programs [--only NAME] [--epochs 10] [--rounds 2]

Seconds of processor time for the whole program, the quietest of several runs, each with a new block: PyTorch on one
thread, tracegrad's eager mode, and `deferred` with its C in the cache; `cold` is its very first run, the C compiler's
time included. With --wall seconds by the clock instead. All of them print to nowhere, and their logs are compared.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import math
import os
import tempfile
import time

import numpy as np

from . import environment

# Logs are means of losses over many steps, in which roundings of float32 have grown; counts of right answers among some
# hundred may differ by a few that lie on the border.
RELATIVE, ABSOLUTE = 0.05, 0.02


def digits(torch, epochs):
    """An MLP learns noisy pictures of ten digits: running loss, a line every 50 steps, accuracy and the best of it."""
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(0)
    shapes = rng.standard_normal((10, 64))
    labels = rng.integers(0, 10, 4096)
    pictures = (shapes[labels] + 1.5 * rng.standard_normal((4096, 64))).astype(np.float32)
    x, y = torch.tensor(pictures), torch.tensor(labels)
    x_test, y_test = x[:512], y[:512]
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    best, log, step = 0.0, [], 0
    for epoch in range(epochs):
        order = rng.permutation(np.arange(512, 4096))
        running = 0.0
        model.train()
        for first in range(0, len(order), 64):
            picked = order[first : first + 64]
            batch, target = torch.from_numpy(pictures[picked]), torch.from_numpy(labels[picked])
            optimizer.zero_grad()
            loss = F.cross_entropy(model(batch), target)
            loss.backward()
            optimizer.step()
            step += 1
            running += loss.item()
            if step % 50 == 0:
                print(f"step {step}: loss {running / (first // 64 + 1):.4f}")
        model.eval()
        with torch.no_grad():
            accuracy = (model(x_test).argmax(dim=1) == y_test).float().mean().item()
        best = max(best, accuracy)
        log.append((running / (len(order) / 64), accuracy))
        print(f"epoch {epoch}: loss {log[-1][0]:.4f}, accuracy {accuracy:.3f}, best {best:.3f}")
    return log


def gan(torch, epochs):
    """Two networks against each other: points on a ring, running losses in a dict, a share of fooled judgements."""
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(0)
    torch.manual_seed(0)
    generator = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    judge = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
    of_generator = torch.optim.Adam(generator.parameters(), lr=1e-3)
    of_judge = torch.optim.Adam(judge.parameters(), lr=1e-3)
    real_label, fake_label = torch.ones(64, 1), torch.zeros(64, 1)
    log, counted = [], {"steps": 0, "fooled": 0}
    for epoch in range(epochs):
        sums = {"judge": 0.0, "generator": 0.0}
        for _ in range(40):
            angle = rng.uniform(0, 2 * math.pi, 64)
            ring = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
            noise = torch.from_numpy(rng.standard_normal((64, 8)).astype(np.float32))
            fake = generator(noise)
            of_judge.zero_grad()
            real_loss = F.binary_cross_entropy_with_logits(judge(torch.from_numpy(ring)), real_label)
            fake_loss = F.binary_cross_entropy_with_logits(judge(fake.detach()), fake_label)
            judge_loss = real_loss + fake_loss
            judge_loss.backward()
            of_judge.step()
            of_generator.zero_grad()
            verdict = judge(fake)
            generator_loss = F.binary_cross_entropy_with_logits(verdict, real_label)
            generator_loss.backward()
            of_generator.step()
            sums["judge"] += judge_loss.item()
            sums["generator"] += generator_loss.item()
            counted["steps"] += 1
            if counted["steps"] % 20 == 0:
                counted["fooled"] += int((verdict > 0).sum().item())
        log.append((sums["judge"] / 40, sums["generator"] / 40))
        print(f"epoch {epoch}: judge {log[-1][0]:.3f}, generator {log[-1][1]:.3f}, fooled {counted['fooled']}")
    return log[:2]  # two networks that chase each other: what comes later follows from their roundings


TEXT = "the quick brown fox jumps over the lazy dog while seven wizards box and five hexing wolves play jazz. " * 20


def characters(torch, epochs):
    """The next character of a text: embedding, two layers, clipping, a schedule by hand, perplexity, a sample."""
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(0)
    alphabet = sorted(set(TEXT))
    codes = np.array([alphabet.index(c) for c in TEXT])
    context = 8
    windows = np.stack([codes[i : i + context] for i in range(len(codes) - context)])
    following = codes[context:]

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding = nn.Embedding(len(alphabet), 16)
            self.hidden = nn.Linear(context * 16, 128)
            self.out = nn.Linear(128, len(alphabet))

        def forward(self, codes):
            inside = torch.tanh(self.hidden(self.embedding(codes).flatten(1)))
            return self.out(inside)

    torch.manual_seed(0)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    log = []
    for epoch in range(epochs):
        for group in optimizer.param_groups:
            group["lr"] = 0.2 * 0.9**epoch
        losses = []
        for i in range(40):
            picked = rng.integers(0, len(windows), 64)
            loss = F.cross_entropy(model(torch.tensor(windows[picked])), torch.tensor(following[picked]))
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
            if i % 20 == 0:
                print(f"{epoch}/{i}: loss {losses[-1]:.3f}, norm {norm.item():.3f}")
        with torch.no_grad():
            held = F.cross_entropy(model(torch.tensor(windows[:256])), torch.tensor(following[:256])).item()
            sample = _sample(torch, model, alphabet, codes[:context])
            print(f"epoch {epoch}: perplexity {math.exp(held):.2f}, {sample!r}")
        log.append((sum(losses) / len(losses), held))
    return log


def _sample(torch, model, alphabet, start):
    codes = [int(code) for code in start]
    for _ in range(10):
        logits = model(torch.tensor([codes[-len(start) :]]))
        codes.append(int(logits.argmax(dim=1).item()))
    return "".join(alphabet[code] for code in codes)


PROGRAMS = (digits, gan, characters)


def processor_time():
    """Seconds of this process and of the C compilers that it has run."""
    return sum(os.times()[:4])


def seconds(program, library, block, options):
    """The time of one run, and its log."""
    clock = time.perf_counter if options.wall else processor_time
    start = clock()
    with contextlib.redirect_stdout(io.StringIO()), block:
        log = program(library, options.epochs)
    return clock() - start, log


def quietest(program, library, block, options):
    """The shortest time of several runs, and the log of the last."""
    runs = [seconds(program, library, block(), options) for _ in range(options.rounds)]
    return min(time for time, _ in runs), runs[-1][1]


def main() -> None:
    names = ", ".join(program.__name__ for program in PROGRAMS)
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.deferred_programs",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--only", default="", help=f"one program: {names}")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--wall", action="store_true", help="seconds by the clock")
    options = parser.parse_args()
    environment.use_one_thread()
    os.environ["TRACEGRAD_CACHE_DIR"] = tempfile.mkdtemp()  # an empty one, for the first run
    tg, torch = importlib.import_module("tracegrad"), importlib.import_module("torch")
    torch.set_num_threads(1)
    print(f"{'program':14} {'PyTorch':>8} {'eager':>8} {'deferred':>8} {'cold':>8}   eager / deferred")
    for program in PROGRAMS:
        if options.only in (program.__name__, ""):
            nothing = contextlib.nullcontext
            theirs, expected = quietest(program, torch, nothing, options)
            eager, _ = quietest(program, tg, nothing, options)
            cold, _ = seconds(program, tg, tg.deferred(), options)
            ours, actual = quietest(program, tg, tg.deferred, options)
            np.testing.assert_allclose(actual, expected, RELATIVE, ABSOLUTE, err_msg=program.__name__)
            print(f"{program.__name__:14} {theirs:8.2f} {eager:8.2f} {ours:8.2f} {cold:8.2f} {eager / ours:12.2f}x")


if __name__ == "__main__":
    main()
