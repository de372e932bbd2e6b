"""Gradients that backward() and grad() are given, or that hooks put in their place, reach programs as they reach eager
nodes: of the result's type and shape, or not at all. And leaves that require none any more get none."""

import contextlib

import pytest

import tracegrad as tg

WAYS = {
    "eager": (lambda function: function, contextlib.nullcontext),
    "compiled": (tg.compile, contextlib.nullcontext),
    "deferred": (lambda function: function, tg.deferred),
}
FUNCTIONS = {
    "product": lambda w, x: w * x,
    "matrix product": lambda w, x: w @ x.t(),
    "rows": lambda w, x: (w * x)[[0, 2]],
    "softmax": lambda w, x: (w * x).softmax(-1),
}
TYPES = [tg.int64, tg.int8, tg.uint8, tg.bool, tg.float16, tg.bfloat16, tg.float64]


def by_backward(y, w, g):
    y.retain_grad()
    y.backward(g)
    return w.grad, y.grad


def by_grad(y, w, g):
    return tg.autograd.grad(y, [w, y], g)


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("pass_", [by_backward, by_grad])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("way", WAYS)
def test_another_type_is_cast_to_the_result_s(way, name, pass_, dtype):
    compile, block = WAYS[way]
    function = compile(FUNCTIONS[name])
    with block():
        for i in range(4):
            x, w, expected = tg.arange(12.0).view(3, 4) + i, *(tg.ones(3, 4, requires_grad=True) for _ in range(2))
            y = function(w, x)
            found = pass_(y, w, tg.ones(y.shape).to(dtype))
            wanted = pass_(FUNCTIONS[name](expected, x), expected, tg.ones(y.shape))
            for one, other in zip(found, wanted, strict=True):
                assert one.dtype is other.dtype is tg.float32
                # A few roundings of sums of terms of up to 4, in programs and in numpy.
                assert tg.allclose(one, other, rtol=1e-6, atol=1e-6)


REPLACED = {
    "another size": (lambda g: g[:2], "has changed the size of value"),
    "float64": (tg.Tensor.double, "has changed the type of value"),
    "float16": (tg.Tensor.half, "has changed the type of value"),
    "integers": (tg.Tensor.long, "has changed the type of value"),
    "a mask": (lambda g: g > 0, "has changed the type of value"),
    "complex": (lambda g: g.to(tg.complex64), "has changed the type of value"),
}


def each(change):
    return lambda gradients: tuple(g if g is None else change(g) for g in gradients)


def before_the_node(y, change):
    y.grad_fn.register_prehook(each(change))
    return y.sum()


def behind_a_node(y, change):
    z = y * 2
    z.grad_fn.register_hook(lambda given, arrived: each(change)(given))
    return z.sum()


def of_the_tensor(y, change):
    y.register_hook(change)
    return y.sum()


class Double(tg.nn.Module):
    def forward(self, x):
        return x * 2


def behind_a_module(y, change):
    module = Double()
    module.register_full_backward_hook(lambda module, given, arrived: each(change)(given))
    return module(y).sum()


def before_a_module(y, change):
    module = Double()
    module.register_full_backward_pre_hook(lambda module, arrived: each(change)(arrived))
    return module(y).sum()


HOOKS = [before_the_node, behind_a_node, of_the_tensor, behind_a_module, before_a_module]


def refused_after(hooked, change, message, way):
    compile, block = WAYS[way]
    function = compile(FUNCTIONS["product"])
    with block():
        for _ in range(4):
            w = tg.ones(3, 4, requires_grad=True)
            loss = hooked(function(w, tg.ones(3, 4)), change)
            with pytest.raises(RuntimeError, match=message):
                loss.backward()
            assert w.grad is None


@pytest.mark.parametrize("name", REPLACED)
@pytest.mark.parametrize("hooked", HOOKS)
@pytest.mark.parametrize("way", WAYS)
def test_what_a_hook_returns_is_like_what_it_was_given(way, hooked, name):
    refused_after(hooked, *REPLACED[name], way)


@pytest.mark.parametrize("way", WAYS)
def test_a_node_s_hooks_return_as_many(way):
    def twice(y, change):
        y.grad_fn.register_prehook(lambda gradients: (*gradients, *gradients))
        return y.sum()

    refused_after(twice, None, "incorrect number of values", way)


class Returning(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, change):
        ctx.change = change
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return ctx.change(g * 2), None


@pytest.mark.parametrize("name", REPLACED)
@pytest.mark.parametrize("way", WAYS)
def test_what_a_function_returns_is_cast_or_refused(way, name):
    """As PyTorch: real numbers are cast, complex ones and other sizes refused."""
    change, _ = REPLACED[name]
    if name in ("another size", "complex"):
        message = "invalid gradient" if name == "another size" else "isFloatingType"
        refused_after(lambda y, change: Returning.apply(y, change).sum(), change, message, way)
        return
    compile, block = WAYS[way]
    function = compile(FUNCTIONS["product"])
    with block():
        for i in range(4):
            w = tg.ones(3, 4, requires_grad=True)
            Returning.apply(function(w, tg.ones(3, 4) + i), change).sum().backward()
            assert w.grad.dtype is tg.float32
            assert w.grad.tolist() == [[(i + 1) * (1.0 if name == "a mask" else 2.0)] * 4] * 3


def test_a_program_takes_no_gradient_that_is_not_like_its_result():
    """Whoever hands it one: it is C that would read its memory."""
    function = tg.compile(FUNCTIONS["product"])
    for _ in range(2):  # the first call's result has eager mode's node
        y = function(tg.ones(3, 4, requires_grad=True), tg.ones(3, 4))
    for g in (tg.ones(3, 4).double(), tg.ones(3, 4).bool(), tg.ones(2, 4)):
        with pytest.raises(RuntimeError, match="Give gradients the type and shape of their results"):
            y.grad_fn.backward([g], [True])


@pytest.mark.parametrize("way", WAYS)
def test_complex_gradients_of_real_results_are_refused(way):
    y = WAYS[way][0](FUNCTIONS["product"])(tg.ones(3, 4, requires_grad=True), tg.ones(3, 4))
    with pytest.raises(RuntimeError, match="For complex Tensors, both grad_output and output"):
        y.backward(tg.ones(3, 4, dtype=tg.complex64))


def frozen_for_a_while(way, is_inner, keeps):
    """Numbers of steps of which some freeze leaves between the forward and the backward pass."""
    compile, block = WAYS[way]
    tg.manual_seed(0)
    w, v, layer, found = tg.ones(3, requires_grad=True), tg.ones(3, requires_grad=True), tg.nn.Linear(3, 2), []

    def forward(x, w):
        return (layer(w * x) * 2).sum() + (v * x).sum()

    def step(x, w, freezes):
        loss = forward(x, w)
        if freezes:
            w.requires_grad_(False)
            layer.weight.requires_grad_(False)
        loss.backward()
        w.requires_grad_(True)
        layer.weight.requires_grad_(True)
        return loss.detach()

    if is_inner:
        forward = compile(forward)
    else:
        step = compile(step)
    with block():
        for i in range(9):
            given = w if keeps else tg.ones(3, requires_grad=True)
            loss = step(tg.ones(3) * (i + 1), given, i % 3 == 2)
            found.append([None if t is None else t.sum().item() for t in (loss, given.grad, v.grad, layer.weight.grad)])
            if not keeps:
                layer.weight.grad = v.grad = None
    return found


@pytest.mark.parametrize("keeps", [True, False], ids=["added up", "each anew"])
@pytest.mark.parametrize("way, is_inner", [("compiled", False), ("compiled", True), ("deferred", False)])
def test_leaves_that_require_no_gradient_any_more_get_none(way, is_inner, keeps):
    expected = frozen_for_a_while("eager", False, keeps)
    assert not keeps or expected[2][1] == expected[1][1]
    assert keeps or expected[2][1] is None
    found = frozen_for_a_while(way, is_inner, keeps)
    assert [[x if x is None else pytest.approx(x, rel=1e-5) for x in row] for row in expected] == found
