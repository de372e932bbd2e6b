"""What Python calls a sequence is data of ``tensor()``, at any depth; mappings, sets, text and iterators are none."""

from array import array
from collections import OrderedDict, UserList, deque

import numpy as np
import pytest

import tracegrad as tg


class Sequence:
    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class OnlyLength:
    def __len__(self):
        return 2


SEQUENCES = {
    "deque": lambda *items: deque(items),
    "UserList": lambda *items: UserList(items),
    "class": Sequence,
    "tuple": lambda *items: items,
    "list": lambda *items: list(items),
}


@pytest.mark.parametrize("inner", SEQUENCES)
@pytest.mark.parametrize("outer", SEQUENCES)
def test_sequences_of_sequences(outer, inner):
    row, rows = SEQUENCES[inner], SEQUENCES[outer]
    x = tg.tensor(rows(row(1, 2.5), row(tg.tensor(3), True)))
    assert x.dtype is tg.float32 and x.tolist() == [[1.0, 2.5], [3.0, 1.0]]
    assert tg.tensor(rows(row(1, 2), row(3, 4)), dtype=tg.float64).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(ValueError, match="expected sequence of length 2 at dim 1"):
        tg.tensor(rows(row(1, 2), row(3)))


def test_the_type_of_sequences():
    assert tg.tensor(array("d", [1, 2])).dtype is tg.float32  # the numbers count, as in PyTorch
    assert tg.tensor(bytearray(b"ab")).tolist() == tg.tensor(memoryview(b"ab")).tolist() == [97, 98]
    assert tg.tensor(deque()).shape == (0,) and tg.tensor(deque()).dtype is tg.float32
    assert tg.as_tensor(deque([1, 2])).dtype is tg.int64
    assert tg.tensor([range(2), deque([np.float64(3), 4])]).tolist() == [[0, 1], [3, 4]]


@pytest.mark.parametrize(
    "data",
    [{0: 1}, OrderedDict({0: 1}), {1, 2}, {0: 1}.values(), iter([1]), (i for i in [1]), OnlyLength()],
    ids=lambda data: type(data).__name__,
)
def test_what_is_no_sequence(data):
    with pytest.raises(RuntimeError, match=f"Could not infer dtype of {type(data).__name__}"):
        tg.tensor(data)


def test_returns_in_a_deque_within_a_compiled_step():
    def step(rewards, w):
        returns, running = deque(), 0.0
        for reward in rewards[::-1]:
            running = reward + 0.5 * running
            returns.appendleft(running)
        return (tg.tensor(returns) * w).sum()

    w, compiled = tg.ones(3), tg.compile(step)
    for i in range(6):
        rewards = [float(i), 1.0, 2.0 * i]
        assert compiled(rewards, w).item() == step(rewards, w).item()
        with tg.deferred():
            assert step(rewards, w).item() == step(rewards, w).item()
