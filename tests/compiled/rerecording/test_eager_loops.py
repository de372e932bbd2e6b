"""``tg.compile(model)`` in a loop that is otherwise eager: loss, backward() and optimizer.step() become programs, too.

Each loop runs twice, with the model and with its compiled form, and does the same call by call: losses, gradients,
parameters, state, warnings, exceptions and the user's line that they come from.
"""

import gc
import sys
import threading
import traceback
import warnings
import weakref

import numpy as np
import pytest
from expected.compare import assert_close

from tracegrad.compiler import pipeline
from tracegrad.runtime import provide

ROUNDS, ROWS, CLASSES = 7, 6, 4


@pytest.fixture(autouse=True)
def quickly_built(monkeypatch):
    """What the C compiler's optimiser makes of a program is not asked here."""
    flags = tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS)
    monkeypatch.setattr(pipeline, "FLAGS", flags)


class Loop:
    """A small classifier, its compiled form or itself, and batches."""

    def __init__(self, tg, wrap, optimizer="Adam", **options):
        self.tg, self.F = tg, tg.nn.functional
        tg.manual_seed(3)
        self.module = tg.nn.Sequential(tg.nn.Linear(3, 5), tg.nn.Tanh(), tg.nn.Linear(5, CLASSES))
        self.model = wrap(self.module)
        self.optimizer = getattr(tg.optim, optimizer)(self.module.parameters(), lr=0.05, **options)
        self.seen = []  # what else has to be the same

    def batch(self, i, rows=ROWS):
        x = np.sin(np.arange(rows * 3) * (1.0 + i)).reshape(rows, 3).astype(np.float32)
        return self.tg.tensor(x), self.tg.tensor(np.arange(rows) * (i + 3) % CLASSES)

    def like(self, out, i):
        """A target of the output's shape, within (0, 1)."""
        return self.tg.tensor((np.cos(np.arange(out.numel()) + i).reshape(tuple(out.shape)) * 0.4 + 0.5).astype("f"))

    def round(self, loss_of, i):
        x, y = self.batch(i)
        self.optimizer.zero_grad()
        loss = loss_of(self, self.model(x), y, i)
        loss.backward()
        self.optimizer.step()
        return loss


# -------------------------------------------------------------------------------------------------------------- losses

LOSSES = {
    "cross entropy": lambda r, out, y, i: r.F.cross_entropy(out, y),
    "by name": lambda r, out, y, i: r.F.cross_entropy(target=y, input=out),
    "module": lambda r, out, y, i: r.tg.nn.CrossEntropyLoss()(out, y),
    "weights": lambda r, out, y, i: r.F.cross_entropy(out, y, r.tg.tensor([0.5, 1.0, 2.0, 0.1 + i])),
    "smoothing changes": lambda r, out, y, i: r.F.cross_entropy(out, y, label_smoothing=0.04 * i),
    "reduction changes": lambda r, out, y, i: r.F.cross_entropy(out, y, reduction=("mean", "sum")[i % 2]),
    "rows": lambda r, out, y, i: r.F.cross_entropy(out, y, reduction="none").sum(),
    "ignored classes": lambda r, out, y, i: r.F.cross_entropy(out, y, ignore_index=i % 3),
    "probabilities": lambda r, out, y, i: r.F.cross_entropy(out, r.like(out, i)),
    "view": lambda r, out, y, i: r.F.cross_entropy(out.view(2, 3, CLASSES).transpose(1, 2), y.view(2, 3)),
    "part": lambda r, out, y, i: r.F.cross_entropy(out[: i % 3 + 1], y[: i % 3 + 1]),
    "temperature": lambda r, out, y, i: r.F.cross_entropy(out / (1.0 + i), y),
    "log softmax": lambda r, out, y, i: r.F.nll_loss(r.F.log_softmax(out, 1), y),
    "mse": lambda r, out, y, i: r.F.mse_loss(out, r.like(out, i)),
    "mse module": lambda r, out, y, i: r.tg.nn.MSELoss(reduction="sum")(out, r.like(out, i)),
    "target first": lambda r, out, y, i: r.F.mse_loss(r.like(out, i), out),
    "l1": lambda r, out, y, i: r.F.l1_loss(out, r.like(out, i)),
    "smooth l1": lambda r, out, y, i: r.F.smooth_l1_loss(out, r.like(out, i), beta=0.5 + i),
    "huber": lambda r, out, y, i: r.F.huber_loss(out, r.like(out, i), delta=0.3),
    "bce with logits": lambda r, out, y, i: r.F.binary_cross_entropy_with_logits(out, r.like(out, i)),
    "bce": lambda r, out, y, i: r.F.binary_cross_entropy(out.sigmoid(), r.like(out, i)),
    "kl": lambda r, out, y, i: r.F.kl_div(out, r.like(out, i), reduction="batchmean"),
    "gaussian": lambda r, out, y, i: r.F.gaussian_nll_loss(out, r.like(out, i), r.like(out, i + 1)),
    "cosine": lambda r, out, y, i: r.F.cosine_similarity(out, r.like(out, i)).sum(),
    "layer norm": lambda r, out, y, i: (r.F.layer_norm(out, (CLASSES,), eps=0.1) ** 2 * r.like(out, i)).sum(),
    "by hand": lambda r, out, y, i: ((out - r.like(out, i)) ** 2).mean(),
    "two terms": lambda r, out, y, i: r.F.cross_entropy(out, y) + 0.1 * i * r.F.mse_loss(out, r.like(out, i)),
    "both results": lambda r, out, y, i: r.F.mse_loss(out, r.model(r.batch(i + 1)[0])),
    "frozen target": lambda r, out, y, i: r.F.mse_loss(out, r.model(r.batch(i + 1)[0]).detach()),
    "loss of a loss": lambda r, out, y, i: r.F.mse_loss(r.F.cross_entropy(out, y), r.tg.tensor(0.5)),
    "twice": lambda r, out, y, i: r.F.cross_entropy(out, y) * r.F.cross_entropy(out, (y + 1) % CLASSES),
    "broadcast": lambda r, out, y, i: r.F.mse_loss(out, r.like(out[:1], i)),
    "older arguments": lambda r, out, y, i: r.F.mse_loss(out, r.like(out, i), size_average=False),
    "wrong class": lambda r, out, y, i: r.F.cross_entropy(out, y + (i in (1, 4)) * CLASSES),
    "wrong shape": lambda r, out, y, i: r.F.cross_entropy(out, y[: ROWS - (i in (1, 4))]),
    "wrong option": lambda r, out, y, i: r.F.huber_loss(out, r.like(out, i), delta=1.0 - (i in (1, 4))),
    "probability above one": lambda r, out, y, i: r.F.binary_cross_entropy(
        out.sigmoid() + (i in (1, 4)), r.like(out, i)
    ),
}


# ----------------------------------------------------------------------------------------------- what loops do besides


def plain(r, i):
    return r.round(LOSSES["cross entropy"], i)


def sizes(r, i):
    x, y = r.batch(i, 3 + i % 3)
    r.optimizer.zero_grad()
    loss = r.F.cross_entropy(r.model(x), y)
    loss.backward()
    r.optimizer.step()
    return loss


def accumulated(r, i):
    loss = r.F.cross_entropy(r.model(r.batch(i)[0]), r.batch(i)[1]) / 2
    loss.backward()
    if i % 2:
        r.optimizer.step()
        r.optimizer.zero_grad()
    return loss


def clipped(r, i):
    r.optimizer.zero_grad()
    loss = r.F.cross_entropy(r.model(r.batch(i)[0]), r.batch(i)[1])
    loss.backward()
    r.seen.append(r.tg.nn.utils.clip_grad_norm_(r.module.parameters(), 0.3).item())
    r.optimizer.step()
    return loss


def gradients_replaced(r, i):
    loss = r.F.cross_entropy(r.model(r.batch(i)[0]), r.batch(i)[1])
    loss.backward()
    for p in r.module.parameters():
        p.grad = p.grad * 0.5
    r.optimizer.step()
    return loss


def retained(r, i):
    out = r.model(r.batch(i)[0])
    out.retain_grad()
    loss = r.F.cross_entropy(out, r.batch(i)[1])
    loss.backward(retain_graph=True)
    loss.backward()
    r.seen.append(out.grad.tolist())
    r.optimizer.step()
    return loss


def twice_backward(r, i):
    loss = r.F.cross_entropy(r.model(r.batch(i)[0]), r.batch(i)[1])
    loss.backward()
    r.optimizer.step()
    if i > 3:
        loss.backward()
    return loss


def hooked(r, i):
    out = r.model(r.batch(i)[0])
    out.register_hook(lambda g: r.seen.append(g.tolist()) or g * 2)
    loss = r.F.cross_entropy(out, r.batch(i)[1])
    loss.register_hook(lambda g: g * 3)
    loss.backward()
    r.optimizer.step()
    return loss


def written_between(r, i):
    out, y = r.model(r.batch(i)[0]), r.batch(i)[1]
    loss = r.F.cross_entropy(out, y)
    if i == 4:
        y.add_(1)
    loss.backward()
    r.optimizer.step()
    return loss


def prediction_overwritten(r, i):
    out = r.model(r.batch(i)[0])
    loss = r.F.mse_loss(out, r.like(out, i))
    with r.tg.no_grad():
        out.clamp_(-0.1, 0.1)
    loss.backward()
    r.optimizer.step()
    return loss


def second_derivatives(r, i):
    x = r.batch(i)[0].requires_grad_()
    loss = r.F.cross_entropy(r.model(x), r.batch(i)[1])
    (g,) = r.tg.autograd.grad(loss, x, create_graph=True)
    (g.pow(2).sum() + loss).backward()
    r.optimizer.step()
    r.optimizer.zero_grad()
    r.seen.append(x.grad.tolist())
    return loss


def some_without_gradient(r, i):
    out = r.module[0](r.batch(i)[0]) if i % 3 == 2 else r.model(r.batch(i)[0])
    loss = r.F.cross_entropy(out, r.batch(i)[1])
    r.optimizer.zero_grad()
    loss.backward()
    r.optimizer.step()
    return loss


def evaluated(r, i):
    loss = plain(r, i)
    with r.tg.no_grad():
        r.seen.append(r.F.cross_entropy(r.model(r.batch(i + 1)[0]), r.batch(i + 1)[1]).item())
    return loss


def frozen(r, i):
    r.module[0].requires_grad_(i not in (3, 4))
    return plain(r, i)


def scheduled(r, i):
    if i == 0:
        r.scheduler = r.tg.optim.lr_scheduler.StepLR(r.optimizer, 2, 0.5)
    loss = plain(r, i)
    r.scheduler.step()
    r.seen.append(r.scheduler.get_last_lr())
    return loss


def closure(r, i):
    return r.optimizer.step(lambda: r.F.cross_entropy(r.model(r.batch(i)[0]), r.batch(i)[1]))


def loaded(r, i):
    if i == 4:
        r.module.load_state_dict({k: v * 0.5 for k, v in r.module.state_dict().items()})
        r.optimizer.load_state_dict(r.optimizer.state_dict())
    return plain(r, i)


def weights_seen(r, i):
    loss = plain(r, i)
    r.seen.append(r.module[0].weight.detach().numpy().sum().item())
    return loss


def hooks_of_leaves(r, i):
    if i == 2:
        r.module[0].weight.register_post_accumulate_grad_hook(lambda p: r.seen.append(p.grad.sum().item()))
    return plain(r, i)


LOOPS = [
    plain, sizes, accumulated, clipped, gradients_replaced, retained, twice_backward, hooked, written_between,
    prediction_overwritten, second_derivatives, some_without_gradient, evaluated, frozen, scheduled, closure, loaded,
    weights_seen, hooks_of_leaves,
]  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ running


def history(run, one_round):
    """What each round does: its result or its error with the line that it came from, and warnings."""
    for i in range(ROUNDS):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                outcome = one_round(run, i)
                name = None if outcome.grad_fn is None else outcome.grad_fn.name()
                outcome = [outcome.detach(), outcome.requires_grad, name]
            except Exception as error:
                lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == __file__]
                outcome = [type(error), str(error), lines[1:]]
        said = [(w.category, str(w.message), w.filename, w.lineno) for w in caught]
        parameters = [(p.detach().clone(), None if p.grad is None else p.grad.clone()) for p in run.module.parameters()]
        state = [{k: t.clone() for k, t in run.optimizer.state.get(p, {}).items()} for p in run.module.parameters()]
        yield [outcome, said, parameters, state, list(run.seen)]


def assert_same(one, other):
    if hasattr(other, "detach"):
        assert one.dtype == other.dtype
        assert_close(one, other)
    elif isinstance(other, (list, tuple)):
        assert type(one) is type(other) and len(one) == len(other), (one, other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(other, dict):
        assert one.keys() == other.keys()
        assert_same(list(one.values()), list(other.values()))
    elif isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-6)
    else:
        assert one == other


def agree(tg, one_round, **options):
    compiled, eager = Loop(tg, tg.compile, **options), Loop(tg, lambda model: model, **options)
    for found, expected in zip(history(compiled, one_round), history(eager, one_round), strict=True):
        assert_same(found, expected)
    return compiled


@pytest.mark.parametrize("name", LOSSES)
def test_losses(tg, name):
    # Adam divides gradients by their size, and so makes much of roundings where they are small.
    agree(tg, lambda run, i: run.round(LOSSES[name], i), optimizer="SGD", momentum=0.5)


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_loops(tg, loop):
    agree(tg, loop)


OTHERS = [{"optimizer": "SGD", "momentum": 0.9, "fused": True}, {"optimizer": "AdamW"}, {"fused": False}]


@pytest.mark.long(every=6)
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
@pytest.mark.parametrize("options", OTHERS, ids=str)
def test_loops_with_other_optimizers(tg, loop, options):
    agree(tg, loop, **options)


# ---------------------------------------------------------------------------------------------------- what is compiled


def losses_of(run):
    """The compiled forms of losses that have served the results of the model."""
    return [part for part in run.model.programs.backward.losses.values() if part and part.specialisations]


def test_all_of_a_round_is_compiled(tg):
    run = agree(tg, plain)
    (loss,) = losses_of(run)
    assert [run.model.way, loss.way, run.optimizer.fused_step.way] == ["replay"] * 3
    assert "Losses of its results that are programs of their own: cross_entropy" in run.model.explain()
    assert run.optimizer.param_groups[0]["fused"] is None


def test_a_loss_that_comes_once_is_eager(tg):
    run = Loop(tg, tg.compile)
    plain(run, 0)
    assert not losses_of(run) and run.optimizer.fused_step is None


def test_losses_that_warn_warn_at_each_call(tg):
    run = agree(tg, lambda run, i: run.round(LOSSES["broadcast"], i))
    assert not losses_of(run)


def test_a_changed_rate_and_changed_numbers_make_no_programs(tg, c_programs):
    run = Loop(tg, tg.compile, weight_decay=0.1)
    for i in range(3 * ROUNDS):
        if i == ROUNDS:
            made = len(c_programs)
        run.optimizer.param_groups[0].update(lr=0.05 / (i + 1), weight_decay=0.1 / (i + 1))
        run.round(LOSSES["smoothing changes"], i)
    assert len(c_programs) == made


@pytest.fixture
def c_programs(monkeypatch):
    """The names of programs, as they are made."""
    made, provide = [], pipeline.provide
    monkeypatch.setattr(pipeline, "provide", lambda name, units: (made.append(name), provide(name, units))[1])
    return made


def test_eager_programs_compile_nothing(tg, c_programs):
    run = Loop(tg, lambda model: model)
    for i in range(ROUNDS):
        plain(run, i)
    assert c_programs == [] and run.optimizer.fused_step is None


@pytest.mark.parametrize("choice", [{"fused": False}, {"foreach": True}, {"differentiable": True}], ids=str)
def test_optimizers_that_shall_not_be_fused(tg, choice):
    run = agree(tg, plain, **choice)
    assert run.optimizer.fused_step is None and losses_of(run)


def test_gradients_of_whole_steps_and_of_eager_mode(tg):
    run = Loop(tg, lambda model: model)
    backward = tg.compile(lambda x, y: run.F.cross_entropy(run.module(x), y).backward())
    for i in range(ROUNDS):
        run.optimizer.zero_grad()
        backward(*run.batch(i))
        run.optimizer.step()
    assert run.optimizer.fused_step.way == "replay"  # the gradients came out of C
    fused = run.optimizer.fused_step = None
    for i in range(ROUNDS):
        plain(run, i)  # and these did not
    assert run.optimizer.fused_step is fused


def python_calls(function, *args):
    counted = [0]

    def count(frame, event, argument):
        counted[0] += event == "call"

    sys.setprofile(count)
    try:
        function(*args)
    finally:
        sys.setprofile(None)
    return counted[0]


def test_python_does_little_in_a_round(tg):
    compiled, eager = Loop(tg, tg.compile), Loop(tg, lambda model: model)
    for i in range(ROUNDS):
        plain(compiled, i)
        plain(eager, i)
    few, many = python_calls(plain, compiled, 0), python_calls(plain, eager, 0)
    # Comprehensions are calls before Python 3.12, and all but 3.11 compare what dicts hold (`counted_containers`).
    assert few < {(3, 10): 900, (3, 11): 800}.get(sys.version_info[:2], 750) < many, (few, many)


def test_a_method_of_the_library_that_is_patched(tg, monkeypatch):
    run, eager = Loop(tg, tg.compile), Loop(tg, lambda model: model)
    called, update = [], tg.optim.Adam.update
    for i in range(2 * ROUNDS):
        if i == ROUNDS:
            monkeypatch.setattr(
                tg.optim.Adam, "update", lambda self, *args: (called.append(self), update(self, *args))[1]
            )
        assert_close(plain(run, i), plain(eager, i))
    assert called.count(run.optimizer) >= called.count(eager.optimizer)  # recordings call it, too


def test_no_compiler(tg, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", str(tmp_path / "none"))
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(provide, "_said", set())
    eager, run, asked = (Loop(tg, wrap, fused=fused) for wrap, fused in
                         [(lambda m: m, False), (tg.compile, None), (lambda m: m, True)])  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(ROUNDS):
            expected = plain(eager, i).item()
            assert plain(run, i).item() == plain(asked, i).item() == expected
    (said,) = caught
    assert "runs eagerly" in str(said.message) and said.filename == __file__


def test_verified(tg, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_VERIFY", "1")
    run = agree(tg, plain)
    (loss,) = losses_of(run)
    assert not any(part.specialisations[0].unverified for part in (loss, run.optimizer.fused_step))


def test_threads(tg):
    """Models with parameters of their own in several threads, one optimizer each."""
    runs = [Loop(tg, tg.compile) for _ in range(3)]
    eager = Loop(tg, lambda model: model)
    expected = [plain(eager, i).item() for i in range(3 * ROUNDS)]
    found = {}

    def train(n):
        found[n] = [plain(runs[n], i).item() for i in range(3 * ROUNDS)]

    threads = [threading.Thread(target=train, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for losses in found.values():
        assert losses == pytest.approx(expected, rel=1e-4)
    assert len(found) == 3


def test_models_go_away_with_their_programs(tg):
    run = Loop(tg, tg.compile)
    for i in range(ROUNDS):
        plain(run, i)
    gone = weakref.ref(run.module), weakref.ref(run.optimizer), weakref.ref(run.model)
    del run
    gc.collect()
    assert [each() for each in gone] == [None] * 3


# --------------------------------------------------------------------------------------------------------- other models


def branching(tg):
    """Python runs at each call of this one."""

    class Branching(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head, self.seen = tg.nn.Linear(3, 5), tg.nn.Linear(5, CLASSES), []

        def forward(self, x):
            hidden = self.body(x).tanh()
            if hidden.sum().item() > 0:
                hidden = hidden * 2
            self.seen.append(hidden.max().item())
            return self.head(hidden)

    return Branching()


def dropping(tg):
    return tg.nn.Sequential(tg.nn.Linear(3, 8), tg.nn.Dropout(0.4), tg.nn.BatchNorm1d(8), tg.nn.Linear(8, CLASSES))


def several_results(tg):
    class Several(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.head = tg.nn.Linear(3, 5), tg.nn.Linear(5, CLASSES)

        def forward(self, x):
            hidden = self.body(x).relu()
            return {"hidden": hidden, "out": self.head(hidden)}

    return Several()


@pytest.mark.parametrize("make, way", [(branching, "re-record"), (dropping, "replay"), (several_results, "replay")])
def test_models(tg, make, way):
    """Losses and steps around models that are re-recorded, that draw random numbers, that have several results."""
    found = []
    for wrap in (tg.compile, lambda model: model):
        run = Loop(tg, wrap)
        tg.manual_seed(1)
        run.module = make(tg)
        run.model, run.optimizer = wrap(run.module), tg.optim.AdamW(run.module.parameters(), lr=0.01)
        tg.manual_seed(5)

        def one_round(run, i):
            x, y = run.batch(i)
            run.optimizer.zero_grad()
            out = run.model(x)
            if isinstance(out, dict):
                loss = run.F.cross_entropy(out["out"], y) + run.F.mse_loss(out["hidden"], run.like(out["hidden"], i))
            else:
                loss = run.F.cross_entropy(out, y)
            loss.backward()
            run.optimizer.step()
            run.seen.append(list(getattr(run.module, "seen", ())))
            return loss

        found.append(list(history(run, one_round)))
        assert run.model is run.module or run.model.way == way
        if run.model is not run.module and run.model.way == "replay":
            assert run.optimizer.fused_step.way == "replay"
    assert_same(*found)
