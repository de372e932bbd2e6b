"""What shares a kernel, what stays in memory, and in which order kernels run."""

import math
import random
import re

import numpy as np
import pytest
from sample_graphs import CASES
from sample_steps import classifier_step, moons_step

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.schedule.index import Variable, divided, flattened, modulo, of_variable, unflattened
from tracegrad.compiler.schedule.memory import Lifetime, Names, offsets
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.compiler.schedule.records import DotKernel, LoopKernel, SpecialKernel, Store, places_in
from tracegrad.compiler.schedule.traffic import read_by, writes


def kernels_writing(schedule, name):
    return [kernel for kernel in schedule.kernels if name in writes(kernel)]


def test_softmax_is_one_kernel_without_memory_of_its_own():
    schedule = make_schedule(CASES["softmax"])
    (kernel,) = kernels_writing(schedule, "entropy_")
    assert kernel.outer
    assert schedule.arena_bytes == 0


def test_bias_and_activation_run_on_the_product():
    schedule = make_schedule(CASES["linear"])
    (kernel,) = schedule.kernels
    assert isinstance(kernel, DotKernel)
    assert set(writes(kernel)) == {"h_", "positive_"}


def test_transposed_operands_are_strides():
    (kernel,) = make_schedule(CASES["linear"]).kernels
    assert (kernel.b.buffer, kernel.b.row_stride, kernel.b.column_stride) == ("w_", 1, 8)


def test_adam_runs_on_the_product_that_makes_the_gradient():
    schedule = make_schedule(classifier_step("classifier", 32, 24, 40, 20, 10))
    for weight in ("l0_weight", "l1_weight", "l2_weight"):
        (kernel,) = kernels_writing(schedule, f"{weight}_")
        assert isinstance(kernel, DotKernel)
        assert set(writes(kernel)) == {f"{weight}_", f"{weight}_exp_avg_", f"{weight}_exp_avg_sq_"}


def test_cross_entropy_and_its_gradient_are_one_kernel_over_rows():
    schedule = make_schedule(classifier_step("classifier", 32, 24, 40, 20, 10))
    rows = [k for k in schedule.kernels if isinstance(k, LoopKernel) and k.outer]
    assert len(rows) == 1
    assert {a.op for stage in rows[0].stages for a in stage.accumulators} == {"amax", "sum"}


def test_bias_gradients_are_summed_and_applied_in_one_kernel():
    schedule = make_schedule(moons_step())
    (kernel,) = kernels_writing(schedule, "l0_bias_")
    assert [a.op for stage in kernel.stages for a in stage.accumulators] == ["sum"]


def test_checks_come_before_what_follows_their_indices_and_before_writes_into_inputs():
    schedule = make_schedule(classifier_step("classifier", 32, 24, 40, 20, 10))
    kinds = [isinstance(kernel, SpecialKernel) and kernel.check > 0 for kernel in schedule.kernels]
    inputs = {b.name for b in schedule.buffers if b.place == "slot"} - {"loss_"}
    first_write = next(n for n, kernel in enumerate(schedule.kernels) if inputs & set(writes(kernel)))
    first_row_kernel = next(n for n, k in enumerate(schedule.kernels) if isinstance(k, LoopKernel) and k.outer)
    assert kinds.index(True) < min(first_write, first_row_kernel)


def test_an_input_that_is_overwritten_early_is_written_through_a_temporary():
    schedule = make_schedule(CASES["transposed_in_place"])
    (copy,) = kernels_writing(schedule, "a_")
    assert read_by(copy) == ("a_new_",)


def test_contiguous_loops_become_one():
    schedule = make_schedule(CASES["results_that_are_inputs"])
    loops = [stage.loops for kernel in schedule.kernels for stage in kernel.stages if stage.loops]
    assert all(len(nest) == 1 for nest in loops)


def test_reshapes_cut_the_loops_and_leave_no_division():
    for name in ("movement", "pieces_added"):
        schedule = make_schedule(CASES[name])
        statements = [s for k in schedule.kernels for stage in k.stages for s in stage.body if isinstance(s, Store)]
        assert statements and all(s.index.is_affine for s in statements)


def test_division_of_indices():
    i, j = (of_variable(v) for v in (Variable("i", 4), Variable("j", 6)))
    index = i * 6 + j
    assert divided(index, 6) == i
    assert modulo(index, 6) == j
    assert unflattened(flattened((i, j), (4, 6)), (2, 2, 6))[2] == j
    assert str(divided(index, 5)) == "(i * 6 + j) / 5"


@pytest.mark.parametrize("seed", range(40))
def test_indices_behind_reshapes_and_transpositions(seed):
    """Whatever is simplified: each element of what numpy makes of a counter lies where the index says."""
    rng = random.Random(seed)
    shape = [rng.choice([1, 2, 3, 4, 6, 8]) for _ in range(rng.randint(1, 4))]
    variables = [Variable(f"i{axis}", extent) for axis, extent in enumerate(shape)]
    index, expected = flattened([of_variable(v) for v in variables], shape), np.arange(math.prod(shape))
    for _ in range(rng.randint(1, 3)):
        extents = list(factors(math.prod(shape), rng))
        order = rng.sample(range(len(extents)), len(extents))
        position = unflattened(index, extents)
        # The element at `index` of the array before lies there in the array behind.
        index = flattened([position[axis] for axis in order], [extents[axis] for axis in order])
        places = np.arange(expected.size).reshape([extents[axis] for axis in order])
        expected = places.transpose(np.argsort(order)).ravel()[expected]
    counters = dict(zip((v.name for v in variables), np.indices(shape), strict=True))
    text = str(index).replace("/", "//")
    assert np.array_equal(np.broadcast_to(eval(text, counters), shape).ravel(), expected)  # noqa: S307


def factors(number, rng):
    while number > 1:
        factor = rng.choice([n for n in range(2, number + 1) if number % n == 0])
        yield factor
        number //= factor


def test_indices_from_memory_are_not_divided_with_what_decides_nothing():
    """A row of an image with the channels last: the channel is no part of the quotients."""
    schedule = make_schedule(CASES["rows_of_channels_last"])
    (index,) = {i for k in schedule.kernels for b, i in places_of(k) if b == "x_"}
    assert "x_[" not in "".join(re.findall(r"\?.*", render(schedule)))  # it is read before the choice
    assert re.fullmatch(r"\(\((v\d+)\) / 48\) \* 240 \+ i1 \* 48 \+ \(\1\) % 48", str(index))


def places_of(kernel):
    stages = kernel.all_stages if isinstance(kernel, LoopKernel) else ()
    return [place for stage in stages for statement in stage.body for place in places_in(statement)]


def test_differences_of_pairs_have_no_memory():
    assert make_schedule(CASES["differences_of_pairs"]).arena_bytes <= 2 * 64 + 24 * 18 * 5


def test_what_is_read_through_views_is_computed_once():
    source = render(make_schedule(CASES["read_through_views"]))
    assert source.count("tg_tanhf(") == source.count("tg_expf(") == 1


def test_what_stays_the_same_is_decided_around_the_innermost_loop():
    """Quotients and choices, and elements that one side of a choice asks for: branches would keep vectors out."""
    source = render(make_schedule(CASES["choices_in_rows"]))
    innermost = [part.split("}")[0] for part in re.split(r"#pragma omp simd.*", source)[1:]]
    assert " / " in source and not any(" / " in part or "? x_[i0]" in part for part in innermost)


def test_memory_is_shared_by_what_does_not_live_together():
    places, size = offsets([Lifetime(100, 0, 1), Lifetime(100, 1, 2), Lifetime(64, 2, 3)])
    assert places[0] != places[1]
    assert places[2] == places[0]
    assert size == 256


def test_names_of_users_are_safe_c():
    names = Names()
    given = ["fc1.weight", "fc1_weight", "fc1_weight_2", "fc1_weight_", "größe", "1x", "for", "v2", "", "a*/b"]
    made = [names.unique(text) for text in given]
    assert made[:2] == ["fc1_weight_", "fc1_weight_2_"]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(r"[A-Za-z]\w*(?<!_)_", name, re.ASCII) for name in made)


def test_equal_kernels_are_one_function():
    source = render(make_schedule(CASES["equal_layers"]))
    assert len(re.findall(r"^static void dot_tanh_\d+\(", source, re.MULTILINE)) == 1
    assert len(re.findall(r"^    dot_tanh_0\(", source, re.MULTILINE)) == 3
    assert re.findall(r"^    sub_0\((\w+), (\d+)\)", source, re.MULTILINE) == [("p_", "7"), ("q_", "30")]
