"""Modules and functions on parts of what earlier calls have computed: that history may have been freed, or written to,
which a backward pass through it tells of, and no forward pass."""

import pytest
from side_by_side import Program, ramp

PARTS = {
    "every other row": lambda p: p[::2],
    "a row, expanded": lambda p: p[1].expand(6, 3),
    "columns": lambda p: p.reshape(3, 12).t()[:6],
    "all": lambda p: p,
}
WHOLES = {
    "a layer": lambda tg: tg.nn.Linear(3, 3),
    "normalisation": lambda tg: tg.nn.BatchNorm1d(3),
    "several": lambda tg: tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.Tanh(), tg.nn.LayerNorm(3)),
}


def freed(t, h):
    h.sum().backward()
    t.held = h[[0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]]


def written(t, h):
    t.held[::2].t()[2] = h[:6, 0]


def written_and_passed(t, h):
    t.held = t.held * 0.5
    t.held[1] = h[0]
    t.held.sum().backward()


def only_longer(t, h):
    t.held = h[[0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5]]


THEN = {f.__name__: f for f in (freed, written, written_and_passed, only_longer)}


class Steps:
    def __init__(self, tg, part, whole, then):
        tg.manual_seed(0)
        self.whole, self.held, self.log = WHOLES[whole](tg), ramp(tg, 12, 3) * 0.3, []
        self.part, self.then = PARTS[part], THEN[then]

    def step(self, x):
        self.log.append(x.sum().item())
        for _ in range(2):
            try:
                h = self.whole(self.part(self.held))
                self.log.append("forward")
                self.then(self, h)
                self.log.append("backward")
            except RuntimeError as error:
                self.log.append(str(error).partition("\n")[0])
        return self.held.detach() * 1

    def program(self, tg):
        return Program(self.step, lambda i: (ramp(tg, 6, 3) + i,), lambda: (self.log, *self.whole.parameters()))


@pytest.mark.parametrize("then", THEN)
@pytest.mark.parametrize("whole", WHOLES)
@pytest.mark.parametrize("part", PARTS)
def test_it_is_eager(agree, part, whole, then):
    agree(lambda tg: Steps(tg, part, whole, then).program(tg), calls=5)
