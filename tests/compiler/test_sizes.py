"""Programs for all sizes, below ``tg.compile``: stand-ins read back, claims, patterns of two graphs."""

import dataclasses

import pytest

from tracegrad.compiler import stored
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.pipeline import SizedProgram
from tracegrad.compiler.schedule.index import Index, Variable, divided, modulo
from tracegrad.compiler.sizes import planning
from tracegrad.compiler.sizes.claims import noted
from tracegrad.compiler.sizes.pattern import Pattern
from tracegrad.compiler.sizes.standins import SETS, NotSized, is_size
from tracegrad.ops.core import interpreting
from tracegrad.ops.movement import reshape, slice
from tracegrad.ops.products import dot
from tracegrad.ops.reductions import sum
from tracegrad.ops.types import Type, float32

N, M = SETS[0].numbers


def sizing_of(one, other):
    return SizedProgram(one, other).plan


def graph_of(compute, **shapes):
    """``compute(*inputs)``, a tuple of results, as a recorded graph."""
    builder = Builder()
    nodes = [builder.input(name, Type(float32, shape)) for name, shape in shapes.items()]
    with interpreting(builder):
        results = compute(*nodes)
    return Graph("step", tuple(nodes), tuple(Result(f"r{i}", node) for i, node in enumerate(results)))


def mean_of(n):
    return graph_of(lambda x: (sum(x, (0, 1)) / (3 * n),), x=(n, 3))


# ------------------------------------------------------------------------------------------------------- stand-ins


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (N, "n0"),
        (M, "n1"),
        (3 * N, "(3 * n0)"),
        (N - 1, "(n0 - 1)"),
        (-N, "(-n0)"),
        (2 * N * N - 7 * N + 5, "(2 * n0 * n0 - 7 * n0 + 5)"),
        (6 * N * M + M, "(6 * n0 * n1 + n1)"),
        (12, "(12)"),
        (0, "(0)"),
    ],
)
def test_sums_and_products_read_back(number, text):
    polynomial = SETS[0].polynomial(number)
    assert str(polynomial) == text
    assert polynomial.at(SETS[0].numbers) == number
    n0, n1 = 7, 10
    assert polynomial.at((n0, n1)) == eval(text)  # the text is C, and Python too


@pytest.mark.parametrize("number", [N // 4, N // 2 + 1, N * 2**70, (N * N) // 3])
def test_other_numbers_do_not_read_back(number):
    with pytest.raises(NotSized):
        SETS[0].polynomial(number)


@pytest.mark.parametrize("modulus", [*range(3, 65), 100, 128, 1000, 1024, 4096])
def test_remainders_give_themselves_away(modulus):
    """What is rounded to a multiple reads back wrongly, and in another way with the other stand-in."""
    rounded = [standins.polynomial(-(-standins.numbers[0] // modulus) * modulus) for standins in SETS]
    assert rounded[0] != rounded[1]
    assert len({standins.numbers[1] % modulus for standins in SETS}) == 2


def test_texts_get_names_for_long_numbers_only():
    text = f"for (i0 < {3 * N}) x[{N}] = 0x1.555556p-2f * {2**63 - 1}; y_{N} = 0.{N}f;"
    assert SETS[0].named(text) == f"for (i0 < (3 * n0)) x[n0] = 0x1.555556p-2f * {2**63 - 1}; y_{N} = 0.{N}f;"
    assert SETS[0].names_in(text) == ("n0",)


def test_numbers_of_the_machine_are_no_sizes():
    assert not any(map(is_size, (0, -(2**63) + 1, 2**63 - 1)))
    assert is_size(N) and is_size(-M)


# ---------------------------------------------------------------------------------------------------------- claims


def test_divisions_that_vanish_for_large_sizes_are_claims():
    index = Index(((Variable("i0", 5), 1),))
    with noted() as claims:
        assert divided(index, N) == Index() and modulo(index, N) == index
    assert (4, N) in claims  # for four rows and fewer it is not so


def test_nothing_is_noted_for_plain_numbers():
    with noted() as claims:
        divided(Index(((Variable("i0", 5), 1),)), 7)
    assert not claims


def test_a_size_that_breaks_a_claim_is_not_served():
    sizing = sizing_of(mean_of(7), mean_of(9))
    polynomial = SETS[0].first(1).polynomial
    claims = ((polynomial(4), polynomial(N)),)
    sizing._known.interface = dataclasses.replace(sizing.interface, claims=claims)
    assert sizing.fit(mean_of(5)).sizes == (5,)
    with pytest.raises(NotSized, match="relies on"):
        sizing.fit(mean_of(4))


# --------------------------------------------------------------------------------------------------------- patterns


def test_two_graphs_make_a_graph_of_their_size():
    pattern = Pattern(mean_of(7), mean_of(9))
    assert pattern.sizes == [(7, 9)]
    sizes, numbers = pattern.fit(mean_of(11))
    assert sizes == (11,) and list(numbers.values()) == [33.0]
    assert pattern.fit(mean_of(0))[0] == (0,)


def test_equal_numbers_by_chance_are_told_apart():
    """For three rows of the first example the count is the constant 3.0 that is there anyway, and one node with it."""

    def make(n):
        return graph_of(lambda x: (sum(x, (0,)) / n + x.type.shape[1] * 1.0,), x=(n, 3))

    pattern = Pattern(make(3), make(5))
    assert list(pattern.fit(make(8))[1].values()) == [8.0]


@pytest.mark.parametrize(
    "other",
    [
        lambda n: graph_of(lambda x: (sum(x, (0, 1)) / (3 * n + 1),), x=(n, 4)),  # another axis, too: two sizes
        lambda n: graph_of(lambda x: (sum(x, (0, 1)) * (3 * n),), x=(n, 3)),
        lambda n: graph_of(lambda x: (sum(x * x, (0, 1)) / (3 * n),), x=(n, 3)),
        lambda n: graph_of(lambda x: (sum(x, (0, 1)) / (3 * n), x + 1), x=(n, 3)),
        lambda n: graph_of(lambda y: (sum(y, (0, 1)) / (3 * n),), y=(n, 3)),
    ],
)
def test_what_is_not_like_the_pattern_is_not_served(other):
    with pytest.raises(NotSized):
        sizing_of(mean_of(7), mean_of(9)).fit(other(11))


def test_bounds_that_do_not_follow_from_the_size_are_refused():
    def halves(n):
        return graph_of(lambda x: (slice(x, (0, 0), (n // 2, 3), (1, 1)),), x=(n, 3))

    with pytest.raises(NotSized, match="does not follow"):
        Pattern(halves(7), halves(10))
    with pytest.raises(NotSized):
        Pattern(halves(8), halves(10)).fit(halves(7))


def test_other_parts_of_a_size_that_agree_by_chance_are_found_by_their_types():
    """Seven times seven is seven times the size for seven rows."""

    def flat(n):
        return graph_of(lambda x: (reshape(x, (n * n,)),), x=(n, n))

    with pytest.raises(NotSized):
        sizing_of(flat(0), flat(7))
    assert sizing_of(flat(5), flat(7)).fit(flat(9)).sizes == (9,)


def test_the_same_program_for_each_pair_of_examples():
    def product(n):
        return graph_of(lambda x, w: (dot(x, w),), x=(n, 30), w=(30, 40))

    sources = {sizing_of(product(a), product(b)).way.source for a, b in [(2, 3), (100, 7), (64, 65), (5000, 1)]}
    assert len(sources) == 1


# ------------------------------------------------------------------------------------------------------------ the cache


@pytest.fixture
def plans(tmp_path, monkeypatch):
    """The patterns that went through the stages; the cache is empty."""
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    made, plan = [], planning.plan
    monkeypatch.setattr(planning, "plan", lambda pattern: made.append(pattern) or plan(pattern))
    return made


def test_a_program_for_all_sizes_is_planned_once_also_if_it_is_never_built(plans):
    """Parts of other programs are not."""
    first, second = (SizedProgram(mean_of(7), mean_of(9)) for _ in range(2))
    assert len(plans) == 1
    assert second.plan.interface == first.plan.interface
    assert second.fit(mean_of(11)).fit.words.tolist() == first.fit(mean_of(11)).fit.words.tolist()
    assert second.fit(mean_of(11)).built.program and len(plans) == 2  # its C was not there
    third = SizedProgram(mean_of(7), mean_of(9)).fit(mean_of(11))
    assert third.source == second.program.source and third.built.from_cache and len(plans) == 2


def test_what_the_stages_refuse_is_refused_once(plans, monkeypatch):
    def refuse(pattern):
        plans.append(pattern)
        raise NotSized("the schedule depends on it")

    monkeypatch.setattr(planning, "plan", refuse)
    for _ in range(2):
        with pytest.raises(NotSized, match="the schedule depends on it"):
            SizedProgram(mean_of(7), mean_of(9))
    assert len(plans) == 1


@pytest.mark.parametrize("problem", [MemoryError, RecursionError, OSError])
def test_what_fails_for_want_of_memory_or_stack_is_tried_again(plans, monkeypatch, problem):
    def fail(pattern):
        plans.append(pattern)
        raise NotSized("a stage cannot work") from problem()

    monkeypatch.setattr(planning, "plan", fail)
    for _ in range(2):
        with pytest.raises(NotSized, match="a stage cannot work"):
            SizedProgram(mean_of(7), mean_of(9))
    assert len(plans) == 2


def test_nothing_is_kept_of_a_plan_if_what_it_depends_on_has_changed_meanwhile(plans, monkeypatch):
    plan, now = planning.plan, stored.source_hash

    def changing(pattern):
        monkeypatch.setattr(stored, "source_hash", lambda: "another")
        return plan(pattern)

    monkeypatch.setattr(planning, "plan", changing)
    for count in (1, 2):
        monkeypatch.setattr(stored, "source_hash", now)  # as it was, in the next process
        SizedProgram(mean_of(7), mean_of(9))
        assert len(plans) == count
