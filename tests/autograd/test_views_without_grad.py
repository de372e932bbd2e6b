"""Views of what requires gradients that were taken before it did, or in ``no_grad()``: PyTorch's outcomes."""

import itertools

import pytest

import tracegrad as tg

VIEWS = {
    "x[:1]": lambda x: x[:1],
    "x[0]": lambda x: x[0],
    "x.t()": lambda x: x.t(),
    "x[0][0]": lambda x: x[0][0],
    "x.view(-1)": lambda x: x.view(-1),
    "x.expand(3, 2, 2)": lambda x: x.expand(3, 2, 2),
}
WRITES = {
    "nothing": lambda base, view: None,
    "the base": lambda base, view: base.add_(1),
    "the view": lambda base, view: base[0].add_(1) if 0 in view.stride() else view.add_(1),
    "detach()": lambda base, view: base.detach().add_(1),
    "data": lambda base, view: base.data.add_(1),
}
COUNTED = {"the base", "the view", "detach()"}
AMBIGUOUS = "A view was created in no_grad mode and its base or another view"


def taken(tg, view, recorded, before):
    """A tensor that requires gradients, and a view of it."""
    base = tg.ones(2, 2)
    if not before:
        base.requires_grad_()
    with tg.set_grad_enabled(recorded):
        part = view(base)
    return base.requires_grad_(), part


@pytest.mark.parametrize("view, write", list(itertools.product(VIEWS, WRITES)))
def test_views_require_gradients_as_their_base_does(tg, view, write):
    for recorded, before in itertools.product((True, False), repeat=2):
        base, part = taken(tg, VIEWS[view], recorded, before)
        with tg.no_grad():
            WRITES[write](base, part)
        assert part.requires_grad
        if not recorded and write in COUNTED:
            for look in (tg.Tensor.grad_fn.fget, tg.neg):
                with pytest.raises(RuntimeError, match=AMBIGUOUS):
                    look(part)
            continue
        has_node = recorded and (not before or write in COUNTED)
        assert (part.grad_fn is not None) == has_node == (not part.is_leaf)
        twice = part * 2
        assert twice.requires_grad
        twice.sum().backward()
        assert (base.grad is not None) == has_node and (has_node or part.grad is None)


@pytest.mark.parametrize("view", VIEWS)
def test_writes_with_gradients_to_views_taken_without(tg, view):
    if "expand" in view:
        return
    for before in (True, False):
        part = taken(tg, VIEWS[view], False, before)[1]
        with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
            part.add_(1)


def test_views_are_leaves_that_can_ask_for_their_own_gradient(tg):
    base, part = taken(tg, VIEWS["x[0]"], False, False)
    (part * part * 3).sum().backward()
    assert part.grad is None and base.grad is None
    assert tg.Tensor.detach(part).requires_grad is False
    part.requires_grad_()
    (part * 3).sum().backward()
    assert part.grad.tolist() == [3, 3] and base.grad is None
    again = taken(tg, VIEWS["x[0]"], False, False)[1]
    again.requires_grad = False
    assert again.requires_grad  # the base decides


def test_numbers_may_be_looked_at_where_nothing_is_recorded(tg):
    weight = tg.ones(2, requires_grad=True)
    with tg.no_grad():
        assert weight.numpy().tolist() == weight[:1].numpy().tolist() * 2 == [1, 1]
        assert (weight * 2).numpy().tolist() == [2, 2]
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        weight.numpy()


def test_steps_that_look_at_weights_without_gradients(tg, maybe_compile):
    weight = tg.ones(2, 2, requires_grad=True)

    @maybe_compile
    def step(x):
        with tg.no_grad():
            scale = weight[0].sum()
            row = weight[1]
            inside = (row * 2).requires_grad
        loss = ((x @ weight) * row * scale).sum()
        loss.backward()
        return loss.detach(), row.requires_grad, row.grad, inside

    for value in (1.0, 2.0, 3.0, 4.0):
        weight.grad = None
        loss, requires, grad, inside = step(tg.full((3, 2), value))
        assert loss.item() == 24 * value and requires and grad is None and not inside
        assert weight.grad.tolist() == [[6 * value] * 2] * 2


def test_a_step_that_writes_after_it_has_taken_a_view(tg, maybe_compile):
    weight = tg.ones(2, 2, requires_grad=True)

    @maybe_compile
    def step(x):
        with tg.no_grad():
            row = weight[1]
            weight.mul_(0.5)
        return (x * row).sum()

    with pytest.raises(RuntimeError, match=AMBIGUOUS):
        step(tg.ones(2))


def returned(tg, weight):
    """Functions that return views taken without gradients."""

    def unrecorded(view, tensor):
        with tg.no_grad():
            return view(tensor)

    def of_a_leaf_before_it_asks(x):
        y = x * 1
        part = y[0]
        y.requires_grad_()
        return y, part

    return {
        "of a captured leaf": lambda x: (unrecorded(lambda w: w[1], weight),),
        "of a result": lambda x: ((y := x * weight), unrecorded(lambda y: y[1], y)),
        "of a result that is dropped": lambda x: (unrecorded(lambda y: y[1], x * weight),),
        "of a leaf made inside": lambda x: ((y := (x * 1).requires_grad_()), unrecorded(lambda y: y[1], y)),
        "before a leaf asks": of_a_leaf_before_it_asks,
        "before a dropped leaf asks": lambda x: of_a_leaf_before_it_asks(x)[1:],
    }


@pytest.mark.parametrize("which", list(returned(None, None)))
def test_views_taken_without_gradients_are_returned_as_they_are(tg, which):
    def facts(results):
        for y in results:
            had = y.requires_grad, y.is_leaf
            (y * 3).sum().backward(retain_graph=True)
            yield *had, y.grad_fn is None, y.grad.tolist() if y.is_leaf and y.grad is not None else None

    weight = tg.ones(2, 2, requires_grad=True)
    function = returned(tg, weight)[which]
    compiled, expected = tg.compile(function), list(facts(function(tg.ones(2, 2))))
    assert expected[-1] == (True, True, True, None)
    for _ in range(3):
        assert list(facts(compiled(tg.ones(2, 2)))) == expected


@pytest.mark.parametrize("change", ["none", "asks itself", "base is written"])
@pytest.mark.parametrize("used", ["captured", "captured, backward inside", "argument"])
def test_programs_with_views_taken_without_gradients_from_outside(tg, change, used):
    def outcomes(wrap):
        weight = tg.ones(2, 2, requires_grad=True)
        with tg.no_grad():
            part = weight[1]

        @wrap
        def step(x, row=None):
            loss = (x * (part if row is None else row)).sum() + (x * weight).sum()
            if "inside" in used:
                loss.backward()
            return loss

        for i in range(6):
            weight.grad = None
            if i == 3 and change == "asks itself":
                part.requires_grad_()
            if i == 3 and change == "base is written":
                with tg.no_grad():
                    weight.add_(1)
            try:
                loss = step(tg.full((2, 2), i + 1.0), *[part] * (used == "argument"))
                if "inside" not in used:
                    loss.backward()
                yield loss.item(), weight.grad.tolist(), None if part.grad is None else part.grad.tolist()
            except RuntimeError as error:
                yield str(error)[: len(AMBIGUOUS)]

    eager = list(outcomes(lambda step: step))
    assert (eager[-1] == AMBIGUOUS) == (change == "base is written")
    assert list(outcomes(tg.compile)) == eager


# What PyTorch answers first of a view whose base was multiplied by a parameter after the view was taken.
FIRST_ANSWERS = {
    "is_leaf": (False, True),  # PyTorch raises for the second
    "requires_grad": (True, True),
    "_version": (1, 1),
    "grad_fn": ("a node", RuntimeError),
    "output_nr": (0, 0),
    "grad": (None, None),
}


@pytest.mark.parametrize("size", [1, 3])  # of 1 the view is empty
@pytest.mark.parametrize("tracked", [True, False])
@pytest.mark.parametrize("question", FIRST_ANSWERS)
@pytest.mark.filterwarnings("ignore:The .grad attribute")
def test_a_view_is_asked_first_thing_after_a_write_to_its_base(question, tracked, size):
    weight, base = tg.tensor(2.0, requires_grad=True), tg.ones(size)
    with tg.set_grad_enabled(tracked):
        view = base[1:]
    base.mul_(weight)
    wanted = FIRST_ANSWERS[question][not tracked]
    if wanted is RuntimeError:
        with pytest.raises(RuntimeError, match="view was created in no_grad mode"):
            getattr(view, question)
    else:
        found = getattr(view, question)
        assert (found is not None) if wanted == "a node" else found == wanted
