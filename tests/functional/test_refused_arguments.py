"""Arguments that PyTorch refuses, with its class of error and its words; and what it answers at the edges."""

import pytest

import tracegrad as tg
from tracegrad.nn import functional as F

NUMBER, WHOLE = tg.tensor(1), tg.tensor([1, 2])

#: What is called, the error, and words of it.
REFUSED = {
    "meshgrid of two types": (lambda: tg.meshgrid(WHOLE, WHOLE.float()), RuntimeError, "have the same dtype"),
    "meshgrid of nothing": (lambda: tg.meshgrid(), RuntimeError, "non-empty TensorList"),
    "meshgrid, unknown order": (
        lambda: tg.meshgrid(WHOLE, indexing="ji"),
        RuntimeError,
        'indexing must be one of "xy" or "ij", but received: ji',
    ),
    "chunks of a number": (lambda: NUMBER.chunk(2), RuntimeError, "chunk expects at least a 1-dimensional tensor"),
    "a part of a number": (lambda: NUMBER.select(0, 0), IndexError, "cannot be applied to a 0-dim tensor"),
    "parts of a number": (lambda: NUMBER.unbind(), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
    "extent of a number": (lambda: NUMBER.size(0), IndexError, "Dimension specified as 0 but tensor has no dimensions"),
    "stride of no axis": (lambda: WHOLE.stride(1), IndexError, r"expected to be in range of \[-1, 0\], but got 1"),
    "floating counts": (
        lambda: tg.repeat_interleave(WHOLE, tg.ones(2)),
        NotImplementedError,
        "\"repeat_interleave_cpu\" not implemented for 'Float'",
    ),
    "truth values as counts": (
        lambda: tg.repeat_interleave(tg.tensor([True])),
        NotImplementedError,
        "not implemented for 'Bool'",
    ),
    "a number as size": (lambda: tg.full(2, 1), TypeError, "argument 'size' .* must be tuple of ints, not int"),
    "blocks of integers": (
        lambda: F.unfold(tg.ones(1, 1, 2, 2, dtype=tg.int64), 1),
        NotImplementedError,
        "\"im2col_out_cpu\" not implemented for 'Long'",
    ),
    "integers put back": (
        lambda: F.fold(tg.ones(1, 1, 4, dtype=tg.int32), (2, 2), 1),
        NotImplementedError,
        "\"col2im_out_cpu\" not implemented for 'Int'",
    ),
    "adaptive maxima of integers": (
        lambda: F.adaptive_max_pool1d(WHOLE.reshape(1, 1, 2), 1),
        NotImplementedError,
        "\"adaptive_max_pool2d\" not implemented for 'Long'",
    ),
    "adaptive maxima of integers in space": (
        lambda: F.adaptive_max_pool3d(tg.ones(1, 1, 2, 2, 2, dtype=tg.int64), 1),
        NotImplementedError,
        "\"adaptive_max_pool3d_cpu\" not implemented for 'Long'",
    ),
    "places of another type": (
        lambda: F.max_unpool1d(tg.ones(1, 1, 1), tg.zeros(1, 1, 1, dtype=tg.int32), 2),
        RuntimeError,
        "elements in indices should be type int64 but got: Int",
    ),
    "a nuclear norm of a vector": (lambda: tg.nuclear_norm(tg.ones(2)), RuntimeError, "at least 2 dimensions"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_pytorch_refuses_is_refused(case):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("dtype, value", [("int64", -(2**63)), ("int32", -(2**31)), ("int16", 0), ("uint8", 0)])
def test_the_median_of_no_integers_is_what_a_nan_is_as_one(dtype, value):
    median = tg.median(tg.ones(0, dtype=getattr(tg, dtype)))
    assert (median.item(), median.dtype) == (value, getattr(tg, dtype))


def test_positions_have_the_type_of_their_counts():
    counts = tg.tensor([1, 2], dtype=tg.int32)
    assert tg.repeat_interleave(counts).dtype is tg.int32
    assert tg.repeat_interleave(counts).tolist() == [0, 1, 1]
    assert tg.repeat_interleave(counts.long()).dtype is tg.int64


def test_a_nuclear_norm_is_over_the_last_two_axes():
    assert tg.nuclear_norm(tg.stack([tg.eye(2), 3 * tg.eye(2)])).tolist() == [2, 6]


def test_what_lies_in_order_is_contiguous_in_any_format():
    x = tg.ones(2, 2)
    assert x.contiguous(memory_format=tg.preserve_format) is x
    with pytest.raises(RuntimeError, match="preserve memory format is unsupported"):
        tg.ones(2, 3).t().contiguous(memory_format=tg.preserve_format)


def test_results_with_names_are_tuples_of_their_own_class():
    found = tg.sort(tg.tensor([2, 1]))
    assert isinstance(found, tg.return_types.sort) and tuple(map(tg.Tensor.tolist, found)) == ([1, 2], [1, 0])
    assert repr(found) == "tracegrad.return_types.sort(\nvalues=tensor([1, 2]),\nindices=tensor([1, 0]))"
