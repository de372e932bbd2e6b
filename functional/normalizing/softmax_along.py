"""Softmax along an axis that the caller names, as ``torch.softmax`` and the methods have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import softmax as of_functional

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.tensor import Tensor


def softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """``exp(input) / sum(exp(input))`` along `dim`: numbers between 0 and 1 whose sum is 1, without overflow.

    `input` is cast to `dtype` first, if that is given; NotImplementedError for integers otherwise. The shape is that
    of `input`.

    >>> import tracegrad as tg
    >>> tg.softmax(tg.tensor([0., 0., 1000.]), dim=0)
    tensor([0., 0., 1.])
    """
    return of_functional.softmax(input, dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int, dtype: DType | None = None) -> Tensor:
    """``input - log(sum(exp(input)))`` along `dim`: the logarithm of `softmax`, without overflow.

    Arguments, shape and errors are those of `softmax`.

    >>> import tracegrad as tg
    >>> tg.log_softmax(tg.tensor([0., 0.]), dim=0)
    tensor([-0.6931, -0.6931])
    """
    return of_functional.log_softmax(input, dim, dtype=dtype)
