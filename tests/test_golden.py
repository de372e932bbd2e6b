"""The three levels of whole training steps, as a person has read them and found them good.

After a change that is wanted, `pytest --update-golden` writes the files anew and shows what became of them.
"""

from functools import lru_cache

import pytest
from golden.training_steps import PROGRAMS, regression_of_size

import tracegrad as tg

LEVELS = ("graph", "schedule", "c")


@lru_cache
def levels(name):
    """What the compiled step prints, by level, after the call that records it and one that runs the C."""
    tg.manual_seed(0)
    function, arguments = PROGRAMS[name]()
    step = tg.compile(function)
    step(*arguments)
    step(*arguments)
    return {"graph": str(step.graph), "schedule": str(step.schedule), "c": kernels(step.source)}


def kernels(source):
    """The functions without the includes before and the call of them behind: they are the same in all programs."""
    return source.partition('#include "tg_vector.h"\n')[2].partition("/* slots:")[0].strip()


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_level_is_as_it_was(name, level, golden):
    text = levels(name)[level]
    assert text
    golden(f"{name}.{level}", text)


@lru_cache
def levels_for_all_sizes():
    """The same of the program that a second size brings about; the third runs it."""
    tg.manual_seed(0)
    function, arguments_of = regression_of_size()
    step = tg.compile(function)
    for size in (4, 5, 9):
        step(*arguments_of(size))
    return {"graph": str(step.graph), "schedule": str(step.schedule), "c": kernels(step.source)}


@pytest.mark.parametrize("level", LEVELS)
def test_a_program_for_all_sizes_is_as_it_was(level, golden):
    golden(f"regression_of_size.{level}", levels_for_all_sizes()[level])
