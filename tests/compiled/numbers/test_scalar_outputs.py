"""Numbers that a function only returns or appends to a list: it is replayed, with eager mode's numbers and types."""

import pytest
from compiled.conftest import assert_same, noted

LOSSES = []


def data(tg, i):
    """Numbers whose sums are exact, so that plain floats can be compared."""
    return tg.tensor([-0.5, 1.25, 3.0]) * (i + 1)


class Trainer:
    def __init__(self, tg):
        self.losses = []
        self.w = tg.ones(3)

    def step(self, x):
        loss = (self.w * x).sum()
        self.losses.append(loss.item())
        return loss


def returned(tg, trainer, x):
    return (x * trainer.w).sum().item()


def in_containers(tg, trainer, x):
    loss = (x * trainer.w).sum()
    value = loss.item()
    return {"loss": value, "count": (x > 0).sum().item()}, [value, loss], "plain"


def changed_afterwards(tg, trainer, x):
    total = x.sum()
    before = total.item()
    total.add_(1.0)
    return before, total.item()


def appended(tg, trainer, x):
    loss = (x * trainer.w).sum()
    LOSSES.append(loss.item())
    return loss


def appended_and_returned(tg, trainer, x):
    value = (x * trainer.w).sum().item()
    LOSSES.append(value)
    return value


def appended_in_a_loop(tg, trainer, x):
    for i in range(3):
        LOSSES.append((x[i] * trainer.w[i]).item())
    return x


def of_an_attribute(tg, trainer, x):
    return trainer.step(x)  # the method is not the compiled function: Python runs


def in_a_list_of_its_own(tg, trainer, x):
    values = []
    for i in range(3):
        values.append(x[i].item())
    return values


REPLAYED = [
    in_a_list_of_its_own,
    *(returned, in_containers, changed_afterwards, appended, appended_and_returned, appended_in_a_loop),
]


# What must not be taken for passing on: each of these looks at the number or at the list.


def computed_with(tg, trainer, x):
    return (x * trainer.w).sum().item() * 2


def compared(tg, trainer, x):
    value = x.sum().item()
    return value if value > 0 else None


def counted_list(tg, trainer, x):
    LOSSES.append(x.sum().item())
    return len(LOSSES)


def read_elsewhere(tg, trainer, x):
    LOSSES.append(x.sum().item())
    return x * last_loss()


def last_loss():
    return LOSSES[-1]


def through_another_name(tg, trainer, x):
    mine = LOSSES
    LOSSES.append(x.sum().item())
    return sum(mine)


def truth(tg, trainer, x):
    return (x > 0).all().item()


def text(tg, trainer, x):
    return f"{x.sum().item():.3f}"


def by_a_nested_function(tg, trainer, x):
    value = x.sum().item()
    return (lambda: value + 1)()


def augmented(tg, trainer, x):
    value = x.sum().item()
    value += 1
    return value


def summed_list(tg, trainer, x):
    values = []
    values.append(x.sum().item())
    values.append(trainer.w.sum().item())
    return values, sum(values)


def item_of_a_list(tg, trainer, x):
    values = [x.sum().item()]
    return values[0] + 1


PYTHON = [
    *(computed_with, compared, counted_list, read_elsewhere, through_another_name, truth, text, by_a_nested_function),
    *(augmented, summed_list, item_of_a_list),
    of_an_attribute,
]


def run(tg, function, compiled):
    LOSSES.clear()
    trainer = Trainer(tg)
    step = function if not compiled else tg.compile(function)
    notes = []
    for i in range(6):
        result = step(tg, trainer, data(tg, i))
        notes.append(noted([result, list(LOSSES), trainer.losses]))
        assert all(type(value) in (int, float) for value in LOSSES)
    return notes, step


@pytest.mark.parametrize("function", REPLAYED + PYTHON, ids=lambda f: f.__name__)
def test_eager_and_compiled(tg, function):
    expected, _ = run(tg, function, False)
    actual, step = run(tg, function, True)
    assert_same(actual, expected)
    assert step.way == ("replay" if function in REPLAYED else "re-record")
    if function in REPLAYED:
        assert len(step.specialisations) == 1


def test_a_compiled_method_appends_to_its_own_list(tg):
    trainers = [Trainer(tg), Trainer(tg)]
    steps = [tg.compile(trainers[0].step), trainers[1].step]
    for i in range(5):
        for step in steps:
            step(data(tg, i))
    assert_same(trainers[0].losses, trainers[1].losses)
    assert steps[0].way == "replay"
    trainers[0].losses = kept = [0.0]  # another list: the next number goes there
    steps[0](data(tg, 1))
    assert kept[1] == trainers[1].losses[1]


def test_nothing_marked_stays_when_the_function_raises(tg):
    def step(x):
        LOSSES.append(x.sum().item())
        raise KeyError("no")

    LOSSES.clear()
    with pytest.raises(KeyError):
        tg.compile(step)(tg.ones(3))
    assert [type(value) for value in LOSSES] == [float]
