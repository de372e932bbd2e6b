"""What distributions share: parameters of one shape, probabilities and logits, values computed when asked for."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from ..functional.normalizing.softmax import softmax
from ..functional.selecting import index_select
from ..functional.shaping.diagonals import tril
from ..ops.core import switch
from ..ops.elementary import log, log1p, sigmoid
from ..ops.types import broadcast_shapes, get_default_dtype, int64
from ..tape.grad_mode import enable_grad
from ..tensors.creation import full, tensor
from ..tensors.fusion import fused
from ..tensors.limits import finfo
from ..tensors.tensor import Tensor
from . import array_forms


def broadcast_all(*values: Any) -> tuple[Any, ...]:
    """Numbers and tensors as tensors of their common shape; numbers get the first tensor's dtype (or the default one).

    ValueError for what is neither.

    Example:
        >>> import tracegrad as tg
        >>> loc, scale = tg.distributions.utils.broadcast_all(0.0, tg.ones(3))
        >>> loc
        tensor([0., 0., 0.])
    """
    if not all(isinstance(value, (Tensor, numbers.Number)) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."
        )
    dtype = next((value.dtype for value in values if isinstance(value, Tensor)), get_default_dtype())
    tensors = [value if isinstance(value, Tensor) else full((), value, dtype=dtype) for value in values]
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors))
    return tuple(tensor if tensor.shape == shape else tensor.expand(shape) for tensor in tensors)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """``sigmoid(logits)`` if `is_binary` (default False), else the softmax over the last axis; of the shape of
    `logits`.

    >>> import tracegrad as tg
    >>> tg.distributions.utils.logits_to_probs(tg.tensor([0.0, 0.0]))
    tensor([0.5000, 0.5000])
    """
    return sigmoid(logits) if is_binary else softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """`probs` kept an epsilon of their dtype away from 0 and 1, so that logarithms are finite.

    >>> import tracegrad as tg
    >>> tg.distributions.utils.clamp_probs(tg.tensor([0.0, 0.5])).log().isfinite()
    tensor([True, True])
    """
    eps = _limits(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


_limits = functools.cache(finfo)


@fused("LogBackward0", array_forms.clamped_log, array_forms.clamped_log_gradient, watched={0: (0,)}, one_kernel=False)
def _clamped_log(probs: Any, low: float, high: float) -> Any:
    return log(probs.clamp(min=low, max=high))


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """``log(p / (1 - p))`` if `is_binary` (default False), else ``log(p)``; of probabilities that ``clamp_probs`` has
    kept apart.

    >>> import tracegrad as tg
    >>> tg.distributions.utils.probs_to_logits(tg.tensor([0.5, 0.75]), is_binary=True)
    tensor([0.0000, 1.0986])
    """
    if not is_binary:
        eps = _limits(probs.dtype).eps
        return _clamped_log(probs, eps, 1 - eps)
    clamped = clamp_probs(probs)
    return log(clamped) - log1p(-clamped)


class lazy_property:
    """A property that is computed once, when it is first asked for, with gradients recorded.

    >>> import tracegrad as tg
    >>> class Coin:
    ...     @tg.distributions.utils.lazy_property
    ...     def probs(self):
    ...         return tg.tensor(0.5)
    >>> coin = Coin()
    >>> coin.probs is coin.probs
    True
    """

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        if not switch.stack:  # what a recording computes belongs to that call alone
            vars(instance)[self.name] = value
        return value


def _triangle(n: int, diag: int) -> np.ndarray:
    """The places of the lower triangle's elements in an ``n x n`` matrix, row by row."""
    return np.flatnonzero(np.tri(n, k=diag))


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The elements of the lower triangles of [..., n, n], row by row: [..., m].

    `diag` (default 0) is the last diagonal that counts. ValueError unless -n <= diag < n.

    >>> import tracegrad as tg
    >>> tg.distributions.utils.tril_matrix_to_vec(tg.tensor([[1, 2], [3, 4]]))
    tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return index_select(mat.flatten(-2), -1, tensor(_triangle(n, diag).tolist(), dtype=int64))


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Lower triangles [..., n, n] filled row by row from [..., m]: what ``tril_matrix_to_vec`` takes apart.

    `diag` (default 0) is the last diagonal that is filled. ValueError where m fits no n.

    >>> import tracegrad as tg
    >>> tg.distributions.utils.vec_to_tril_matrix(tg.tensor([1, 3, 4]))
    tensor([[1, 0],
            [3, 4]])
    """
    count = vec.shape[-1]
    sizes = (n for n in range(abs(diag) + 1, abs(diag) + count + 2) if len(_triangle(n, diag)) == count)
    n = next(sizes, None)
    if n is None:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular part of a square "
            "D x D matrix."
        )
    places = np.zeros(n * n, np.int64)
    places[_triangle(n, diag)] = np.arange(count)
    spread = index_select(vec, -1, tensor(places.tolist(), dtype=int64))
    return tril(spread.reshape(*vec.shape[:-1], n, n), diag)


def sum_rightmost(value: Tensor, ndim: int) -> Tensor:
    """The sum over the last `ndim` axes; the tensor itself for 0.

    >>> import tracegrad as tg
    >>> from tracegrad.distributions.utils import sum_rightmost
    >>> sum_rightmost(tg.ones(2, 3, 4), 2)
    tensor([12., 12.])
    """
    return value.flatten(-ndim).sum(-1) if ndim else value
