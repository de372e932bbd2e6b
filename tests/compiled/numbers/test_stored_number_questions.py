"""Counters and other numbers that a step computes of numbers and stores outside."""

import numpy as np
import pytest
from compiled.table import Section
from side_by_side import Program, batch, ramp

ask = Section("Numbers stored outside")
COUNT = 0


def inputs(tg, *shape):
    return lambda i: (batch(tg, i % 3, *shape),)


def counting(tg, count, **attributes):
    """A layer that does ``count(layer)`` in each call, and a step that trains it."""

    class Counting(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = tg.nn.Linear(3, 3)
            for name, value in attributes.items():
                setattr(self, name, value)

        def forward(self, x):
            count(self)
            return self.linear(x).tanh() * self.factor()

        def factor(self):
            return 1.0

    layer = Counting()
    optimizer = tg.optim.SGD(layer.parameters(), lr=0.01)

    def step(x):
        optimizer.zero_grad()
        loss = layer(x).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return layer, step


def one_more(self):
    self.calls += 1


@ask.replay(calls=12, c_calls=10)  # the first shows that it counts
def a_counter(tg):
    """Does a layer that counts its calls count each?"""
    layer, step = counting(tg, one_more, calls=0)
    return Program(step, inputs(tg, 2, 3), lambda: [layer.calls, type(layer.calls).__name__, layer.linear.weight])


@ask.replay(calls=12, c_calls=10)  # the first shows that it counts
def a_counter_that_is_computed_with(tg):
    """The same where the count is part of the result."""
    layer, step = counting(tg, one_more, calls=0)
    type(layer).factor = lambda self: 1 / self.calls
    return Program(step, inputs(tg, 2, 3), lambda: [layer.calls, layer.linear.weight])


@ask.replay(calls=12, c_calls=10)  # the first shows that it counts
def two_that_hang_together(tg):
    """Are several numbers, of which one is computed of the other, those of the latest call?"""

    def count(self):
        self.calls += 1
        self.decay = min(0.99, (1 + self.calls) / (10 + self.calls))
        self.total = self.total + self.decay

    layer, step = counting(tg, count, calls=0, decay=0.0, total=0.0)
    return Program(step, inputs(tg, 2, 3), lambda: [layer.calls, layer.decay, layer.total])


@ask.either(calls=12)
def set_by_the_program(tg):
    """Does it go on from what the program puts there, also where that is of another type?"""
    layer, step = counting(tg, one_more, calls=0)

    def between(i):
        if i in (5, 8):
            layer.calls = 100 if i == 5 else 0.5
        if i == 10:
            object.__setattr__(layer, "calls", True)

    return Program(step, inputs(tg, 2, 3), lambda: [layer.calls, type(layer.calls).__name__], between=between)


@ask.either(calls=24)
def every_fifth_call(tg):
    """Is what a step does in every fifth call done then?"""

    def count(self):
        self.calls += 1
        if self.calls % 5 == 0:
            self.scale *= 0.5

    layer, step = counting(tg, count, calls=0, scale=1.0)
    type(layer).factor = lambda self: self.scale
    return Program(step, inputs(tg, 2, 3), lambda: [layer.calls, layer.scale, layer.linear.weight])


@ask.either(calls=12)
def a_number_as_an_index(tg):
    """Is a place in a buffer that goes round that of the call?"""

    class Memory:
        def __init__(self):
            self.rows, self.at = tg.zeros(4, 3), 0

        def push(self, x):
            self.rows[self.at] = x
            self.at = (self.at + 1) % 4
            return self.rows.sum(0)

    memory = Memory()
    return Program(memory.push, inputs(tg, 3), lambda: [memory.at, memory.rows])


@ask.replay(calls=12, c_calls=10)  # the first shows that it counts
def in_a_plain_object(tg):
    """Does an object of the program's own count?"""

    class Trainer:
        def __init__(self):
            self.done, self.w = 0, ramp(tg, 3)

        def step(self, x):
            self.done += 1
            return self.w * x

    trainer = Trainer()
    return Program(trainer.step, inputs(tg, 3), lambda: trainer.done)


@ask.replay(calls=12, c_calls=10)  # the first shows that it counts
def in_a_variable(tg):
    """Does a variable of an enclosing function count?"""
    count = 0

    def step(x):
        nonlocal count
        count += 1
        return x * count

    return Program(step, inputs(tg, 3), lambda: count)


@ask.replay(calls=12, c_calls=10)  # the first shows that it counts
def in_a_global(tg):
    """The same for a global variable."""
    global COUNT
    COUNT = 0

    def step(x):
        global COUNT
        COUNT += 2
        return x * 2

    return Program(step, inputs(tg, 3), lambda: COUNT)


@ask.either(calls=12)
def in_a_dict(tg):
    """The same for an entry of a dict, and an item of a list."""
    stats, items = {"n": 0, "name": "a"}, [0.0, 1]

    def step(x):
        stats["n"] += 1
        items[0] = items[0] + 0.5
        return x * stats["n"]

    return Program(step, inputs(tg, 3), lambda: [stats["n"], len(stats), *items])


@ask.either(calls=12)
def returned_and_stored(tg):
    """Is a number that is returned as well the one that is stored?"""
    layer, step = counting(tg, one_more, calls=2**40)

    def both(x):
        return step(x), layer.calls

    return Program(both, inputs(tg, 2, 3), lambda: layer.calls)


@ask.either(calls=12)
def shown_to_other_code(tg):
    """Does another compiled function that reads a counter find it, at each call?"""
    layer, step = counting(tg, one_more, calls=0)
    read = tg.compile(lambda x: x * layer.calls)
    return Program(step, inputs(tg, 2, 3), lambda: [read(tg.ones(3)), layer.calls])


@ask.either(calls=12)
def counted_twice(tg):
    """Does a layer that is called twice in a step count both?"""
    layer, _ = counting(tg, one_more, calls=0)
    return Program(lambda x: layer(layer(x)), inputs(tg, 2, 3), lambda: layer.calls)


@ask.either(calls=12)
def a_number_kept_in_a_list(tg):
    """Is a list to which the count is appended as in eager mode?"""
    layer, step = counting(tg, one_more, calls=0)
    kept = []

    def keeping(x):
        loss = step(x)
        kept.append(layer.calls)
        return loss

    return Program(keeping, inputs(tg, 2, 3), lambda: [*kept, layer.calls])


@ask.either(calls=12)
def a_number_returned_and_kept(tg):
    """The same where it is returned."""
    kept = []

    def step(x, n):
        twice = n * 2
        kept.append(twice)
        return x * n, twice

    return Program(step, lambda i: (ramp(tg, 3), i + 0.5), lambda: kept)


@ask.either(calls=12)
def a_number_found_elsewhere(tg):
    """Are an argument, and the numbers of two attributes that change places, where the call has put them?"""

    class Holder:
        last, first, second = 0.0, 1.0, 2.0

    holder = Holder()
    holder.last, holder.first, holder.second = 0.0, 1.0, 2.0

    def step(x, lr):
        holder.last = lr
        holder.first, holder.second = holder.second, holder.first
        return x * lr + holder.first

    return Program(step, lambda i: (ramp(tg, 3), 0.1 * i), lambda: [holder.last, holder.first, holder.second])


@ask.either(calls=80)
def numbers_that_grow_too_large(tg):
    """Is an int that no tensor takes refused beside one, whatever the tensor's type?"""

    class Pair:
        first, second = 1, 1

    pair = Pair()
    pair.first, pair.second = 2**40, 2**40

    def step(x):
        pair.first, pair.second = pair.second, pair.first + pair.second
        return x * pair.first

    return Program(step, inputs(tg, 3), lambda: [pair.first, pair.second], raises=(OverflowError, RuntimeError))


@ask.either(calls=12)
def an_error_in_the_middle(tg):
    """Is a call that fails after it has counted counted?"""
    count = 0

    def step(x, i):
        nonlocal count
        count += 1
        return x[i] * 2

    def at(i):
        return ramp(tg, 3), tg.tensor([7 if i in (4, 9) else i % 3])

    return Program(step, at, lambda: count, raises=(IndexError,))


@ask.either(calls=12)
def by_a_property(tg):
    """Is the setter of a property called at each call?"""

    class Meter:
        _value, sets = 0, 0

        @property
        def value(self):
            return self._value

        @value.setter
        def value(self, new):
            self.sets += 1
            self._value = new

    meter = Meter()

    def step(x):
        meter.value += 1
        return x * 2

    return Program(step, inputs(tg, 3), lambda: [meter.value, meter.sets])


@ask.either(calls=12)
def kinds_of_numbers(tg):
    """Do flags, numpy's numbers and large ints stay what they are?"""

    layer, step = counting(
        tg, lambda self: change(self), flag=False, small=np.float32(1), wide=np.float64(1), large=2**70, text="a"
    )

    def change(self):
        self.flag = not self.flag
        self.small = self.small * np.float32(1.5)
        self.wide = self.wide * 1.5
        self.large = self.large + 1
        self.text = self.text + "b"

    def look():
        values = layer.flag, layer.small, layer.wide, layer.large, layer.text
        return [*(type(value).__name__ for value in values), *map(str, values)]

    return Program(step, inputs(tg, 2, 3), look)


@pytest.mark.parametrize("question", ask.rows())
def test_stored_numbers(answer, question):
    answer(question)
