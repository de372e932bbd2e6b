"""Questions about types, tensors from memory, and the keywords of functions that make tensors."""

import numpy as np
import pytest

REAL = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
LEGACY = {
    "Byte": "uint8", "Char": "int8", "Short": "int16", "Half": "float16", "BFloat16": "bfloat16", "Int": "int32",
    "Long": "int64", "Float": "float32", "Double": "float64", "Bool": "bool",
}  # fmt: skip
METHODS = {
    "byte": "uint8", "char": "int8", "short": "int16", "half": "float16", "bfloat16": "bfloat16", "int": "int32",
    "long": "int64", "float": "float32", "double": "float64", "bool": "bool", "cfloat": "complex64",
    "cdouble": "complex128",
}  # fmt: skip


def test_other_names(tg):
    assert tg.half is tg.float16 and tg.short is tg.int16 and tg.cfloat is tg.complex64 and tg.cdouble is tg.complex128


@pytest.mark.parametrize("method", METHODS)
def test_conversions_by_name(tg, method):
    x = getattr(tg.tensor([1.0, 2.0]), method)()
    assert x.dtype is getattr(tg, METHODS[method]) and getattr(x, method)() is x


@pytest.mark.parametrize("title", LEGACY)
def test_legacy_constructors(tg, title):
    kind, dtype = getattr(tg, f"{title}Tensor"), getattr(tg, LEGACY[title])
    x = kind([1, 0])
    assert x.dtype is dtype and isinstance(x, kind) and kind(2, 3).shape == (2, 3) and kind().shape == (0,)
    assert tg.typename(x) == f"tracegrad.{title}Tensor" == x.type() and tg.ones(2).type(kind).dtype is dtype


def test_a_module_in_16_bits(tg):
    module = tg.nn.Linear(2, 2)
    assert module.half().weight.dtype is tg.float16 and module.bfloat16().bias.dtype is tg.bfloat16


def test_categories(tg):
    assert tg.can_cast(tg.float64, tg.float16) and tg.can_cast(tg.int64, tg.uint8) and tg.can_cast(tg.bool, tg.int8)
    assert not tg.can_cast(tg.float32, tg.int64) and not tg.can_cast(tg.complex64, tg.float64)
    assert tg.is_complex(tg.zeros(1, dtype=tg.complex64)) and not tg.zeros(1).is_complex()
    assert not tg.zeros(1, dtype=tg.uint8).is_signed() and tg.is_signed(tg.zeros(1, dtype=tg.int8))
    assert tg.is_nonzero(tg.tensor([2])) and not tg.tensor(0.0).is_nonzero()
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        tg.is_nonzero(tg.ones(2))
    assert tg.typename(3) == "int" and tg.float16.to_complex() is tg.complex64 and tg.complex128.to_real() is tg.float64


def test_limits(tg):
    assert repr(tg.iinfo(tg.int16)) == "iinfo(min=-32768, max=32767, dtype=int16)"
    assert tg.finfo(tg.bfloat16).eps == 0.0078125 and tg.finfo(tg.bfloat16).resolution == 0.01
    assert tg.finfo(tg.complex128).dtype == "float64"
    assert repr(tg.finfo(tg.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, "
        "tiny=6.10352e-05, dtype=float16)"
    )
    with pytest.raises(TypeError, match="requires a floating point input type"):
        tg.finfo(tg.int8)
    with pytest.raises(TypeError, match="requires an integer input type"):
        tg.iinfo(tg.float32)


def test_pythons_types_are_dtypes(tg):
    expected = {float: tg.float64, int: tg.int64, bool: tg.bool, complex: tg.complex128}
    for python, dtype in expected.items():
        made = (tg.zeros(2, dtype=python), tg.tensor([1], dtype=python), tg.zeros_like(tg.ones(2), dtype=python))
        assert {x.dtype for x in made} == {dtype} and tg.ones(2).to(python).dtype is dtype
    assert tg.ones(2).sum(dtype=int).dtype is tg.int64 and tg.as_tensor([1], float).dtype is tg.float64


def test_keywords_of_memory(tg):
    x = tg.zeros(2, layout=tg.strided, pin_memory=False)
    assert x.layout is tg.strided and x.nbytes == 8 and x.is_cpu and not x.is_pinned() and not x.is_shared()
    assert tg.rand_like(x, memory_format=tg.preserve_format, layout=tg.strided).shape == (2,)
    with pytest.raises(RuntimeError, match="pin_memory=True requires a CUDA or other accelerator backend"):
        tg.zeros(2, pin_memory=True)
    with pytest.raises(TypeError, match=r"zeros\(\): argument 'layout' must be tracegrad.layout, not str"):
        tg.zeros(2, layout="strided")
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        tg.empty(2, memory_format=tg.channels_last)


def test_channels_last(tg):
    x = tg.arange(24.0).reshape(1, 2, 3, 4)
    y = x.contiguous(memory_format=tg.channels_last)
    assert y.stride() == (24, 1, 8, 2) and y.tolist() == x.tolist() and not y.is_contiguous()
    assert y.is_contiguous(memory_format=tg.channels_last) and y.contiguous(memory_format=tg.channels_last) is y
    assert x.to(memory_format=tg.channels_last).stride() == tg.empty_like(x, memory_format=tg.channels_last).stride()
    assert tg.zeros(1, 2, 1, 3, 4).contiguous(memory_format=tg.channels_last_3d).stride() == (24, 1, 24, 8, 2)


def test_from_buffers(tg):
    memory = bytearray(range(6))
    x = tg.frombuffer(memory, dtype=tg.uint8, offset=1, count=3)
    memory[1] = 77
    assert x.tolist() == [77, 2, 3] and tg.frombuffer(memory, dtype=tg.int16).shape == (3,)
    for keywords, message in (
        ({"offset": 6}, "must be non-negative and no greater than buffer length"),
        ({"count": 0}, "must not be 0"),
        ({"count": 4, "offset": 3}, "must not be greater than actual buffer length"),
    ):
        with pytest.raises(ValueError, match=message):
            tg.frombuffer(memory, dtype=tg.uint8, **keywords)
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        tg.frombuffer(memory, dtype=tg.int16, offset=1)


def test_asarray(tg):
    values = np.zeros(2, np.int16)
    shared = tg.asarray(values)
    values[0] = 5
    assert (
        shared.tolist() == [5, 0] and tg.asarray(values, copy=True).tolist() == [5, 0] and tg.asarray(shared) is shared
    )
    assert (
        tg.asarray([1, 2], dtype=tg.float16).dtype is tg.float16 and tg.asarray([1.0], requires_grad=True).requires_grad
    )
    with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
        tg.asarray([1], copy=False)
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Short' into dtype 'Long'"):
        tg.asarray(values, dtype=tg.int64, copy=False)


def test_ranges_and_scalars(tg):
    assert tg.range(1, 3, 0.5).tolist() == [1.0, 1.5, 2.0, 2.5, 3.0] and tg.range(1, 4).dtype is tg.float32
    assert tg.scalar_tensor(3).dtype is tg.float32 and tg.scalar_tensor(3, dtype=tg.uint8).item() == 3
    assert tg.arange(0, 2.5, 1, dtype=tg.uint8).tolist() == [0, 1, 2]
    assert tg.linspace(0, 10, 4, dtype=tg.uint8).tolist() == [0, 3, 6, 10]
    assert tg.logspace(0, 2, 3, dtype=tg.int16).tolist() == [1, 10, 100]


def test_default_tensor_type(tg):
    try:
        tg.set_default_tensor_type("torch.DoubleTensor")
        assert tg.zeros(1).dtype is tg.float64
        tg.set_default_tensor_type(tg.HalfTensor)
        assert tg.tensor(1.5).dtype is tg.float16
        with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
            tg.set_default_tensor_type(tg.LongTensor)
    finally:
        tg.set_default_tensor_type("FloatTensor")


def test_bytes_are_masks(tg):
    x, mask = tg.arange(3), tg.tensor([1, 0, 2], dtype=tg.uint8)
    with pytest.warns(UserWarning, match="indexing with dtype tracegrad.uint8 is now deprecated"):
        assert x[mask].tolist() == [0, 2]
    with pytest.warns(UserWarning, match="where received a uint8 condition tensor"):
        assert tg.where(mask, x, 9).tolist() == [0, 9, 2]
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        x[mask.to(tg.int8)]


@pytest.mark.parametrize("name", [*REAL, "complex64", "complex128"])
def test_saved_loaded_copied_and_collated(tg, name, tmp_path):
    x = tg.tensor([[1, 0], [1, 1]], dtype=getattr(tg, name))
    tg.save({"x": x, "row": x[1]}, tmp_path / "x.pt")
    loaded = tg.load(tmp_path / "x.pt")
    assert (
        loaded["x"].dtype is x.dtype and loaded["x"].tolist() == x.tolist() and loaded["row"].tolist() == x[1].tolist()
    )
    one, other = tg.nn.Module(), tg.nn.Module()
    one.register_buffer("b", x)
    other.register_buffer("b", tg.zeros_like(x))
    other.load_state_dict(one.state_dict())
    assert other.b.dtype is x.dtype and other.b.tolist() == x.tolist()
    (batch,) = tg.utils.data.DataLoader(tg.utils.data.TensorDataset(x), batch_size=2)
    assert batch[0].dtype is x.dtype
    if name == "bfloat16":
        with pytest.raises(TypeError, match="Got unsupported ScalarType BFloat16"):
            x.numpy()
        return
    (batch,) = tg.utils.data.DataLoader(list(x.numpy()), batch_size=2)
    assert batch.dtype is x.dtype and batch.tolist() == x.tolist() and tg.from_numpy(x.numpy()).dtype is x.dtype
    assert type(x[0, 0].item()) is type(x.tolist()[0][0])
