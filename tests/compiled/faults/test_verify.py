"""step.verify(): what it reports, that it finds a wrong program, and that it leaves everything as it was."""

import copy
import random

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.compiled import VerificationError
from tracegrad.compiled.verification.difference import moved_by_a_rounding
from tracegrad.compiler import pipeline
from tracegrad.compiler.errors import CompilerError


def training(make_optimizer=lambda p: tg.optim.Adam(p, lr=1e-2), end=None):
    """A compiled training step with dropout and normalisation, and its batch."""
    tg.manual_seed(3)
    model = tg.nn.Sequential(
        *(tg.nn.Linear(6, 8), tg.nn.BatchNorm1d(8), tg.nn.ReLU(), tg.nn.Dropout(0.25), tg.nn.Linear(8, 3))
    )
    optimizer = make_optimizer(model.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = tg.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return tg.compile(step), model, optimizer, (tg.randn(10, 6), tg.tensor([0, 1, 2, 0, 1, 2, 0, 1, 2, 0]))


def momentum(parameters):
    return tg.optim.SGD(parameters, lr=0.1, momentum=0.9)


def state_of(model, optimizer):
    """All that the user can see: numbers, identities, versions, gradients, options, random numbers."""
    tensors = [*model.parameters(), *model.buffers()]
    tensors += [value for entry in optimizer.state.values() for value in entry.values()]
    facts = []
    for tensor in tensors:
        grad = tensor.grad
        facts.append((id(tensor), id(tensor.ndarray), tensor.ndarray.tobytes(), tensor._version, tensor.requires_grad))
        facts.append(None if grad is None else (id(grad), grad.ndarray.tobytes(), grad._version))
    entries = [(id(p), list(entry)) for p, entry in optimizer.state.items()]
    rng = tg.get_rng_state().numpy().tobytes()
    return facts, entries, copy.deepcopy(optimizer.state_dict()["param_groups"]), rng, random.getstate()


@pytest.mark.parametrize("make_optimizer", [momentum, lambda p: tg.optim.Adam(p, lr=1e-2)], ids=["sgd", "adam"])
@pytest.mark.parametrize("calls", [0, 1, 4])
def test_a_right_program_agrees_and_the_state_is_untouched(make_optimizer, calls):
    step, model, optimizer, batch = training(make_optimizer)
    for _ in range(calls):
        step(*batch)
    if calls == 1:
        optimizer.zero_grad()
    kept = [p.grad for p in model.parameters()]  # an identity must not be given to another object
    before = state_of(model, optimizer)
    report = step.verify(*batch)
    assert report.ok and report.way == "replay"
    assert state_of(model, optimizer) == before
    assert all(p.grad is grad for p, grad in zip(model.parameters(), kept, strict=True))
    kinds = {(row.kind, row.name) for row in report.rows}
    assert {("result", "result"), ("gradient", "0.weight"), ("updated", "4.weight")} <= kinds
    assert ("updated", "1.running_mean") in kinds


def test_the_calls_after_it_are_those_without_it():
    losses = []
    for verified in (False, True):
        step, model, _, batch = training()
        own = []
        for _ in range(6):
            own.append(step(*batch).item())
            if verified:
                assert step.verify(*batch).ok
        losses.append((own, [p.detach().numpy().copy() for p in model.parameters()]))
    assert losses[0][0] == losses[1][0]
    for one, other in zip(losses[0][1], losses[1][1], strict=True):
        np.testing.assert_array_equal(one, other)


def test_rows_say_how_far_apart_and_where():
    step = tg.compile(lambda x: (x.sum(), x * 2))
    report = step.verify(tg.linspace(0.1, 3.0, 1000))
    by_name = {row.name: row for row in report.rows}
    total, double = by_name["result[0]"], by_name["result[1]"]
    assert total.shape == () and total.dtype == "float32" and total.ulp < 1000 and total.ok
    assert double.shape == (1000,) and double.ulp == 0 and double.relative == 0
    assert "test_verify.py" in double.line
    table = str(report).splitlines()
    assert "agree" in table[0] and all(word in table[1] for word in ("name", "shape", "ulp", "relative", "line"))
    assert len(table) == 2 + len(report.rows)


@pytest.fixture
def wrong_constant(monkeypatch, tmp_path):
    """From now on programs are built with 0x1.8p+1 (three) replaced by another number: a wrong kernel. They lie in a
    cache of their own: a program that was made before would be found, and a wrong one kept."""
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path))
    render = pipeline.stages.render

    def spoiled(schedule):
        source = render(schedule)
        assert "0x1.8p+1f" in source or "3.0f" in source
        return source.replace("0x1.8p+1f", "0x1.9p+1f").replace("3.0f", "3.125f")

    monkeypatch.setattr(pipeline.stages, "render", spoiled)


def with_a_three(x, w):
    right = w * w
    wrong = x * 3.0  # the line of the planted fault
    return right.sum(), wrong + 1.0


def test_a_wrong_kernel_is_found_and_the_line_named(wrong_constant):
    step = tg.compile(with_a_three)
    report = step.verify(tg.randn(4, 5), tg.randn(3))
    first, second = report.rows
    assert not report.ok and first.ok and not second.ok
    assert second.ulp > 1e4 and len(second.where) == 2
    planted = with_a_three.__code__.co_firstlineno + 2
    assert f"test_verify.py:{planted + 1}" in second.line
    assert any(f"test_verify.py:{planted}" in line for line in report.suspects)
    assert not any(f"test_verify.py:{planted - 1}" in line for line in report.suspects)
    assert "DIFFER" in str(report) and "<<<" in str(report)


def test_a_wrong_gradient_is_found(wrong_constant):
    w = tg.ones(4, requires_grad=True)

    def step(x):
        w.grad = None
        loss = (x * w * w * w).sum() + (w.detach() * 3.0).sum()
        loss.backward()
        return (w.grad * 3.0).sum()

    report = tg.compile(step).verify(tg.randn(4))
    assert not report.ok and w.grad is None


def test_verify_1_verifies_each_specialisation_once_and_refuses_a_wrong_one(monkeypatch, wrong_constant):
    monkeypatch.setenv("TRACEGRAD_VERIFY", "1")
    total = tg.zeros(4, 5)

    def step(x):
        total.add_(x * 3.0)
        return total.sum()

    compiled, x = tg.compile(step), tg.ones(4, 5)
    compiled(x)  # recorded: an eager call
    with pytest.raises(VerificationError) as error:
        compiled(x)
    assert total.ndarray.tolist() == np.full((4, 5), 3.0).tolist()  # nothing was changed
    line = step.__code__.co_firstlineno + 1
    assert f"test_verify.py:{line}" in str(error.value) and "without tg.compile" in str(error.value)


def test_verify_1_lets_right_programs_run(monkeypatch):
    results = []
    for value in ("", "1"):
        monkeypatch.setenv("TRACEGRAD_VERIFY", value)
        step, model, _, (x, y) = training(momentum)
        own = [step(x[:size], y[:size]).item() for size in (10, 10, 10, 7, 7, 10, 7)]
        assert len({id(s) for s in step.specialisations}) == len(step.specialisations)
        assert not value or not any(s.unverified for s in step.specialisations)
        results.append((own, [p.detach().numpy().tobytes() for p in model.parameters()]))
    assert results[0] == results[1]


def test_a_rerecorded_function_is_compared_too_and_its_lists_are_put_back():
    losses, counter = [], {"calls": 0}
    w = tg.ones(3, requires_grad=True)

    def step(x):
        counter["calls"] += 1
        w.grad = None
        loss = (w * x).sum()
        loss.backward()
        losses.append(loss.item())
        return loss.item() * 2

    compiled, x = tg.compile(step), tg.randn(3)
    for _ in range(3):
        compiled(x)
    report = compiled.verify(x)
    assert report.ok and report.way == "re-record"
    assert len(losses) == 3 and counter == {"calls": 3}
    assert {row.kind for row in report.rows} >= {"result"}


def test_the_backward_of_a_compiled_model_is_compared():
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 2))
    report = tg.compile(model).verify(tg.randn(5, 3))
    assert report.ok and sum(row.kind == "gradient" for row in report.rows) == 4
    assert all(p.grad is None for p in model.parameters())


def test_gradients_that_are_nothing_but_roundings_are_no_fault():
    """A bias before a normalisation has the gradient 0; Adam makes steps of full size of what roundings leave."""
    step, _, _, batch = training()
    for _ in range(3):
        step(*batch)
    report = step.verify(*batch)
    assert report.ok


def test_an_error_of_the_function_is_compared():
    table = tg.randn(4, 2)
    step = tg.compile(lambda i: table[i].sum())
    for _ in range(3):
        step(tg.tensor([0, 3]))
    report = step.verify(tg.tensor([0, 9]))
    assert report.ok and "raises IndexError" in report.rows[0].note


def test_a_function_that_never_gets_compiled():
    calls = []

    def step(x):
        return x * len(calls)

    compiled = tg.compile(step, fullgraph=True)
    original = compiled._call
    compiled._call = lambda args, kwargs: (calls.append(0), original(args, kwargs))[1]
    with pytest.raises(CompilerError, match="no compiled form"):
        compiled.verify(tg.ones(2))


def test_random_numbers_of_python_are_put_back():
    step = tg.compile(lambda x: x * random.random())
    before = random.getstate()
    step.verify(tg.ones(2))
    assert random.getstate() == before


def test_views_and_outside_writes():
    whole = tg.zeros(4, 3)
    part = whole[1:3]

    def step(x):
        part.add_(x)
        return whole.sum()

    compiled = tg.compile(step)
    report = compiled.verify(tg.ones(2, 3))
    assert report.ok and whole.ndarray.sum() == 0 and whole._version == 0
    compiled(tg.ones(2, 3))
    compiled(tg.ones(2, 3))
    assert whole.sum().item() == 12


def test_results_whose_graph_is_used_up_have_no_backward_to_compare():
    """One result was differentiated inside, the other can be: only its backward is compared."""
    w = tg.ones(3, requires_grad=True)

    @tg.compile
    def step(x):
        loss = (w * x).sin().sum()
        loss.backward()
        return loss, (w * x).cos()

    x = tg.tensor([0.5, 1.0, 1.5])
    step(x)
    report = step.verify(x)
    assert report.ok and not any(row.kind == "call" for row in report.rows), report


def graph_before_a_compiled_model(verifying):
    """A compiled head behind eager layers: what the users' own graph and gradients are after a call of the head."""
    tg.manual_seed(0)
    trunk, head = tg.nn.Linear(4, 5), tg.nn.Sequential(tg.nn.Linear(5, 3), tg.nn.Tanh())
    compiled, seen = tg.compile(head), []

    def note(g):
        seen.append(g.sum().item())

    for i in range(3):
        x = tg.randn(6, 4) * (i + 1)
        hidden = trunk(x).tanh()
        hidden.register_hook(note)
        if verifying:
            assert compiled.verify(hidden).ok
        assert hidden.grad_fn.name() == "TanhBackward0" and trunk.weight.grad is None
        compiled(hidden).square().sum().backward()
        seen += [p.grad.tolist() for p in [*trunk.parameters(), *head.parameters()]]
        trunk.zero_grad(), head.zero_grad()
    return seen


def test_the_graph_behind_an_argument_is_left_alone():
    plain, verified = graph_before_a_compiled_model(False), graph_before_a_compiled_model(True)
    np.testing.assert_equal(len(plain), len(verified))
    for one, other in zip(plain, verified, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)  # the two are eager, and compiled in another call


def test_the_gradient_of_an_argument_with_a_history_is_compared():
    x = tg.randn(3).requires_grad_()
    report = tg.compile(lambda y: y.exp().sum()).verify(x * 2)
    assert report.ok and sum(row.kind == "gradient" for row in report.rows) == 1
    assert x.grad is None


@pytest.mark.parametrize("reads_it", [False, True], ids=["a new gradient", "one that is added to"])
def test_gradients_in_float64_of_sums_in_float32_are_no_more_exact(reads_it):
    """Both are found in the graph: the line that computes them, and how exact what is behind them is."""
    tg.manual_seed(1)
    w, b = (tg.randn(1, 4, 1, dtype=tg.float64) * 0.6).requires_grad_(), tg.randn(16, dtype=tg.float64)

    def step():
        single = w.float()
        loss = ((single.tanh() @ single.mT).tanh() @ single).mean() + b.lerp(w, 0.3).tanh().mean()
        if reads_it and w.grad is not None:
            w.data.sub_(w.grad, alpha=0.1)
        loss.backward()
        return loss.detach()

    step = tg.compile(step)
    if reads_it:
        step()
    report = step.verify()
    (row,) = (row for row in report.rows if row.kind == "gradient")
    assert report.ok and report.way == "replay" and "test_verify.py" in row.line


def two_players(wrap):
    """Two models and their losses in one step that is re-recorded: the second backward goes through both."""
    tg.manual_seed(0)
    maker, judge = (tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.ReLU(), tg.nn.Linear(8, n)) for n in (4, 1))
    opt_m, opt_j = (tg.optim.Adam(m.parameters(), lr=1e-3) for m in (maker, judge))
    criterion, log = tg.nn.BCEWithLogitsLoss(), []

    def step(x):
        made = maker(x)
        opt_j.zero_grad()
        loss_j = criterion(judge(x), tg.ones(6, 1)) + criterion(judge(made.detach()), tg.zeros(6, 1))
        loss_j.backward()
        opt_j.step()
        opt_m.zero_grad()
        loss_m = criterion(judge(made), tg.ones(6, 1))
        loss_m.backward()
        opt_m.step()
        log.append(loss_m.item() if loss_j.item() > 0 else 0.0)
        return loss_j.item(), sum(log) / len(log)

    step = wrap(step)
    results = [step(tg.randn(6, 4)) for _ in range(8)]
    return results, [p.tolist() for p in [*maker.parameters(), *judge.parameters()]]


def test_verify_1_lets_programs_of_several_parts_run(monkeypatch):
    expected = two_players(lambda f: f)
    monkeypatch.setenv("TRACEGRAD_VERIFY", "1")
    functions = []
    actual = two_players(lambda f: functions.append(tg.compile(f)) or functions[0])
    assert functions[0].way == "re-record" and functions[0].parts
    for one, other in zip([*expected[0], *expected[1]], [*actual[0], *actual[1]], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)  # Adam divides gradients by their size


@pytest.mark.parametrize("dtype", [tg.float16, tg.bfloat16, tg.float32, tg.float64, tg.int64, tg.bool])
def test_what_is_moved_by_a_rounding_keeps_its_type(dtype):
    """By a unit of the last place at most (there are two sizes around a power of two), and only numbers that round."""
    array = tg.linspace(1.0, 2.0, 200).to(dtype).ndarray
    moved = moved_by_a_rounding(array, np.random.default_rng(0))
    apart = np.abs(moved.astype(np.float64) - array.astype(np.float64))
    assert moved.dtype == array.dtype and apart.max() <= (2 * tg.finfo(dtype).eps if dtype.is_floating_point else 0)
    assert apart.any() == dtype.is_floating_point


@pytest.mark.parametrize("dtype", [tg.float16, tg.bfloat16, tg.float64])
def test_tensors_of_all_types_are_moved_where_a_difference_needs_a_second_look(dtype, monkeypatch):
    monkeypatch.setattr("tracegrad.compiled.verification.verify.LIMIT_ULP", 1e-9)  # so that any difference does
    weight, x = tg.randn(64, 64).to(dtype), tg.randn(64, 64)
    step = tg.compile(lambda x: ((x @ weight.float()).exp().sum(0), tg.tanh(x).sum()))
    assert step.verify(x).ok
