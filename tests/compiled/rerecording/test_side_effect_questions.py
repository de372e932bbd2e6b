"""Side effects: what a step does to objects that outlive the call, and what it says."""

import collections
import contextlib
import io
import itertools
import logging

import pytest
from compiled.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Control flow and side effects")


COUNT = 0


def training(tg, note, **options):
    """A training step that does ``note(loss)`` at the end."""
    model = tg.nn.Linear(3, 1)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return note(loss)

    return Program(step, batches(tg, 4, 3), lambda: list(model.parameters()), **options)


@ask.rerecord()
def item_returned(tg):
    """Does `return loss.item()` return this call's loss?"""
    return training(tg, lambda loss: loss.item())  # here


@ask.rerecord()
def losses_appended(tg):
    """Does `losses.append(loss.item())` at the end of a step simply work?"""
    losses = []
    program = training(tg, lambda loss: losses.append(loss.item()))  # here
    program.state = lambda: losses
    return program


@ask.rerecord()
def tensors_appended(tg):
    """Are tensors that are appended to a list each call's own?"""
    kept = []

    def step(x):
        y = x * 2
        kept.append(y)  # here
        return y + 1

    return Program(step, batches(tg, 3), lambda: kept)


@ask.rerecord()
def detached_tensor_appended(tg):
    """Is `history.append(loss.detach())` kept, without its graph?"""
    history = []
    program = training(tg, lambda loss: history.append(loss.detach()))  # here
    program.state = lambda: history
    return program


@ask.rerecord()
def running_mean_in_python(tg):
    """Does a running mean in a Python float go on?"""
    mean = 0.0

    def step(x):
        nonlocal mean
        mean = 0.9 * mean + 0.1 * x.sum().item()  # here
        return x - mean

    return Program(step, batches(tg, 3), lambda: mean)


@ask.either()
def loss_added_up(tg):
    """Does `total += loss` over the calls add them up?"""
    total = 0

    def step(x):
        nonlocal total
        loss = x.pow(2).sum()
        total += loss  # here
        return loss

    return Program(step, batches(tg, 3), lambda: total)


@ask.rerecord()
def printed_tensor(tg):
    """Is a tensor that is printed printed at each call?"""

    def step(x):
        y = x.round()
        print("y is", y)  # here
        return y

    return Program(step, batches(tg, 3))


@ask.rerecord()
def printed_text(tg):
    """Is a text without a tensor printed at each call?"""

    def step(x):
        print("a step")  # here
        return x * 2

    return Program(step, batches(tg, 3))


@ask.rerecord()
def written_to_a_file(tg):
    """Is what the step writes to an open file written at each call?"""
    file = io.StringIO()

    def step(x):
        file.write("step\n")  # here
        return x * 2

    return Program(step, batches(tg, 3), file.getvalue)


@ask.rerecord()
def formatted_text(tg):
    """Does an f-string with a tensor say this call's number?"""
    return Program(lambda x: f"loss {x.sum():.1f} of {x.round()}", batches(tg, 3))  # here


@ask.rerecord()
def logged(tg):
    """Is each call's number logged?"""
    records = []

    class Kept(logging.Handler):
        def emit(self, record):
            records.append(record.getMessage())  # here

    logger = logging.Logger("semantics")
    logger.addHandler(Kept())

    def step(x):
        logger.info("loss %.1f", x.sum())  # here
        return x * 2

    return Program(step, batches(tg, 3), lambda: records)


@ask.replay(calls=9, c_calls=7)  # the first shows that it counts
def global_counter(tg):
    """Does a global counter count?"""
    globals()["COUNT"] = 0

    def step(x):
        global COUNT
        COUNT += 1
        return x * COUNT

    return Program(step, batches(tg, 3), lambda: COUNT)


@ask.replay(specialisations=2, calls=9, c_calls=6)
def counter_in_a_closure(tg):
    """Does a nonlocal counter count, and every second call do something else?"""
    calls = 0

    def step(x):
        nonlocal calls
        calls += 1
        return x * 2 if calls % 2 else x - 1

    return Program(step, batches(tg, 3), lambda: calls)


@ask.replay(calls=9, c_calls=7)  # the first shows that it counts
def counter_in_an_attribute(tg):
    """Does `self.steps += 1` in a trainer count?"""

    class Trainer:
        def __init__(self):
            self.steps = 0
            self.weight = ramp(tg, 3)

        def step(self, x):
            self.steps += 1
            self.weight.add_(x / self.steps)
            return self.weight.sum()

    trainer = Trainer()
    return Program(trainer.step, batches(tg, 3), lambda: (trainer.steps, trainer.weight))


@ask.replay(calls=9, c_calls=7)  # the first shows that it counts
def counter_in_a_module(tg):
    """Does a module that counts its calls in forward count?"""

    class Model(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = tg.nn.Linear(3, 1)
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return self.fc(x) * self.calls

    model = Model()
    return Program(lambda x: model(x).detach(), batches(tg, 2, 3), lambda: model.calls)


@ask.rerecord()
def counter_in_a_dict(tg):
    """Do metrics in a Counter or a dict add up?"""
    metrics = collections.Counter()

    def step(x):
        metrics["steps"] += 1  # here
        metrics["rows"] += len(x)
        return x.sum()

    return Program(step, batches(tg, 2, 3), lambda: dict(metrics))


@ask.rerecord()
def iterator_advanced(tg):
    """Does an iterator that outlives the call go on?"""
    numbers = itertools.count(1)

    def step(x):
        return x * next(numbers)  # here

    return Program(step, batches(tg, 3))


@ask.rerecord()
def generator_sent_to(tg):
    """Does a running generator keep its place?"""

    def counting():
        total = tg.zeros(3)
        while True:
            total = total + (yield total)

    running = counting()
    next(running)
    return Program(lambda x: running.send(x) * 2, batches(tg, 3))  # here


@ask.rerecord()
def batches_from_a_loader(tg):
    """Does `next(loader)` inside take the next batch?"""
    data = tg.utils.data.TensorDataset(ramp(tg, 10, 3))
    loader = iter(tg.utils.data.DataLoader(data, batch_size=2, shuffle=True))

    def step():
        (x,) = next(loader)  # here
        return x * 2

    return Program(step)


@ask.rerecord()
def queue_of_the_last_values(tg):
    """Does a deque with a maximal length hold the last values?"""
    last = collections.deque(maxlen=2)

    def step(x):
        last.append(x.sum())  # here
        return sum(last)

    return Program(step, batches(tg, 3), lambda: list(last))


@ask.rerecord()
def cache_by_hand(tg):
    """Is a cache that the step fills used from then on, as in eager mode?"""
    cache = {}

    def step(x, key):
        if key not in cache:  # here
            cache[key] = x * 100  # here
        return cache[key] + x

    return Program(step, lambda i: (batch(tg, i, 3), "ab"[i % 2]), lambda: cache)


@ask.rerecord()
def argument_list_appended(tg):
    """Is a list among the arguments appended to at each call?"""

    def step(x, log):
        log.append(x.sum())  # here
        return x * 2

    kept = []
    return Program(step, lambda i: (batch(tg, i, 3), kept))


@ask.rerecord()
def argument_dict_written(tg):
    """Is a dict among the arguments (the batch) written to?"""

    def step(sample):
        sample["logits"] = sample["x"] * 2  # here

    return Program(step, lambda i: ({"x": batch(tg, i, 3)},))


@ask.rerecord()
def own_context_manager_with_state(tg):
    """Does a context manager of the user's that counts its entries count?"""
    entered = []

    @contextlib.contextmanager
    def timed():
        entered.append("in")  # here
        yield
        entered.append("out")

    def step(x):
        with timed():
            return x * 2

    return Program(step, batches(tg, 3), lambda: entered)


@ask.either()
def optimizer_made_inside(tg):
    """Is an optimizer that is made inside, and kept, the one that goes on?"""
    w, kept = weight(tg, 3), []

    def step(x):
        if not kept:
            kept.append(tg.optim.SGD([w], lr=0.1, momentum=0.9))
        kept[0].zero_grad()
        (w * x).pow(2).sum().backward()
        kept[0].step()

    return Program(step, batches(tg, 3), lambda: w)


@ask.rerecord()
def callback_that_keeps_losses(tg):
    """Does a logging callback that is called with the loss see each loss?"""
    seen = []

    def callback(value):
        seen.append(value.item())  # here

    program = training(tg, callback)
    program.state = lambda: seen
    return program


@ask.rerecord()
def best_model_kept(tg):
    """Is the best state so far, kept as copies, the best state so far?"""
    w, best = ramp(tg, 3), {"loss": float("inf"), "w": None}

    def step(x):
        w.mul_(0.9)
        loss = (w * x).pow(2).sum().item()  # here
        if loss < best["loss"]:
            best["loss"], best["w"] = loss, w.clone()
        return loss

    return Program(step, lambda i: (batch(tg, (3, 1, 2, 0, 4)[i], 3),), lambda: best)


@ask.replay()
def python_objects_made_inside(tg):
    """Do lists, dicts and objects that live only within the call leave the function replayed?"""

    class Meter:
        def __init__(self):
            self.values = []

        def add(self, value):
            self.values.append(value)
            return self

    def step(x):
        meter = Meter()
        table = {}
        for k, row in enumerate(x):
            meter.add(row.sum()).add(row.mean())
            table[k] = meter.values[-1]
        return sum(meter.values) + sum(table.values())

    return Program(step, batches(tg, 2, 3))


@ask.replay()
def number_counted_inside(tg):
    """Do local counters and generators leave the function replayed?"""

    def powers(x):
        for k in itertools.count(1):
            if k > 3:
                return
            yield x**k

    return Program(lambda x: sum(p / n for n, p in enumerate(powers(x), 1)), batches(tg, 3))


@pytest.mark.parametrize("question", ask.rows())
def test_side_effects(answer, question):
    answer(question)
