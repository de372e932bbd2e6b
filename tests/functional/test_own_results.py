"""Results that share no memory with an operand are no views: what they show besides, nobody else has."""

import pytest

import tracegrad as tg
from tracegrad.nn import functional as F
from tracegrad.tensors.calling.own_results import own

CALLS = """
F.interpolate(image, size=(2, 3), mode="bilinear")
F.interpolate(rows, size=5, mode="linear")
F.interpolate(image, size=(3, 3), mode="bicubic")
F.adaptive_max_pool2d(image, 1)
F.fractional_max_pool2d(image, 1, output_size=1)
F.lp_pool1d(rows, 2, 2)
F.avg_pool2d(image, 2)
F.pad(rows, (1, 1))
F.pad(rows, (1, 1), mode="reflect")
F.pad(rows, (1, 1), mode="circular")
F.pad(rows, (1, 1), mode="replicate")
F.unfold(image, 1)
F.fold(F.unfold(image, 1), (2, 2), 1)
F.pixel_unshuffle(image, 2)
F.pixel_shuffle(tg.cat([image] * 4, 1), 2)
F.channel_shuffle(tg.cat([image] * 4, 1), 2)
F.grid_sample(image, F.affine_grid(tg.ones(1, 2, 3), (1, 1, 2, 2)))
F.affine_grid(tg.ones(1, 2, 3), (1, 1, 2, 2))
F.group_norm(rows, 3)
F.layer_norm(rows, (4,))
F.linear(rows, tg.ones(5, 4))
F.linear(matrix, matrix)
F.conv1d(rows, tg.ones(2, 3, 2))
rows @ tg.ones(4, 5)
matrix @ matrix[0]
matrix[0] @ matrix
tg.ones(2) @ rows[:, 0, :2]
tg.mv(matrix, matrix[0])
tg.dot(matrix[0], matrix[1])
tg.bmm(rows, rows.mT)
tg.einsum("ij,kj->ik", matrix, matrix)
tg.einsum("ij->j", matrix)
tg.tensordot(matrix, matrix, 1)
matrix.sum(1, keepdim=True)
matrix.amax(1, keepdim=True)
matrix.prod(1, keepdim=True)
matrix.quantile(0.3, 1)
tg.linalg.solve(matrix + 3 * tg.eye(2), matrix[0])
F.linear(rows, tg.ones(5, 4), tg.ones(5))
nn.GRU(4, 3, batch_first=True)(rows)[0]
tg.kron(matrix, matrix)
tg.outer(matrix[0], matrix[1])
tg.roll(rows, 1)
tg.rot90(matrix)
tg.flip(matrix, (0,))
matrix.repeat(2, 2)
rows.transpose(0, 1).contiguous()
matrix.t().clone()
matrix.median(0).values
matrix.mode(0).values
matrix.kthvalue(1, 0).values
tg.renorm(matrix, 2, 0, 1.0)
tg.block_diag(matrix, matrix)
tg.trapezoid(matrix)
nn.LSTM(4, 3)(rows)[0]
nn.LSTM(4, 3)(rows)[1][0]
nn.GRU(4, 3, bidirectional=True)(rows)[0]
nn.RNN(4, 3)(rows)[0]
F.scaled_dot_product_attention(rows, rows, rows)
F.embedding(tg.tensor([0, 1]), matrix)
matrix.gather(0, tg.tensor([[0, 1]]))
matrix.take(tg.tensor([0, 1]))
matrix[[0, 1]]
matrix.cumsum(0)
"""
CALLS = CALLS.strip().splitlines()
VIEWS = [
    "rows[0]",
    "rows.view(6, 4)",
    "rows.reshape(-1)",
    "rows.transpose(0, 1)",
    "rows.flatten(1)",
    "rows.contiguous()[1]",
]
VIEWS += [
    "tg.movedim(rows, 0, 1)",
    "rows.unsqueeze(0)",
    "rows.expand(2, 2, 3, 4)",
    "rows.chunk(2)[0]",
    "tg.einsum('bij->bji', rows)",
    "rows.diagonal()",
]


def computed(call):
    tg.manual_seed(0)
    values = {"rows": tg.randn(2, 3, 4), "image": tg.randn(1, 1, 2, 2), "matrix": tg.randn(2, 2)}
    return eval(call, {"tg": tg, "F": F, "nn": tg.nn, **values})


@pytest.mark.parametrize("call", CALLS)
def test_a_result_is_no_view_of_what_nobody_has(call):
    out = computed(call)
    assert not out._is_view() and out._base is None


@pytest.mark.parametrize("call", VIEWS)
def test_other_views_are_views(call):
    assert computed(call)._is_view()


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize(
    "call", [pytest.param(c, marks=() if i % 9 == 0 else pytest.mark.long) for i, c in enumerate(CALLS)]
)
def test_what_was_computed_without_gradients_is_written_to_with_them(call, compiled):
    """PyTorch refuses it of views, and so did we of these."""

    def step(w):
        with tg.no_grad():
            features = computed(call)
        features.mul_(w)
        return features.sum()

    w = tg.tensor(2.0, requires_grad=True)
    run = tg.compile(step) if compiled else step
    for _ in range(3):
        w.grad = None
        run(w).backward()
        # Sums of float32 numbers near 1 in another order.
        assert w.grad.item() == pytest.approx(computed(call).sum().item(), rel=1e-5, abs=1e-5)


def test_views_that_others_know_stay_views():
    """Of each other, and of what was written to since they were made: their gradients go by what they are views of."""
    w = tg.tensor(2.0, requires_grad=True)
    hidden = tg.ones(4)
    first, second = own((hidden[:3], hidden[1:]), ())
    assert first._base is hidden and second._base is hidden
    alone = hidden[:2]
    hidden.mul_(w)
    assert own(alone, ()) is alone and alone._base is hidden
    alone.sum().backward()
    assert w.grad.item() == 2


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_a_write_to_what_a_derivative_may_have_kept(kind):
    """Gradients are right, or refused as in PyTorch, whose derivative reads the output."""
    tg.manual_seed(0)
    layer, x = getattr(tg.nn, kind)(4, 3), tg.randn(2, 3, 4)

    def gradients(double):
        layer.zero_grad()
        (double(layer(x)[0]) ** 2).sum().backward()
        return [p.grad.clone() for p in layer.parameters()]

    expected = gradients(lambda out: out * 2)
    try:
        found = gradients(lambda out: out.mul_(2))
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
    else:
        assert all(tg.allclose(one, other) for one, other in zip(found, expected, strict=True))
