"""In-place writes, views and their bases: shared memory, and gradients that follow the writes."""

import numpy as np
import pytest
from expected.compare import assert_close

VIEWS = [
    "x.view(6)",
    "x.view(3, 2)",
    "x.reshape(6)",
    "x.t()",
    "x.T",
    "x.transpose(0, 1)",
    "x.permute(1, 0)",
    "x.unsqueeze(0)",
    "x[None].squeeze(0)",
    "x.flatten()",
    "x[0]",
    "x[:, 1:]",
    "x[:, ::2]",
    "x.expand(4, 2, 3)",
    "x.narrow(1, 0, 2)",
    "x.chunk(2)[1]",
    "x.split(1)[0]",
    "x.unbind()[0]",
    "x.diagonal()",
    "x.detach()",
    "x.data",
    "x.swapaxes(0, 1)",
    "x.movedim(0, 1)",
    "x.select(0, 1)",
    "x.unfold(1, 2, 1)",
    "x.as_strided((2, 2), (1, 2), 1)",
    "x.as_strided((4,), (1,))",
    "x.contiguous()",
    "x.numpy()",
    "x.view_as(x)",
    "x.mT",
    "x.to(tg.float32)",
    "x.float()",
    "x.cpu()",
]
COPIES = [
    "x.clone()",
    "x.t().contiguous()",
    "x.t().reshape(6)",
    "x + 0",
    "x.double()",
    "x.repeat(1, 1)",
    "tg.tensor(x.tolist())",
    "x.flip(0)",
    "tg.cat([x])",
    "x.t().flatten()",
]


@pytest.mark.parametrize("expression", VIEWS)
def test_views_share_memory(tg, expression):
    x = tg.arange(6.0).view(2, 3)
    assert np.shares_memory(np.asarray(eval(expression, {"tg": tg, "x": x})), x.numpy())


@pytest.mark.parametrize("expression", COPIES)
def test_copies_do_not(tg, expression):
    x = tg.arange(6.0).view(2, 3)
    assert not np.shares_memory(np.asarray(eval(expression, {"tg": tg, "x": x})), x.numpy())


def test_view_knows_its_base(tg):
    x = tg.zeros(4)
    assert x.view(2, 2)._base is x and x.view(2, 2)[0]._base is x and x._base is None
    assert x.view(2, 2)._is_view() and not x._is_view()


def run_statements(tg, statements):
    """Gradient of x after the statements; they start with y, a tracked copy, and leave the result in z."""

    def program(x):
        names = {"tg": tg, "x": x, "y": x * 1}
        exec(statements, names)
        (names["z"] * tg.tensor([1.0, 2.0, 3.0, 4.0]).view(names["z"].shape)).sum().backward()
        return names["z"].detach(), x.grad

    return program


# statements, value of z, gradient of x; x is [1, 2, 3, 4].
PROGRAMS = {
    "write to a view reaches the base": ("v = y[:2]; v.mul_(10); z = y", [10, 20, 3, 4], [10, 20, 3, 4]),
    "write to the base reaches the view": (
        "v = y.view(2, 2); y.mul_(10); z = v",
        [[10, 20], [30, 40]],
        [10, 20, 30, 40],
    ),
    "view taken before a tracked write": (
        "v = y[1:3]; y[2] = y[0] * 5; z = tg.cat([v, v])",
        [2, 5, 2, 5],
        [30, 4, 0, 0],
    ),
    "view of a view": ("v = y.view(2, 2)[1]; v *= 3; z = y", [1, 2, 9, 12], [1, 2, 9, 12]),
    "transposed view": ("v = y.view(2, 2).t(); v[0] = 0; z = y", [0, 2, 0, 4], [0, 2, 0, 4]),
    "write twice": ("y.add_(1); y.mul_(2); z = y", [4, 6, 8, 10], [2, 4, 6, 8]),
    "product with itself": ("v = y * 1; v *= y; z = v", [1, 4, 9, 16], [2, 8, 18, 32]),
    "zero_ cuts the gradient": ("y.zero_(); z = y + x", [1, 2, 3, 4], [1, 2, 3, 4]),
    "fill_ of a part": ("y[1:].fill_(7); z = y", [1, 7, 7, 7], [1, 0, 0, 0]),
    "copy_ brings the gradient": ("v = tg.zeros(4); v.copy_(y * 2); z = v", [2, 4, 6, 8], [2, 4, 6, 8]),
    "untracked base becomes tracked": ("v = tg.zeros(4); v[1:3] = y[:2]; z = v", [0, 1, 2, 0], [2, 3, 0, 0]),
    "untracked base, older view": (
        "b = tg.zeros(4); v = b.view(2, 2); b.add_(y); z = v",
        [[1, 2], [3, 4]],
        [1, 2, 3, 4],
    ),
    "clamp in place": ("y.clamp_(2, 3); z = y", [2, 2, 3, 3], [0, 2, 3, 0]),
    "exp in place": ("y.exp_(); z = y", np.exp([1, 2, 3, 4]), np.exp([1, 2, 3, 4]) * [1, 2, 3, 4]),
    "operators": ("y += 1; y -= 3; y *= 2; y /= 4; z = y", [-0.5, 0, 0.5, 1], [0.5, 1, 1.5, 2]),
    "power": ("y **= 2; z = y", [1, 4, 9, 16], [2, 8, 18, 32]),
    "masked_fill_": ("y.masked_fill_(x > 2, -1); z = y", [1, 2, -1, -1], [1, 2, 0, 0]),
    "addcmul_": ("y.addcmul_(x, x, value=0.5); z = y", [1.5, 4, 7.5, 12], [2, 6, 12, 20]),
    "write under no_grad leaves the graph": (
        "with tg.no_grad():\n    y.data.add_(5)\nz = y * 1",
        [6, 7, 8, 9],
        [1, 2, 3, 4],
    ),
    "swap by clone": ("v = y[:2].clone(); y[:2] = y[2:]; y[2:] = v; z = y", [3, 4, 1, 2], [3, 4, 1, 2]),
    "transpose in place of a view": ("y.unsqueeze_(0); z = y", [[1, 2, 3, 4]], [1, 2, 3, 4]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(tg, call, name):
    statements, value, gradient = PROGRAMS[name]
    found_value, found_gradient = call(
        run_statements(tg, statements), lambda: [tg.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)]
    )
    assert_close(found_value, value)
    assert_close(found_gradient, gradient)


def test_in_place_returns_the_same_object(tg):
    x = tg.ones(3)
    for name, args in (
        ("add_", (1,)),
        ("mul_", (2,)),
        ("zero_", ()),
        ("fill_", (3,)),
        ("sub_", (1,)),
        ("div_", (2,)),
        ("copy_", (tg.ones(3),)),
        ("clamp_", (0, 1)),
    ):
        assert getattr(x, name)(*args) is x
    y = x
    y += 1
    assert y is x


def test_write_to_a_view_of_several_outputs(tg):
    x = tg.ones(4, requires_grad=True) * 1
    first, _ = x.chunk(2)
    with pytest.raises(
        RuntimeError,
        match="modified inplace. This view is the output of a function that returns multiple views",
    ):
        first.add_(1)


def test_write_to_a_view_made_under_no_grad(tg):
    x = tg.ones(4, requires_grad=True) * 1
    with tg.no_grad():
        view = x[:2]
    with pytest.raises(
        RuntimeError, match="A view was created in no_grad mode and is being modified inplace with grad mode enabled"
    ):
        view.mul_(2)


def test_write_to_an_expanded_tensor(tg):
    with pytest.raises(
        RuntimeError,
        match="more than one element of the written-to tensor refers to a single memory location",
    ):
        tg.zeros(1).expand(3).add_(1)


#: Parts of an expanded row ``x`` [3] and column ``c`` [3, 1] that show no element twice: PyTorch writes to them.
PARTS = [
    "x.expand(2, 3)[1]", "x.expand(2, 3)[1:]", "x.expand(2, 3)[1, 1:]", "x.expand(1, 3)", "x.expand(2, 3).t()[:2, 0]",
    "x.expand(2, 3).select(0, 1)", "x.expand(2, 3).narrow(0, 0, 1)", "x.expand(3, 3).diagonal()",
    "x.expand(3, 3)[::3]", "x.expand(2, 1, 3)[1].view(3)", "c.expand(3, 4)[:, 1]", "c.expand(3, 4)[1:, 2]",
    "c.expand(3, 4)[::2, :1]", "c.expand(2, 3, 4)[1, :, 3]", "tg.broadcast_to(x, (2, 3))[0]",
]  # fmt: skip


@pytest.mark.parametrize("part", PARTS)
def test_write_to_a_part_of_an_expanded_tensor(tg, maybe_compile, part):
    def write(x):
        x = x * 1
        whole = x[:, None] if part.startswith("c") else x
        view = eval(part, {"tg": tg, "x": x, "c": whole})
        view.mul_(3.0)
        view += x.sum()
        x.exp().sum().backward()
        return x.detach()

    # The part of a copy, through whose indices the same is written.
    places = tg.arange(3)
    shown = eval(part, {"tg": tg, "x": places, "c": places[:, None]}).reshape(-1)
    expected = tg.tensor([0.1, 0.2, 0.3], requires_grad=True)
    tripled = expected * 1
    tripled = tripled.index_put((shown,), tripled[shown] * 3.0)
    added = tripled.index_put((shown,), tripled[shown] + tripled.sum())
    added.exp().sum().backward()
    run = maybe_compile(write)
    for _ in range(2):
        x = tg.tensor([0.1, 0.2, 0.3], requires_grad=True)
        assert tg.allclose(run(x), added) and tg.allclose(x.grad, expected.grad)


@pytest.mark.parametrize("fill", ["view.fill_(3.0)", "view.zero_()", "view.fill_(x.detach().sum())"])
@pytest.mark.parametrize("part", ["x.expand(2, 3)", "c.expand(3, 4)", "c.expand(2, 3, 4)[:, 1:]", "x[:1].expand(4)"])
def test_fill_an_expanded_tensor(tg, maybe_compile, fill, part):
    def filled(x):
        x = x * 1
        view = eval(part, {"x": x, "c": x[:, None]})
        assert eval(fill, {"x": x, "view": view}) is view
        (view.sum() + (x * x).sum()).backward()
        return x.detach(), view.detach()

    run = maybe_compile(filled)
    x = tg.tensor([0.5, 2.0, 0.5], requires_grad=True)
    found, view = run(x)
    untouched = {"c.expand(2, 3, 4)[:, 1:]": [0], "x[:1].expand(4)": [1, 2]}.get(part, [])
    value = 0.0 if "zero_" in fill else 3.0
    assert found.tolist() == [x[i].item() if i in untouched else value for i in range(3)]
    assert view.flatten().tolist() == [value] * view.numel()
    assert x.grad.tolist() == [2 * x[i].item() if i in untouched else 0.0 for i in range(3)]


def test_overlapping_copies(tg):
    x = tg.arange(5)
    x[1:] = x[:-1].clone()
    assert x.tolist() == [0, 0, 1, 2, 3]


def test_captured_state_is_updated_in_place_when_compiled(tg, maybe_compile):
    total, view_of_total = tg.zeros(3), None
    view_of_total = total[1:]

    def add(x):
        total.add_(x)
        view_of_total.mul_(2)
        return total.sum()

    add = maybe_compile(add)
    address = total.data_ptr()
    sums = [add(tg.ones(3)).item() for _ in range(4)]
    assert sums == [5.0, 14.0, 31.0, 64.0]
    assert total.tolist() == [4.0, 30.0, 30.0] and total.data_ptr() == address


def views_of_a_plain_tensor(tg, x):
    """Views that no history can be written through, and of these, views in their turn."""
    with tg.no_grad():
        made = [x[:], x.view(2, 2), x.t()]
        made += [made[0][:1]]
    made += [view[:1] for view in made]
    several = [x.split(1)[0], x.unbind()[1], x.chunk(2)[0]]
    return made + several + [view[:1] for view in several]


def test_no_history_is_written_through_views_that_cannot_carry_it(tg):
    """Nothing requires a gradient yet; the first write that brings one is refused, others are not."""
    count = len(views_of_a_plain_tensor(tg, tg.ones(2, 2)))
    for i in range(count):
        for write in (
            lambda v, w: v.add_(w),
            lambda v, w: v.__setitem__(0, w.expand_as(v[0])),
            lambda v, w: v.copy_(w.expand_as(v)),
        ):
            x, w = tg.ones(2, 2), tg.tensor(1.0, requires_grad=True)
            view = views_of_a_plain_tensor(tg, x)[i]
            with pytest.raises(RuntimeError, match="is being modified inplace"):
                write(view, w)
            write(view, w.detach())
            with tg.no_grad():
                write(view, w)
            assert not x.requires_grad and not view.requires_grad
