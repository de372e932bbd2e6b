"""A returned view refuses the writes that it refuses in eager mode, whichever memory it shows."""

import itertools

import pytest
from side_by_side import ramp

SOURCES = {"computed": "x * w", "without a history": "x * 2", "detached": "(x * w).detach()", "an argument": "x"}
VIEWS = {
    "a slice": "y[1:]",
    "a row": "y[0]",
    "reshaped": "y.reshape(-1)",
    "transposed": "y.t()",
    "one of several": "y.unbind(0)[1]",
    "a chunk": "y.chunk(2, 1)[0]",
    "a view of one of several": "y.split(1)[1][0]",
}
RESULTS = {"alone": "v", "with its base": "(v, y)", "with another view": "(v, y[:, :1])"}


def outcome(tg, step, w):
    """How the result of a call takes writes, with and without a history."""
    told = []
    for write in (lambda v: v.mul_(2), lambda v: v.mul_(w.sum())):
        result = step(ramp(tg, 2, 3), w)
        view = result[0] if isinstance(result, tuple) else result
        try:
            write(view)
            told.append((view.requires_grad, view.tolist()))
        except RuntimeError as error:
            told.append(str(error)[:50])
    return told


CASES = list(itertools.product(SOURCES, VIEWS, RESULTS, ("tg.no_grad()", "tg.enable_grad()")))


@pytest.mark.parametrize(
    ("source", "view", "result", "mode"),
    [case if n % 7 == 0 else pytest.param(*case, marks=pytest.mark.long(every=5)) for n, case in enumerate(CASES)],
)
def test_a_returned_view_refuses_the_writes_of_eager_mode(tg, source, view, result, mode):
    space = {"tg": tg}
    body = f"    y = {SOURCES[source]}\n    with {mode}:\n        v = {VIEWS[view]}\n    return {RESULTS[result]}"
    exec(f"def step(x, w):\n{body}", space)
    w = tg.ones(3, requires_grad=True)
    step = tg.compile(space["step"])
    for _ in range(3):
        assert outcome(tg, step, w) == outcome(tg, space["step"], w)


@pytest.mark.parametrize("mode", ["tg.no_grad()", "tg.enable_grad()", "tg.inference_mode()"])
@pytest.mark.parametrize("view", [*VIEWS.values(), "y.max(-1).values", "y.sort(0)[0][1:]"])
def test_a_view_that_is_all_that_is_returned(tg, view, mode):
    """Also where what it is a view of is not seen by anybody, and in calls that take the shortest way."""
    space = {"tg": tg}
    exec(f"def step(x):\n    with {mode}:\n        y = x * 2\n        return {view}", space)
    step = tg.compile(space["step"])
    for i in range(5):
        one, other = step(ramp(tg, 2, 3) + i), space["step"](ramp(tg, 2, 3) + i)
        assert (one.shape, one.stride(), one.tolist()) == (other.shape, other.stride(), other.tolist())


ENDS = {"as it is": "{}", "detached": "{}.detach()", "data": "{}.data", "detached between": "y.detach(); {}"}
LATER = list(itertools.product(("x", "w", "x * 2"), VIEWS, ENDS, RESULTS, (False, True)))


@pytest.mark.parametrize(
    ("source", "view", "end", "result", "with_gradients"),
    [case if n % 11 == 0 else pytest.param(*case, marks=pytest.mark.long(every=3)) for n, case in enumerate(LATER)],
)
def test_a_view_of_what_requires_grad_later(tg, source, view, end, result, with_gradients):
    """A differentiable view takes part as soon as its base does and is written; what is detached never does."""
    space = {"tg": tg}
    before, _, last = ENDS[end].rpartition("; ")
    body = f"    y = {source}\n    whole = y\n"
    body += f"    y = {before}\n" if before else ""
    body += f"    v = {last.format(VIEWS[view])}\n    return {RESULTS[result].replace(', y)', ', whole)')}"
    exec(f"def step(x, w):\n{body}", space)
    step = tg.compile(space["step"])

    def outcome(function):
        x, w = ramp(tg, 2, 3), ramp(tg, 2, 3) + 1
        found = function(x, w)
        results = found if isinstance(found, tuple) else (found,)
        others = results[1:] if source == "x * 2" else ()  # a base that nobody sees is none
        is_alone = source == "x * 2" and not others
        shown = (x, w, *others)
        for each in (*shown, *results):
            if not each.requires_grad and (is_alone or each._base is None):
                each.requires_grad_()
        with tg.no_grad() if not with_gradients else tg.enable_grad():
            for each in shown:
                try:
                    each.mul_(2)
                except RuntimeError as error:
                    results += (str(error)[:40],)
        return [(r.requires_grad, r.is_leaf, r.tolist()) if isinstance(r, tg.Tensor) else r for r in results]

    expected = outcome(space["step"])
    for _ in range(4):
        assert outcome(step) == expected
