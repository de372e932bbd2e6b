"""Writes to a part of a memory of what another part of it holds: as eager mode does them, whatever came before.

Also what is read of that memory before and after, as views and as copies that cannot be views.
"""

import itertools

import numpy as np
import pytest
from side_by_side import Program, ramp

#: What of the memory, 4 by 4.
PARTS = {
    "row": lambda t: t[0],
    "last row": lambda t: t[-1],
    "column": lambda t: t[:, 0],
    "rows": lambda t: t[:2],
    "other rows": lambda t: t[1:3],
    "every other row": lambda t: t[::2],
    "whole": lambda t: t,
    "within the flat one": lambda t: t.view(-1)[2:6],
    "transposed": lambda t: t.t(),
    "element": lambda t: t[1, 2],
    "flipped": lambda t: t.flip(0),  # a copy
    "copied by reshape": lambda t: t.t().reshape(-1)[:4],
}
TARGETS = [name for name in PARTS if name not in ("flipped", "copied by reshape")]
#: Where the memory comes from: made by the call, given to it, or there all the time.
MEMORIES = {
    "argument": lambda tg, x, held: x,
    "result": lambda tg, x, held: x * 2,
    "part of the argument": lambda tg, x, held: x.repeat(2, 1)[2:6],
    "of a layer": lambda tg, x, held: held["layer"](x).detach(),
    "detached": lambda tg, x, held: (x * held["layer"].weight).detach(),
    "captured": lambda tg, x, held: held["t"].copy_(x),
    "part of the captured": lambda tg, x, held: held["large"][1:5].copy_(x),
    "numpy's": lambda tg, x, held: held["seen"].copy_(x),
}
#: What comes between the memory and the write.
STOPS = {
    "nothing": lambda t, x: 0.0,
    "its numbers": lambda t, x: t.sum().item(),
    "other numbers": lambda t, x: x.mean().item(),
    "other work": lambda t, x: (x * 3).sum(),
}


def written(tg, of, stop, target, value, held, x):
    """All that a program may see of one such write."""
    t = MEMORIES[of](tg, x, held)
    before = STOPS[stop](t, x)
    to, what = PARTS[target](t), PARTS[value](t)
    early = what + 1
    if to.shape != what.shape:
        what = what.reshape(-1)[0].expand(to.shape)
    try:
        to.copy_(what)
        is_refused = 0.0
    except RuntimeError:  # PyTorch refuses some parts that overlap, before anything is written
        is_refused = 1.0
    late = what * 2
    t[0] = t[-1]
    t[:, 1] = t[2].clone()
    to.add_(1)
    return before, is_refused, early, late, t.t().reshape(-1) + 0, t.clone(), what.clone()


def holding(tg):
    tg.manual_seed(0)
    seen = tg.from_numpy(np.zeros((4, 4), np.float32))
    return {"t": ramp(tg, 4, 4), "large": ramp(tg, 6, 4), "seen": seen, "layer": tg.nn.Linear(4, 4)}


def numbers(tg, results):
    return [np.array(r.detach().numpy()) if isinstance(r, tg.Tensor) else r for r in results]


PLACES = list(enumerate(itertools.product(MEMORIES, STOPS)))
PAIRS = list(itertools.product(TARGETS, PARTS))


@pytest.mark.parametrize(("n", "place"), PLACES, ids=["-".join(place) for _, place in PLACES])
def test_noted_as_done_at_once(tg, n, place):
    """Every fourth pair of a target and a value, by numpy: what comes once is no program."""
    of, stop = place
    for target, value in PAIRS[n % 4 :: 4]:
        found = []
        for is_deferred in (False, True):
            held, x = holding(tg), ramp(tg, 4, 4)
            block = tg.deferred() if is_deferred else tg.enable_grad()
            with block:
                results = written(tg, of, stop, target, value, held, x)
            found.append(numbers(tg, [*results, x, *(held[name] for name in ("t", "large", "seen"))]))
        for i, (eager, noted) in enumerate(zip(*found, strict=True)):
            np.testing.assert_allclose(noted, eager, rtol=1e-5, err_msg=f"{target} = {value}: number {i}")


def program(of, stop, target, value):
    """The same in a compiled step, which is re-recorded where `stop` looks at numbers."""

    def make(tg):
        held, counted = holding(tg), {"n": 0}

        def step(x):
            counted["n"] += 1
            return written(tg, of, stop, target, value, held, x)

        return Program(step, lambda i: (ramp(tg, 4, 4) * (1 + 0.1 * i),), lambda: [held["t"], held["large"], counted])

    return make


CASES = list(itertools.product(MEMORIES, STOPS, TARGETS, PARTS))


@pytest.mark.parametrize("case", CASES[::331], ids="-".join)
def test_compiled_as_eager_mode(agree, case):
    agree(program(*case))


@pytest.mark.long(every=41)
@pytest.mark.parametrize("case", CASES[1::7], ids="-".join)
def test_many_compiled_as_eager_mode(agree, case):
    agree(program(*case))


@pytest.mark.parametrize("of", MEMORIES)
def test_values_are_read_before(tg, of):
    """A write reads all of its value first, also where the two overlap; nothing is written where it is refused."""
    for target, value in PAIRS:
        held, x = holding(tg), ramp(tg, 4, 4)
        t = MEMORIES[of](tg, x, held)
        to, what = PARTS[target](t), PARTS[value](t)
        if to.shape == what.shape:
            expected, before = what.clone(), t.clone()
            try:
                to.copy_(what)
            except RuntimeError:
                assert tg.equal(t, before), f"{target} = {value}"
            else:
                assert tg.equal(to, expected), f"{target} = {value}"
