"""Convolution, pooling, padding and folding: PyTorch's numbers and gradients, second derivatives, compiled code."""

import itertools

import numpy as np
import pytest
from expected import windows
from expected.compare import assert_close, load

STORED = load("windows")
CASES = {label: rest for label, *rest in windows.cases()}
# The arguments of the roots and powers of lp_pool are sums of ten roundings; its results are of order one.
TOLERANCE = {"rtol": 1e-11, "atol": 1e-12}


def stored(label):
    found = []
    while f"{label}|{len(found)}" in STORED:
        found.append(STORED[f"{label}|{len(found)}"])
    return found


@pytest.mark.parametrize("kind", windows.CASES)
def test_results_and_gradients(tg, kind):
    for label, (name, arrays, args, options) in CASES.items():
        if not name.startswith(kind) or (kind == "conv" and "transpose" in name):
            continue
        function = getattr(tg.nn.functional, name)
        if f"{label}|refused" in STORED:
            with pytest.raises(RuntimeError):
                windows.run(tg, function, arrays, args, options)
            continue
        found = windows.run(tg, function, arrays, args, options)
        assert len(found) == len(stored(label)) and found[0].is_contiguous()
        for actual, expected in zip(found, stored(label), strict=True):
            assert_close(actual, expected, **TOLERANCE)


@pytest.mark.parametrize("text", windows.LAYERS)
def test_layers(tg, text):
    found = windows.of_layer(tg, text)
    assert len(found) == len(stored(text))
    for actual, expected in zip(found, stored(text), strict=True):
        assert_close(actual, expected, rtol=1e-5, atol=1e-5)  # sums of up to 216 float32 numbers of order one


def first(name):
    """One drawn program of each function that is not refused and has something to compute."""
    for label, (function, arrays, args, options) in CASES.items():
        some = all(array.size for array in arrays) and np.isfinite(arrays[0]).all()
        if function == name and some and f"{label}|refused" not in STORED:
            return arrays, args, options
    raise AssertionError(name)


NAMES = sorted({name for name, *_ in CASES.values()})


@pytest.mark.long(fast="first", every=7)
@pytest.mark.parametrize("name", NAMES)
def test_second_derivatives(tg, name):
    arrays, args, options = first(name)
    tensors = [tg.tensor(array, requires_grad=True) for array in arrays]
    if name.startswith(("max", "adaptive_max")):  # coarse numbers have ties, where there is no derivative
        tensors = [tg.tensor(array + 1e-3 * np.arange(array.size).reshape(array.shape), requires_grad=True)
                   for array in arrays]  # fmt: skip

    def function(*x):
        out = getattr(tg.nn.functional, name)(*x, *args, **options)
        return out[0] if isinstance(out, tuple) else out

    assert tg.autograd.gradcheck(function, tensors)
    assert tg.autograd.gradgradcheck(function, tensors)


@pytest.mark.long(fast=7, every=2)
@pytest.mark.parametrize("name", NAMES)
def test_compiled(tg, name):
    arrays, args, options = first(name)
    function, grad = getattr(tg.nn.functional, name), tg.autograd.grad

    def step(*tensors):
        out = function(*tensors, *args, **options)
        out, *places = out if isinstance(out, tuple) else (out,)
        return [out, *places, *grad((out * out).sum(), tensors)]

    compiled = tg.compile(step)
    for call in range(4):
        given = [array + 0.5 * call for array in arrays]
        expected = step(*(tg.tensor(array, requires_grad=True) for array in given))
        actual = compiled(*(tg.tensor(array, requires_grad=True) for array in given))
        for a, e in zip(actual, expected, strict=True):
            assert_close(a, e.detach().numpy(), **TOLERANCE)
    assert compiled.way == "replay", compiled.explain()


def test_where_maxima_stood_they_go_back(tg):
    x = tg.tensor(np.sin(np.arange(72.0)).reshape(2, 1, 6, 6))
    pooled, places = tg.nn.MaxPool2d(2, return_indices=True)(x)
    back = tg.nn.MaxUnpool2d(2)(pooled, places)
    assert back.shape == x.shape and (back != 0).sum() == pooled.numel()
    assert tg.equal(tg.nn.MaxPool2d(2)(tg.where(back != 0, back, tg.full_like(back, -9.0))), pooled)


REFUSED = [
    ("conv2d(ones(2, 3), ones(4, 3, 3, 3))", "Expected 3D (unbatched) or 4D (batched) input to conv2d"),
    ("conv2d(ones(2, 2, 8, 8), ones(4, 3, 3, 3))", "to have 3 channels, but got 2 channels instead"),
    ("conv2d(ones(2, 3, 2, 2), ones(4, 3, 3, 3))", "Kernel size can't be greater than actual input size"),
    ("conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), ones(3))", "expected bias to be 1-dimensional with 4 elements"),
    ("conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), stride=0)", "non-positive stride is not supported"),
    ("conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), stride=(1, 2, 3))", "expected stride to be a single integer value"),
    ("conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), padding=-1)", "negative padding is not supported"),
    ("conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), dilation=0)", "non-positive dilation is not supported"),
    ("conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), padding='same', stride=2)", "not supported for strided convolutions"),
    ("conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), padding='other')", "Invalid padding string: 'other'"),
    ("conv2d(ones(2, 3, 8, 8).double(), ones(4, 3, 3, 3))", "expected scalar type Double but found Float"),
    ("conv2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3), ones(4).double())", "(float) and bias type (double) should be the sa"),
    ("conv2d(ones(2, 4, 8, 8), ones(3, 2, 3, 3), groups=2)", "expected weight to be divisible by 2 at dimension 0"),
    ("conv2d(ones(2, 4, 8, 8), ones(3, 2, 3, 3), groups=0)", "non-positive groups is not supported"),
    ("conv_transpose2d(ones(2, 3, 8, 8), ones(3, 4, 3, 3), output_padding=1)", "output padding must be smaller than"),
    ("conv_transpose2d(ones(2, 3, 8, 8), ones(4, 3, 3, 3))", "to have 4 channels, but got 3 channels instead"),
    ("max_pool2d(ones(2, 3, 8, 8), 3, padding=2)", "pad should be at most half of effective kernel size"),
    ("conv_transpose1d(ones(2, 3, 8), ones(3, 4))", "weight should have at least three dimensions"),
    ("conv_transpose1d(ones(2, 3, 8), ones(3))", "weight should have at least three dimensions"),
    ("conv_transpose2d(ones(2, 3, 8, 8), ones(3, 4, 3))", "dimensional weight[3, 4, 3]"),
    ("max_pool2d(ones(2, 3, 8, 8), 3, stride=0)", "stride should not be zero"),
    ("max_pool2d(ones(2, 3, 2, 2), 3)", "Output size is too small"),
    ("avg_pool2d(ones(2, 3, 8, 8), 3, divisor_override=0)", "divisor must be not zero"),
    ("adaptive_avg_pool2d(ones(2, 2), 3)", "adaptive_avg_pool2d(): Expected 3D or 4D tensor"),
    ("adaptive_avg_pool2d(ones(2, 3, 8, 8), (3,))", "adaptive_avg_pool2d: output_size must be 2"),
    ("pad(ones(2, 3, 4), (4, 4), mode='reflect')", "should be less than the corresponding input dimension"),
    ("pad(ones(2, 3, 4), (5, 5), mode='circular')", "wrapping around more than once"),
    ("pad(ones(2, 3, 4), (1, 1), mode='reflect', value=1.0)", "doesn't take in value argument"),
    ("fold(ones(2, 27, 35), (8, 8), 3)", "calculated number of sliding blocks 6 * 6 = 36"),
    ("fold(ones(2, 26, 36), (8, 8), 3)", "divisible by the product of kernel_size"),
]


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_paddings_and_kernels_of_pools(tg, axes):
    """A pad is at most half of the kernel, however far that reaches when it is dilated; means over three axes want
    room for the kernel without the pad."""
    functions, sizes = tg.nn.functional, itertools.product(range(1, 6), range(4), (1, 2), range(1, 6))
    for kernel, padding, dilation, extent in sizes:
        shape, others = (1, 2, *(6,) * (axes - 1), extent), (1,) * (axes - 1)
        where = {"kernel_size": (*others, kernel), "padding": (*(0,) * (axes - 1), padding), "stride": 1}
        windows = extent + 2 * padding - dilation * (kernel - 1)
        fits = 2 * padding <= kernel and windows >= 1
        for ceil_mode in (False, True):
            options = {**where, "ceil_mode": ceil_mode}
            found = _extent(getattr(functions, f"max_pool{axes}d"), tg.ones(shape), dilation=dilation, **options)
            assert found == (windows if fits else None), (options, dilation, extent)
            if dilation == 1:
                found = _extent(getattr(functions, f"avg_pool{axes}d"), tg.ones(shape), **options)
                assert found == (windows if fits and (axes < 3 or kernel <= extent) else None), (options, extent)


def _extent(pool, x, **options):
    try:
        return pool(x, **options).shape[-1]
    except RuntimeError:
        return None


@pytest.mark.parametrize("text, words", REFUSED)
def test_what_does_not_fit_is_refused(tg, text, words):
    with pytest.raises(RuntimeError) as error:
        eval(text, {**vars(tg.nn.functional), "ones": tg.ones})
    assert words in str(error.value)


def test_layers_refuse(tg):
    for text, words in [("Conv2d(3, 4, 3, groups=2)", "in_channels must be divisible by groups"),
                        ("Conv2d(4, 3, 3, groups=2)", "out_channels must be divisible by groups"),
                        ("Conv2d(4, 4, 3, groups=0)", "groups must be a positive integer"),
                        ("Conv2d(4, 4, 3, padding='x')", "Invalid padding string 'x'"),
                        ("Conv2d(4, 4, 3, padding_mode='x')", "padding_mode must be one of"),
                        ("ConvTranspose2d(4, 4, 3, padding_mode='reflect')", 'Only "zeros" padding mode')]:  # fmt: skip
        with pytest.raises(ValueError) as error:
            eval(text, vars(tg.nn))
        assert words in str(error.value)
