"""Making tensors, and reading them out: dtypes, numpy, item, tolist."""

import numpy as np
import pytest


@pytest.mark.parametrize(
    "value, dtype",
    [
        (1, "int64"),
        (1.0, "float32"),
        (True, "bool"),
        ([1, 2], "int64"),
        ([1, 2.0], "float32"),
        ([True, 2], "int64"),
        ([], "float32"),
        ([[1], [2]], "int64"),
    ],
)
def test_inferred_dtype(tg, value, dtype):
    assert tg.tensor(value).dtype is getattr(tg, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "bool"])
def test_numpy_keeps_dtype_and_memory(tg, dtype):
    array = np.array([[1, 0], [1, 1]], dtype=dtype)
    tensor = tg.from_numpy(array)
    assert tensor.dtype is getattr(tg, dtype) and tensor.numpy().dtype == array.dtype
    array[0, 0] = 0
    assert not tensor[0, 0].item()
    assert np.shares_memory(tensor.numpy(), array)
    assert tg.tensor(array).data_ptr() != tensor.data_ptr()


def test_as_tensor_shares_and_tensor_copies(tg):
    array = np.zeros(3, dtype=np.float32)
    shared, copied = tg.as_tensor(array), tg.tensor(array)
    array[0] = 1
    assert shared.tolist() == [1.0, 0.0, 0.0] and copied.tolist() == [0.0, 0.0, 0.0]


def test_float64_array_stays_float64(tg):
    assert tg.tensor(np.ones(2)).dtype is tg.float64
    assert tg.Tensor(np.ones(2)).dtype is tg.float32


def test_legacy_constructors(tg):
    assert tg.Tensor([1, 2]).dtype is tg.float32 and tg.Tensor(2, 3).shape == (2, 3)
    assert tg.FloatTensor([1, 2]).dtype is tg.float32 and tg.LongTensor([1, 2]).dtype is tg.int64


def test_numpy_of_a_tracked_tensor(tg):
    with pytest.raises(
        RuntimeError,
        match=r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead",
    ):
        tg.ones(2, requires_grad=True).numpy()
    with tg.no_grad():
        assert tg.ones(2, requires_grad=True).detach().numpy().tolist() == [1.0, 1.0]


def test_numpy_functions_accept_tensors(tg):
    assert np.asarray(tg.ones(2, 2)).sum() == 4.0
    assert np.array_equal(np.array(tg.arange(3)), [0, 1, 2])


@pytest.mark.parametrize("value, kind", [(1.5, float), (3, int), (True, bool)])
def test_item(tg, value, kind):
    for tensor in (tg.tensor(value), tg.tensor([[value]])):
        assert tensor.item() == value and type(tensor.item()) is kind


def test_item_of_many_elements(tg):
    with pytest.raises(RuntimeError, match="a Tensor with 2 elements cannot be converted to Scalar"):
        tg.ones(2).item()


def test_tolist(tg):
    assert tg.tensor(2).tolist() == 2
    assert tg.tensor([[1, 2], [3, 4]]).tolist() == [[1, 2], [3, 4]]
    assert tg.zeros(2, 0).tolist() == [[], []]


def test_python_conversions(tg):
    assert float(tg.tensor(2)) == 2.0 and int(tg.tensor([2.7])) == 2 and bool(tg.tensor(0.0)) is False
    assert [10, 20, 30][tg.tensor(1)] == 20
    assert len(tg.zeros(3, 2)) == 3 and [row.tolist() for row in tg.eye(2)] == [[1.0, 0.0], [0.0, 1.0]]
    assert f"{tg.tensor(3.14159):.2f}" == "3.14"


def test_truth_of_many_elements(tg):
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(tg.ones(2))


def test_len_and_iteration_of_a_scalar(tg):
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(tg.tensor(1.0))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(tg.tensor(1.0))


def test_casts(tg):
    x = tg.tensor([1.7, -1.7, 0.0])
    assert x.long().tolist() == [1, -1, 0] and x.int().dtype is tg.int32
    assert x.bool().tolist() == [True, True, False]
    assert x.double().dtype is tg.float64 and x.to(tg.int64).dtype is tg.int64
    assert x.to(tg.float32) is x and x.float() is x and x.type(tg.float64).dtype is tg.float64
    assert x.to("cpu") is x and x.cpu() is x and x.to(tg.zeros(1, dtype=tg.float64)).dtype is tg.float64
    assert tg.ones(2).type_as(tg.tensor([1])).dtype is tg.int64


def test_creation(tg):
    assert tg.arange(5).tolist() == [0, 1, 2, 3, 4] and tg.arange(5).dtype is tg.int64
    assert tg.arange(1, 2, 0.25).tolist() == [1.0, 1.25, 1.5, 1.75]
    assert tg.linspace(0, 1, 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert tg.full((2,), 7).dtype is tg.int64 and tg.full((2,), 7.0).dtype is tg.float32
    assert tg.eye(2, 3).tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    x = tg.zeros(2, 3, dtype=tg.float64)
    assert tg.ones_like(x).dtype is tg.float64 and x.new_zeros(4).dtype is tg.float64
    assert tg.rand_like(x).shape == (2, 3) and tg.zeros((2, 3)).shape == tg.zeros([2, 3]).shape == (2, 3)
    assert tg.empty(2, 3).shape == (2, 3) and tg.full_like(x, 2).tolist() == [[2.0] * 3] * 2


def test_shape_attributes(tg):
    x = tg.zeros(2, 3)
    assert x.shape == x.size() == tg.Size([2, 3]) == (2, 3)
    assert x.size(0) == 2 and x.size(-1) == 3 and x.shape[1] == 3 and x.shape.numel() == x.numel() == x.nelement() == 6
    assert x.dim() == x.ndim == x.ndimension() == 2
    assert isinstance(x.shape, tuple) and repr(x.shape).endswith("Size([2, 3])")
    assert x.is_floating_point() and not x.long().is_floating_point()
    assert str(x.device) == "cpu" and not x.is_cuda and tg.is_tensor(x) and not tg.is_tensor(1)
    assert x.is_contiguous() and not x.t().is_contiguous() and x.t().stride() == (1, 3)


def test_comparing_makes_booleans(tg):
    x = tg.tensor([1.0, 2.0, 3.0])
    assert (x > 1).tolist() == [False, True, True] and (x == x).all() and not (x != x).any()
    assert (x >= 2).sum().item() == 2 and x.eq(2).dtype is tg.bool
    assert hash(x) == hash(x) and x in {x}
