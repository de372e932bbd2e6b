"""Initial values, written in place: ``nn.init``. From the same seed they are PyTorch's numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.core import current
from ..tape.grad_mode import no_grad
from ..tensors import random
from ..tensors.tensor import Tensor, make

_GAINS = {"sigmoid": 1.0, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}
_LINEAR = {"linear", *(f"conv{t}{n}d" for t in ("", "_transpose") for n in (1, 2, 3))}


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """By how much initial weights are larger before a `nonlinearity`; `param` is the slope of ``leaky_relu``.

    >>> import tracegrad as tg
    >>> round(tg.nn.init.calculate_gain("relu"), 4)
    1.4142
    """
    if nonlinearity in _LINEAR:
        return 1.0
    if nonlinearity in _GAINS:
        return _GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    slope = 0.01 if param is None else param
    if isinstance(slope, bool) or not isinstance(slope, (int, float)):
        raise ValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + slope**2))


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """How many inputs reach one output of a weight ``[out, in, ...]``, and how many outputs one input reaches."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    receptive = math.prod(tensor.shape[2:])
    return tensor.shape[1] * receptive, tensor.shape[0] * receptive


def _fan(tensor: Tensor, mode: str) -> int:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


def _store(tensor: Tensor, value: Any) -> Tensor:
    with no_grad():
        eager().write(tensor, value)
    return tensor


# ---------------------------------------------------------------------------------------------------- plain numbers


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return _store(tensor, current().constant(val, tensor.dtype))


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return constant_(tensor, 1)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix with the identity."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _store(tensor, eager().literal(np.eye(*tensor.shape, dtype=tensor.ndarray.dtype)))


# --------------------------------------------------------------------------------------------------- random numbers


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with uniform numbers in [a, b)."""
    with no_grad():
        return _store(tensor, random.uniform(tensor.shape, tensor.dtype, a, b, generator, tensor.ndarray.strides))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Tensor:
    """Fill with normal numbers."""
    with no_grad():
        return _store(tensor, random.normal(tensor.shape, tensor.dtype, mean, std, generator, tensor.ndarray.strides))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Uniform in ±gain * sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Any = None) -> Tensor:
    """Normal with the deviation gain * sqrt(2 / (fan_in + fan_out))."""
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Uniform in ±gain * sqrt(3 / fan) (He et al. 2015); `a` is the slope of ``leaky_relu``."""
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Tensor:
    """Normal with the deviation gain / sqrt(fan)."""
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(_fan(tensor, mode)), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Any = None) -> Tensor:
    """Fill with rows (or columns, whichever are fewer) that are orthonormal, times `gain`; outside of compiled code."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.ndarray.size == 0:
        return tensor
    rows = tensor.shape[0]
    with no_grad():
        drawn = random.normal((rows, tensor.ndarray.size // rows), tensor.dtype, generator=generator)
        flat = eager().read(drawn, "nn.init.orthogonal_")
    wide = flat.shape[0] < flat.shape[1]
    q, r = np.linalg.qr(flat.T if wide else flat)
    q = q * np.sign(np.diag(r))
    return _store(tensor, make(((q.T if wide else q) * tensor.ndarray.dtype.type(gain)).reshape(tensor.shape)))


def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Tensor:
    """Normal numbers, drawn again where they fall outside [a, b]; outside of compiled code.

    Difference: PyTorch draws otherwise, and other numbers, where [a, b] holds less than a third of the distribution.
    """
    of, read = tensor.dtype.numpy.type, eager().read
    with no_grad():
        result = read(normal_(tensor, mean, std, generator), "nn.init.trunc_normal_")
        outside = (result < of(a)) | (result > of(b))
        while outside.any():
            again = random.normal(tensor.shape, tensor.dtype, mean, std, generator)
            result = np.where(outside, read(again, "nn.init.trunc_normal_"), result)
            outside = (result < of(a)) | (result > of(b))
        return _store(tensor, make(result))
