"""Views at a place that is data (``h[i]``, i another number at each call), and writes to them or to what they show.

The call in which the number is found to change is recorded with a stand-in in its place, and elements are picked there:
its results and gradients are eager mode's all the same, and so are those of the calls behind it.
"""

import warnings

import pytest

import tracegrad as tg

PICKS = {
    "h[i]": lambda h, i: h[i],
    "h[:, i]": lambda h, i: h[:, i],
    "h[-1 - i]": lambda h, i: h[-1 - i],
    "h.mT[i]": lambda h, i: h.mT[i],
    "select": lambda h, i: h.select(1, i),
    "narrow": lambda h, i: h.narrow(0, i, 1),
    "h[i : i + 2]": lambda h, i: h[i : i + 2],
    "h[:, i : i + 3 : 2]": lambda h, i: h[:, i : i + 3 : 2],
    "h[i, i]": lambda h, i: h[i, i],
    "h[i][i : i + 1]": lambda h, i: h[i][i : i + 1],
    "h[i : i + 2][:, i]": lambda h, i: h[i : i + 2][:, i],
    "h[tensor]": lambda h, i: h[tg.tensor(i)],
    "h[tensor, tensor]": lambda h, i: h[tg.tensor(i), tg.tensor(0)],
    "view of a row": lambda h, i: h[i].view(2, 2),
    "rows transposed": lambda h, i: h[i : i + 2].T,
    "detached": lambda h, i: h[i].detach(),
    "data": lambda h, i: h[i].data,
    "unsqueezed": lambda h, i: h[i].unsqueeze(0),
    "unbind": lambda h, i: h.unbind(0)[i],
    "split": lambda h, i: h.split(1)[i],
    "diagonal": lambda h, i: h.diagonal()[i : i + 2],
}


def without_grad(write):
    with tg.no_grad():
        return write()


# h is what is viewed, v the view, u another one.
WRITES = {
    "none": lambda h, v, u: None,
    "mul_": lambda h, v, u: v.mul_(10),
    "neg_": lambda h, v, u: v.neg_(),
    "copy_": lambda h, v, u: v.copy_(u.sum().expand(v.shape)),
    "fill_": lambda h, v, u: v.fill_(2.0),
    "zero_": lambda h, v, u: v.zero_(),
    "+=": lambda h, v, u: v.__iadd__(1.5),
    "v[...] =": lambda h, v, u: v.__setitem__(Ellipsis, 4.0),
    "add itself": lambda h, v, u: v.add_(v),
    "masked_fill_": lambda h, v, u: v.masked_fill_(v > 0, 2.0),
    "to the whole": lambda h, v, u: h.mul_(3),
    "to the whole's first row": lambda h, v, u: h.__setitem__(0, 7.0),
    "to another view": lambda h, v, u: u.mul_(5),
    "in no_grad()": lambda h, v, u: without_grad(lambda: v.mul_(2)),
    "to the whole in no_grad()": lambda h, v, u: without_grad(lambda: h.mul_(2)),
    "through detach()": lambda h, v, u: v.detach().mul_(2),
    "through .data": lambda h, v, u: v.data.mul_(2),
    "to the whole through .data": lambda h, v, u: h.data.mul_(2),
    "requires_grad_": lambda h, v, u: None if v.requires_grad else v.requires_grad_(),
}
WHOLES = {
    "computed": lambda w, x: w * x,
    "a leaf": lambda w, x: w,
    "without gradients": lambda w, x: x * 2,
    "an argument": lambda w, x: x,
    "detached": lambda w, x: (w * x).detach(),
}


def outcomes(pick, write, whole, keeps, compile=lambda function: function):
    """The numbers, gradients and facts of six calls, or the errors that they raise."""
    w = tg.arange(16.0).view(4, 4).add(1).requires_grad_()

    def step(x, i):
        h = WHOLES[whole](w, x)
        v, u = PICKS[pick](h, i), h[(i + 1) % 3]
        before = v * 2
        WRITES[write](h, v, u)
        loss = (h * h).sum() + (v * v).sum() + before.sum() + (u * h[0]).sum()
        gradient = tg.autograd.grad(loss, w, allow_unused=True)[0] if loss.requires_grad else None
        facts = h.requires_grad, v.requires_grad, v.is_leaf, h.is_leaf
        return (loss.detach(), h.detach().clone(), gradient, facts), v if keeps else v.detach().clone()

    step, found = compile(step), []
    for i in (0, 1, 2, 1, 0, 2):
        x = tg.ones(4, 4) * (i + 1)
        try:
            (*tensors, facts), v = step(x, i)
        except Exception as error:
            found.append((type(error).__name__, str(error).partition("\n")[0]))
            continue
        numbers = [None if t is None else t.tolist() for t in (*tensors, x)]
        with tg.no_grad():
            x.add_(1)
        found.append((numbers, facts, v.requires_grad, v.is_leaf, v.stride(), v.tolist()))
    return found


@pytest.mark.long(fast=199, every=101)  # of nearly 2,000, a second of C each
@pytest.mark.parametrize("whole", WHOLES)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("pick", PICKS)
def test_views_at_a_number_that_varies(pick, write, whole):
    for keeps in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = outcomes(pick, write, whole, keeps)
            assert outcomes(pick, write, whole, keeps, tg.compile) == expected, keeps
