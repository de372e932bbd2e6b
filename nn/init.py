"""Initial values, written in place: ``nn.init``. From the same seed they are PyTorch's numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np

from ..ops.array import eager
from ..ops.core import current
from ..tape.grad_mode import no_grad
from ..tensors import random
from ..tensors.data import fitting
from ..tensors.drawing.integers import randperm
from ..tensors.meta.meta_tensor import any_meta
from ..tensors.tensor import Tensor, make
from ..tracing.user_warning import warn_user
from .initial_scales import _calculate_fan_in_and_fan_out, calculate_gain, fan

if TYPE_CHECKING:
    from ..tensors.generator import Generator

__all__ = [
    "calculate_gain",
    "constant",
    "constant_",
    "dirac",
    "dirac_",
    "eye",
    "eye_",
    "kaiming_normal",
    "kaiming_normal_",
    "kaiming_uniform",
    "kaiming_uniform_",
    "normal",
    "normal_",
    "ones_",
    "orthogonal",
    "orthogonal_",
    "sparse",
    "sparse_",
    "trunc_normal_",
    "uniform",
    "uniform_",
    "xavier_normal",
    "xavier_normal_",
    "xavier_uniform",
    "xavier_uniform_",
    "zeros_",
]

P = ParamSpec("P")


def _store(tensor: Tensor, value: Any) -> Tensor:
    if any_meta((tensor,)):
        return tensor
    with no_grad():
        eager().write(tensor, value)
    return tensor


# ---------------------------------------------------------------------------------------------------- plain numbers


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill `tensor`, of any shape and type, with the number `val`, in place; returns it. No gradient is recorded.

    >>> import tracegrad as tg
    >>> tg.nn.init.constant_(tg.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    return _store(tensor, current().constant(fitting(val, tensor.dtype), tensor.dtype))


def zeros_(tensor: Tensor) -> Tensor:
    """Fill `tensor`, of any shape and type, with zeros, in place; returns it. No gradient is recorded.

    >>> import tracegrad as tg
    >>> tg.nn.init.zeros_(tg.empty(2))
    tensor([0., 0.])
    """
    return constant_(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill `tensor`, of any shape and type, with ones, in place; returns it. No gradient is recorded.

    >>> import tracegrad as tg
    >>> tg.nn.init.ones_(tg.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1)


def eye_(tensor: Tensor) -> Tensor:
    """Fill a matrix [n, m] with the identity, in place; returns it: as many inputs of a linear map stay as there are
    outputs.

    ValueError for another number of axes.

    >>> import tracegrad as tg
    >>> tg.nn.init.eye_(tg.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if any_meta((tensor,)):
        return tensor
    return _store(tensor, eager().literal(np.eye(*tensor.shape, dtype=tensor.ndarray.dtype)))


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Fill a convolution's weight [out, in, ...], of 3 to 5 axes, so that it hands on as many channels of each group as
    it can, in place; returns it.

    The middle of each kernel is 1 for output channel c and input channel c of its group, all else is 0. ValueError for
    other axes, and for `groups` (default 1) that do not divide the first.

    >>> import tracegrad as tg
    >>> tg.nn.init.dirac_(tg.empty(2, 2, 3))
    tensor([[[0., 1., 0.],
             [0., 0., 0.]],
    <BLANKLINE>
            [[0., 0., 0.],
             [0., 1., 0.]]])
    """
    shape = tensor.shape
    if len(shape) not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups:
        raise ValueError("dim 0 must be divisible by groups")
    if any_meta((tensor,)):
        return tensor
    values = np.zeros(shape, tensor.ndarray.dtype)
    size = shape[0] // groups
    middle = tuple(extent // 2 for extent in shape[2:])
    for group in range(groups):
        for channel in range(min(size, shape[1])):
            place = (group * size + channel, channel, *middle)
            values[place] = 1
    return _store(tensor, eager().literal(values))


# --------------------------------------------------------------------------------------------------- random numbers


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill `tensor`, of any shape and a floating type, with uniform numbers in [a, b), in place; returns it.

    Bounds are 0 and 1 unless given, `generator` None is the default one; from the same seed the numbers are PyTorch's.
    RuntimeError for `a` above `b`, NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.uniform_(tg.empty(100), -0.5, 0.5)
    >>> bool((weight >= -0.5).all()), bool((weight < 0.5).all())
    (True, True)
    """
    if any_meta((tensor,)):
        return tensor
    with no_grad():
        return _store(tensor, random.uniform(tensor.shape, tensor.dtype, a, b, generator, tensor.ndarray.strides))


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill `tensor`, of any shape and a floating type, with normal numbers of that mean and standard deviation, in
    place; returns it.

    They are 0 and 1 unless given, `generator` None is the default one; from the same seed the numbers are PyTorch's.
    RuntimeError for a negative `std`, NotImplementedError for integers.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.normal_(tg.empty(1000), std=0.02)
    >>> round(weight.std().item(), 2)
    0.02
    """
    if any_meta((tensor,)):
        return tensor
    with no_grad():
        return _store(tensor, random.normal(tensor.shape, tensor.dtype, mean, std, generator, tensor.ndarray.strides))


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a weight [out, in, ...] with uniform numbers in ``±gain * sqrt(6 / (fan_in + fan_out))``, in place; returns
    it (Glorot & Bengio 2010).

    fan_in and fan_out are in and out times the size of the kernel, the axes behind. `gain` is 1.0 unless given, see
    ``calculate_gain``; `generator` None is the default one. ValueError for fewer than two axes.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.xavier_uniform_(tg.empty(2, 4))
    >>> bool((weight.abs() <= 1).all())
    True
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill a weight [out, in, ...] with normal numbers of the deviation ``gain * sqrt(2 / (fan_in + fan_out))``, in
    place; returns it (Glorot & Bengio 2010).

    fan_in and fan_out are in and out times the size of the kernel, the axes behind. `gain` is 1.0 unless given, see
    ``calculate_gain``; `generator` None is the default one. ValueError for fewer than two axes.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.xavier_normal_(tg.empty(100, 100))
    >>> round(weight.std().item(), 2)
    0.1
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor))), generator)


def _is_empty(tensor: Tensor) -> bool:
    """True, with PyTorch's warning, for tensors that have nothing to fill in."""
    if 0 in tensor.shape:
        warn_user("Initializing zero-element tensors is a no-op")
    return 0 in tensor.shape


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill a weight [out, in, ...] with uniform numbers in ``±gain * sqrt(3 / fan)``, in place; returns it (He et al.
    2015).

    `mode` says what fan is: "fan_in" (default) is in times the size of the kernel, so that variances stay forwards,
    "fan_out" out times that, for backwards. gain is ``calculate_gain(nonlinearity, a)``: `a` (default 0) is the slope
    of "leaky_relu" (default). ValueError for other words and for fewer than two axes; a tensor without elements is left
    alone, with a warning.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.kaiming_uniform_(tg.empty(3, 6), nonlinearity="relu")
    >>> bool((weight.abs() <= 1).all())
    True
    """
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3.0) * (calculate_gain(nonlinearity, a) / math.sqrt(fan(tensor, mode)))
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Fill a weight [out, in, ...] with normal numbers of the deviation ``gain / sqrt(fan)``, in place; returns it (He
    et al. 2015).

    The arguments and errors are those of ``kaiming_uniform_``.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.kaiming_normal_(tg.empty(100, 200), nonlinearity="relu")
    >>> round(weight.std().item(), 1)
    0.1
    """
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0.0, calculate_gain(nonlinearity, a) / math.sqrt(fan(tensor, mode)), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Fill a weight [rows, ...] so that, as a matrix [rows, columns], its rows (or columns, whichever are fewer) are
    orthonormal times `gain` (default 1), in place; returns it (Saxe et al. 2013).

    It is the Q of a QR decomposition of normal numbers; in compiled code the call is re-recorded. ValueError for fewer
    than two axes.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.orthogonal_(tg.empty(2, 3))
    >>> tg.allclose(weight @ weight.T, tg.eye(2), atol=1e-6)
    True
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.dtype.is_complex:
        raise NotImplementedError("orthogonal_ is not intended to support complex numbers: fill a real tensor")
    if tensor.ndarray.size == 0 or any_meta((tensor,)):
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
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Fill `tensor` with normal numbers of that mean and deviation, drawn again where they fall outside [a, b], in
    place; returns it.

    Mean and deviation are 0 and 1, bounds -2 and 2 unless given; they are numbers, not multiples of the deviation. In
    compiled code the call is re-recorded. Difference: PyTorch draws otherwise, and other numbers, where [a, b] holds
    less than a third of the distribution.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.trunc_normal_(tg.empty(1000), a=-1.0, b=1.0)
    >>> bool((weight.abs() <= 1).all())
    True
    """
    if tensor.dtype.is_complex:
        raise NotImplementedError(f'"lt_cpu" not implemented for {tensor.dtype.title!r}: complex numbers have no order')
    if mean < a - 2 * std or mean > b + 2 * std:
        warn_user(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect."
        )
    if any_meta((tensor,)):
        return tensor
    of, read = tensor.dtype.numpy.type, eager().read
    with no_grad():
        result = read(normal_(tensor, mean, std, generator), "nn.init.trunc_normal_")
        outside = (result < of(a)) | (result > of(b))
        while outside.any():
            again = random.normal(tensor.shape, tensor.dtype, mean, std, generator)
            result = np.where(outside, read(again, "nn.init.trunc_normal_"), result)
            outside = (result < of(a)) | (result > of(b))
        return _store(tensor, make(result))


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Fill a matrix [rows, columns] with normal numbers of mean 0, and in each column the part `sparsity` of the rows,
    drawn, with zeros, in place; returns it (Martens 2010).

    The deviation is 0.01 unless given. ValueError for another number of axes. Which rows these are comes from the
    default generator, also where `generator` is given, as in PyTorch.

    >>> import tracegrad as tg
    >>> weight = tg.nn.init.sparse_(tg.empty(10, 3), sparsity=0.2)
    >>> (weight == 0).sum(0)
    tensor([2, 2, 2])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    if any_meta((tensor,)):
        return tensor
    rows, columns = tensor.shape
    count = math.ceil(sparsity * rows)
    with no_grad():
        normal_(tensor, 0, std, generator)
        for column in range(columns):
            dropped = randperm(rows)[:count]
            tensor[dropped, column] = 0
    return tensor


# ---------------------------------------------------------------------------------------------------- old spellings


#: Arguments of the examples of old names, where a matrix alone is none.
_SHOWN = {"constant": "tg.empty(2), 1.0", "dirac": "tg.empty(1, 1, 1)", "sparse": "tg.empty(4, 2), 0.5"}


def _deprecated(function: Callable[P, Tensor]) -> Callable[P, Tensor]:
    name = function.__name__.rstrip("_")

    def deprecated(*args: P.args, **kwargs: P.kwargs) -> Tensor:
        warn_user(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning)
        return function(*args, **kwargs)

    deprecated.__name__ = deprecated.__qualname__ = name
    deprecated.__doc__ = f"""The old name of ``{name}_``, of which PyTorch warns (FutureWarning); see there.

    >>> import warnings
    >>> import tracegrad as tg
    >>> with warnings.catch_warnings(record=True):
    ...     filled = tg.nn.init.{name}({_SHOWN.get(name, "tg.empty(2, 2)")})
    """
    return deprecated


uniform, normal = _deprecated(uniform_), _deprecated(normal_)
constant, eye, dirac = _deprecated(constant_), _deprecated(eye_), _deprecated(dirac_)
orthogonal, sparse = _deprecated(orthogonal_), _deprecated(sparse_)
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)
