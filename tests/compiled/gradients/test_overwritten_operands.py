"""Second derivatives through writes in place whose rules read what was there before: eager mode keeps a copy of it with
its history, and the program's backward pass has the derivative of that copy, too."""

import pytest

FIRST = {
    "quotient": lambda w: w / 2,
    "negative": lambda w: -w,
    "power": lambda w: w**2 * 1,
    "view": lambda w: (w * 3).view(3, 2).t(),
}
WRITES = {
    "mul_": lambda t, w: t.mul_(w),
    "div_": lambda t, w: t.div_(w + 3),
    "square_": lambda t, w: t.square_(),
    "pow_": lambda t, w: t.pow_(3),
    "sin_": lambda t, w: t.sin_(),
    "addcmul_": lambda t, w: t.addcmul_(w, w).mul_(w),
    "twice": lambda t, w: t.mul_(w).mul_(w),
    "a part": lambda t, w: t[:1].mul_(w[:1]),
}


@pytest.mark.long(fast=13, by_size=True)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("first", FIRST)
def test_second_derivatives_are_those_of_eager_mode(tg, first, write):
    def run(compile):
        weight = (tg.arange(6.0).reshape(2, 3) * 0.1 + 0.3).requires_grad_()

        def step(x):
            t = FIRST[first](weight)
            WRITES[write](t, weight)
            return tg.autograd.grad((t * x).sum(), weight, create_graph=True)[0]

        step, found = compile(step), []
        for i in range(4):
            step(tg.ones(2, 3) + i).sum().backward()
            found.append(weight.grad.clone())
        return found

    for own, eager in zip(run(tg.compile), run(lambda step: step), strict=True):
        tg.testing.assert_close(own, eager)
