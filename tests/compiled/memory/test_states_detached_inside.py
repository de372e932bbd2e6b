"""States that calls take over and detach, and what they store: nobody keeps what earlier calls have made of them."""

import gc
import weakref

import pytest
from side_by_side import served

CALLS, LATEST = 12, 3  # states that may be there: the present one, and what is handed out again


def given(tg, weight, way):
    step = served(tg, lambda x, state: (state.detach() * (x * weight).tanh()).tanh(), way)
    state = tg.ones(4, 3)
    while True:
        state = step(tg.ones(4, 3), state)
        yield state


def stored(tg, weight, way):
    holder = tg.nn.Module()
    holder.state = tg.ones(4, 3)

    def forward(x):
        holder.state = (holder.state.detach() * (x * weight).tanh()).tanh()

    step = served(tg, forward, way)
    while True:
        step(tg.ones(4, 3))
        yield holder.state


@pytest.mark.parametrize("way", ["eager", "replayed", "re-recorded"])
@pytest.mark.parametrize("states", [given, stored])
def test_earlier_states_are_gone(tg, states, way):
    weight = tg.ones(3, requires_grad=True)
    calls, seen = states(tg, weight, way), []
    for _ in range(CALLS):
        state = next(calls)
        assert state.requires_grad
        seen.append(weakref.ref(state.ndarray))
    del state
    gc.collect()
    assert sum(array() is not None for array in seen[LATEST:]) <= LATEST


def test_what_was_stored_goes_with_the_attribute(tg):
    layer = tg.nn.Linear(3, 3)
    layer.kept = None

    def forward(x):
        layer.kept = layer(x).detach()

    step = tg.compile(forward)
    stored = []
    for _ in range(CALLS):
        step(tg.ones(4, 3))
        stored.append(weakref.ref(layer.kept.ndarray))
    assert step.way == "replay"
    layer.kept = None
    gc.collect()
    assert not any(array() is not None for array in stored)
