"""Short programs (expected/behaviour) do what PyTorch did with them, eager and compiled."""

import numpy as np
import pytest
from expected import behaviour

STORED = behaviour.stored()
#: Programs that stand for their kind in compiled mode, of the many: each of them is a build.
EVERY = 40


def test_all_programs_are_stored():
    assert {topic: set(programs) for topic, programs in STORED.items()} == {
        name: set(topic.programs()) for name, topic in behaviour.TOPICS.items()
    }


@pytest.mark.parametrize("topic", behaviour.TOPICS)
def test_eager(tg, topic):
    differing = {}
    for program, expected in STORED[topic].items():
        found = behaviour.outcome(behaviour.function_of(tg, program))
        try:
            behaviour.assert_agrees(found, expected)
        except AssertionError:
            if not ("np.bool_(True)]" in program and hasattr(np.bool_, "__index__")):  # NumPy's own, before 2.3
                differing[program] = (found, expected)
    assert differing == {}


def compiled_agrees(tg, programs):
    differing = {}
    for program in programs:
        function = behaviour.function_of(tg, program)
        tg.manual_seed(0)
        expected = behaviour.outcome(function)
        step = function if tg.__name__ == "torch" else tg.compile(function)
        for _ in range(3):
            tg.manual_seed(0)
            found = behaviour.outcome(step)
            try:
                behaviour.assert_agrees(found, expected)
            except AssertionError:
                differing[program] = (found, expected)
    assert differing == {}


@pytest.mark.long(fast="first", every=3)
@pytest.mark.parametrize("topic", behaviour.TOPICS)
def test_compiled(tg, topic):
    compiled_agrees(tg, list(STORED[topic])[::EVERY])


@pytest.mark.long(every=7)
@pytest.mark.parametrize("topic", behaviour.TOPICS)
def test_every_program_compiled(tg, topic):
    compiled_agrees(tg, STORED[topic])
