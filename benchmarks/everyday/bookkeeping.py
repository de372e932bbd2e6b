"""Steps that count, log, append, measure and report."""

import io
import logging
import math
import random
import time

from .setting import BATCHES, Run, parameters, pattern


@pattern("return loss")
def returned(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("self.n += 1, a log every 50 calls")
def counter_attribute(s):
    torch, nn, F = s.names
    every = s.sizes.seldom

    class Trainer:
        def __init__(self):
            self.model, self.optimizer = s.model_and_adam()
            self.n = 0
            self.log = []

        def step(self, x, y):
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.n += 1
            if self.n % every == 0:
                self.log.append((self.n, loss.item()))
            return loss

    trainer, batches = Trainer(), s.batches()
    step = s.whole(trainer.step)
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(trainer.model), trainer.log)


@pattern("log every 10 by an argument")
def log_by_argument(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    log = []

    @s.whole
    def step(x, y, i):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if i % 10 == 0:
            log.append(loss.item())

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model), log)


@pattern("running loss in a dict")
def running_loss(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    stats = {"loss": 0.0, "count": 0}

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        stats["loss"] += loss.item() * x.size(0)
        stats["count"] += x.size(0)

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), stats)


@pattern("best loss and patience")
def best_and_patience(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    best = {"loss": math.inf, "waited": 0, "stop": False}

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        value = loss.item()
        if value < best["loss"]:
            best["loss"] = value
            best["waited"] = 0
        else:
            best["waited"] += 1
        if best["waited"] > 5:
            best["stop"] = True
        return value

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), best)


@pattern("NaN guard")
def nan_guard(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        if torch.isnan(loss):
            raise RuntimeError("loss is NaN")
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("accuracy counted")
def accuracy(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    counts = {"correct": 0, "total": 0}

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        counts["correct"] += (logits.argmax(dim=1) == y).sum().item()
        counts["total"] += len(y)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), counts)


@pattern("a coin flip")
def coin_flip(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        if random.random() < 0.5:
            x = x.flip(1)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("time.time() around")
def timed(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    times = []

    @s.whole
    def step(x, y):
        start = time.time()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        times.append(time.time() - start)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("a writer's add_scalar")
def writer(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    class SummaryWriter:
        def __init__(self):
            self.scalars = {}

        def add_scalar(self, tag, value, global_step):
            self.scalars.setdefault(tag, []).append((global_step, float(value)))

    summary = SummaryWriter()

    @s.whole
    def step(x, y, i):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        summary.add_scalar("train/loss", loss.item(), i)
        summary.add_scalar("train/lr", optimizer.param_groups[0]["lr"], i)

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model), summary.scalars)


@pattern("metrics objects (AverageMeter)")
def meters(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    class AverageMeter:
        def __init__(self, name):
            self.name = name
            self.reset()

        def reset(self):
            self.val = self.avg = self.sum = self.count = 0

        def update(self, val, n=1):
            self.val = val
            self.sum += val * n
            self.count += n
            self.avg = self.sum / self.count

    losses, top1 = AverageMeter("loss"), AverageMeter("acc@1")

    @s.whole
    def step(x, y):
        output = model(x)
        loss = F.cross_entropy(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.update(loss.item(), x.size(0))
        top1.update((output.argmax(1) == y).float().mean().item() * 100, x.size(0))

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), (losses.__dict__, top1.__dict__))


@pattern("progress bar with the loss in its description")
def progress_bar(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    class Progress:
        def __init__(self, file):
            self.file, self.n, self.text = file, 0, ""

        def set_postfix(self, **numbers):
            self.text = ", ".join(f"{name}={number:.3g}" for name, number in numbers.items())

        def update(self, n=1):
            self.n += n
            self.file.write(f"\r{self.n} it [{self.text}]")

    class Null(io.TextIOBase):
        def write(self, text):
            return len(text)

    bar = Progress(Null())

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        bar.set_postfix(loss=loss.item(), lr=optimizer.param_groups[0]["lr"])
        bar.update()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("logging module")
def logged(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    logger = logging.getLogger("benchmarks.everyday")
    logger.setLevel(logging.INFO)
    logger.propagate = False

    @s.whole
    def step(x, y, i):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        logger.debug("step %d", i)
        if i % 10 == 0:
            logger.info("step %d: loss %.4f", i, loss.item())
        return loss

    logger.handlers[:] = [logging.NullHandler()]
    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))


@pattern("try/except around the step")
def excepted(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    skipped = []

    @s.whole
    def step(x, y):
        try:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        except RuntimeError as error:
            skipped.append(str(error))
            return None
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), skipped)
