"""Single arguments in which functions differed from PyTorch's."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import tracegrad as tg


@pytest.mark.parametrize("n_fft, length, hop", [(8, 4, 2), (8, 2, 3), (7, 3, 1), (4, 4, 1), (9, 1, 2)])
@pytest.mark.parametrize("align", [True, False, None])
def test_windows_of_a_short_time_transform_begin_with_the_signal(n_fft, length, hop, align):
    signal, window = tg.arange(17.0) ** 1.5, tg.arange(1.0, length + 1)
    got = tg.stft(signal, n_fft, hop, length, window, center=False, return_complex=True, align_to_window=align)
    around = (n_fft - length) // 2
    numbers = np.pad(signal.numpy(), around if align else 0)
    weights = np.pad(window.numpy(), (around, n_fft - length - around))
    starts = range(0, len(numbers) - n_fft + 1, hop)
    expected = np.stack([np.fft.rfft(numbers[i : i + n_fft] * weights) for i in starts], 1)
    assert np.allclose(got.numpy(), expected, rtol=1e-4, atol=1e-3)
    assert tg.equal(signal.stft(n_fft, hop, length, window, False, return_complex=True, align_to_window=align), got)


@pytest.mark.parametrize("align", [True, False])
def test_windows_are_aligned_without_centering_only(align):
    with pytest.raises(RuntimeError, match="align_to_window should only be set when center = false"):
        tg.stft(tg.ones(16), 4, window=tg.ones(4), return_complex=True, align_to_window=align)
    with pytest.raises(RuntimeError, match="the last window of 5 elements"):
        tg.stft(tg.ones(17), 8, 3, 5, tg.ones(5), center=False, return_complex=True, align_to_window=True)


@pytest.mark.parametrize("dtype", [None, tg.complex64, tg.complex128])
def test_complex_ends_of_a_row(dtype):
    row = tg.linspace(1 + 1j, tg.tensor(2.0), 5, dtype=dtype)
    assert row.dtype is (dtype or tg.complex64)
    assert row.tolist() == [1 + 1j, 1.25 + 0.75j, 1.5 + 0.5j, 1.75 + 0.25j, 2]
    assert np.allclose(tg.logspace(0, 1j, 3, 2.0, dtype=dtype).numpy(), [1, 2**0.5j, 2**1j])
    assert tg.linspace(0, 1j, 1).tolist() == [0] and tg.linspace(0, 1j, 0).dtype is tg.complex64


@pytest.mark.parametrize("function", [tg.linspace, tg.logspace])
def test_ends_of_a_row_that_are_refused(function):
    with pytest.raises(RuntimeError, match="inferred dtype c10::complex<float> can't be safely cast to passed dtype"):
        function(0, 1j, 3, dtype=tg.float32)
    with pytest.raises(RuntimeError, match=r"0-dimensional start and end tensors, but got start with 1 dimension\(s\)"):
        function(tg.ones(1), 2, 3)
    with pytest.raises(NotImplementedError, match="space_cpu\" not implemented for 'Bool'"):
        function(0, 1, 3, dtype=tg.bool)


def test_truth_values_at_the_ends_of_a_row():
    assert tg.linspace(False, True, 3).tolist() == [0.0, 0.5, 1.0]
    assert tg.linspace(True, 5, 3).tolist() == [1.0, 3.0, 5.0]
    for function in (tg.linspace, tg.logspace):
        with pytest.raises(TypeError, match="argument 'steps' .*must be int, not bool"):
            function(0, 1, True)


MATRICES = {"complex": tg.complex64, "float": tg.float32, "integers": tg.int64, "truth values": tg.bool}
REFUSED = {
    ("complex", True): "Boolean beta only supported for Boolean results",
    ("float", True): "Boolean beta only supported for Boolean results",
    ("integers", True): "Boolean beta only supported for Boolean results",
    ("integers", 0.5): "For integral input tensors, argument beta must not be a floating point number",
    ("truth values", 0.5): "For integral input tensors, argument beta must not be a floating point number",
    ("float", 0.5j): "cannot be converted to type float without overflow",
}


@pytest.mark.parametrize("kind, beta", [*itertools.product(("complex", "float"), (0.5, 2, True, 0.5j)), *REFUSED])
def test_factors_of_an_added_outer_product(kind, beta):
    matrix, vector = tg.ones(2, 2, dtype=MATRICES[kind]), tg.ones(2, dtype=MATRICES[kind])
    if (kind, beta) in REFUSED:
        with pytest.raises(RuntimeError, match=REFUSED[kind, beta]):
            tg.addr(matrix, vector, vector, beta=beta)
    else:
        assert tg.addr(matrix, vector, vector, beta=beta).tolist() == [[1 + beta] * 2] * 2


@pytest.mark.parametrize("shape", list(itertools.product((1, 3), repeat=2)))
@pytest.mark.parametrize("wanted", list(itertools.product((1, 2), (1, 3), (1, 3))))
def test_strides_of_repeated_axes(shape, wanted):
    """0 where elements are repeated; axes that stay keep their stride, and new ones of one element have a row's."""
    x = tg.zeros(4, 5)[: shape[0], : shape[1]]
    if any(n not in (1, m) for n, m in zip(shape, wanted[1:], strict=True)):
        return
    expected = [0 if n != m else step for n, m, step in zip(shape, wanted[1:], (5, 1), strict=True)]
    leading = 0 if wanted[0] > 1 else wanted[1] * expected[0]
    y = x.expand(wanted)
    assert y.stride() == (leading, *expected) and y.data_ptr() == x.data_ptr() and y.shape == wanted


def test_parameters_are_views_of_their_vector():
    layer, vector = tg.nn.Linear(2, 3), tg.arange(9.0)
    tg.nn.utils.vector_to_parameters(vector, layer.parameters())
    assert layer.weight.data_ptr() == vector.data_ptr() and layer.bias.data_ptr() == vector[6:].data_ptr()
    vector.mul_(2)
    assert layer.bias.tolist() == [12.0, 14.0, 16.0] and layer.weight.requires_grad
    with tg.no_grad():
        layer.weight.zero_()
    assert vector.tolist() == [0.0] * 6 + [12.0, 14.0, 16.0]
    with pytest.raises(TypeError, match="expected torch.Tensor, but got: list"):
        tg.nn.utils.vector_to_parameters([1.0], layer.parameters())
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        tg.nn.utils.vector_to_parameters(tg.zeros(3), layer.parameters())


def test_compiled_steps_see_the_vector_of_their_parameters():
    layer, x = tg.nn.Linear(2, 1), tg.ones(1, 2)
    step = tg.compile(lambda: layer(x).sum())
    before = step().item()
    vector = tg.nn.utils.parameters_to_vector(layer.parameters()).detach()
    for factor in (1.0, 2.0, 3.0):
        tg.nn.utils.vector_to_parameters(vector * factor, layer.parameters())
        assert step().item() == pytest.approx(before * factor)


class _Written(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x, writes):
        for _ in range(writes):
            x.add_(1)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, g):
        return g, None


@pytest.mark.parametrize("writes", [0, 1, 2])
@pytest.mark.parametrize("mode", [tg.enable_grad, tg.no_grad])
@pytest.mark.parametrize("history", [True, False])
def test_a_mark_counts_as_a_write(writes, mode, history):
    x = tg.ones(2, requires_grad=history) * 1
    before = x._version
    with mode():
        _Written.apply(x, writes)
    assert x._version - before == writes + 1


def test_what_was_saved_of_a_marked_input_is_noticed():
    x = tg.ones(2, requires_grad=True) * 1
    y = x * x
    _Written.apply(x, 0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("dim", [None, 1, (0, 1), ()])
@pytest.mark.parametrize("keepdim", [True, False])
@pytest.mark.parametrize("dtype", [tg.float32, tg.complex64])
def test_a_count_of_what_is_not_zero_has_no_gradient(dim, keepdim, dtype):
    x = tg.tensor([[1.0, 0.0, -2.0], [0.0, 0.0, 3.0]], dtype=dtype, requires_grad=True)
    count = tg.linalg.vector_norm(x, 0, dim, keepdim)
    assert count.requires_grad and count.sum().item() == 3
    count.sum().backward()
    assert x.grad is None


@pytest.mark.parametrize("shape", [(0,), (3,), (2, 3), (0, 3), (2, 0, 3), ()])
def test_places_of_nothing_lie_by_columns(shape):
    for found in (tg.zeros(shape).nonzero(), tg.argwhere(tg.zeros(shape))):
        assert found.shape == (0, len(shape)) and found.stride() == (1, 0) and found.dtype is tg.int64
        assert (found + 1).shape == found.shape and found.tolist() == []


BAGS = {"bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"}


@pytest.mark.parametrize("places, offsets", itertools.product(sorted(BAGS), sorted(BAGS)))
def test_places_and_beginnings_of_bags_are_of_their_common_type(places, offsets):
    given = tg.tensor([1, 0], dtype=getattr(tg, places)), tg.ones(3, 2), tg.tensor([0], dtype=getattr(tg, offsets))
    if {places, offsets} & {"int32", "int64"} and not any(name.startswith("float") for name in (places, offsets)):
        assert tg.nn.functional.embedding_bag(*given).tolist() == [[1.0, 1.0]]
    else:
        with pytest.raises(RuntimeError, match="one of the following scalar types: Long, Int"):
            tg.nn.functional.embedding_bag(*given)


def test_truth_values_without_beginnings_of_bags():
    with pytest.raises(NotImplementedError, match="arange_cpu"):
        tg.nn.functional.embedding_bag(tg.tensor([[True, False]]), tg.ones(3, 2))


@pytest.mark.parametrize("dtype", [tg.float32, tg.complex64])
def test_a_long_sum_does_not_drift(dtype):
    count = 1_000_000
    x = tg.full((count,), 0.1, dtype=dtype)
    expected = np.cumsum(np.full(count, np.float32(0.1), np.float64))
    for sums in (x.cumsum(0), tg.compile(lambda x: x.cumsum(0) * 1)(x)):
        # Accumulated in double precision, each is rounded once: half a unit in the last place.
        assert np.all(np.abs(sums.numpy() - expected) <= expected * 2.0**-24)


def test_a_whole_number_may_be_the_first_slope():
    assert tg.nn.PReLU(2, init=2).weight.tolist() == [2.0, 2.0]


SOFTMAXES = {
    "softmax": (tg.softmax, tg.nn.functional.softmax, tg.special.softmax),
    "log_softmax": (tg.log_softmax, tg.nn.functional.log_softmax, tg.special.log_softmax),
}


@pytest.mark.parametrize("name", SOFTMAXES)
def test_the_axis_of_softmax_is_left_out_in_nn_functional_only(name):
    plain, functional, special = SOFTMAXES[name]
    for function in (plain, special, lambda x, *args, **kwargs: getattr(x, name)(*args, **kwargs)):
        with pytest.raises(TypeError, match="missing 1 required positional argument"):
            function(tg.ones(2, 3))
        for call in (lambda f=function: f(tg.ones(2, 3), None), lambda f=function: f(tg.ones(2, 3), dim=None)):
            with pytest.raises(TypeError, match="argument 'dim' .*must be int, not NoneType"):
                call()
        assert function(tg.ones(2, 3), 1, tg.float64).dtype is tg.float64
    with pytest.warns(UserWarning, match="Implicit dimension choice"):
        given = functional(tg.ones(2, 3))
    assert tg.equal(given, functional(tg.ones(2, 3), 1, 3)) and tg.equal(given, plain(tg.ones(2, 3), 1))
    assert functional(tg.ones(2, 3), 0, 3, tg.float64).dtype is tg.float64


ORDERS = [order for n in (2, 3, 4) for order in itertools.permutations(range(n))]


@pytest.mark.parametrize("order", ORDERS)
def test_results_that_lie_row_by_row_whatever_the_operands_do(order):
    x = (tg.arange(float(np.prod(range(2, 2 + len(order))))) - 5).reshape(*range(2, 2 + len(order)))
    x = x.permute(order).requires_grad_()
    by_rows = x.detach().contiguous()
    source = tg.arange(float(x.numel()))
    functions = [
        lambda x: x.renorm(2, 1, 1.0),
        lambda x: x.masked_scatter(x > 0, source),
        lambda x: x.masked_scatter(by_rows > 0, source),
        lambda x: by_rows.masked_scatter(x > 0, source),
    ]
    for function in functions:
        out, expected = function(x), function(by_rows)
        assert out.stride() == expected.contiguous().stride() and tg.equal(out, expected)


@pytest.mark.parametrize("sizes", [(), [], tg.Size([])])
def test_no_sizes_of_an_axis(sizes):
    with pytest.raises(RuntimeError, match="unflatten: sizes must be non-empty"):
        tg.ones(2, 3).unflatten(1, sizes)
    with pytest.raises(RuntimeError, match="sizes must be non-empty"):
        tg.nn.Unflatten(1, sizes)(tg.ones(2, 3))
    with pytest.raises(RuntimeError, match="tensor has no dimensions"):
        tg.ones(()).unflatten(0, (1,))


@pytest.mark.parametrize("sizes, found", [(3, "type int"), ((1.0, 3), "element of type float at pos 0")])
def test_sizes_that_a_layer_refuses_as_it_is_made(sizes, found):
    with pytest.raises(TypeError, match=f"unflattened_size must be .*tuple of ints, but found {found}"):
        tg.nn.Unflatten(1, sizes)


INFINITE = [(-np.inf, 0.0, 1.0), (0.0, 1.0, np.inf), (-np.inf, -np.inf, 1.0), (-np.inf, 2.0, 3.0, np.inf)]


@pytest.mark.parametrize("row", INFINITE)
@pytest.mark.parametrize("interpolation", ["linear", "midpoint", "lower", "higher", "nearest"])
@pytest.mark.parametrize("function", [tg.quantile, tg.nanquantile])
def test_quantiles_between_infinities_are_interpolated_as_lerp_does_it(function, interpolation, row):
    for share in (0.0, 0.1, 0.25, 0.4, 0.45, 0.5, 0.6, 0.75, 0.9, 1.0):
        place = np.float32(share) * np.float32(len(row) - 1)
        if interpolation in ("linear", "midpoint"):
            low, high = tg.tensor(row[int(np.floor(place))]), tg.tensor(row[int(np.ceil(place))])
            part = place - np.floor(place) if interpolation == "linear" else 0.5
            expected = tg.lerp(low, high, tg.tensor(float(part)))
        else:
            rounded = {"lower": np.floor, "higher": np.ceil, "nearest": np.rint}[interpolation](place)
            expected = tg.tensor(row[int(rounded)])
        got = function(tg.tensor(row), share, interpolation=interpolation)
        assert tg.allclose(got, expected, equal_nan=True), (share, got, expected)


ENDS = (np.inf, -np.inf, np.nan, -0.0, 0.0, 1.0, -1.0)


@pytest.mark.parametrize("dtype", [tg.float32, tg.float64, tg.bfloat16])
def test_angles_of_real_numbers_have_no_slope(maybe_compile, dtype):
    x = tg.tensor(ENDS, dtype=dtype, requires_grad=True)
    out = maybe_compile(tg.angle)(x)
    pi = tg.tensor(np.pi, dtype=dtype).item()
    np.testing.assert_array_equal(out.tolist(), [0, pi, np.nan, 0, 0, 0, pi])
    assert not np.signbit(out.tolist()[3])
    out.sum().backward()
    assert x.grad.tolist() == [0.0] * len(ENDS)


@pytest.mark.parametrize("eps", [0.0, 0.3, 0.5, 0.6, 1.0])
def test_logits_are_bounded_below_first(maybe_compile, eps):
    numbers = np.array([0.1, 0.5, 0.61, 0.9, 0.4, 0.6, np.nan])
    x = tg.tensor(numbers, requires_grad=True)
    out = maybe_compile(lambda x: tg.logit(x, eps))(x)
    bounded = np.where(numbers < eps, eps, np.where(numbers > 1 - eps, 1 - eps, numbers))
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(out.tolist(), np.log(bounded / (1 - bounded)), rtol=1e-14, atol=1e-15)
        slope = 1 / (bounded * (1 - bounded))
    out.sum().backward()
    np.testing.assert_allclose(x.grad.tolist(), np.where((numbers < eps) | (numbers > 1 - eps), 0, slope), rtol=1e-14)


@pytest.mark.parametrize("dtype", [tg.float32, tg.float64, tg.float16])
@pytest.mark.parametrize("options", [{}, {"dim": 1}, {"dim": 0, "keepdim": True}])
def test_means_without_nan_are_of_the_type_that_is_asked_for(dtype, options):
    x = tg.tensor([[1.0, np.nan], [2.0, 4.0]], dtype=tg.float64)
    out = tg.nanmean(x, dtype=dtype, **options)
    assert out.dtype is dtype and tg.allclose(out, tg.nanmean(x, **options).to(dtype))
    with pytest.raises(RuntimeError, match=r"must be either a floating point or complex dtype. Got: Int"):
        tg.nanmean(x, dtype=tg.int32, **options)


def test_distances_that_count_what_differs():
    x = tg.tensor([1.0, 2.0, 0.0], requires_grad=True)
    out = tg.dist(x, tg.tensor([1.0, 0.0, 0.0]), p=0)
    assert out.item() == 1 and out.grad_fn.name() == "DistBackward0"
    out.backward()
    assert x.grad is None or not x.grad.any()


ROWS = [(0, 1), (-1, 1), (0, 6.283185307179586), (-3.3, 0.1), (1e-3, 1e4), (2.5, 2.5), (7, -7.7)]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("first, last", ROWS)
def test_numbers_of_a_row_are_rounded_once(first, last, compiled):
    """Of a step in float32, each number is the nearest to ``first + place * step``, or the same from the end."""
    row = tg.compile(lambda steps: tg.linspace(first, last, steps)) if compiled else None
    ends = np.float32(first), np.float32(last)
    for steps in (2, 3, 7, 10, 33) if compiled else (*range(2, 40), 100, 257):
        step = Fraction(float((ends[1] - ends[0]) / np.float32(steps - 1)))
        exact = [Fraction(float(ends[0])) + step * i for i in range(steps // 2)]
        exact += [Fraction(float(ends[1])) - step * (steps - 1 - i) for i in range(steps // 2, steps)]
        got = (row or (lambda steps: tg.linspace(first, last, steps)))(steps)
        assert got.tolist() == [float(np.float32(float(number))) for number in exact], steps
    assert tg.linspace(0, 1, 10)[6].item() == float.fromhex("0x1.555556p-1")
