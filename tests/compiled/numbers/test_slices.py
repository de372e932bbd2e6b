"""Where a slice begins is data: one program for all starts, and eager mode's views, errors and derivatives."""

import itertools
import re

import pytest
from side_by_side import Program, agreeing, ramp

EXTENTS = (6, 4)

# What is done with `i`: an int that is another one at each call, negative and out of range among them.
INDICES = {
    "x[i]": "x[i]",
    "x[i, 1]": "x[i, 1]",
    "x[:, j]": "x[:, i % 3]",
    "x[i, j]": "x[i, (i + 1) % 4]",
    "x[..., j]": "x[..., i % 4]",
    "x[None, i]": "x[None, i]",
    "x[i, None, 1:]": "x[i, None, 1:]",
    "a window": "x[i : i + 2]",
    "every second": "x[i : i + 4 : 2]",
    "a window of columns": "x[1:5, i % 2 : i % 2 + 3]",
    "two windows": "x[i : i + 2, i % 2 : i % 2 + 2]",
    "a window and a tensor": "x[i : i + 2, index]",
    "from the start": "x[:i]",
    "to the end": "x[i:]",
    "blocks": "x[i * 2 : (i + 1) * 2]",
    "from the end": "x[-i - 2 : x.shape[0] - i]",
    "narrow": "x.narrow(0, i, 2)",
    "narrow columns": "x.narrow(-1, i % 3, 2)",
    "select": "x.select(0, i)",
    "select a column": "x.select(-1, i % 4)",
    "roll": "x.roll(i, 0)",
    "roll it all": "x.roll(i)",
    "a step": "x[: 4 : abs(i) + 1]",
    "a window of a window": "x[i : i + 4][i % 2 : i % 2 + 2]",
    "a tensor": "x[tg.tensor(abs(i) % 3)]",
    "a tensor of a tensor": "x[tg.tensor(abs(i) % 3)][tg.tensor(abs(i) % 2)]",
    "of a transposed": "x.t()[:, i : i + 2]",
    "of a broadcast": "x[0].expand(6, 4)[i : i + 2]",
    "columns up to all": "x[:, : 2 + (i + 1) % 3 % 2 * 2]",
    "of integers": "(x * 10).long()[i : i + 2]",
}
# What is done with the result.
USES = {
    "reads": "y = {}; return y * 2",
    "sums": "y = {}; return y.sum(), x.sum()",
    "returns": "return {}",
    "returns a view of it": "return {}.reshape(-1)[:1]",
    "differentiates": "y = ({} * w).sum(); y.backward(); g = w.grad; w.grad = None; return y, g",
    "differentiates it": "z = w * x; y = ({Z}).sin().sum(); y.backward(); g = w.grad; w.grad = None; return y, g",
    "leaves a graph": "z = w * x; return {Z}.exp()",
    "writes it": "y = {}; y.mul_(2); return x.sum()",
    "writes x while it is there": "y = {}; x.add_(1); return y + 1",
    "writes to it": "{} = 7.0; return x.sum()",
    "adds to it": "y = {}; y += 1; return x * 2",
    "detaches": "y = {}.detach(); return y + 1, y.requires_grad",
    "tracks it": "y = {}; y *= -1; y.requires_grad_(); return x.requires_grad",
    "asks": "y = {}; return y.shape, y.stride(), y.dim(), y.is_contiguous(), y.sum()",
}
STARTS = [0, 1, 2, 3, 4, -1, -2, 5, 6, 7, -6, -7, 1, 2]


def sliced(tg, index, use, captured):
    expression = INDICES[index]
    body = USES[use].replace("{Z}", re.sub(r"\bx\b", "z", expression)).replace("{}", expression)
    whole = ramp(tg, *EXTENTS)
    space = {"tg": tg, "w": tg.full((1,), 0.5).requires_grad_(), "index": tg.tensor([0, 2])}
    if captured:
        space["x"] = whole
        parameters, args = "i", lambda i: (STARTS[i],)
    else:
        parameters, args = "x, i", lambda i: (whole, STARTS[i])
    exec(f"def step({parameters}):\n    {body}", space)
    raises = (IndexError, RuntimeError, TypeError, ValueError)
    return Program(space["step"], args, lambda: (whole, space["w"]), raises=raises)


CASES = [(i, u) for i, u in itertools.product(INDICES, USES) if u != "writes to it" or "[" in INDICES[i]]
FAST = [case for n, case in enumerate(CASES) if n % 36 == 0]


def params():
    return [c if c in FAST else pytest.param(*c, marks=pytest.mark.long(every=41)) for c in CASES]


@pytest.mark.parametrize(("index", "use"), params())
def test_a_slice_begins_where_it_does_in_eager_mode(tg, index, use):
    for captured in (False, True):
        agreeing(tg, lambda tg: sliced(tg, index, use, captured), len(STARTS))  # noqa: B023


@pytest.mark.parametrize(
    "index", ["x[i]", "a window", "blocks", "every second", "narrow", "select", "a window of a window"]
)
def test_all_starts_are_one_program(tg, index):
    whole = ramp(tg, 40, 3)
    space = {}
    exec(f"def step(x, i):\n    return ({INDICES[index]} * 2).sum()", space)
    step = tg.compile(space["step"])
    ways = []
    for i in range(12):
        assert step(whole, i).item() == pytest.approx(space["step"](whole, i).item(), rel=1e-5)
        ways.append(step.way)
    assert ways[3:] == ["replay"] * 9 and len(step.specialisations) <= 2, step.explain()
