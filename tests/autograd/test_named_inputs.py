"""``backward(inputs=...)`` and ``autograd.grad`` by named inputs: what retains its gradient, and what inputs may be."""

import itertools
from collections import OrderedDict

import pytest

PASSES = ("inner", "leaf", "both", "all", "grad")
FORMS = {
    "list": list, "tuple": tuple, "iterator": iter, "dict": lambda inputs: dict(enumerate(inputs)),
    "set": lambda inputs: OrderedDict.fromkeys(inputs).keys(),
}  # fmt: skip


@pytest.fixture(params=["eager", "compiled", "deferred"])
def serve(request, tg):
    """One function, called four times in one of the ways to run it."""
    wrap = {"eager": lambda f: f, "compiled": tg.compile, "deferred": lambda f: tg.deferred()(f)}[request.param]

    def calls(function):
        served = wrap(function)
        return [served() for _ in range(4)]

    return calls


NAMED = {"inner": ["inner"], "leaf": ["leaf"], "both": ["leaf", "inner"]}
SEQUENCES = list(itertools.product(PASSES, repeat=3))
#: Each sequence with one of the forms of `inputs`, by turns.
SITUATIONS = {"-".join((*passes, form)): (passes, form) for passes, form in zip(SEQUENCES, itertools.cycle(FORMS))}  # noqa: B905


def a_pass(tg, loss, tensors, which, form):
    if which == "grad":
        tg.autograd.grad(loss, tensors["inner"], retain_graph=True)
    elif which == "all":
        loss.backward(retain_graph=True)
    elif form == "list":
        loss.backward(retain_graph=True, inputs=[tensors[name] for name in NAMED[which]])
    else:
        tg.autograd.backward(loss, retain_graph=True, inputs=FORMS[form](map(tensors.get, NAMED[which])))


@pytest.mark.parametrize("before", [False, True])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_an_inner_tensor_that_was_named_retains_its_gradient(tg, serve, situation, before):
    """From then on: later passes to other inputs, by `grad`, and to all leaves add to it, too. `grad` names nothing."""
    passes, form = SITUATIONS[situation]
    leaf = tg.tensor([1.0, 2.0], requires_grad=True)

    def step():
        leaf.grad = None
        inner = leaf * 2
        if before:
            inner.retain_grad()
        loss = (inner * 3).sum()
        for each in passes:
            a_pass(tg, loss, {"leaf": leaf, "inner": inner}, each, form)
        retained = inner.retains_grad
        return leaf.grad, inner.grad if retained else None, retained

    of_leaf, of_inner, retained = 0.0, 0.0, before
    for each in passes:  # the loss is 3 times `inner`, which is 2 times `leaf`
        retained = retained or each in ("inner", "both")
        of_leaf += 6.0 * (each in ("leaf", "both", "all"))
        of_inner += 3.0 * retained
    for found_of_leaf, found_of_inner, is_retained in serve(step):
        assert is_retained is retained
        assert (0.0 if found_of_leaf is None else found_of_leaf[0].item()) == of_leaf
        assert (0.0 if found_of_inner is None else found_of_inner[0].item()) == of_inner


OTHERS = {  # what is named, whether it retains its gradient then, and that
    "a view of what is used": (lambda leaf, inner: inner[0], True, None),
    "unused": (lambda leaf, inner: leaf * 5, True, None),
    "a result": (lambda leaf, inner: inner.used, True, [1.0, 1.0]),
    "of no gradient": (lambda leaf, inner: inner.detach(), "can't retain_grad on Tensor that has", 0),
    "a number": (lambda leaf, inner: 3, "all inputs have to be Tensors or GradientEdges, but got int", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_named_retains_its_gradient_whether_it_gets_one_or_not(tg, serve, name):
    """And what was named before an input that is refused, retains its own, too."""
    leaf = tg.tensor([1.0, 2.0], requires_grad=True)
    make, retains, expected = OTHERS[name]

    def step():
        leaf.grad = None
        inner = leaf * 2
        inner.used = inner * 3
        named = make(leaf, inner)
        try:
            inner.used.sum().backward(inputs=[inner, named])
        except RuntimeError as error:
            return inner.retains_grad, str(error), None
        return inner.retains_grad, named.retains_grad, named.grad

    for of_inner, found, gradient in serve(step):
        assert of_inner and leaf.grad is None
        assert found is retains if isinstance(retains, bool) else retains in found
        assert gradient is None if expected in (None, 0) else gradient.tolist() == expected


def test_an_edge_retains_nothing(tg, serve):
    leaf = tg.tensor([1.0, 2.0], requires_grad=True)

    def step():
        leaf.grad = None
        inner = leaf * 2
        edges = [tg.autograd.graph.get_gradient_edge(x) for x in (leaf, inner)]
        (inner * 3).sum().backward(inputs=edges)
        return inner.retains_grad, leaf.grad

    for retained, of_leaf in serve(step):
        assert retained is False and of_leaf.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_gradients_by_inputs_in_each_form(tg, serve, form, batched):
    leaf = tg.tensor([1.0, 2.0], requires_grad=True)

    def step():
        inner = leaf * 2
        given = {"grad_outputs": tg.ones(1), "is_grads_batched": True} if batched else {}
        found = tg.autograd.grad(iter([(inner * 3).sum()]), FORMS[form]([leaf, inner]), **given)
        assert isinstance(found, dict) == (form == "dict") and (form != "dict" or list(found) == [0, 1])
        return tuple(found.values()) if form == "dict" else found

    for of_leaf, of_inner in serve(step):
        assert of_leaf.reshape(-1).tolist() == [6.0, 6.0] and of_inner.reshape(-1).tolist() == [3.0, 3.0]


def test_passes_by_nothing(tg):
    leaf = tg.ones(2, requires_grad=True)
    refused = {
        (RuntimeError, "cannot be empty"): [(), [], {}, iter([])],
        (TypeError, r"must be a dict, not OrderedDict"): [OrderedDict(a=leaf)],
        (TypeError, "'int' object is not iterable"): [3],
    }
    for (kind, text), cases in refused.items():
        for inputs in cases:
            with pytest.raises(kind, match=text):
                tg.autograd.backward(leaf.sum(), inputs=inputs)
            with pytest.raises(kind, match=text):
                tg.autograd.grad(leaf.sum(), inputs)
    assert leaf.grad is None
