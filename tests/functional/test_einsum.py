"""einsum against numpy's, and its errors."""

import numpy as np
import pytest

CASES = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,jk", (2, 3), (3, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
    ("bqd,bkd->bqk", (2, 3, 4), (2, 5, 4)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("ij,ij->i", (2, 3), (2, 3)),
    ("i,j->ij", (2,), (3,)),
    ("ij->ji", (2, 3)),
    ("ij->", (2, 3)),
    ("ii->i", (3, 3)),
    ("ii", (3, 3)),
    ("iii->i", (2, 2, 2)),
    ("...ij,...jk->...ik", (2, 1, 2, 3), (2, 1, 3, 2)),
    ("ij,kj,lj->ikl", (2, 3), (4, 3), (2, 3)),
]


@pytest.mark.parametrize("equation, shapes", [(c[0], c[1:]) for c in CASES])
def test_value(tg, equation, shapes):
    arrays = [np.cos(np.arange(np.prod(shape)) + i).reshape(shape) for i, shape in enumerate(shapes)]
    found = tg.einsum(equation, *map(tg.from_numpy, arrays))
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("equation, shapes", [(c[0], c[1:]) for c in CASES])
def test_gradient(tg, equation, shapes):
    arrays = [np.sin(np.arange(np.prod(shape)) + i).reshape(shape) for i, shape in enumerate(shapes)]
    inputs = [tg.from_numpy(a).requires_grad_() for a in arrays]
    assert tg.autograd.gradcheck(lambda *xs: tg.einsum(equation, *xs), inputs)


@pytest.mark.parametrize(
    "equation, shapes, phrase",
    [
        ("ij,jk->ik", [(2, 3)], "operands"),
        ("ijk->i", [(2, 3)], "does not match the number of dimensions"),
        ("ij,jk->ik", [(2, 3), (4, 5)], "subscript j has size 4"),
    ],
)
def test_errors(tg, equation, shapes, phrase):
    with pytest.raises(RuntimeError, match=phrase):
        tg.einsum(equation, *(tg.ones(shape) for shape in shapes))
