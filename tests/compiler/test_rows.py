"""Row work, powers, sorting and turned loops against numpy, and what their C must not do."""

import re
from collections import defaultdict

import numpy as np
import pytest
from harness import compile_asked, compile_graphs
from row_graphs import EXPONENTS, graph_of, row_graphs

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.ops.movement import broadcast, reshape
from tracegrad.ops.reductions import amax

GRAPHS = {graph.name: (graph, values) for graph, values in row_graphs()}
# Sums are taken in another order than numpy's, and a row of some thousand numbers has a variance of few digits.
TOLERANCE = {"float32": 5e-5, "float64": 1e-11}
POWER_ULP = 2.0


@pytest.fixture(scope="module")
def compiled(request):
    return compile_asked(request, {name: graph for name, (graph, _) in GRAPHS.items()})


def source(name):
    return render(make_schedule(GRAPHS[name][0]))


@pytest.mark.long(fast=19, every=7)
@pytest.mark.parametrize("name", [name for name in GRAPHS if not name.startswith("powers")])
def test_the_c_gives_what_numpy_gives(compiled, name):
    graph, values = GRAPHS[name]
    expected = evaluate_graph(graph, values)
    actual = compiled[name].run({key: np.array(value, order="C") for key, value in values.items()})
    for key, value in expected.items():
        allowed = TOLERANCE.get(str(value.dtype), 0)
        np.testing.assert_allclose(actual[key], value, rtol=allowed, atol=allowed, err_msg=key)


@pytest.mark.parametrize("name", [name for name in GRAPHS if name.startswith("powers")])
def test_powers_with_a_constant_exponent(compiled, name):
    """Right to two ulp, subnormal results included, and at zeros, infinities and NaN what eager mode gives."""
    graph, values = GRAPHS[name]
    x = values["x"]
    actual = compiled[name].run({"x": x.copy()})
    for n, exponent in enumerate(EXPONENTS):
        value = actual[f"power_{n}"]
        with np.errstate(all="ignore"):
            eager = evaluate_graph(graph, values)[f"power_{n}"]
            exact = x.astype(np.longdouble) ** exponent
            rounded = exact.astype(x.dtype)
        usual = np.isfinite(x) & (x != 0) & np.isfinite(rounded)
        is_nan = np.isnan(eager)
        np.testing.assert_array_equal(value[~usual], eager[~usual], err_msg=str(exponent))
        np.testing.assert_array_equal(np.signbit(value[~is_nan]), np.signbit(eager[~is_nan]), err_msg=str(exponent))
        error = np.abs(value[usual] - exact[usual]) / np.spacing(np.abs(rounded[usual]))
        assert np.max(error) <= POWER_ULP, exponent


def test_what_is_costly_is_computed_once_in_a_row():
    """What several stages want of erf and exp is computed by the first, but for the element of a row that is picked.

    All sums are in the one pass over memory.
    """
    text = source("row_work_5_300_float32")
    assert text.count("tg_erff(") == 1 + 1
    assert text.count("tg_expf(") == 2 + 1
    sums = re.findall(r"^static void (\w*sum\w*)", text, re.M)
    assert sums == ["mul_sum_rsqrt_amax_0", "sum_0"]  # the second adds up what rows have one of


def test_short_rows_are_worked_on_side_by_side():
    """No loop over ten columns is the innermost one."""
    inner = re.findall(r"#pragma omp simd.*\n\s*for \(long \w+ = 0; \w+ < (\d+);", source("row_work_64_10_float32"))
    assert inner.count("64") >= 5


def test_truth_values_are_no_bool():
    assert not re.search(r"\bbool \w+ =", source("truths_5_300"))


def test_rows_of_large_memory_are_fetched_ahead():
    """The next row that is read, and this row of what later loops write: never what lies behind a buffer."""
    schedule = make_schedule(GRAPHS["row_work_277_2048_float32"][0])
    (_, kernel, *_), sizes = schedule.kernels, {buffer.name: buffer.type.size for buffer in schedule.buffers}
    whole = {}
    for each in kernel.ahead:
        first, last = whole.get((each.buffer, each.is_next), (0, 0))
        assert each.first == last < each.last  # piece behind piece
        whole[each.buffer, each.is_next] = (first, each.last)
        assert each.index.highest + 2048 == sizes[each.buffer]
    assert whole == {(name, name == "x_"): (0, 2048) for name in ("chances_", "gradient_", "x_")}
    text = render(schedule)
    assert text.count("const long next = i0 + 1 < 277 ? i0 + 1 : i0;") == 1
    fetched = {"&x_[next * 2048 + line]", *(f"&{name}[i0 * 2048 + line], 1" for name in ("chances_", "gradient_"))}
    assert set(re.findall(r"__builtin_prefetch\((.*)\);", text)) == fetched
    assert text.index("tg_erff(") < text.index("__builtin_prefetch") < text.index("tg_expf(", text.index("tg_erff("))


def test_rows_are_fetched_a_piece_between_one_loop_and_the_next():
    """Never more lines at once than there must be; what a loop writes is fetched in front of it."""
    kernel = make_schedule(GRAPHS["row_work_277_2048_float32"][0]).kernels[1]
    nests = [stage for stage in kernel.stages if stage.loops]
    lines = defaultdict(int)
    for each in kernel.ahead:
        lines[each.loop] += -(-(each.last - each.first) * each.itemsize // 64)
        written = [n for n, s in enumerate(nests) if any(getattr(x, "buffer", "") == each.buffer for x in s.body)]
        assert each.is_next or each.loop <= min(written)
    assert list(lines) == sorted(lines) and set(lines) <= set(range(1, len(nests)))
    assert max(lines.values()) <= -(-3 * 2048 * 4 // 64 // (len(nests) - 1)) + 1


@pytest.mark.parametrize("name", [name for name in GRAPHS if "_277_" not in name])
def test_rows_that_stay_in_the_cache_are_not_fetched(name):
    assert "__builtin_prefetch" not in source(name)


@pytest.mark.parametrize("rows, columns", [(64, 10), (48, 37), (32, 16)])
def test_results_of_short_rows_are_written_in_order(rows, columns):
    """Folds run across rows, side by side; what comes of them runs along each row."""

    def less_the_most(x):
        return {"less": x - broadcast(reshape(amax(x, (1,)), (rows, 1)), (rows, columns))}

    x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
    graph, values = graph_of(less_the_most, "less_the_most", x=x)
    *_, fold, stored = make_schedule(graph).kernels[0].stages
    assert fold.loops[-2].extent == stored.loops[-1].extent == columns
    assert fold.loops[-1] == stored.loops[-2]
    np.testing.assert_array_equal(compile_graphs([graph])[0].run(values)["less"], evaluate_graph(graph, values)["less"])


@pytest.mark.parametrize("columns, dtype", [(16, "float32"), (8, "float64"), (4, "float32")])
def test_gcc_does_not_know_steps_that_are_powers_of_two(columns, dtype):
    """It would read all that lies between two lanes."""
    text = source(next(name for name in GRAPHS if re.fullmatch(rf"row_work_\d+_{columns}_{dtype}", name)))
    work = next(function for function in text.split("\n}\n") if "tg_hidden" in function)
    assert f"const long step{columns} = tg_hidden({columns});" in work
    loops = re.findall(r"#pragma omp simd.*\n\s*for \(long (\w+) = 0; .*\n\s*\{((?:.*\n)*?)\s*\}\n", work)
    assert any(f"{lanes} * step{columns}" in body for lanes, body in loops)
    assert not any(re.search(rf"{lanes} \* {columns}\b", body) for lanes, body in loops)
