"""``vmap`` gives an argument that the function returns as the tensor that came, as PyTorch does."""

import pytest

import tracegrad as tg
from tracegrad.func import grad, vmap


def leaf():
    return tg.arange(6.0).reshape(3, 2).requires_grad_()


@pytest.mark.parametrize("out_dims", [0, 1, -1])
@pytest.mark.parametrize("in_dims", [0, 1, -1])
def test_an_argument_with_the_batch_where_it_was_is_the_tensor_itself(in_dims, out_dims):
    x = leaf()
    result = vmap(lambda a: a, in_dims=in_dims, out_dims=out_dims)(x)
    same = in_dims % 2 == out_dims % 2
    assert (result is x, result.is_leaf) == (same, same)
    assert result.tolist() == (x if same else x.T).tolist()


def test_beside_other_results_and_nested():
    x = leaf()
    same, doubled = vmap(lambda a: (a, a * 2))(x)
    assert same is x and doubled.tolist() == (x * 2).tolist() and not doubled.is_leaf
    assert vmap(vmap(lambda a: a))(x) is x
    result = vmap(lambda a, b: (a, b), in_dims=(0, None))(x, tg.ones(2))
    assert result[0] is x and result[1].shape == (3, 2)


@pytest.mark.parametrize("function", [lambda a: a[:], lambda a: a.view(-1), lambda a: a.clone(), lambda a: a.detach()])
def test_views_and_copies_are_tensors_of_their_own(function):
    x = leaf()
    result = vmap(function)(x)
    assert result is not x and result.tolist() == x.tolist()


def test_parts_of_the_batch_are_put_together():
    x = leaf()
    result = vmap(lambda a: a, chunk_size=2)(x)
    assert result is not x and not result.is_leaf and result.tolist() == x.tolist()
    assert vmap(lambda a: a, chunk_size=5)(x) is not x


def test_what_was_written_to_has_the_new_numbers():
    x = tg.ones(3, 2)
    result = vmap(lambda a: a.add_(1), in_dims=1, out_dims=1)(x)
    assert result.tolist() == x.tolist() == tg.full((3, 2), 2.0).tolist()


def test_within_a_derivative():
    assert grad(lambda v: (vmap(lambda a: a)(v) * v).sum())(tg.ones(3)).tolist() == [2.0, 2.0, 2.0]


def test_compiled():
    x = leaf()
    step = tg.compile(lambda y: vmap(lambda a: (a, a * 2))(y))
    for _ in range(3):
        same, doubled = step(x)
        assert same.tolist() == x.tolist() and doubled.tolist() == (x * 2).tolist()
        assert (same is x, same.is_leaf) == (True, True)
