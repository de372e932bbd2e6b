"""Blocks of ``tg.deferred()`` that are not entered by a ``with`` in the frame that computes: a compiled function that
is called in one gets what was noted before."""

import contextlib
import gc

import pytest

import tracegrad as tg


@contextlib.contextmanager
def by_a_generator():
    with tg.deferred():
        yield


@contextlib.contextmanager
def by_a_stack():
    with contextlib.ExitStack() as stack:
        stack.enter_context(tg.deferred())
        yield


class ByAnObject:
    """Enters the block in a function that returns."""

    def __enter__(self):
        self.block = tg.deferred()
        self.block.__enter__()

    def __exit__(self, *error):
        self.block.__exit__(*error)


class ByAStackOfAnObject:
    def __enter__(self):
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(tg.deferred())

    def __exit__(self, *error):
        self.stack.close()


WAYS = [tg.deferred, by_a_generator, by_a_stack, ByAnObject, ByAStackOfAnObject]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_compiled_function_gets_what_is_pending(way):
    table = tg.randn(50, 4, dtype=tg.float64)
    layer = tg.nn.Linear(4, 4).double()

    def step(places):
        return table[places].sum() + layer(table[places]).sum()

    compiled, first, second = tg.compile(step), [], []
    with way():
        for i in range(8):
            places = (tg.arange(400) * (i + 1) + i) % 50
            first.append(step(places * 1 % 50).item())
        gc.collect()
        for i in range(8):
            places = (tg.arange(400) * (i + 1) + i) % 50
            second.append(compiled(places * 1 % 50).item())
        kept = (places * 2).sum() + 1
    assert second == pytest.approx(first, rel=1e-9)  # sums in another order
    assert kept.item() == int((places.numpy() * 2).sum()) + 1
