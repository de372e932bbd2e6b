"""``x.t_()`` and the like in ``no_grad()``: the history stays, and gradients are asked for the first shape."""

import pytest

import tracegrad as tg

#: In-place views by what they make of shape (2, 1, 3), and whether broadcasting can have made that of the first shape.
VIEWS = {
    "t_": (lambda x: x.t_(), (2, 3), False),
    "transpose_": (lambda x: x.transpose_(0, 2), (2, 1, 3), False),
    "swapaxes_": (lambda x: x.swapaxes_(0, 1), (2, 1, 3), False),
    "swapdims_": (lambda x: x.swapdims_(1, 0), (2, 1, 3), False),
    "squeeze_": (lambda x: x.squeeze_(), (2, 1, 3), False),
    "squeeze_ in front": (lambda x: x.squeeze_(0), (1, 2, 3), False),
    "unsqueeze_": (lambda x: x.unsqueeze_(0), (2, 3), True),
    "unsqueeze_ behind": (lambda x: x.unsqueeze_(-1), (2, 3), False),
    "as_strided_": (lambda x: x.as_strided_((3,), (1,)), (2, 3), False),
    "square t_": (lambda x: x.t_(), (3, 3), True),
    "square transpose_": (lambda x: x.transpose_(0, 1), (2, 2, 3), True),
}
BLOCKS = [tg.no_grad, tg.inference_mode]


def shown(view, x, block=tg.no_grad):
    with block():
        VIEWS[view][0](x)
    return x


@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("view", VIEWS)
def test_a_computed_tensor_keeps_its_history(view, block):
    w = tg.rand(VIEWS[view][1], requires_grad=True)
    x = w * 2
    node = x.grad_fn
    shown(view, x, block)
    assert x.requires_grad and not x.is_leaf and x.grad_fn is node and x._version == 1


def gradients(view, w, then):
    """What ``then`` of the tensor that is shown otherwise gives `w`, as numbers, and the second derivative's."""
    first = then(shown(view, w * 2))
    (g,) = tg.autograd.grad(first, w, create_graph=True)
    (second,) = tg.autograd.grad((g * g).sum(), w)
    return g.detach(), second


@pytest.mark.parametrize("way", ["eager", "replayed", "re-recorded"])
@pytest.mark.parametrize("view", [name for name, (_, _, fits) in VIEWS.items() if fits])
def test_gradients_are_summed_to_the_first_shape(view, way):
    shape = VIEWS[view][1]
    weights = tg.arange(1.0, 1.0 + tg.zeros(shape).numel()).reshape(shape)

    def run(w, looks=way == "re-recorded"):
        if looks and w.sum().item() < 0:
            raise ValueError
        return gradients(view, w, lambda x: (x.reshape(shape) ** 3 * weights).sum())

    step = run if way == "eager" else tg.compile(run)
    for seed in range(3):
        tg.manual_seed(seed)
        w = tg.rand(shape, requires_grad=True)
        g, second = step(w)
        twice = 2 * w.detach()
        # The numbers lie in the order of what is shown; a gradient of a square one is taken as it comes.
        lies = twice if "square" not in view else twice.transpose(0, 1)
        expected = 6 * lies**2 * weights
        assert g.shape == w.shape and tg.allclose(g, expected)
        assert second.shape == w.shape and tg.isfinite(second).all()


@pytest.mark.parametrize("way", ["eager", "compiled"])
@pytest.mark.parametrize("view", [name for name, (_, _, fits) in VIEWS.items() if not fits])
def test_gradients_of_another_shape_are_refused(view, way):
    def run(w):
        shown(view, w * 2).exp().sum().backward()

    step = run if way == "eager" else tg.compile(run)
    for _ in range(2):
        w = tg.rand(VIEWS[view][1], requires_grad=True)
        with pytest.raises(RuntimeError, match="returned an invalid gradient at index 0 - got"):
            step(w)
        assert w.grad is None


def test_each_use_gives_its_own_gradient_before_they_are_summed():
    w = tg.rand(2, 1, requires_grad=True)
    x = w * 2
    before = x.sum()
    shown("squeeze_", x)
    with pytest.raises(RuntimeError, match=r"got \[2\] but expected shape compatible with \[2, 1\]"):
        (before + x.sum()).backward()


def test_what_was_computed_before_counts():
    w = tg.rand(3, 2, requires_grad=True)
    x = w * 2
    before = x.sum()
    shown("unsqueeze_", x)
    (before + x.sum()).backward()
    assert tg.equal(w.grad, tg.full((3, 2), 4.0))


@pytest.mark.parametrize("view", VIEWS)
def test_leaves_stay_leaves_of_the_shape_they_have_now(view):
    w = tg.rand(VIEWS[view][1], requires_grad=True)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        VIEWS[view][0](w)
    shown(view, w)
    assert w.is_leaf and w.requires_grad
    (w * 3).sum().backward()
    assert w.grad.shape == w.shape and tg.equal(w.grad, tg.full(w.shape, 3.0))


def test_a_view_goes_on_from_its_base():
    w = tg.rand(3, 3, requires_grad=True)
    row = (w * 2)[1]
    with tg.no_grad():
        row.unsqueeze_(0)
    (row * tg.arange(3.0)).sum().backward()
    assert tg.equal(w.grad, tg.tensor([[0.0, 0.0, 0.0], [0.0, 2.0, 4.0], [0.0, 0.0, 0.0]]))


@pytest.mark.parametrize("way", ["eager", "compiled"])
def test_a_view_of_a_leaf_goes_on_from_it_though_the_leaf_shows_memory_of_others(way):
    def run(base):
        leaf = base[:3].requires_grad_()
        row = leaf[1:]
        with tg.no_grad():
            row.unsqueeze_(0)
        return tg.autograd.grad((row * tg.arange(2.0)).sum(), leaf)[0]

    step = run if way == "eager" else tg.compile(run)
    for _ in range(3):
        assert step(tg.rand(4)).tolist() == [0, 0, 1]


def test_a_view_of_the_block_itself_is_not_shown_otherwise_outside():
    w = tg.rand(3, 3, requires_grad=True)
    with tg.no_grad():
        row = (w * 1)[0], w[0]
        row[1].unsqueeze_(0)
    assert row[1].shape == (1, 3)
    with pytest.raises(RuntimeError, match="A view was created in no_grad mode and is being modified inplace"):
        row[1].squeeze_(0)


def test_a_cotangent_that_is_given_is_summed_or_refused():
    w = tg.rand(3, 2, requires_grad=True)
    shown("unsqueeze_", x := w * 2).backward(tg.ones(1, 3, 2))
    assert tg.equal(w.grad, tg.full((3, 2), 2.0)) and x.shape == (1, 3, 2)
    with pytest.raises(RuntimeError, match=r"invalid gradient at index 0 - got \[2, 3\]"):
        shown("t_", w * 2).backward(tg.ones(2, 3))
