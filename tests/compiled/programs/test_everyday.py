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
# Calls after which there shall be no new programs. What every fifth call does has been done seven times by then: twice
# recorded, twice noted while its parts come up, once noted as it will be, and built when that comes again.
WARM = 36
LATER = 16
MOST_PROGRAMS = 5

# What the C compiler's optimiser makes of a program is not asked here, and takes most of the time.
QUICK = tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS)

VARIANTS = [(each, "whole") for each in PATTERNS] + [(each, "part") for each in PATTERNS if each.has_part]
NAMES = [f"{each.name}-{what}" for each, what in VARIANTS]


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
        self.programs = len(made)
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


@pytest.mark.long(fast="first", every=11)
@pytest.mark.parametrize("name", NAMES)
def test_it_does_what_eager_mode_does(counted, name):
    assert counted(name).difference == ""


#: What these do makes programs for a long time.
MAKING_PROGRAMS = ()
#: These make more than a few: which layers run.
MAKING_MANY = ("stochastic_depth-whole",)


def counted_names(known):
    """All patterns; those of `known` are cliffs, which a test notices when one is gone."""
    cliff = pytest.mark.xfail(reason="a known cliff", strict=True)
    return [pytest.param(name, marks=cliff) if name in known else name for name in NAMES]


@pytest.mark.long(fast="first", every=13)
@pytest.mark.parametrize("name", counted_names(MAKING_PROGRAMS))
def test_programs_come_to_an_end(counted, name):
    assert counted(name).later == 0, counted(name).explanation


@pytest.mark.long(fast="first", every=11)
@pytest.mark.parametrize("name", counted_names(MAKING_MANY))
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
