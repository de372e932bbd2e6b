"""A user's ``autograd.Function`` within `vmap` and `grad`: its own backward holds at each level, and its own `vmap`.

The backward of these is ten times the derivative of what forward computes, so that a gradient that went another way
shows.
"""

from __future__ import annotations

import itertools

import pytest

import tracegrad as tg

func = tg.func


def _own_rule(function, asked):
    def rule(info, in_dims, *args):
        asked.append((info.batch_size, info.randomness, in_dims))
        moved = [x if at is None else x.movedim(at, 0) for x, at in zip(args, in_dims, strict=True)]
        whole = [x.expand(info.batch_size, *x.shape) if at is None else x for x, at in zip(moved, in_dims, strict=True)]
        return function.apply(*whole), 0

    return staticmethod(rule)


def product(with_setup, with_rule, asked):
    """``x * y`` as a Function, written in one of the two ways, with or without a rule for batches."""

    def keep(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    def whole(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y * 10, g * x * 10

    parts = {"backward": staticmethod(backward)}
    if with_setup:
        parts |= {"forward": staticmethod(lambda x, y: x * y), "setup_context": staticmethod(keep)}
    else:
        parts["forward"] = staticmethod(whole)
    function = type("Product", (tg.autograd.Function,), parts)
    if with_rule:
        function.vmap = _own_rule(function, asked)
    return function


WRITTEN = {"with ctx": (False, False), "with setup": (True, False), "with a rule": (True, True)}


def gradients(apply, form, x, y, in_dims):
    """The gradient of the sum of the products with respect to `x`, in one of the ways to ask for it."""
    mapped = func.vmap(apply, in_dims)
    if form == "grad of vmap":
        return func.grad(lambda x: mapped(x, y).sum())(x)
    if form == "vmap of grad":
        return func.vmap(func.grad(lambda x, y: apply(x, y).sum()), in_dims, in_dims[0])(x, y)
    if form == "jacobian":
        return func.jacrev(lambda x: mapped(x, y).sum())(x)
    leaf = x.clone().requires_grad_()
    given = leaf * 1 if form == "backward of what is no leaf" else leaf
    if form == "backward of the second":
        mapped(y, given).sum().backward()
    else:
        mapped(given, y).sum().backward()
    return leaf.grad


FORMS = ("grad of vmap", "vmap of grad", "jacobian", "backward", "backward of what is no leaf")


@pytest.mark.parametrize(("written", "form", "axis"), itertools.product(WRITTEN, FORMS, range(2)))
def test_gradients_are_what_backward_says(written, form, axis):
    function = product(*WRITTEN[written], [])
    x = tg.arange(6.0).reshape(3, 2) + 1
    y = tg.arange(6.0).reshape(3, 2) - 3
    assert gradients(function.apply, form, x, y, (axis, axis)).tolist() == (y * 10).tolist()


@pytest.mark.parametrize(("written", "form"), itertools.product(WRITTEN, FORMS))
def test_gradients_with_what_goes_in_whole(written, form):
    function = product(*WRITTEN[written], [])
    x, y = tg.arange(6.0).reshape(3, 2), tg.tensor([2.0, 3.0])
    expected = [[20.0, 30.0]] * 3
    assert gradients(function.apply, form, x, y, (0, None)).tolist() == expected


@pytest.mark.parametrize("written", WRITTEN)
def test_the_gradient_of_a_whole_argument_is_a_sum(written):
    function = product(*WRITTEN[written], [])
    x, weight = tg.arange(6.0).reshape(3, 2), tg.tensor([2.0, 3.0], requires_grad=True)
    func.vmap(function.apply, (0, None))(x, weight).sum().backward()
    assert weight.grad.tolist() == [60.0, 90.0]


@pytest.mark.parametrize("randomness", ["error", "same", "different"])
def test_a_rule_is_asked_for_all_slices_at_once(randomness):
    asked = []
    function = product(True, True, asked)
    x, y = tg.arange(6.0).reshape(3, 2), tg.tensor([2.0, 3.0])
    out = func.vmap(function.apply, (0, None), randomness=randomness)(x, y)
    assert out.tolist() == (x * y).tolist()
    assert asked == [(3, randomness, (0, None))]
    asked.clear()
    nested = func.vmap(func.vmap(function.apply))(x, x)
    assert nested.tolist() == (x * x).tolist()
    assert [size for size, _, _ in asked] == [2, 3]


def test_what_a_rule_returns_is_placed():
    class Parts(tg.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 2, x.sum()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g, h):
            return g

        @staticmethod
        def vmap(info, in_dims, x):
            return ((x * 2).T, tg.tensor(7.0)), (1, None)

    doubled, number = func.vmap(Parts.apply)(tg.ones(3, 2))
    assert doubled.tolist() == [[2.0, 2.0]] * 3
    assert number.tolist() == [7.0] * 3


def test_what_forward_leaves_is_seen_at_the_node():
    class Kept(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.factor = factor
            ctx.save_for_backward(x)
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = tg.ones(2, requires_grad=True)
    node = Kept.apply(x, 3).grad_fn
    assert (node.factor, node.needs_input_grad) == (3, (True, False))
    assert node.saved_tensors[0] is x or node.saved_tensors[0].tolist() == x.tolist()
    with pytest.raises(AttributeError, match="'KeptBackward' object has no attribute 'other'"):
        _ = node.other


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((5,), {}), ((), {"n": 5})])
def test_arguments_by_keyword_and_defaults_are_arguments_of_setup_context(args, kwargs):
    seen = []

    class Scaled(tg.autograd.Function):
        @staticmethod
        def forward(x, n=3):
            return x * n

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append(inputs[1:])
            ctx.n = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.n, None

    n = 5 if args or kwargs else 3
    x = tg.ones(2, requires_grad=True)
    Scaled.apply(x, *args, **kwargs).sum().backward()
    assert seen == [(n,)]
    assert x.grad.tolist() == [n, n]


@pytest.mark.parametrize("view", [lambda x: x, lambda x: x.view(2, 1), lambda x: x[:1]])
def test_views_that_a_function_returns_refuse_writes(view):
    class Shown(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return view(x)

        @staticmethod
        def backward(ctx, g):
            return g

    shown = Shown.apply(tg.ones(2, requires_grad=True) * 1)
    with pytest.raises(RuntimeError, match="Output 0 of Shown is a view and is being modified inplace"):
        shown.add_(1)
    assert shown.clone().add_(1).requires_grad
