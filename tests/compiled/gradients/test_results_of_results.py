"""Compiled functions, and parts of deferred blocks, with results of which other results are computed: gradients with
respect to the former are eager mode's, or refused; hooks on them see all of the gradient, or none is computed."""

import contextlib

import pytest

import tracegrad as tg


class Features(tg.nn.Module):
    """Gives what it computes of its features, and these."""

    def __init__(self, form):
        super().__init__()
        self.layer, self.head, self.form = tg.nn.Linear(4, 4), tg.nn.Linear(4, 2), form

    def forward(self, x):
        return FORMS[self.form](self, self.layer(x).tanh())


FORMS = {
    "two": lambda m, h: (h, m.head(h)),
    "the other way round": lambda m, h: (m.head(h), h)[::-1],
    "a chain": lambda m, h: (h, m.head(h * 2).exp()),
    "detached": lambda m, h: (h, m.head(h.detach())),
    "by a comparison": lambda m, h: (h, m.head(tg.ones(3, 4)) * (h > 0).float().mean()),
    "a row": lambda m, h: (h, h[:, 1:].sum(1)),
    "apart": lambda m, h: (h, m.head(m.layer(tg.ones(3, 4)))),
}


def by_grad(h, y):
    return tg.autograd.grad((y * y).sum() + h.sum(), h)


def by_grad_of_the_other(h, y):
    return tg.autograd.grad((y * y).sum(), h, allow_unused=True)


def by_create_graph(h, y):
    return tg.autograd.grad((y * y).sum(), h, allow_unused=True, create_graph=True)


def of_itself(h, y):
    return tg.autograd.grad((h * h).sum(), h)


def by_inputs(h, y):
    (y * y).sum().backward(inputs=[h])
    return (h.grad,)


def by_retaining(h, y):
    h.retain_grad()
    ((y * y).sum() + h.sum()).backward()
    return (h.grad,)


def by_hook(h, y):
    seen = []
    h.register_hook(lambda g: seen.append(g.clone()) or g * 10)
    ((y * y).sum() + h.sum()).backward()
    return tuple(seen)


def hooked_but_not_reached(h, y):
    h.register_hook(lambda g: g * 10)
    (y * y).sum().backward()
    return ()


USES = [by_grad, by_grad_of_the_other, by_create_graph, of_itself, by_inputs, by_retaining, by_hook,
        hooked_but_not_reached]  # fmt: skip
WAYS = {"compiled": (tg.compile, contextlib.nullcontext), "deferred": (lambda model: model, tg.deferred)}


def outcomes(form, use, compile=lambda model: model, block=contextlib.nullcontext):
    """Of five calls: what is found of h, and all parameters' gradients; or the refusal."""
    tg.manual_seed(0)
    model, found = Features(form), []
    called = compile(model)
    with block():
        for i in range(5):
            model.zero_grad()
            h, y = called(tg.arange(12.0).view(3, 4) / 12 + i)
            try:
                gradients = use(h, y)
            except RuntimeError as error:
                found.append(str(error))
                continue
            gradients = [*gradients, *[p.grad for p in model.parameters()]]
            found.append([g if g is None else g.detach().clone() for g in gradients])
    return found


def is_refused(outcome):
    return isinstance(outcome, str) and "of which another result of that call was computed" in outcome


@pytest.mark.long(fast=9, every=4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("form", FORMS)
def test_a_gradient_is_all_of_it_or_refused(form, use, way):
    found, expected = outcomes(form, use, *WAYS[way]), outcomes(form, use)
    for one, other in zip(found, expected, strict=True):
        if is_refused(one):
            assert form not in ("detached", "apart") and use is not of_itself  # what is right is not refused
            continue
        assert isinstance(one, str) == isinstance(other, str), (one, other)
        if not isinstance(other, str):
            assert [g is None for g in one] == [g is None for g in other]
            # Roundings of programs against those of numpy, for gradients of up to some tens.
            assert all(
                tg.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(one, other, strict=True) if a is not None
            )


def test_refusals_are_there():
    """The test above compares, or accepts a refusal: in this case there is one, from the call on that has a program."""
    found = outcomes("two", by_grad, tg.compile)
    assert not is_refused(found[0]) and all(map(is_refused, found[1:]))
