"""Sequences of any class as an index: what PyTorch's `PySequence_Check` takes. Expected outcomes are those of lists."""

import array
from collections import UserList, deque

import pytest

import tracegrad as tg


class Numbers:
    """A sequence of a program's own."""

    def __init__(self, *items):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, place):
        return self.items[place]

    def append(self, item):
        self.items.append(item)


class NumbersWithIndex(Numbers):
    def __index__(self):
        return 1


class Index:
    def __init__(self, number):
        self.number = number

    def __index__(self):
        return self.number


def ints(*items):
    return array.array("i", items)


def of_view(*items):
    return memoryview(ints(*items))


def of_deque(*items):
    return deque(items)


def of_user_list(*items):
    return UserList(items)


NUMBERS = [Numbers, NumbersWithIndex, of_deque, of_user_list, ints, of_view]
ANYTHING = NUMBERS[:4]
#: What is in the sequence, and the list or tuple that means the same.
ITEMS = [
    ([0, 1], [0, 1]),
    ([True, False, True, False], [True, False, True, False]),
    ([None], (None,)),
    ([slice(0, 1), 0], (slice(0, 1), 0)),
    ([..., 1], (..., 1)),
    ([tg.tensor(0), tg.tensor(1)], (0, 1)),
    ([Index(0), tg.tensor(1)], (0, 1)),
    ([[0, 1], [1, 2]], ([0, 1], [1, 2])),
    ([0] * 33, [0] * 33),
]


def source():
    return tg.arange(24.0).reshape(4, 3, 2)


def written(key):
    x = source()
    x[key] = -1
    return x.tolist()


@pytest.mark.parametrize("items", range(len(ITEMS)))
@pytest.mark.parametrize("make", ANYTHING)
def test_a_sequence_means_what_a_list_means(make, items):
    given, same = ITEMS[items]
    assert source()[make(*given)].tolist() == source()[same].tolist()
    assert written(make(*given)) == written(same)


@pytest.mark.parametrize("make", NUMBERS)
def test_sequences_of_numbers_beside_others_and_within(make):
    x = source()
    assert x[make(0, 1)].tolist() == x[[0, 1]].tolist()
    assert x[make(0, 1), 0].tolist() == x[[0, 1], 0].tolist()
    assert x[:, make(2, 0)].tolist() == x[:, [2, 0]].tolist()
    assert x[[make(0, 1)]].tolist() == x[[0, 1],].tolist()
    assert x[make(0, 1), make(1, 2)].tolist() == x[[0, 1], [1, 2]].tolist()
    assert written((make(0, 1), 0)) == written(([0, 1], 0))


@pytest.mark.parametrize(
    ("key", "error", "said"),
    [
        ({0: 1}, IndexError, "only integers"),
        ({0, 1}, IndexError, "only integers"),
        (object(), IndexError, "only integers"),
        (b"ab", TypeError, r"new\(\): invalid data type 'bytes'"),
        ("ab", TypeError, r"new\(\): invalid data type 'str'"),
        (Numbers(Index(0), Index(1)), RuntimeError, "Could not infer dtype of Index"),
        ([Index(0), Index(1)], RuntimeError, "Could not infer dtype of Index"),
    ],
)
def test_what_is_no_sequence_of_numbers(key, error, said):
    with pytest.raises(error, match=said):
        source()[key]
    with pytest.raises(error, match=said):
        source()[key] = 1


@pytest.mark.parametrize("captured", [True, False])
@pytest.mark.parametrize("make", [Numbers, NumbersWithIndex, of_deque, of_user_list, ints])
def test_compiled_functions_notice_other_items(make, captured):
    sequence = make(0, 1)

    def function(x, key):
        return x[sequence if captured else key] * 2

    step = tg.compile(function)
    for _ in range(3):
        assert step(source(), sequence).tolist() == (source()[[0, 1]] * 2).tolist()
    sequence.append(3)
    assert step(source(), sequence).tolist() == (source()[[0, 1, 3]] * 2).tolist()
