"""What cannot be replayed is refused where that is asked for: with the user's line, and with what to write instead."""

import numpy as np
import pytest
from compiled.rerecording import refused


@pytest.fixture
def world(tg):
    """The tensors that the refused functions find outside."""
    refused.W = tg.ones(3, requires_grad=True)
    refused.OUTSIDE = refused.W * 2
    refused.SCHEDULER = tg.optim.lr_scheduler.StepLR(tg.optim.SGD([refused.W], lr=0.1), 1)
    refused.LOSSES.clear()
    yield
    tg.set_grad_enabled(True)


def marked_line(function):
    """The line of `function` that says `# here`, None if there is none."""
    with open(refused.__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()
    start = function.__code__.co_firstlineno
    end = next((n for n in range(start, len(lines)) if lines[n].startswith("def ")), len(lines))
    return next((n + 1 for n in range(start, end) if "# here" in lines[n]), None)


@pytest.mark.parametrize("function", refused.ALL, ids=lambda f: f.__name__)
def test_refused(tg, world, function):
    step = tg.compile(lambda x: function(tg, x), fullgraph=True)
    with pytest.raises(tg.compiler.errors.CaptureError) as error:
        for i in range(4):
            step(tg.ones(3) * (i + 1))
    message = str(error.value)
    assert len(message.splitlines()) >= 3
    line = marked_line(function)
    if line is not None:
        assert f"refused.py:{line}" in message, message
    assert step.specialisations == []


@pytest.mark.parametrize("argument", [np.ones(3), iter([1]), (i for i in [1])], ids=["array", "iterator", "generator"])
def test_refused_arguments(tg, argument):
    step = tg.compile(lambda x, a: x, fullgraph=True)
    with pytest.raises(tg.compiler.errors.CaptureError, match="an argument is"):
        step(tg.ones(3), argument)


def test_refused_changes_of_arguments(tg):
    step = tg.compile(lambda x, log: log.append(1), fullgraph=True)
    with pytest.raises(tg.compiler.errors.CaptureError, match="changes an argument, a list"):
        step(tg.ones(3), [])


def test_an_endless_series_ends(tg):
    step = tg.compile(lambda x, n: x.expand(n), fullgraph=True)
    with pytest.raises(tg.compiler.errors.CompilerError, match="recorded 32 times"):
        for i in range(40):
            step(tg.ones(1), i)


def test_what_is_done_at_each_call_is_not_once(tg):
    model = tg.nn.Dropout(0.5)

    def step(x):
        model.train()
        y = model(x)
        model.eval()
        return y

    compiled = tg.compile(step, fullgraph=True)
    with pytest.raises(tg.compiler.errors.CaptureError, match="training"):
        for _ in range(40):
            compiled(tg.ones(3))


def test_len_and_shape_are_no_values(tg):
    step = tg.compile(lambda x: x.sum() / len(x) if x.shape[0] > 2 and x.ndim == 1 and not x.requires_grad else x)
    assert [step(tg.ones(3) * i).item() for i in range(4)] == [0.0, 1.0, 2.0, 3.0]
