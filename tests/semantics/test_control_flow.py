"""Control flow and side effects: what Python does with tensors' values, and to objects that outlive the call."""

import collections
import contextlib
import io
import itertools
import logging

import numpy as np
import pytest
from semantics.table import Section
from side_by_side import Program, batch, batches, ramp, weight

ask = Section("Control flow and side effects")
COUNT = 0


def signed(tg, *shape):
    """Data whose sum changes its sign from call to call."""
    return lambda i: (ramp(tg, *shape) * (1.0 if i % 2 else -1.0) * (i + 1),)


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
def if_on_a_value(tg):
    """Does `if x.sum() > 0` go both ways?"""

    def step(x):
        if x.sum() > 0:  # here
            return x * 2
        return x - 1

    return Program(step, signed(tg, 3))


@ask.rerecord()
def while_on_a_value(tg):
    """Does `while norm > 1` go round as often as the numbers say?"""

    def step(x):
        while x.norm() > 1.0:  # here
            x = x * 0.5
        return x

    return Program(step, batches(tg, 3))


@ask.rerecord()
def conditional_expression_and_not(tg):
    """Do `a if t else b`, `not t`, `and` and `or` look at the value of this call?"""

    def step(x):
        positive = x.sum() > 0
        y = x if positive else -x  # here
        return y if not positive or x[0] > 3 else y * 3

    return Program(step, signed(tg, 3))


@ask.rerecord()
def branch_with_gradients(tg):
    """Is the branch that was taken the one that is differentiated?"""
    w = weight(tg, 3)

    def step(x):
        w.grad = None
        y = w * x
        loss = y.pow(2).sum() if y.sum() > 0 else y.abs().sum()  # here
        loss.backward()

    return Program(step, signed(tg, 3), lambda: w)


@ask.rerecord()
def early_stop(tg):
    """Does a loop that is left early on a loss leave the parameters as eager mode does?"""
    w = weight(tg, 3)

    def step(x):
        for _ in range(5):
            w.grad = None
            loss = (w * x).pow(2).sum()
            loss.backward()
            with tg.no_grad():
                w.sub_(0.01 * w.grad)
            if loss < 0.5:  # here
                break
        return loss

    return Program(step, lambda i: (batch(tg, 4 - i, 3) * 0.3,), lambda: w)


@ask.rerecord()
def skipped_update(tg):
    """Is an update that is skipped for a bad gradient (a NaN check) skipped?"""
    w = weight(tg, 3)
    optimizer = tg.optim.SGD([w], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        (w * x).pow(2).sum().backward()
        if tg.isfinite(w.grad).all():  # here
            optimizer.step()

    return Program(step, lambda i: (batch(tg, i, 3) * (float("nan") if i in (1, 3) else 1.0),), lambda: w)


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
def float_of_a_tensor(tg):
    """Do float(t), int(t) and bool(t) give this call's value?"""
    return Program(lambda x: (float(x[0]), int(x.sum()), bool(x[1] > 0)), signed(tg, 3))  # here


@ask.rerecord()
def value_as_an_index(tg):
    """Does a Python list that is indexed by a tensor give this call's entry?"""
    words = ["a", "b", "c"]
    return Program(lambda x, k: (words[k], x * 2), lambda i: (ramp(tg, 3), tg.tensor(i % 3)))  # here


@ask.rerecord()
def value_that_shapes(tg):
    """Does a size that is read from a tensor shape this call's result?"""
    return Program(lambda n: tg.ones(int(n)) * n, lambda i: (tg.tensor(i + 1),))  # here


@ask.rerecord()
def value_in_a_range(tg):
    """Does `range(t)` go round t times?"""

    def step(x, n):
        for _ in range(n):  # here
            x = x * 2
        return x

    return Program(step, lambda i: (ramp(tg, 3), tg.tensor(i % 3)))


@ask.rerecord()
def numpy_of_a_result(tg):
    """Does .numpy() give this call's numbers, to numpy code that goes on?"""

    def step(x):
        middle = np.median((x * 2).numpy())  # here
        return x - float(middle)

    return Program(step, batches(tg, 5))


@ask.rerecord()
def numpy_and_back(tg):
    """Does a detour through numpy and from_numpy carry this call's numbers?"""

    def step(x):
        order = np.argsort(x.numpy())[::-1].copy()  # here
        return x[tg.from_numpy(order)] * 2

    return Program(step, signed(tg, 3))


@ask.rerecord()
def array_protocol(tg):
    """Do np.asarray(t) and numpy functions of a tensor see this call's numbers?"""
    return Program(lambda x: (np.asarray(x * 2), np.sum(np.array(x))), batches(tg, 3))  # here


@ask.rerecord()
def tolist(tg):
    """Does tolist() give this call's numbers?"""
    return Program(lambda x: (x * 2).tolist(), batches(tg, 2, 2))  # here


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


@ask.rerecord()
def global_counter(tg):
    """Does a global counter count?"""
    globals()["COUNT"] = 0

    def step(x):
        global COUNT
        COUNT += 1  # here
        return x * COUNT

    return Program(step, batches(tg, 3), lambda: COUNT)


@ask.rerecord()
def counter_in_a_closure(tg):
    """Does a nonlocal counter count, and every second call do something else?"""
    calls = 0

    def step(x):
        nonlocal calls
        calls += 1  # here
        return x * 2 if calls % 2 else x - 1

    return Program(step, batches(tg, 3), lambda: calls)


@ask.rerecord()
def counter_in_an_attribute(tg):
    """Does `self.steps += 1` in a trainer count?"""

    class Trainer:
        def __init__(self):
            self.steps = 0
            self.weight = ramp(tg, 3)

        def step(self, x):
            self.steps += 1  # here
            self.weight.add_(x / self.steps)
            return self.weight.sum()

    trainer = Trainer()
    return Program(trainer.step, batches(tg, 3), lambda: (trainer.steps, trainer.weight))


@ask.rerecord()
def counter_in_a_module(tg):
    """Does a module that counts its calls in forward count?"""

    class Model(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = tg.nn.Linear(3, 1)
            self.calls = 0

        def forward(self, x):
            self.calls += 1  # here
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
def numpy_argument(tg):
    """Is a numpy array that is passed read anew at each call?"""
    return Program(lambda x, a: x * tg.from_numpy(a), lambda i: (ramp(tg, 3), np.full(3, i, np.float32)))


@ask.rerecord()
def numpy_captured(tg):
    """Is a captured numpy array that changes in place read anew?"""
    table = np.ones(3, np.float32)

    def between(i):
        table[:] = i

    def step(x):
        return x + tg.from_numpy(table)  # here

    return Program(step, batches(tg, 3), tuple, between)


@ask.rerecord()
def boolean_mask(tg):
    """Does `x[x > 0]`, whose size depends on values, have this call's size?"""
    return Program(lambda x: x[x > 0] * 2, signed(tg, 5))  # here


@ask.rerecord()
def sorted_by_value(tg):
    """Are tensors sorted by this call's values?"""
    return Program(lambda x: sorted(x * 2), signed(tg, 3))  # here


@ask.rerecord()
def python_max_and_min(tg):
    """Do Python's max and min over tensors choose by this call's values?"""
    return Program(lambda x: (max(x[0], x[2]) * 1, min(x[0], x[1] * 2) * 1), signed(tg, 3))  # here


@ask.rerecord()
def equal_and_allclose(tg):
    """Do tg.equal and tg.allclose answer for this call's numbers?"""
    ones = tg.ones(3)

    def step(x):
        return (x * 2, tg.equal(x, ones), tg.allclose(x, ones))  # here

    return Program(step, lambda i: (tg.full((3,), float(i)),))


@ask.rerecord()
def tensor_in_a_list(tg):
    """Does `t in [...]`, which compares values, answer for this call?"""

    def step(x):
        return x * 2, x.sum() in [1.0, 6.0]  # here

    return Program(step, lambda i: (tg.full((3,), float(i)),))


@ask.rerecord()
def assertion_on_a_value(tg):
    """Does an assert on a value fail at the calls where it fails in eager mode?"""
    w = ramp(tg, 3)

    def step(x):
        w.add_(1.0)
        assert x.sum() > 0, "negative"  # here
        return w * x

    return Program(step, signed(tg, 3), lambda: w, raises=(AssertionError,))


@ask.rerecord()
def multinomial_walk(tg):
    """Does a random walk that follows drawn indices in Python go the eager way?"""
    names = ["left", "right", "stay"]

    def step(p):
        return [names[int(k)] for k in tg.multinomial(p, 4, replacement=True)]  # here

    return Program(step, lambda i: (tg.tensor([0.2, 0.3, 0.5]),))


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
def selected_without_a_branch(tg):
    """Does tg.where, which is what to write instead of `if`, keep the function replayed?"""
    return Program(lambda x: tg.where(x.sum() > 0, x * 2, x - 1), signed(tg, 3))


@ask.replay()
def structure_asked_only(tg):
    """Do len(), .shape, .dtype, `is None` and isinstance leave the function replayed?"""

    def step(x, y=None):
        assert isinstance(x, tg.Tensor) and x.dtype == tg.float32 and x.dim() == 2
        return x.sum() / len(x) if y is None and x.requires_grad is False else x

    return Program(step, batches(tg, 2, 3))


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
def test_control_flow(answer, question):
    answer(question)
