"""Batches that are shorter than a bound of a slice, after batches that are not: one program does not serve both."""

import itertools

import pytest

SIZES = (10, 8, 12, 7, 6, 5, 4, 3, 2, 9, 1, 20, 0, 13)
FORMS = {
    "": "x{}",
    "twice": "x{}[1:3]",
    "beside all": "tg.cat([x{}, x])",
    "times all": "x{}.sum(0) * x",
    "transposed": "x{}.t()",
    "flat": "x{}.reshape(-1)",
    "a product": "x{} @ tg.ones(3, 2)",
}
BOUNDS = ("[4:8]", "[:8]", "[6:]", "[-6:]", "[:-6]", "[2:9:2]", "[7:3]", "[3:-3]", "[-5:-2]", "[10:20]")
PARTS = (
    "x.split(4)", "x.chunk(3)", "x.tensor_split(3)", "x.split(5)[:2]", "x.unbind()[:3]",
    "[x.narrow(0, 0, min(4, len(x)))]",
)  # fmt: skip
LOSSES = ("sum", "squares")


def assert_eager(tg, expression, loss):
    space = {"tg": tg}
    squares = loss == "squares"  # the derivative of a sum is known without the numbers
    exec(
        f"def forward(x):\n    return {expression}\n"
        "def step(x):\n    y = forward(x * 1)\n"
        f"    parts = y if isinstance(y, (list, tuple)) else [y]\n"
        f"    total = sum((part * {'part' if squares else 2}).sum() for part in parts)\n"
        "    if isinstance(total, tg.Tensor):\n        total.backward()\n    return y\n",
        space,
    )
    step, compiled = space["step"], tg.compile(space["step"])
    for size in SIZES:
        outcomes = []
        for function in (step, compiled):
            x = (tg.arange(size * 3.0).reshape(size, 3) - 5).requires_grad_()  # small whole numbers: sums are exact
            y = function(x)
            parts = y if isinstance(y, (list, tuple)) else [y]
            outcomes.append(([part.tolist() for part in parts], None if x.grad is None else x.grad.tolist()))
        assert outcomes[0] == outcomes[1], size


@pytest.mark.long(fast="first", every=31)
@pytest.mark.parametrize(("loss", "form", "bounds"), list(itertools.product(LOSSES, FORMS, BOUNDS)))
def test_slices(tg, loss, form, bounds):
    assert_eager(tg, FORMS[form].format(bounds), loss)


@pytest.mark.long(fast="first", every=5)
@pytest.mark.parametrize(("loss", "parts"), list(itertools.product(LOSSES, PARTS)))
def test_parts(tg, loss, parts):
    assert_eager(tg, parts, loss)
