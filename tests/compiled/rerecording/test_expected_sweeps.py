"""Backward passes through plain ops and calls of programs, repeated without the engine.

Each form of a loss below is made of ops of its own around a model; numbers, positions and segments change from call to
call. The disturbances are those of expected events.
"""

import sys

import pytest
from disturbances import CALLS, DISTURBANCES, Nothing, Training
from side_by_side import batch

FORMS = []


def form(function):
    FORMS.append(function)
    return function


@form
def two_losses_with_a_changing_weight(t, x):
    out = t.model(x)
    return t.tg.nn.functional.cross_entropy(out, t.targets) + (0.1 * t.n) * (out * out).mean() / (t.n + 1)


@form
def similarities(t, x):
    q = t.model(x) + 2
    q = q / q.norm(dim=1, keepdim=True)
    return t.tg.nn.functional.cross_entropy(q @ q.t() / 0.07, t.targets)


@form
def elements_at_changing_places(t, x):
    out = t.tg.log_softmax(t.model(x), 1)
    row, column = t.n % 5, t.n % 4
    t.kept.append(out[row].argmax().item())  # ends the segment, so that the views are taken of what is there
    return -(out[row, column] * 2) - out[column, row % 4] - out[:, column].mean()


@form
def elements_of_one_segment(t, x):
    out = t.model(x).tanh()
    return t.tg.stack([out[0, 1], out[2, 3], out[1, 1]]).sum() - out[1:3].mean()


@form
def parameters_in_ops(t, x):
    decay = sum((p * p).sum() for p in t.model.parameters())
    return (x @ t.weight.t()).tanh().mean() + 0.01 * decay + t.model(x).mean()


@form
def one_result_for_two_layers(t, x):
    hidden = t.model[0](x).tanh()
    return t.model[2](hidden).mean() + (t.model[2](hidden * 2) ** 2).mean() + hidden.exp().mean()


@form
def one_model_twice(t, x):
    first = t.model(x)
    if first.mean().item() > 1e6:
        return first.sum()
    second = t.model(x * 0.5)
    return (first - second).pow(2).mean() + t.tg.nn.functional.cross_entropy(second, t.targets)


@form
def results_that_derivatives_read(t, x):
    out = t.model(x)
    return out.sigmoid().mean() + out.exp().sqrt().mean() + out.softmax(1)[:, 0].sum()


@form
def a_changing_exponent(t, x):
    return ((t.model(x).tanh() + 2) ** (2 + t.n % 3)).mean()


@form
def rows_of_the_input_one_by_one(t, x):
    found = []
    for row in range(3):
        out = t.model(x[row : row + 1])
        t.kept.append(out.argmax().item())
        found.append(t.tg.nn.functional.smooth_l1_loss(out[0, 0], t.tg.tensor(0.5 * row)))
    return t.tg.stack(found).sum()


class Formed(Training):
    def __init__(self, tg, disturb, of, looks=False):
        super().__init__(tg, disturb, looks)
        self.of = of

    def loss(self, x):
        return self.of(self, x)

    def program(self):
        """With inputs that no layer is saturated by: of a derivative that is nearly 0 nothing but roundings is left."""
        program = super().program()
        program.args = lambda i: (batch(self.tg, i % 4, 5, 3) * 0.2,)
        return program


def titled(function):
    return function.__name__


def sampled(each):
    """Each disturbance with a few of the forms, each form with a few of the disturbances."""
    return [
        (of, disturb) for i, of in enumerate(FORMS) for j, disturb in enumerate(DISTURBANCES) if (i + j) % each == 0
    ]


@pytest.mark.parametrize("looks", [False, True], ids=["", "looks"])
@pytest.mark.parametrize("of", FORMS, ids=titled)
def test_passes_through_ops_are_eager(agree, of, looks):
    assert agree(lambda tg: Formed(tg, Nothing, of, looks).program(), calls=CALLS).way == "re-record"


@pytest.mark.parametrize(("of", "disturb"), sampled(9), ids=lambda function: function.__name__)
def test_repeated_passes_notice(agree, of, disturb):
    assert agree(lambda tg: Formed(tg, disturb, of).program(), calls=CALLS).way in ("re-record", "eager")


@pytest.mark.long(every=97)
@pytest.mark.parametrize("looks", [False, True], ids=["", "looks"])
@pytest.mark.parametrize(("of", "disturb"), sampled(1), ids=lambda function: function.__name__)
def test_all_repeated_passes_notice(agree, of, disturb, looks):
    assert agree(lambda tg: Formed(tg, disturb, of, looks).program(), calls=CALLS).way in ("re-record", "eager")


@pytest.mark.parametrize("of", [of for of in FORMS if of is not a_changing_exponent], ids=titled)
def test_passes_through_ops_go_without_the_engine(tg, of):
    """But for numbers with which the derivative computes another one: the exponent's is one less."""
    training = Formed(tg, Nothing, of)
    step = tg.compile(training.step)
    data = [batch(tg, i, 5, 3) for i in range(8)]
    for i in range(60):
        step(data[i % 8])
    visited = []

    def listen(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.endswith("engine.py"):
            visited.append(frame.f_code.co_name)

    sys.setprofile(listen)
    try:
        for x in data:
            step(x)
    finally:
        sys.setprofile(None)
    assert step.way == "re-record"
    assert not visited
