"""Training steps as people write them (benchmarks/everyday), on a small model: as eager, and soon no new programs."""

import sys
from pathlib import Path

import pytest

from tracegrad.compiler import pipeline

ROOT = str(Path(__file__).resolve().parents[3])
sys.path.insert(0, ROOT)  # the folder of `benchmarks`, as for `python -m benchmarks.everyday`
from benchmarks.everyday import PATTERNS, Sizes, checks  # noqa: E402

sys.path.remove(ROOT)

SMALL = Sizes(rows=8, features=6, hidden=(8, 5), classes=4, seldom=5)
CALLS = 10  # that are compared
WARM = 24  # calls after which there shall be no new programs: each choice has been taken three times by then
LATER = 16
MOST_PROGRAMS = 8

# What the C compiler's optimiser makes of a program is not asked here, and takes most of the time.
QUICK = tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS)

VARIANTS = [(each, "whole") for each in PATTERNS] + [(each, "part") for each in PATTERNS if each.has_part]
NAMES = [f"{each.name}-{what}" for each, what in VARIANTS]

# Patterns that do more than they should. Strictly: what has been mended must leave these lists.
STILL_BUILT = {
    "actor_critic-whole": "each choice of five actions is a way of its own",
}
MANY_PROGRAMS = {
    **STILL_BUILT,
    "rebound-whole": "10: five tensors in a variable are recorded before such calls are re-recorded",
    "dataclass_batch-whole": "9: five objects are recorded before such calls are re-recorded",
    "dict_batch-whole": "9: five ids are recorded before such calls are re-recorded, though nothing reads them",
    "dqn-whole": "9: two models, a loss, an optimizer, and their parts",
    "evaluated_inside-whole": "10: four numbers are recorded before a call that is to be re-recorded",
    "logged-whole": "14: nine numbers are recorded before a call that is to be re-recorded",
    "module_dict-whole": "9: three models",
    "momentum_contrast-whole": "9: two models, and the teacher's update",
    "slices-whole": "10: six starts are recorded before such calls are re-recorded",
    "two_losses-whole": "11: three models and a weight that changes",
}


class Counted:
    """One run of a pattern, compared with eager mode, and how many programs there were."""

    def __init__(self, tg, pattern, what):
        expected = checks.outcome(checks.start(pattern, tg, SMALL), CALLS)
        compiling = checks.Compiling(tg.compile)
        run = checks.start(pattern, tg, SMALL, **{what: compiling})
        with checks.programs_made() as made:
            self.difference = checks.disagreement(checks.outcome(run, CALLS), expected)
            for i in range(CALLS, WARM):
                run.call(i)
            warm = len(made)
            for i in range(WARM, WARM + LATER):
                run.call(i)
        self.later = len(made) - warm
        self.programs = compiling.programs
        self.explanation = "\n".join(function.explain() for function in compiling.functions)


@pytest.fixture(scope="module")
def counted(tg):
    """`counted(name)`: each pattern is run once for all tests."""
    runs = {}

    def run(name):
        if name not in runs:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(pipeline, "FLAGS", QUICK)
                runs[name] = Counted(tg, *VARIANTS[NAMES.index(name)])
        return runs[name]

    return run


def but_for(known):
    """All names, those in `known` as expected failures."""
    marks = {name: pytest.mark.xfail(reason=reason, strict=True) for name, reason in known.items()}
    return [pytest.param(name, marks=marks[name]) if name in marks else name for name in NAMES]


@pytest.mark.parametrize("name", NAMES)
def test_it_does_what_eager_mode_does(counted, name):
    assert counted(name).difference == ""


@pytest.mark.long
@pytest.mark.parametrize("name", but_for(STILL_BUILT))
def test_programs_come_to_an_end(counted, name):
    assert counted(name).later == 0, counted(name).explanation


@pytest.mark.long
@pytest.mark.parametrize("name", but_for(MANY_PROGRAMS))
def test_a_few_programs_are_enough(counted, name):
    assert 1 <= counted(name).programs <= MOST_PROGRAMS, counted(name).explanation


def test_a_difference_is_found(tg):
    """The comparison that the others rest on sees one number in one call, in what is kept, and in a tensor."""
    returned = next(each for each in PATTERNS if each.name == "running_loss")
    one, other = (checks.outcome(checks.start(returned, tg, SMALL), 3) for _ in range(2))
    assert checks.disagreement(one, other) == ""
    other.tensors[0][0, 0] += 0.01
    assert "tensor 0" in checks.disagreement(one, other)
    other.kept[0] += 1.0
    assert "kept" in checks.disagreement(one, other)
    other.results[2] = [0.5]
    assert "call 2" in checks.disagreement(one, other)
