"""What eager mode refuses because of the numbers that it meets, it refuses in compiled code, in the same words.

`CHECKS` is the list of all such checks: a function of one tensor, numbers that it takes, and for each kind of numbers
that it does not take the class and the key phrase of the error, which are PyTorch's (run with
TRACEGRAD_REFERENCE=torch).
"""

import math
import os

import pytest
from side_by_side import Program, assert_agree, run

REFERENCE = os.environ.get("TRACEGRAD_REFERENCE", "tracegrad")
NAN, INF = math.nan, math.inf
BETWEEN = "all elements of {} should be between 0 and 1"
DIVIDED = (RuntimeError, "ZeroDivisionError")


def _f(tg):
    return tg.nn.functional


def _rows(tg):
    return tg.arange(6.0).reshape(3, 2)


def _places(tg, x):
    return x.reshape(-1, 1).expand(-1, 2)


#: name -> (function, numbers inside, {numbers outside: (class, phrase)}, how it is served)
CHECKS = {
    "binary_cross_entropy input": (
        lambda tg, x: _f(tg).binary_cross_entropy(x, tg.ones_like(x)),
        [0.0, 0.5, 1.0],
        {value: (RuntimeError, BETWEEN.format("input")) for value in (2.0, -0.5, NAN, INF)},
        "replay",
    ),
    "binary_cross_entropy target": (
        lambda tg, x: _f(tg).binary_cross_entropy(tg.full_like(x, 0.5), x),
        [0.0, 0.5, 1.0],
        {value: (RuntimeError, BETWEEN.format("target")) for value in (2.0, -0.5, NAN)},
        "replay",
    ),
    "cross_entropy": (
        lambda tg, x: _f(tg).cross_entropy(tg.ones(x.shape[0], 3), x),
        [0, 2, 1, -100],
        {3: (IndexError, "Target 3 is out of bounds."), -1: (IndexError, "Target -1 is out of bounds.")},
        "replay",
    ),
    "cross_entropy weighed and smooth": (
        lambda tg, x: _f(tg).cross_entropy(tg.ones(x.shape[0], 3), x, tg.ones(3), label_smoothing=0.1),
        [0, 2, 1],
        {3: (IndexError, "Target 3 is out of bounds.")},
        "replay",
    ),
    "nll_loss": (
        lambda tg, x: _f(tg).nll_loss(tg.ones(x.shape[0], 3), x, reduction="sum"),
        [0, 2, 1],
        {7: (IndexError, "Target 7 is out of bounds."), -2: (IndexError, "Target -2 is out of bounds.")},
        "replay",
    ),
    "gaussian_nll_loss": (
        lambda tg, x: _f(tg).gaussian_nll_loss(tg.ones_like(x), tg.zeros_like(x), x),
        [0.0, 0.5, NAN],
        {-0.5: (ValueError, "var has negative entry/entries")},
        "replay",
    ),
    "one_hot": (
        lambda tg, x: _f(tg).one_hot(x, 3),
        [0, 2, 1],
        {
            3: (RuntimeError, "Class values must be smaller than num_classes."),
            -1: (RuntimeError, "Class values must be non-negative."),
        },
        "replay",
    ),
    "embedding": (
        lambda tg, x: _f(tg).embedding(x, _rows(tg)),
        [0, 2, 1],
        {3: (IndexError, "index out of range in self"), -1: (IndexError, "index out of range in self")},
        "replay",
    ),
    "index_select": (
        lambda tg, x: tg.index_select(_rows(tg), 0, x),
        [0, 2, 1],
        {3: (IndexError, "index out of range in self"), -1: (IndexError, "index out of range in self")},
        "replay",
    ),
    "index_select of columns": (
        lambda tg, x: tg.index_select(_rows(tg), 1, x),
        [0, 1],
        {2: (RuntimeError, "INDICES element is out of DATA bounds"), -1: (RuntimeError, "INDICES element is out")},
        "replay",
    ),
    "take": (
        lambda tg, x: tg.take(_rows(tg), x),
        [0, -6, 5],
        {6: (IndexError, "out of range: tried to access index 6"), -7: (IndexError, "tried to access index -7")},
        "replay",
    ),
    "gather": (
        lambda tg, x: tg.gather(_rows(tg), 0, _places(tg, x)[:3]),
        [0, 2, 1],
        {value: (RuntimeError, f"index {value} is out of bounds for dimension 0 with size 3") for value in (3, -1)},
        "replay",
    ),
    "indices in brackets": (
        lambda tg, x: _rows(tg)[x],
        [0, -3, 2],
        {value: (IndexError, f"index {value} is out of bounds for dimension 0 with size 3") for value in (3, -4)},
        "replay",
    ),
    "scatter": (
        lambda tg, x: _rows(tg).scatter(0, _places(tg, x)[:3], 2.0),
        [0, 2, 1],
        {value: (RuntimeError, f"index {value} is out of bounds for dimension 0 with size 3") for value in (3, -1)},
        "replay",
    ),
    "scatter_add": (
        lambda tg, x: _rows(tg).scatter_add(0, _places(tg, x)[:3], tg.ones(3, 2)),
        [0, 2, 1],
        {value: (RuntimeError, f"index {value} is out of bounds for dimension 0 with size 3") for value in (3, -1)},
        "replay",
    ),
    "index_add": (
        lambda tg, x: _rows(tg).index_add(0, x, tg.ones(x.shape[0], 2)),
        [0, 2, 1],
        {value: (RuntimeError, f"index {value} is out of bounds for dimension 0 with size 3") for value in (3, -1)},
        "replay",
    ),
    "index_add to a row": (
        lambda tg, x: tg.ones(3).index_add(0, x, tg.ones(x.shape[0])),
        [0, 2, 1],
        dict.fromkeys((3, -1), (IndexError, "index out of range in self")),
        "replay",
    ),
    "index_copy": (
        lambda tg, x: _rows(tg).index_copy(0, x, tg.ones(x.shape[0], 2)),
        [0, 2, 1],
        {value: (IndexError, f"index_copy_(): index {value} is out of bounds for dimension 0") for value in (3, -1)},
        "replay",
    ),
    "index_fill": (
        lambda tg, x: _rows(tg).index_fill(1, x, 2.0),
        [0, 1, -2],
        {value: (IndexError, f"index {value} is out of bounds for dimension 1 with size 2") for value in (2, -3)},
        "replay",
    ),
    "indices written to": (
        lambda tg, x: _written(tg, x),
        [0, 2, -3],
        {value: (IndexError, f"index {value} is out of bounds for dimension 0 with size 3") for value in (3, -4)},
        "replay",
    ),
    "masked_scatter": (
        lambda tg, x: tg.zeros(4).masked_scatter(x[:4].long() > 0, tg.ones(3)),
        [0, 1, 1, 1],
        {1: (RuntimeError, "Number of elements of source < number of ones in mask")},
        "replay",
    ),
    "bernoulli": (
        lambda tg, x: tg.bernoulli(x),
        [0.0, 0.5, 1.0],
        dict.fromkeys((1.5, -1.0, NAN), (RuntimeError, "Expected p_in >= 0 && p_in <= 1 to be true, but got false")),
        "replay",
    ),
    "multinomial with replacement": (
        lambda tg, x: tg.multinomial(x, 2, replacement=True),
        [0.5, 0.1, 1.0],
        {
            -1.0: (RuntimeError, "invalid multinomial distribution (encountering probability entry < 0)"),
            INF: (RuntimeError, "invalid multinomial distribution (encountering probability entry = infinity or NaN)"),
        },
        "replay",
    ),
    "multinomial": (
        lambda tg, x: tg.multinomial(x, 2),
        [0.5, 0.1, 1.0],
        dict.fromkeys((-1.0, NAN, INF), (RuntimeError, "tensor contains either `inf`, `nan` or element < 0")),
        "replay",
    ),
    "multinomial of zeros": (
        lambda tg, x: tg.multinomial(x.reshape(-1, 1), 1),
        [0.5, 0.1, 1.0],
        {0.0: (RuntimeError, "invalid multinomial distribution")},
        "replay",
    ),
    "normal": (
        lambda tg, x: tg.normal(tg.zeros_like(x), x),
        [0.0, 0.5, 2.0],
        dict.fromkeys((-1.0, NAN), (RuntimeError, "normal expects all elements of std >= 0.0")),
        "replay",
    ),
    "repeat_interleave": (
        lambda tg, x: tg.repeat_interleave(tg.ones(x.shape[0]), x),
        [1, 0, 2],
        {-1: (RuntimeError, "repeats can not be negative")},
        "re-record",
    ),
    "clip_grad_norm_": (
        lambda tg, x: _clipped(tg, x),
        [0.5, 2.0, -1.0],
        dict.fromkeys((NAN, INF), (RuntimeError, "is non-finite, so it cannot be clipped")),
        "re-record",
    ),
    "floor_divide": (lambda tg, x: tg.full_like(x, 7) // x, [1, -2, 3], {0: DIVIDED}, "replay"),
    "remainder": (lambda tg, x: tg.full_like(x, 7) % x, [1, -2, 3], {0: DIVIDED}, "replay"),
    "fmod": (lambda tg, x: tg.fmod(tg.full_like(x, 7), x), [1, -2, 3], {0: DIVIDED}, "replay"),
    "division that truncates": (
        lambda tg, x: tg.div(tg.full_like(x, 7), x, rounding_mode="trunc"), [1, -2, 3], {0: DIVIDED}, "replay",
    ),
    "division that rounds down": (
        lambda tg, x: tg.div(tg.full_like(x, 7), x, rounding_mode="floor"), [1, -2, 3], {0: DIVIDED}, "replay",
    ),
}  # fmt: skip

OUTSIDE = [(name, value) for name, (_, _, outside, _) in CHECKS.items() for value in outside]
FEW = ("gather", "scatter", "scatter_add", "masked_scatter")  # look at the first elements only
SIZED = [pair for pair in OUTSIDE if pair[0] not in FEW]


def _clipped(tg, x):
    leaf = tg.ones(x.shape[0]).requires_grad_()
    (leaf * x).sum().backward()
    tg.nn.utils.clip_grad_norm_([leaf], 1.0, error_if_nonfinite=True)
    return leaf.grad


def _written(tg, x):
    rows = _rows(tg)
    rows[x] = 1.0
    return rows


def _program(name, bad, form="plain", larger=()):
    """Calls with numbers inside, and with one outside where `bad`, by call, says so. What is done before and after the
    check is compared as well."""
    function, inside, outside, _ = CHECKS[name]

    def make(tg):
        before, after, drawn = tg.zeros(1), tg.zeros(1), tg.zeros(2)
        counted = []
        w = tg.nn.Parameter(tg.ones(1))

        def step(x):
            before.add_(1)
            drawn.copy_(tg.rand(2))
            if form == "looks" and before.item() > 0:
                counted.append(len(counted))
            out = function(tg, x).double().sum()
            after.add_(1)
            return out * w if form == "joined" else out

        def data(i):
            numbers = inside * 3 if i in larger else inside
            if i in bad:
                # Some checks are of all numbers together.
                numbers = [bad[i]] * len(numbers) if bad[i] in inside or bad[i] == 0.0 else [*numbers[:-1], bad[i]]
            return (tg.tensor(numbers),)

        errors = tuple({error for error, _ in outside.values()})
        return Program(step, data, lambda: [before, after, drawn, counted, w], raises=errors)

    return make


def _agree(tg, name, calls, bad, **options):
    """How compiled calls were served, after eager and compiled ones did the same."""
    make = _program(name, bad, **options)
    notes, _, _ = run(tg, make, False, calls)
    for i, note in enumerate(notes):
        assert ("raised" in str(note["result"])) is (i in bad)
        assert i not in bad or CHECKS[name][2][bad[i]][1] in note["result"]["words"]
    if REFERENCE == "torch":
        return []
    actual, _, program = run(tg, make, True, calls)
    assert_agree(actual, notes)
    return program.ways


@pytest.mark.parametrize("name", CHECKS)
def test_outside(tg, name):
    """After calls that were served by C, and before others that are."""
    bad = dict(enumerate(CHECKS[name][2], 3))
    ways = _agree(tg, name, len(bad) + 5, bad)
    assert not ways or ways[-1] == CHECKS[name][3]


@pytest.mark.long(every=4)
@pytest.mark.parametrize("form", ["looks", "joined"])
@pytest.mark.parametrize("name", CHECKS)
def test_outside_otherwise(tg, name, form):
    """In calls for which Python runs, and where a gradient is still to come."""
    bad = dict(enumerate(CHECKS[name][2], 3))
    _agree(tg, name, len(bad) + 5, bad, form=form)


@pytest.mark.long(every=4)
@pytest.mark.parametrize(("name", "value"), OUTSIDE)
def test_outside_at_once(tg, name, value):
    """In the call that is recorded, and in the one after it."""
    _agree(tg, name, 4, {0: value, 2: value})


@pytest.mark.long(every=4)
@pytest.mark.parametrize(("name", "value"), SIZED)
def test_outside_in_another_size(tg, name, value):
    """One program for all sizes checks for all sizes."""
    _agree(tg, name, 8, {3: value, 6: value}, larger=[1, 4, 5, 6, 7])


# ------------------------------------------------------------------------------------------------- Python's numbers

#: Checks of numbers that are no tensors: name -> (function, numbers inside, {number outside: (class, phrase)})
NUMBERS = {
    "one_hot": (
        lambda tg, n: _f(tg).one_hot(tg.tensor([0, 1]), n),
        [2, 3, 4, 5],
        {1: (RuntimeError, "Class values must be smaller than num_classes.")},
    ),
    "as_strided offset": (
        lambda tg, n: tg.as_strided(tg.arange(6.0), (2,), (1,), n),
        [0, 1, 2, 4],
        {5: (RuntimeError, "out of bounds for storage of size 24"), -1: (RuntimeError, "invalid storage offset -1")},
    ),
    "as_strided of a view": (
        lambda tg, n: tg.as_strided(tg.arange(6.0)[2:], (2,), (1,), n),
        [0, 1, 2, 4],
        {5: (RuntimeError, "out of bounds for storage of size 24")},
    ),
    "as_strided stride": (
        lambda tg, n: tg.as_strided(tg.arange(6.0), (2, 2), (2, n)),
        [0, 1, 2, 3],
        {
            4: (RuntimeError, "storage offset 0, and itemsize 4 requiring a storage size of 28 are out of bounds"),
            -1: (RuntimeError, "as_strided: Negative strides are not supported at the moment, got strides: [2, -1]"),
        },
    ),
    "as_strided size": (
        lambda tg, n: tg.as_strided(tg.arange(6.0), (n, 1), (2, 9)),
        [0, 1, 2, 3],
        {4: (RuntimeError, "out of bounds for storage of size 24"), -2: (RuntimeError, "calculation overflowed")},
    ),
    "padding_idx": (
        lambda tg, n: _f(tg).embedding(tg.tensor([0, 1]), _rows(tg), padding_idx=n),
        [0, 2, -3, 1],
        dict.fromkeys((3, -4), (AssertionError, "Padding_idx must be within num_embeddings")),
    ),
    "dropout": (
        lambda tg, n: _f(tg).dropout(tg.ones(4), n),
        [0.25, 0.5, 0.75, 0.1],
        {1.5: (ValueError, "dropout probability has to be between 0 and 1, but got 1.5")},
    ),
    "normal": (
        lambda tg, n: tg.normal(tg.zeros(3), n),
        [0.5, 1.0, 2.0, 0.1],
        {-1.0: (RuntimeError, "normal expects std >= 0.0, but found std -1")},
    ),
    "normal_": (
        lambda tg, n: tg.zeros(3).normal_(0.0, n),
        [0.5, 1.0, 2.0, 0.1],
        {-1.0: (RuntimeError, "normal expects std >= 0.0, but found std -1")},
    ),
    "uniform_": (
        lambda tg, n: tg.zeros(3).uniform_(0.0, n),
        [0.5, 1.0, 2.0, 0.1],
        {-1.0: (RuntimeError, "uniform_ expects to return a [from, to) range")},
    ),
    "bernoulli_": (
        lambda tg, n: tg.zeros(3).bernoulli_(n),
        [0.5, 1.0, 0.25, 0.1],
        {-1.0: (RuntimeError, "bernoulli_ expects p to be in [0, 1]")},
    ),
    "exponential_": (
        lambda tg, n: tg.zeros(3).exponential_(n),
        [0.5, 1.0, 0.25, 0.1],
        {-1.0: (RuntimeError, "exponential_ expects lambda > 0.0")},
    ),
    "randint": (
        lambda tg, n: tg.randint(1, n, (3,)),
        [3, 4, 5, 6],
        {1: (RuntimeError, "random_ expects 'from' to be less than 'to'")},
    ),
    "randperm": (
        lambda tg, n: tg.randperm(n),
        [3, 4, 5, 6],
        {-1: (RuntimeError, "")},
    ),
    "floor_divide": (lambda tg, n: tg.tensor([7]) // n, [2, 3, 4, 5], {0: DIVIDED}),
    "remainder": (lambda tg, n: tg.tensor([7]) % n, [2, 3, 4, 5], {0: DIVIDED}),
    "pow": (
        lambda tg, n: tg.tensor([7]) ** n,
        [2, 3, 4, 0],
        {-1: (RuntimeError, "Integers to negative integer powers are not allowed")},
    ),
    "repeat_interleave": (
        lambda tg, n: tg.repeat_interleave(tg.ones(2), n),
        [2, 3, 0, 1],
        {-1: (RuntimeError, "epeats must be non-negative")},
    ),
    "gaussian_nll_loss": (
        lambda tg, n: _f(tg).gaussian_nll_loss(tg.ones(2), tg.zeros(2), n * tg.ones(2)),
        [0.5, 1.0, 2.0, 0.0],
        {-1.0: (ValueError, "var has negative entry/entries")},
    ),
    "select": (
        lambda tg, n: tg.arange(3.0)[n],
        [0, 1, -3, 2],
        {3: (IndexError, "index 3 is out of bounds for dimension 0 with size 3")},
    ),
    "narrow": (
        lambda tg, n: tg.arange(3.0).narrow(0, n, 2),
        [0, 1, -2, 1],
        {2: (RuntimeError, "start (2) + length (2) exceeds dimension size (3).")},
    ),
    "topk": (
        lambda tg, n: tg.arange(3.0).topk(n)[0],
        [0, 1, 2, 3],
        {4: (RuntimeError, "selected index k out of range")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_outside(tg, name):
    """Numbers that change from call to call are data of compiled code, as far as nothing is refused."""
    function, inside, outside = NUMBERS[name]
    numbers = [*inside, *outside, *inside]

    def make(tg):
        seen = tg.zeros(1)

        def step(n):
            seen.add_(1)
            return function(tg, n) * 2

        errors = tuple({error for error, _ in outside.values()})
        return Program(step, lambda i: (numbers[i],), lambda: [seen], raises=errors)

    notes, _, _ = run(tg, make, False, len(numbers))
    for number, note in zip(numbers, notes, strict=True):
        assert ("raised" in str(note["result"])) is (number in outside)
        assert number not in outside or outside[number][1] in note["result"]["words"]
    if REFERENCE != "torch":
        actual, _, _ = run(tg, make, True, len(numbers))
        assert_agree(actual, notes)
