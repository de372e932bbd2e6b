"""DLPack both ways: one memory, whoever made it, and what keeps it alive."""

import gc
import weakref

import numpy as np
import pytest

TYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()


@pytest.mark.parametrize("name", TYPES)
def test_numpy_and_back(tg, name):
    x = tg.tensor([[1, 0], [1, 1]], dtype=getattr(tg, name))
    a = np.from_dlpack(x)
    assert a.dtype == x.numpy().dtype and a.tolist() == x.tolist() and np.shares_memory(a, x.numpy())
    y = tg.from_dlpack(a)
    y[0, 1] = 1
    assert y.dtype is x.dtype and x.tolist() == a.tolist() == [[1, 1], [1, 1]]
    assert tg.from_dlpack(x.t()).stride() == (1, 2) and tg.from_dlpack(x)[0].data_ptr() == x.data_ptr()


def test_capsules_are_read_once(tg):
    x = tg.tensor([1.0, 2.0])
    for capsule in (tg.to_dlpack(x), x.__dlpack__(max_version=(1, 0)), x.__dlpack__(stream=None)):
        y = tg.from_dlpack(capsule)
        y += 1
        assert y.data_ptr() == x.data_ptr()
        with pytest.raises(RuntimeError, match="capsules can be consumed only once"):
            tg.from_dlpack(capsule)
    assert x.tolist() == [4, 5]
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert "versioned" not in repr(x.__dlpack__()) and "versioned" not in repr(x.__dlpack__(max_version=(0, 8)))


def test_copies(tg):
    x = tg.ones(2)
    assert tg.from_dlpack(x, copy=True).data_ptr() != x.data_ptr() == tg.from_dlpack(x, copy=False).data_ptr()
    assert not np.shares_memory(np.from_dlpack(x, copy=True), x.numpy())

    class Old:
        """An array of a library that knows no arguments."""

        def __dlpack__(self, stream=None):
            return x.__dlpack__()

        def __dlpack_device__(self):
            return (1, 0)

    assert tg.from_dlpack(Old()).data_ptr() == x.data_ptr() != tg.from_dlpack(Old(), copy=True).data_ptr()


def test_read_only_memory_stays_read_only(tg):
    a = np.ones(2)
    a.flags.writeable = False
    x = tg.from_dlpack(a)
    with pytest.raises((RuntimeError, ValueError), match="writ|read-only"):
        x += 1
    assert a.tolist() == [1, 1]
    with pytest.raises(BufferError, match="readonly"):
        x.__dlpack__()
    assert not np.from_dlpack(x).flags.writeable


class Watched(np.ndarray):
    """An array whose end a weak reference tells."""


def test_lifetimes(tg):
    a = np.ones(3).view(Watched)
    ended = weakref.ref(a)
    x = tg.from_dlpack(a)
    row = x[1:]
    del a, x
    gc.collect()
    assert ended() is not None and row.tolist() == [1, 1]  # the tensor keeps the array
    del row
    gc.collect()
    assert ended() is None
    kept = np.from_dlpack(tg.ones(4) * 3)  # the array keeps the tensor's memory
    gc.collect()
    assert kept.tolist() == [3] * 4
    capsule = tg.to_dlpack(tg.ones(2))
    del capsule  # unread: its memory goes with it


def test_what_is_refused(tg):
    x = tg.ones(2, requires_grad=True)
    with pytest.raises(BufferError, match="Can't export tensors that require gradient, use tensor.detach()"):
        x.__dlpack__()
    x = x.detach()
    with pytest.raises(TypeError, match="stream must be ``int`` or ``none``"):
        x.__dlpack__(stream="0")
    with pytest.raises(AssertionError, match="stream should be None on cpu"):
        x.__dlpack__(stream=3)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="conjugate bit set"):
        tg.ones(2, dtype=tg.complex64).conj().__dlpack__()
    with pytest.raises(ValueError, match="stride"):
        tg.from_dlpack(np.ones(3)[::-1])
    for wrong in (1, "a", object()):
        with pytest.raises(RuntimeError, match="received an invalid capsule"):
            tg.from_dlpack(wrong)
    with pytest.raises(AssertionError, match="device and copy kwargs not supported"):
        tg.from_dlpack(tg.to_dlpack(x), copy=True)
    assert x.__dlpack_device__() == (1, 0) and x.__dlpack_device__()[0].name == "kDLCPU"


def test_torch_both_ways(tg):
    torch = pytest.importorskip("torch")
    x = tg.arange(4.0).reshape(2, 2)
    for theirs in (torch.from_dlpack(x), torch.utils.dlpack.from_dlpack(tg.to_dlpack(x))):
        theirs[0, 0] += 5
    assert x.tolist() == [[10, 1], [2, 3]]
    theirs = torch.arange(3)
    for ours in (tg.from_dlpack(theirs), tg.from_dlpack(torch.utils.dlpack.to_dlpack(theirs))):
        ours[1] += 5
    assert theirs.tolist() == [0, 11, 2]


OPTIONS = [{}, {"max_version": (1, 0)}, {"copy": True}, {"max_version": (1, 0), "copy": True}]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_bfloat16_round_trip(tg, shape, options):
    x = tg.randn(shape).bfloat16()
    for given in (x, x.t() if x.dim() == 2 else x, x[1:] if x.dim() else x):
        y = tg.from_dlpack(given.__dlpack__(**options))
        assert y.dtype is tg.bfloat16 and y.stride() == given.stride() and y.tolist() == given.tolist()
        assert not y.numel() or (y.data_ptr() == given.data_ptr()) is not options.get("copy", False)
        y += 1
    refused = BufferError if np.lib.NumpyVersion(np.__version__) >= "2.5.0" else RuntimeError
    with pytest.raises(refused, match="Unsupported dtype"):
        np.from_dlpack(x)
    capsule = x.__dlpack__()
    del capsule  # unread: its memory goes with it
    assert tg.from_dlpack(x).dtype is tg.bfloat16  # numpy has left everything as it was


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
def test_bfloat16_of_read_only_memory(tg):
    a = np.arange(2, dtype="uint16")
    a.flags.writeable = False
    x = tg.from_dlpack(a.view("int16")).view(tg.bfloat16)
    with pytest.raises(BufferError, match="readonly"):
        x.__dlpack__()
    y = tg.from_dlpack(x)
    with pytest.raises((RuntimeError, ValueError), match="writ|read-only"):
        y += 1


def test_bfloat16_with_torch_and_jax(tg):
    torch, jax = pytest.importorskip("torch"), pytest.importorskip("jax")
    x = tg.arange(6.0).reshape(2, 3).bfloat16()
    for theirs in (torch.from_dlpack(x.t()), torch.utils.dlpack.from_dlpack(tg.to_dlpack(x.t()))):
        assert theirs.dtype is torch.bfloat16 and theirs.stride() == (1, 3)
        theirs[0, 0] += 5
    assert x.tolist() == [[10, 1, 2], [3, 4, 5]]
    assert jax.dlpack.from_dlpack(x).tolist() == x.tolist()
    theirs = torch.arange(3).bfloat16()
    for ours in (tg.from_dlpack(theirs), tg.from_dlpack(torch.utils.dlpack.to_dlpack(theirs))):
        assert ours.dtype is tg.bfloat16
        ours[1] += 5
    assert theirs.tolist() == [0, 11, 2]
    assert tg.from_dlpack(jax.numpy.arange(3, dtype="bfloat16")).tolist() == [0, 1, 2]


def test_jax_both_ways(tg):
    jax = pytest.importorskip("jax")
    theirs = jax.dlpack.from_dlpack(tg.arange(4.0))
    assert theirs.tolist() == [0, 1, 2, 3]
    ours = tg.from_dlpack(theirs)
    assert ours.tolist() == [0, 1, 2, 3] and ours.data_ptr() == np.asarray(theirs).ctypes.data


def test_compiled_functions_take_such_tensors(tg):
    a = np.ones(3)
    step = tg.compile(lambda x: (x * 2).sum())
    for k in range(4):
        a[0] = k
        assert step(tg.from_dlpack(a)).item() == 2 * (k + 2)

    @tg.compile
    def inside(x):
        return tg.from_dlpack(np.from_dlpack(x * 2)) + 1

    for k in range(4):
        assert inside(tg.full((2,), float(k))).tolist() == [2 * k + 1] * 2
