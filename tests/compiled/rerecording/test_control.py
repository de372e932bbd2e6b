"""tg.cond and tg.while_loop in compiled functions: one program for both branches, no gradient from the other one."""

import numpy as np
import pytest
from compiled.conftest import Program, batch, ramp, weight

from tracegrad.compiler.errors import CaptureError

FLAGS = [True, False, False, True, False, True, True]


def step_of(tg, w, branches, operands=lambda x, w: (x, w), loss=lambda out: out.sum()):
    def step(pred, x):
        w.grad = None
        out = tg.cond(pred, *branches, operands(x, w))
        loss(out).backward()
        return loss(out).detach()

    return step


def program(branches, **options):
    """A step whose predicate changes from call to call; one program must do."""

    def make(tg):
        w = weight(tg, 3)
        args = lambda i: (tg.tensor(FLAGS[i]), batch(tg, i, 3))  # noqa: E731
        return Program(step_of(tg, w, branches(tg), **options), args, lambda: w, specialisations=1)

    return make


PROGRAMS = {
    "operands": program(lambda tg: (lambda x, w: x * w, lambda x, w: (x - w).tanh())),
    "one operand each": program(lambda tg: (lambda x, w: w * w, lambda x, w: x * 2)),
    "captured": program(lambda tg: (lambda x: x * tg.ones(3), lambda x: x.exp()), operands=lambda x, w: (x * w,)),
    "views": program(lambda tg: (lambda x, w: w.view(3, 1)[1:] * 2, lambda x, w: w[:2].reshape(2, 1))),
    "the operand itself": program(lambda tg: (lambda x, w: w, lambda x, w: w * 2)),
    "a constant": program(lambda tg: (lambda x, w: tg.zeros(3), lambda x, w: x * w)),
    "in place on its own": program(lambda tg: (lambda x, w: (x * w).add_(1).mul_(w), lambda x, w: w.clone().zero_())),
    "nested results": program(
        lambda tg: (lambda x, w: {"a": (x * w, 3)}, lambda x, w: {"a": (x + w, 3)}),
        loss=lambda out: (out["a"][0] ** 2).sum() * out["a"][1],
    ),
    "a cond in a cond": program(
        lambda tg: (
            lambda x, w: tg.cond(x.sum() > 2, lambda x, w: x * w, lambda x, w: (w / 0).sqrt() * x, (x, w)),
            lambda x, w: tg.cond(x[0] < 0, lambda x, w: (x - 1000).log() * w, lambda x, w: w.exp(), (x, w)),
        )
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_predicate_is_data(agree, name):
    agree(PROGRAMS[name], calls=len(FLAGS))


def test_a_predicate_that_is_computed(agree, c_calls):
    def make(tg):
        w = weight(tg, 3)
        optimizer = tg.optim.SGD([w], lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = (w * x).pow(2).sum()
            loss = tg.cond(loss > 3, lambda loss: loss.log(), lambda loss: loss * 0.5, (loss,))
            loss.backward()
            optimizer.step()
            return loss.detach()

        return Program(step, lambda i: (batch(tg, i % 3, 3),), lambda: w, specialisations=1)

    agree(make, calls=8)
    assert len(c_calls) == 7


# Each first branch is fine at 0, and has infinite or undefined values, derivatives or second derivatives in the other.
SINGULAR = {
    "sqrt": (lambda w: w * 3, lambda w: w.sqrt()),
    "0 / 0": (lambda w: w * 3, lambda w: w / w),
    "log": (lambda w: w.exp(), lambda w: w.log()),
    "power": (lambda w: w + 1, lambda w: w**-0.5),
    "inf - inf": (lambda w: w * 3, lambda w: (1 / w - 1 / w) * w),
    "overflow": (lambda w: w * 3, lambda w: (w + 1e3).exp() * w),
    "norm": (lambda w: w * 3, lambda w: w * (w * w).sum().sqrt()),
    "view": (lambda w: w * 3, lambda w: w.view(1, -1).t().sqrt().view(-1)),
}


def gradients(tg, branches, dtype, wrap, captured):
    """First and second order at 0, with the fine branch taken and with the singular one."""
    w = tg.zeros(2, dtype=dtype, requires_grad=True)

    def step(pred, scale):
        if captured:
            out = tg.cond(pred, lambda: branches[0](w), lambda: branches[1](w))
        else:
            out = tg.cond(pred, *branches, (w,))
        (first,) = tg.autograd.grad((out * scale).sum(), w, create_graph=True)
        (second,) = tg.autograd.grad((first * scale).sum() + (w * 0).sum(), w)
        return first.detach(), second.detach()

    run, found = wrap(step), []
    for i, holds in enumerate([True, False, True, True, False, True]):
        found += [t.numpy().copy() for t in run(tg.tensor(holds), tg.tensor(1.0 + i, dtype=dtype))]
    return np.array(found).reshape(6, 2, 2), run


@pytest.mark.parametrize("captured", [False, True], ids=["operand", "captured"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SINGULAR)
def test_nothing_leaks_from_the_branch_that_is_not_taken(tg, name, dtype, captured):
    dtype = getattr(tg, dtype)
    expected, _ = gradients(tg, SINGULAR[name], dtype, lambda f: f, captured)
    actual, compiled = gradients(tg, SINGULAR[name], dtype, tg.compile, captured)
    # The singular branch has a NaN or an infinity when it is taken, and nothing of it when it is not.
    assert not np.isfinite(expected[[1, 4], :]).all() and np.isfinite(expected[[0, 2, 3, 5]]).all()
    np.testing.assert_allclose(actual, expected, rtol=1e-6 if actual.dtype == np.float32 else 1e-14)
    assert len(compiled.specialisations) == 1


def test_nothing_leaks_through_a_compiled_model(tg, c_calls):
    """The backward program is derived from the recorded forward graph; the gates are part of it."""

    class Model(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = tg.nn.Parameter(tg.zeros(2))

        def forward(self, pred, x):
            return tg.cond(pred, lambda x: x * self.w, lambda x: (x * self.w).sqrt(), (x,))

    model = Model()
    compiled = tg.compile(model)
    for holds in (True, False, True, True):
        found = []
        for forward in (model, compiled):
            model.w.grad, x = None, tg.ones(2, requires_grad=True)
            forward(tg.tensor(holds), x).sum().backward()
            found.append([model.w.grad.tolist(), x.grad.tolist()])
        np.testing.assert_array_equal(found[0], found[1])
    assert c_calls and len(compiled.specialisations) == 1


def test_an_index_that_fits_one_branch_only(agree):
    def make(tg):
        x = ramp(tg, 5)

        def step(i, pred):
            return tg.cond(pred, lambda x: x[i] * 2, lambda x: x[i - 5] * 3, (x,))

        return Program(step, lambda n: (tg.tensor([n]), tg.tensor(n < 5)))

    agree(make, calls=5)


def test_a_loop_of_ints_is_part_of_the_program(agree, c_calls):
    def make(tg):
        w = weight(tg, 2)

        def step(x):
            w.grad = None
            count, out = tg.while_loop(lambda i, x: i < 4, lambda i, x: (i + 1, x * w), (0, x))
            out.sum().backward()
            return out.detach(), count

        return Program(step, lambda i: (batch(tg, i, 2),), lambda: w, specialisations=1)

    agree(make)
    assert c_calls


# ------------------------------------------------------------------------------------------- what cannot be picked from


def write(tg, w, x):
    w.data.add_(1)
    return x * 1


def backward(tg, w, x):
    (w * x).sum().backward()
    return x * 1


def hooked(tg, w, x):
    out = x * w
    out.register_hook(lambda g: g * 2)
    return out


class Doubled:
    """x * 2 with a backward of its own."""

    def __new__(cls, tg, w, x):
        class Function(tg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, g):
                return g * 2

        return Function.apply(x * w)


def failing(tg, w, x):
    raise ValueError("not this way")


UNRECORDABLE = {
    "writes": (write, "a branch of which writes to w"),
    "draws": (lambda tg, w, x: x * tg.rand(3), "a branch of which writes to generator.state"),
    "looks": (lambda tg, w, x: x * x.sum().item(), r"a branch of which needs numbers, for item\(\)"),
    "backward": (backward, "a branch of which computes gradients"),
    "backward at a leaf": (lambda tg, w, x: (w.backward(x), x * 1)[1], "a branch of which sets .grad of w"),
    "gradients": (lambda tg, w, x: tg.autograd.grad((w * x).sum(), w)[0], "a branch of which computes gradients"),
    "hooks": (hooked, "a branch of which has a hook"),
    "functions": (Doubled, "a branch of which has a hook, or an autograd function of its own"),
    "other sources": (lambda tg, w, x: x * w, "a branch of which reaches a tensor that requires grad, which is no"),
    "raises": (failing, "a branch of which raises ValueError"),
}


@pytest.mark.parametrize("name", UNRECORDABLE)
def test_what_makes_a_compiled_function_look_at_the_predicate(tg, name):
    branch, phrase = UNRECORDABLE[name]
    w = tg.ones(3, requires_grad=True)
    before = tg.get_rng_state().tolist()

    def step(pred, x):
        return tg.cond(pred, lambda x: x + 1, lambda x: branch(tg, w, x), (x,))

    with pytest.raises(CaptureError, match=rf"tg.cond \({phrase}") as refused:
        tg.compile(step, fullgraph=True)(tg.tensor(True), tg.ones(3))
    assert "test_control.py:" in str(refused.value)
    # Nothing of the branch that is not taken has happened.
    assert w.tolist() == [1.0, 1.0, 1.0] and w.grad is None and tg.get_rng_state().tolist() == before


@pytest.mark.parametrize("name", UNRECORDABLE)
def test_looking_at_the_predicate_is_the_eager_choice(agree, name):
    def make(tg):
        w, branch = weight(tg, 3), UNRECORDABLE[name][0]

        def step(pred, x):
            w.grad = None
            return tg.cond(pred, lambda x: x + 1, lambda x: branch(tg, w, x), (x,)).detach(), tg.rand(2)

        flags = [name == "raises" or flag for flag in FLAGS]
        return Program(step, lambda i: (tg.tensor(flags[i]), batch(tg, i, 3)), lambda: w)

    assert agree(make, calls=len(FLAGS)).way == "re-record"


def test_modules_as_branches(agree):
    """The gradients of the one that is not called are None, so which one it is cannot be data."""

    def make(tg):
        one, other = tg.nn.Linear(3, 2), tg.nn.Linear(3, 2)
        optimizer = tg.optim.SGD([*one.parameters(), *other.parameters()], lr=0.1, momentum=0.9)

        def step(x):
            optimizer.zero_grad()
            loss = tg.cond(x.sum() > 0, one, other, (x,)).pow(2).sum()
            loss.backward()
            optimizer.step()
            return loss.detach()

        state = lambda: [*one.parameters(), *other.parameters()]  # noqa: E731
        return Program(step, lambda i: (batch(tg, i, 3) if FLAGS[i] else -batch(tg, i, 3),), state)

    assert agree(make, calls=len(FLAGS)).way == "re-record"


def test_a_loop_that_a_tensor_ends_is_the_eager_loop(agree):
    def make(tg):
        w = weight(tg, 2)

        def step(x):
            w.grad = None
            (out,) = tg.while_loop(lambda x: x.norm() < 50, lambda x: (x * 2 + w,), (x,))
            out.sum().backward()
            return out.detach()

        return Program(step, lambda i: (batch(tg, i, 2),), lambda: w)

    assert agree(make).way == "re-record"


def test_different_ints(tg):
    step = tg.compile(lambda pred: tg.cond(pred, lambda: 1, lambda: 2), fullgraph=True)
    with pytest.raises(CaptureError, match="a branch of which returns the number 1, the other 2"):
        step(tg.tensor(True))


def test_a_loop_that_a_tensor_ends(tg):
    step = tg.compile(lambda x: tg.while_loop(lambda x: x.sum() < 9, lambda x: (x * 2,), (x,)), fullgraph=True)
    with pytest.raises(CaptureError, match="tg.while_loop needs a tensor's numbers"):
        step(tg.ones(2))


def count_up(counts, x):
    counts.append(1)
    return x + 1


def set_total(x):
    global TOTAL
    TOTAL += 1
    return x + 1


def speak(x):
    print("taken")
    return x + 1


TOTAL = 0
COUNTS = []
SIDE_EFFECTS = {
    "a list": lambda x: count_up(COUNTS, x),
    "a global": set_total,
    "print": speak,
}


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("name", SIDE_EFFECTS)
def test_side_effects_of_a_branch_are_errors(tg, name, holds):
    """They have happened when they are seen, so nothing may go on as if they had not."""
    step = tg.compile(lambda pred, x: tg.cond(pred, SIDE_EFFECTS[name], lambda x: x + 1, (x,)))
    with pytest.raises(RuntimeError, match="in a branch of tg.cond") as found:
        step(tg.tensor(holds), tg.ones(2))
    assert not isinstance(found.value, CaptureError) and "test_control.py:" in str(found.value)


UNLIKE = {
    "shapes": (lambda x: x.sum(), "same metadata"),
    "dtypes": (lambda x: x.double(), "same metadata"),
    "nests": (lambda x: (x, x), "same number of outputs"),
    "kinds": (lambda x: 3, "one branch returns Tensor where the other int"),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_branches_that_return_different_things(tg, name):
    branch, phrase = UNLIKE[name]
    step = tg.compile(lambda pred, x: tg.cond(pred, lambda x: x + 1, branch, (x,)))
    with pytest.raises(RuntimeError, match=phrase):
        step(tg.tensor(True), tg.ones(2))


def test_the_exception_of_the_branch_that_is_taken(tg):
    step = tg.compile(lambda pred, x: tg.cond(pred, lambda x: failing(tg, x, x), lambda x: x, (x,)))
    with pytest.raises(ValueError, match="not this way"):
        step(tg.tensor(True), tg.ones(2))


WRITES = {
    "unseen": lambda tg, w: w.data.mul_(2),
    "counted": lambda tg, w: w.detach().mul_(2),
    "after_backward": lambda tg, w: None,
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_a_branch_has_saved_is_written_before_backward(tg, write):
    """The tape of eager mode keeps the tensor itself: it computes with other numbers, or refuses to."""
    notes = []
    for wrap in (tg.compile, lambda f: f):
        w = tg.tensor([0.5, -0.3], requires_grad=True)

        def step(p, w=w):
            w.grad = None
            y = tg.cond(p, lambda: w * 2, lambda: w - w.sin())
            write(tg, w)
            y.sum().backward()
            w.data.add_(w.grad)
            return y

        step, found = wrap(step), []
        for i in range(4):
            try:
                step(tg.tensor(i % 2 == 0))
                found.append(w.grad.tolist())
            except RuntimeError as error:
                found.append("modified by an inplace operation" in str(error))
            found.append(w.tolist())
        notes.append(found)
    for one, other in zip(*notes, strict=True):
        assert one == (pytest.approx(other) if isinstance(other, list) else other)
