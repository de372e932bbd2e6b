"""Functions on element types that they are not for: the classes and words of PyTorch's errors."""

import pytest

NO_KERNEL = NotImplementedError
#: (expression, the error's class, its words)
REFUSED = [
    (
        "ones(2, dtype=int64).lerp_(ones(2, dtype=int64), 0.5)",
        NO_KERNEL,
        "\"lerp_kernel_scalar\" not implemented for 'Long'",
    ),
    (
        "ones(2, dtype=bool).lerp_(ones(2, dtype=bool), 0.5)",
        NO_KERNEL,
        "\"lerp_kernel_scalar\" not implemented for 'Bool'",
    ),
    (
        "ones(2, dtype=complex64).bernoulli_()",
        NO_KERNEL,
        "\"bernoulli_scalar_cpu_\" not implemented for 'ComplexFloat'",
    ),
    ("ones(2, dtype=complex64).random_()", NO_KERNEL, "\"random_kernel_cpu\" not implemented for 'ComplexFloat'"),
    (
        "ones(2, dtype=complex64).random_(5)",
        RuntimeError,
        "check_random_bounds handles only integral, floating-point and boolean types",
    ),
    ("ones(2, dtype=complex64).random_(2, 5)", RuntimeError, "check_random_bounds"),
    ("ones(2, dtype=complex64).geometric_(0.5)", NO_KERNEL, "\"geometric_cpu\" not implemented for 'ComplexFloat'"),
    ("ones(2, dtype=bool).geometric_(0.5)", NO_KERNEL, "\"geometric_cpu\" not implemented for 'Bool'"),
    ("ones(2, dtype=complex64).cauchy_()", RuntimeError, "dtype must be a floating point but you specified"),
    ("ones(2, dtype=uint8).cauchy_()", RuntimeError, "dtype must be a floating point but you specified"),
    (
        "ones(2, dtype=bool).clamp_(ones(2, dtype=bool), ones(2, dtype=bool))",
        NO_KERNEL,
        "\"clamp_cpu\" not implemented for 'Bool'",
    ),
    (
        "ones(2).fill_(ones(2))",
        RuntimeError,
        "fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions",
    ),
    ("ones(2, dtype=complex64).mode()", NO_KERNEL, "\"mode_cpu\" not implemented for 'ComplexFloat'"),
    ("ones(2).resize_as_(1)", TypeError, "argument 'the_template' (position 1) must be Tensor, not int"),
]


@pytest.mark.parametrize("expression, kind, words", REFUSED, ids=[case[0] for case in REFUSED])
def test_refused(tg, expression, kind, words):
    with pytest.raises(kind) as caught:
        eval(expression, vars(tg) | {"bool": tg.bool})
    assert caught.type is kind and words in str(caught.value)


def test_what_is_drawn_and_mixed_is_not_refused(tg):
    assert tg.zeros(2, dtype=tg.bool).bernoulli_(1.0).tolist() == [True, True]
    assert tg.zeros(2, dtype=tg.complex64).lerp_(tg.ones(2, dtype=tg.complex64), 1.0).tolist() == [1, 1]
    assert tg.zeros(2).fill_(tg.tensor(3)).tolist() == [3.0, 3.0]
