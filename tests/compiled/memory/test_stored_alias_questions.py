"""Stores where something has two names: an argument and a variable, two attributes, a class and its object."""

import pytest
from compiled.table import Section
from side_by_side import Program, batch

ask = Section("Stores by two names")


class Thing:
    """An object of the program's own."""

    def __init__(self, tg):
        self.t, self.n = tg.ones(2), 1
        self.d, self.l = {"t": tg.ones(2), "n": 0}, [tg.ones(2), 0]
        self.s = (tg.ones(2), tg.ones(2))

    def all(self):
        return [self.t, self.n, dict(self.d), list(self.l), *self.s]


def store_tensor(p, q, x):
    p.t = x * 3
    return q.t * 2


def store_in_argument(p, q, x):
    q.t = x * 3
    return p.t * 2


def store_both(p, q, x):
    p.t = p.t * 0.5 + x
    q.t = q.t + p.t
    return q.t * p.t


def store_after_a_look(p, q, x):
    before = q.t
    p.t = before + x
    return q.t - before


def count(p, q, x):
    p.n += 1
    return x * q.n


def count_both(p, q, x):
    q.n += 1
    p.n += 1
    return x * p.n + q.n


def store_item(p, q, x):
    p.d["t"] = x * 3
    return q.d["t"] * 2


def count_items(p, q, x):
    p.d["n"] += 1
    p.l[0] = x * p.d["n"]
    return q.l[0] * q.d["n"]


def store_tuple(p, q, x):
    p.s = (x * 2, x * 3)
    return q.s[0] + q.s[1]


def store_item_of_either(p, q, x):
    p.d["t"] = x * 3
    q.d["n"] += 1
    return p.d["t"] * q.d["n"]


STORES = [
    store_tensor, store_in_argument, store_both, store_after_a_look, count, count_both, store_item, count_items,
    store_tuple, store_item_of_either,
]  # fmt: skip
ORDERS = {"the same": "pppppppppp", "by turns": "opopopopop", "later": "oooopppppp", "another later": "ppppoooopp"}


@pytest.mark.long(every=1)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("store", STORES, ids=lambda function: function.__name__)
def test_an_argument_that_is_found_without_it_too(agree, store, order):
    def make(tg):
        things = {"p": Thing(tg), "o": Thing(tg)}
        p = things["p"]

        def step(q, x):
            return store(p, q, x)

        def args(i):
            return things[ORDERS[order][i]], batch(tg, i % 3, 2)

        return Program(step, args, lambda: [*things["p"].all(), *things["o"].all()])

    agree(make, calls=10)


@pytest.mark.long(every=1)
@pytest.mark.parametrize("what", ["t", "d", "l", "s"])
@pytest.mark.parametrize("store", STORES, ids=lambda function: function.__name__)
def test_attributes_that_become_one(agree, store, what):
    def make(tg):
        p, q = Thing(tg), Thing(tg)
        own = {name: getattr(q, name) for name in "tdls"}

        def between(i):
            if i in (4, 8):
                setattr(q, what, getattr(p, what))
            if i == 6:
                setattr(q, what, own[what])

        return Program(
            lambda x: store(p, q, x), lambda i: (batch(tg, i % 3, 2),), lambda: [*p.all(), *q.all()], between=between
        )

    agree(make, calls=10)


@ask.either(calls=9)
def a_counter_of_a_class(tg):
    """Does a class that counts for its objects count, and each object as well?"""

    class Counting:
        total, n = 0, 0

        def add(self, x):
            self.n += 1
            Counting.total = Counting.total + self.n
            return x * self.n

    counting = Counting()
    return Program(counting.add, lambda i: (batch(tg, i % 3, 2),), lambda: [Counting.total, counting.n, Counting.n])


@ask.either(calls=9)
def a_count_returned_and_kept(tg):
    """Are counts that are returned and kept, in any container, plain numbers?"""
    counter, kept, seen, last = Thing(tg), [], set(), {}

    def step(x):
        counter.n += 1
        kept.append({"step": counter.n, "all": (counter.n, [counter.n])})
        seen.add(counter.n)
        last[counter.n] = counter.n
        return x * 2, counter.n

    def look():
        numbers = [*seen, *last, *last.values(), *(entry["step"] for entry in kept), *(e["all"][1][0] for e in kept)]
        return [*numbers, *{type(number).__name__ for number in numbers}]

    return Program(step, lambda i: (batch(tg, i % 3, 2),), look)


@ask.either(calls=9)
def a_tuple_that_was_there(tg):
    """Is a tuple that is returned, and was there before, the very object that it was?"""
    thing, same, given = Thing(tg), [], []

    def step(x, pair, extra):
        return thing.s, pair, extra[0], (x * 2, thing.s[0])

    def args(i):
        given[:] = [(tg.ones(2) * i, 3), [(tg.zeros(2), "a")]]
        return batch(tg, i % 3, 2), *given

    def after(i, outcome):
        kept, pair, first, _ = outcome
        same.append([float(kept is thing.s), float(pair is given[0]), float(first is given[1][0])])
        if i == 5:
            thing.s = (tg.zeros(2), tg.ones(2))

    return Program(step, args, lambda: same, after=after)


@ask.replay(calls=6)
def a_container_returned_twice(tg):
    """Is a list or dict that is in a result twice one object?"""
    same = []

    def step(x):
        rows, named = [x * 2], {"x": x + 1}
        return rows, (rows, named), {"again": named}

    def after(i, outcome):
        rows, (again, named), held = outcome
        same.append([float(rows is again), float(named is held["again"]), float(rows is named)])

    return Program(step, lambda i: (batch(tg, i % 3, 2),), lambda: same, after=after)


@pytest.mark.parametrize("question", ask.rows())
def test_stores_by_two_names(answer, question):
    answer(question)
