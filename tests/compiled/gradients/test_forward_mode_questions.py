"""Forward mode: dual tensors in compiled functions."""

import pytest
from compiled.table import Section
from side_by_side import Program, batches, weight

ask = Section("Forward mode")


@ask.replay()
def trained_by_a_tangent(tg):
    """Does a step train on the derivative of a model along a direction (reverse over forward)?"""
    fwAD = tg.autograd.forward_ad
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.LayerNorm(4), tg.nn.Linear(4, 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.05)

    def step(x):
        optimizer.zero_grad()
        with fwAD.dual_level():
            value, change = fwAD.unpack_dual(model(fwAD.make_dual(x, tg.ones_like(x))))
        loss = (change - value).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss

    return Program(step, batches(tg, 4, 3), lambda: list(model.parameters()))


@ask.replay()
def hessian_times_vector(tg):
    """Is the tangent of a gradient the product of the Hessian with a vector (forward over reverse)?"""
    fwAD = tg.autograd.forward_ad

    def step(x):
        with fwAD.dual_level():
            dual = fwAD.make_dual(x.detach(), x.flip(0)).requires_grad_()
            (g,) = tg.autograd.grad((dual.sin() * dual.softmax(0)).sum(), dual)
            return fwAD.unpack_dual(g).tangent.detach()

    return Program(step, batches(tg, 3))


@ask.replay()
def writes_in_place(tg):
    """Do tangents follow writes to views, to constants, and to a tensor from outside?"""
    fwAD = tg.autograd.forward_ad
    kept = tg.zeros(4)

    def step(x):
        with fwAD.dual_level():
            dual = fwAD.make_dual(x, x * 2)
            y = dual.clone()
            y[1:3].mul_(dual[:2])
            y[0] = dual.sum()
            y[3].fill_(2.0)
            kept.copy_(y)
            z = tg.zeros(2, 4)
            z[1] = kept
            return fwAD.unpack_dual(z).tangent, fwAD.unpack_dual(kept).tangent

    return Program(step, batches(tg, 4), lambda: kept)


@ask.replay(calls=5, c_calls=3)
def own_tangent(tg):
    """Is the jvp of an own function what a replay computes?"""
    fwAD = tg.autograd.forward_ad

    class Square(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_forward(x)
            return x * x

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 20 * t * x

    def step(x):
        with fwAD.dual_level():
            return fwAD.unpack_dual(Square.apply(fwAD.make_dual(x, x.exp())) + 1).tangent

    return Program(step, batches(tg, 3))


@ask.replay()
def without_recording(tg):
    """Are tangents computed under no_grad, with parameters that require gradients?"""
    fwAD = tg.autograd.forward_ad
    w = weight(tg, 3)

    @tg.no_grad()
    def step(x):
        with fwAD.dual_level():
            return fwAD.unpack_dual((fwAD.make_dual(w, x) * w).tanh()).tangent

    return Program(step, batches(tg, 3), lambda: w)


@ask.rerecord()
def branches_on_a_dual_tensor(tg):
    """Does a branch on the numbers of a dual tensor take the eager way at each call?"""
    fwAD = tg.autograd.forward_ad

    def step(x):
        with fwAD.dual_level():
            y = fwAD.make_dual(x, x * x).cumsum(0)
            if y[-1].item() > 0:
                y = y * 3
            return fwAD.unpack_dual(y.exp()).tangent

    return Program(step, batches(tg, 3))


@ask.rerecord()
def levels_by_functions(tg):
    """Is a level that is entered by a function entered and left at each call?"""
    fwAD = tg.autograd.forward_ad

    def step(x):
        fwAD.enter_dual_level()
        change = fwAD.unpack_dual(fwAD.make_dual(x, x + 1).sigmoid()).tangent
        fwAD.exit_dual_level()
        return change

    return Program(step, batches(tg, 3))


@pytest.mark.parametrize("question", ask.rows())
def test_answers(answer, question):
    answer(question)


def test_a_compiled_function_within_a_level_is_eager(tg):
    fwAD = tg.autograd.forward_ad
    step = tg.compile(lambda x: x.exp() * 2)
    for _ in range(3):
        step(tg.zeros(2))
    with fwAD.dual_level():
        change = fwAD.unpack_dual(step(fwAD.make_dual(tg.zeros(2), tg.ones(2)))).tangent
    assert change.tolist() == [2.0, 2.0]
