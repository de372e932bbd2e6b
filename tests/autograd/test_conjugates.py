"""Conjugates are views, as PyTorch's are: writes to either are seen by both, and the bits can be asked for."""

import copy
import gc
import itertools
import pickle

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.ops.array import Buffer

NUMBERS = np.array([[1 + 2j, 3 - 4j, 0.5j], [-1 + 1j, 2, -3 - 1j]])

#: Writes by a program, each to a complex tensor.
WRITES = {
    "an element": lambda t: t.__setitem__((0, 1), 7 + 1j),
    "a row": lambda t: t.__setitem__(1, tg.tensor([1j, 2 + 2j, 3], dtype=t.dtype)),
    "mul_": lambda t: t.mul_(2j),
    "add_ of itself": lambda t: t.add_(t),
    "zero_": lambda t: t.zero_(),
    "fill_": lambda t: t.fill_(1 - 3j),
    "copy_": lambda t: t.copy_(tg.full_like(t, 2 + 1j)),
    "out=": lambda t: tg.add(t, 1j, out=t),
    "masked_fill_": lambda t: t.masked_fill_(t.real > 0, 5j),
    "index_put_": lambda t: t.index_put_((tg.tensor([0]), tg.tensor([2])), tg.tensor(9j, dtype=t.dtype)),
    "index_add_": lambda t: t.index_add_(0, tg.tensor([1]), tg.ones(1, 3, dtype=t.dtype) * 1j),
    "conj_physical_": lambda t: t.conj_physical_(),
    "a view": lambda t: t[0, 1:].mul_(1j),
    "a transpose": lambda t: t.T[2].add_(2j),
    "data": lambda t: t.data.mul_(1 + 1j),
    "detach": lambda t: t.detach().sub_(3j),
    "real": lambda t: t.real.add_(1),
    "imag": lambda t: t.imag.mul_(3),
    "a part of imag": lambda t: t[1].imag.__setitem__(0, 8.0),
    "imag set": lambda t: setattr(t, "imag", tg.ones(2, 3, dtype=tg.float64)),
    "real set": lambda t: setattr(t, "real", tg.ones(2, 3, dtype=tg.float64)),
    "as_strided": lambda t: t.as_strided((2,), (2,), 1).mul_(2j),
    "unflatten": lambda t: t.view(-1)[1::2].neg_(),
}
#: Conjugates of all of a tensor or of a part, and what numpy calls the part.
VIEWS = {
    "conj": (lambda x: x.conj(), lambda a: a.conj()),
    "mH": (lambda x: x.mH.mT, lambda a: a.conj()),
    "H": (lambda x: x.H.T, lambda a: a.conj()),
    "adjoint": (lambda x: tg.adjoint(x).mT, lambda a: a.conj()),
    "twice": (lambda x: x.conj().conj(), lambda a: a),
    "thrice": (lambda x: x.conj().T.conj().T.conj(), lambda a: a.conj()),
    "of a part": (lambda x: x[:, 1:].conj(), lambda a: a[:, 1:].conj()),
    "a part of": (lambda x: x.conj()[:, ::2], lambda a: a.conj()[:, ::2]),
    "imag": (lambda x: x.conj().imag, lambda a: -a.imag),
    "real": (lambda x: x.conj().real, lambda a: a.real),
}


def tensor():
    return tg.tensor(NUMBERS)


def values(t):
    return t.resolve_conj().resolve_neg().detach().numpy()


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("view", VIEWS)
def test_writes_to_the_tensor_are_seen_by_its_conjugates(view, write):
    x, plain = tensor(), tensor()
    y = VIEWS[view][0](x)
    WRITES[write](x)
    WRITES[write](plain)
    np.testing.assert_array_equal(values(x), plain.numpy())
    np.testing.assert_array_equal(values(y), VIEWS[view][1](plain.numpy()))


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("before", [False, True])
def test_writes_to_a_conjugate_are_seen_by_the_tensor(write, before):
    x, plain = tensor(), tg.tensor(NUMBERS.conj())
    other = x[0].conj() if before else None
    y = x.conj()
    WRITES[write](y)
    WRITES[write](plain)
    np.testing.assert_array_equal(values(y), plain.numpy())
    np.testing.assert_array_equal(values(x), plain.numpy().conj())
    assert x._version == y._version
    if before:
        np.testing.assert_array_equal(values(other), plain.numpy()[0])


@pytest.mark.parametrize("write", ["mul_", "real", "imag", "a view", "an element", "masked_fill_", "index_put_"])
@pytest.mark.parametrize("view", ["conj", "of a part", "mH", "imag", "real"])
def test_gradients_follow_writes_through_conjugates(view, write):
    """Each program against the same one with `conj_physical` and a write back."""
    if VIEWS[view][0](tensor()).dtype is tg.float64 or view == "of a part":
        change = lambda t: t.mul_(3)  # noqa: E731
    else:
        change = WRITES[write]
    weights = tg.tensor(NUMBERS * (1 + 0.3j)) + 0.1

    def run(x):
        z = x * (1 + 2j)
        change(VIEWS[view][0](z))
        return (z * weights).abs().sum()

    assert tg.autograd.gradcheck(run, (tensor().requires_grad_(),))


def test_a_leaf_that_requires_grad_is_not_written_through_its_conjugate():
    x = tensor().requires_grad_()
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        x.conj().add_(1)
    y = x.conj()
    product = y * y
    with tg.no_grad():
        x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().abs().backward()


def test_what_programs_can_ask():
    x = tensor()
    y = x.conj()
    assert (x.is_conj(), y.is_conj(), tg.is_conj(y.conj()), (y * 2).is_conj()) == (False, True, False, False)
    assert y._is_view() and y._base is x and y.conj() is not x
    assert y.data_ptr() == x.data_ptr() == y.conj().data_ptr() and y.storage_offset() == 0
    assert y[1].data_ptr() == x[1].data_ptr() and y[1].storage_offset() == 3
    assert y.imag.data_ptr() == x.imag.data_ptr() and y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert (y.real.is_neg(), y.imag.is_neg(), y.imag[0].is_neg(), (-y.imag).is_neg()) == (False, True, True, False)
    keeps = [
        y[0],
        y.T,
        y.view(-1),
        y.reshape(3, 2),
        y.detach(),
        y.data,
        y.contiguous(),
        y.expand(1, 2, 3),
        copy.copy(y),
    ]
    assert all(t.is_conj() for t in [*keeps, *y.unbind(), y.to(tg.complex128), y.cpu(), y.as_strided((2,), (1,), 1)])
    plain = [
        y.clone(),
        y + 0,
        y.exp(),
        tg.cat([y, y]),
        y[tg.tensor([0])],
        y.flip(0),
        tg.zeros_like(y),
        copy.deepcopy(y),
    ]
    assert not any(t.is_conj() for t in [*plain, y.resolve_conj(), y.conj_physical(), tg.tensor(y), y.sum(0)])
    assert y.resolve_conj() is not y and x.resolve_conj() is x and x.resolve_neg() is x
    real = tg.ones(2)
    assert real.conj() is real.resolve_conj() is real.resolve_neg() is real.conj_physical() is real
    assert tg.equal(pickle.loads(pickle.dumps(y)), y) and tg.equal(copy.deepcopy(y), y)


@pytest.mark.parametrize("call, message", [
    ("y.numpy()", r"Can't call numpy\(\) on Tensor that has conjugate bit set. Use tensor.resolve_conj\(\)"),
    ("np.asarray(y)", "has conjugate bit set"),
    ("y.imag.numpy()", r"has negative bit set. Use tensor.resolve_neg\(\)"),
    ("tg.view_as_real(y)", "view_as_real doesn't work on unresolved conjugated tensors"),
    ("y.view(tg.float64)", "not supported for conjugate view tensors"),
])  # fmt: skip
def test_what_has_a_bit_is_refused(call, message):
    names = {"y": tensor().conj(), "tg": tg, "np": np}
    with pytest.raises(RuntimeError, match=message):
        eval(call, names)
    assert names["y"].numpy(force=True).tolist() == NUMBERS.conj().tolist()


def test_memory_is_given_back():
    x = tensor()
    views = [x.conj(), x[0].conj(), x.T.conj().imag]
    assert type(x.buffer) is not Buffer
    del views
    gc.collect()
    x.add_(1)
    assert type(x.buffer) is Buffer
    assert x.conj()[0, 0].item() == 2 - 2j


def test_moved_memory_takes_conjugates_along():
    for shared in ("x", "y"):
        tensors = {"x": tensor()}
        tensors["y"] = tensors["x"].conj()
        tensors[shared].share_memory_()
        x, y = tensors["x"], tensors["y"]
        x.mul_(2j)
        y[0].zero_()
        assert y.is_conj() and values(y).tolist() == values(x).conj().tolist() and not x[0].any()


def test_a_conjugate_is_resized_as_one():
    y = tensor().conj()
    assert y.resize_(2).is_conj() and y.tolist() == NUMBERS.conj().ravel()[:2].tolist()


def test_empty_and_strided_tensors_have_conjugates():
    assert tg.zeros(0, 3, dtype=tg.complex64).conj().shape == (0, 3)
    x = tg.arange(24.0).reshape(2, 3, 4).to(tg.complex64) * (1 + 1j)
    for order in itertools.permutations(range(3)):
        part = x.permute(order)[:, 1:, ::2]
        assert tg.equal(part.conj(), part.conj_physical()) and part.conj().stride() == part.stride()


@pytest.mark.parametrize("write", WRITES)
def test_compiled_functions_write_through_conjugates(write):
    def step(x, weight):
        y = x.conj()
        WRITES[write](y)
        return (y * weight).sum(), x.real.sum()

    compiled = tg.compile(step)
    for call in range(3):
        tensors = [tensor() + call for _ in range(2)]
        got = compiled(tensors[0], tensor())
        expected = step(tensors[1], tensor())
        assert [t.item() for t in got] == [t.item() for t in expected]
        np.testing.assert_array_equal(*map(values, tensors))


@pytest.mark.parametrize("part", ["real", "imag"])
def test_compiled_functions_write_parts_of_conjugates(part):
    """What looks like plain floats to a compiled function is memory that has to be kept in step."""

    def step(t, by):
        t.mul_(by)
        t += by
        return t.sum()

    compiled = tg.compile(step)
    for call in range(4):
        x, own = tensor(), tensor()
        by = tg.full((2, 3), call + 2.0, dtype=tg.float64)
        assert compiled(getattr(x.conj(), part), by).item() == step(getattr(own.conj(), part), by).item()
        np.testing.assert_array_equal(values(x), values(own))
        y, kept = x.conj(), own.conj()
        compiled(getattr(x, part), by), step(getattr(own, part), by)
        np.testing.assert_array_equal(values(y), values(kept))


def test_deferred_programs_write_through_conjugates():
    def program():
        x = tensor()
        y = x.conj()
        for _ in range(3):
            y.imag.mul_(2)
            x.real.add_(tg.ones(2, 3, dtype=tg.float64))
            y.mul_(x)
        return x, y

    with tg.deferred():
        got = [values(t) for t in program()]
    for found, expected in zip(got, map(values, program()), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_conjugates_in_slices():
    x = tensor()
    got = tg.func.vmap(lambda row: (row.conj() * row).sum() + row.conj().imag.sum())(x)
    assert tg.allclose(got, (x.conj() * x).sum(1) + x.conj().imag.sum(1))

    def written(row):
        z = row * 1
        z.conj().mul_(2j)
        return z

    assert tg.allclose(tg.func.vmap(written)(x), (x.conj() * 2j).conj())
