"""Items that are written to with what is read in the same memory: ``y[i] += 1`` reads a view of the item, adds to it,
and stores the item in itself.

In a recording, what is read at an index that is data is picked. Compiled calls and deferred blocks do as eager mode
does all the same: nothing is refused that is a write of an item to itself, nothing is lost or done twice, and what
overlaps in part is refused.
"""

import itertools
import warnings

import numpy as np
import pytest
from side_by_side import Program

import tracegrad

#: How the numbers of a call are given as indices.
INDICES = {
    "int": lambda tg, n: n,
    "numpy int64": lambda tg, n: np.int64(n),
    "int64": lambda tg, n: tg.tensor(n),
    "int32": lambda tg, n: tg.tensor(n, dtype=tg.int32),
    "int8": lambda tg, n: tg.tensor(n, dtype=tg.int8),
    "computed": lambda tg, n: tg.arange(4.0).eq(n).to(tg.int64).argmax(),
    "one element": lambda tg, n: tg.tensor([n]),
}
KEYS = (
    "i", "(i,)", "i, ...", "..., i", ":, i", "i, j", "i, 1", "1, i", "i, :2", "i, 1:3", "i, None", "[i]", "1:, i",
    "i, [0, 2]", "i - 1", "-1 - i", "i:i + 1",
)  # fmt: skip
#: y[K] is the item, y[L] another one, of a shape that fits in most cases.
WRITES = (
    "y[K] += 1", "y[K] *= y[K]", "v = y[K]; v += 1; y[K] = v", "y[K] = y[K]", "y[K] = y[K] * 2", "y[K] -= x.sum()",
    "before = y[K]; y[K] += 2; y[K] = before", "before = y[K] * 1; y[K] *= 2; y[K] -= before",
    "y[K] = 3.0; y[K] /= 2", "y[K] = x.sum(); y[K] += 1; y[K] += 1", "v = y[K]; u = y[K]; v.mul_(3); y[K] = u",
    "y[K] = y[L]", "y[L] += y[K]", "y[K].copy_(y[L])", "y[K].mul_(y[L])", "y.add_(y[K])", "y[:2] = y[K]",
    "y[K] = y[0]", "y[K] = y[K][None]", "v = y[K]; y[L] = v; v += 1", "tg.add(y[K], 1, out=y[L])",
    "y.index_put_((index,), y[K])", "v = y[K].detach(); v *= 2; y[K] = v",
)  # fmt: skip
#: L: at another number, and of K's elements others.
OTHERS = {"j for i": lambda key: key.replace("i", "j"), "shifted": lambda key: {"i, :2": "i, 1:3", "i": "j"}.get(key)}
WHOLES = {
    "without gradients": "y = x * 2",
    "computed": "y = w * x",
    "an argument": "y = x",
    "a view": "y = (w * x).T",
    "captured": "y = state",
    "in no_grad()": "y = (w * x).detach()",
}
CALLS = ((0, 1), (1, 1), (1, 2), (2, 0), (2, 0), (0, 2))


def program(tg, key, write, whole):
    """A step, and the tensors that it keeps: a weight and a state."""
    other = OTHERS["shifted"](key) or OTHERS["j for i"](key)
    body = write.replace("y[K]", f"y[{key}]").replace("y[L]", f"y[{other}]")
    text = f"def step(x, i, j, index):\n {WHOLES[whole]}\n first = y[0] * 1\n {body}\n return first, y[{key}] * 1, y"
    w = (tg.arange(12.0).view(3, 4) / 4 + 1).requires_grad_()
    state = tg.arange(12.0).view(3, 4) + 1
    space = {"tg": tg, "w": w, "state": state}
    exec(text, space)
    return space["step"], w, state


def outcomes(tg, key, write, whole, kind, way):
    """The numbers, versions and gradients of all calls, or the errors that they raise."""
    step, w, state = program(tg, key, write, whole)
    step, found = way(step), []
    for i, j in CALLS:
        x = tg.ones(3, 4) * (i + 1)
        given = INDICES[kind](tg, i), INDICES[kind](tg, j)
        before = state._version
        try:
            first, item, y = step(x, *given, tg.tensor([i]))
            gradient = None
            if y.requires_grad:
                (gradient,) = tg.autograd.grad((y * y).sum() + item.sum() * 3 + first.sum(), w)
            facts = y.requires_grad, y._version if whole != "captured" else y._version - before
            note = [t if t is None else t.tolist() for t in (first, item, y, gradient)], facts
        except (RuntimeError, IndexError, TypeError) as error:
            note = type(error).__name__, str(error).partition("\n")[0]
        found.append((note, x.tolist(), state.tolist(), x._version, state._version - before))
    return found


def eagerly(step):
    return step


WAYS = {"compiled": tracegrad.compile, "deferred": tracegrad.deferred()}


def drawn():
    """Each write at each key; wholes and kinds of indices take turns."""
    pairs = itertools.product(WRITES, KEYS)
    return [(*pair, [*WHOLES][n % len(WHOLES)], [*INDICES][n % len(INDICES)]) for n, pair in enumerate(pairs)]


def assert_as_eager(write, key, whole, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = outcomes(tracegrad, key, write, whole, kind, eagerly)
        for name, way in WAYS.items():
            assert outcomes(tracegrad, key, write, whole, kind, way) == expected, name


@pytest.mark.parametrize(("write", "key", "whole", "kind"), drawn())
def test_what_is_written_of_its_own(write, key, whole, kind):
    assert_as_eager(write, key, whole, kind)


@pytest.mark.long(fast=5)
@pytest.mark.parametrize("write", WRITES)
def test_writes_to_a_row_of_which_the_number_is_data(write):
    assert_as_eager(write, "i", "captured", "computed")


@pytest.mark.long(fast=1)
def test_everyday_forms(agree):
    """Counts of labels, a running mean, a ring: state that a tensor says the place of."""

    def make(tg):
        counts, means, ring, at = tg.zeros(3), tg.zeros(4, 2), tg.zeros(4, 2), tg.tensor(0)

        def step(labels, x, k):
            for label in labels:
                counts[label] += 1
            means[k] *= 0.5
            means[k] += 0.5 * x
            ring[at] = x
            ring[at] *= 2
            at.add_(1).remainder_(4)
            return counts.sum(), means.sum(), ring.sum()

        def args(i):
            return tg.tensor([0, 1, 1, i % 3]), tg.ones(2) * i, tg.tensor(i % 4)

        return Program(step, args, lambda: [counts, means, ring, at, *(t._version for t in (counts, means, ring))])

    agree(make, calls=6)


IN_PART = ("y[L] = y[K]", "y[L] += y[K]", "y[K].mul_(y[L])", "y[L].xlogy_(y[K])", "tg.sin(y[K], out=y[L])")


@pytest.mark.long(fast=1)
@pytest.mark.parametrize("write", IN_PART)
def test_parts_of_a_row_that_overlap_are_refused(write):
    refusals = [note[0] for note, *_ in outcomes(tracegrad, "i, :2", write, "captured", "int64", eagerly)]
    assert refusals == ["RuntimeError"] * len(CALLS)
    assert_as_eager(write, "i, :2", "captured", "int64")
