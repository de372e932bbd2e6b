"""Activations made of straight pieces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops import arithmetic, elementary, logic
from ...ops.comparison import where
from ...ops.complex_numbers.refusals import refuse_complex
from ...ops.layouts.formats import gradient_as
from ...ops.types import bool_
from ...tape.grad_mode import no_grad
from ...tensors.composite import composite
from ...tensors.data import fitting
from ...tensors.short_floats import rounded_once
from ..activations import finished

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.tensor import Tensor

#: What most of them keep.
_INPUT = {"input": ("input",)}


@composite("HardtanhBackward0", _INPUT, zero=True)
def _hardtanh(input: Any, low: float, high: float) -> Any:
    with no_grad():
        bounded = arithmetic.minimum(high, arithmetic.maximum(low, input))  # of equal numbers the second: -0. stays
    return where(logic.logical_or(input <= low, input >= high), bounded, input)


@rounded_once
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """`input` kept between `min_val` and `max_val`; the gradient passes strictly inside only.

    Shape and type are those of `input`, any but bool (RuntimeError). ValueError where the lower bound is above the
    upper one. With `inplace`, the result is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.hardtanh(tg.tensor([-2., 0.5, 3.]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if input.dtype is bool_:
        raise RuntimeError("Bool inputs not supported for hardtanh. Convert them first, e.g. with .float().")
    refuse_complex("hardtanh", input.dtype)
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val: got min_val={min_val} and max_val={max_val}")
    if not input.dtype.is_floating_point:
        min_val, max_val = int(min_val), int(max_val)
        if not input.dtype.is_signed and min(min_val, max_val) < 0:
            raise RuntimeError(
                "cannot do hardtanh on an unsigned type with negative limits. Convert it, e.g. by .int()"
            )
        min_val, max_val = fitting(min_val, input.dtype), fitting(max_val, input.dtype)
    out = _hardtanh(input, min_val, max_val)
    return finished(input, out, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """`input` kept between 0 and 6: ``hardtanh(input, 0, 6)``.

    >>> import tracegrad as tg
    >>> tg.nn.functional.relu6(tg.tensor([-2., 3., 8.]))
    tensor([0., 3., 6.])
    """
    return hardtanh(input, 0.0, 6.0, inplace)


@rounded_once
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """``input / 6 + 1 / 2`` kept between 0 and 1: a sigmoid of straight pieces.

    Shape and type are those of `input`; NotImplementedError for integers. With `inplace`, it is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.hardsigmoid(tg.tensor([-4., 0., 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """
    refuse_complex("hardsigmoid", input.dtype)
    return finished(input, _hardsigmoid(input), inplace)


@composite("HardsigmoidBackward0", _INPUT)
def _hardsigmoid(input: Any) -> Any:
    with no_grad():
        bounded = arithmetic.minimum(arithmetic.maximum(input + 3, 0), 6) / 6
    return where(logic.logical_and(input > -3, input < 3), input / 6 + 0.5, bounded)


@rounded_once
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """``input * hardsigmoid(input)`` (Howard et al., 2019).

    Shape and type are those of `input`; NotImplementedError for integers. With `inplace`, it is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.nn.functional.hardswish(tg.tensor([-4., 1.5, 4.]))
    tensor([-0.0000, 1.1250, 4.0000])
    """
    return finished(input, elementary.hardswish(input), inplace)


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """`input` where it is above `threshold`, else `value`; the derivative there is 0.

    Shape and type are those of `input`; NotImplementedError for bool. With `inplace`, it is stored in `input`.

    >>> import tracegrad as tg
    >>> tg.threshold(tg.tensor([-2., 0.5, 3.]), 1, 20)
    tensor([20., 20.,  3.])
    """
    if input.dtype is bool_:
        raise NotImplementedError("\"threshold_cpu\" not implemented for 'Bool'. Convert it first, e.g. with .float().")
    return finished(input, _threshold(input, threshold, value), inplace)


@composite("ThresholdBackward0", _INPUT, zero=True)
def _threshold(input: Any, threshold: float, value: float) -> Any:
    if not input.dtype.is_floating_point:
        threshold, value = (_stored(number, input.dtype) for number in (threshold, value))
    else:
        threshold, value = fitting(threshold, input.dtype), fitting(value, input.dtype)
    if not input.ndarray.flags.c_contiguous:
        input = gradient_as(input, input.ndarray)
    return where(input <= threshold, value, input)


def _stored(number: float, dtype: DType) -> int:
    """The number as an integer type stores it: rounded towards 0, and wrapped around in uint8."""
    return int(np.array(int(fitting(number, dtype))).astype(dtype.numpy))
