"""Tensors made in the type of another: ``x.new_zeros(2, 3)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..tensors import creation
from ..tensors.layouts.strided import empty_strided
from ..tensors.tensor import Size

if TYPE_CHECKING:
    from ..ops.types import DType
    from ..tensors.calling.annotations import Option
    from ..tensors.tensor import Tensor


def _new(function: Callable[..., Tensor], arguments: str) -> Callable[..., Tensor]:
    def method(self: Tensor, *args: object, dtype: DType | None = None, **options: Option) -> Tensor:
        return function(*args, dtype=dtype or self.dtype, **options)

    method.__name__ = method.__qualname__ = f"new_{function.__name__}"
    method.__doc__ = f"""``tg.{function.__name__}`` in this tensor's element type, unless `dtype` is given.

    Arguments and errors are those of the function; nothing but the type is taken from this tensor.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1, 2]).{method.__name__}({arguments})
    >>> x.dtype, x.shape
    (tracegrad.int64, tracegrad.Size([2, 3]))
    """
    return method


new_zeros = _new(creation.zeros, "2, 3")
new_ones = _new(creation.ones, "2, 3")
new_empty = _new(creation.empty, "2, 3")
new_full = _new(creation.full, "(2, 3), 7")
new_tensor = _new(creation.tensor, "[[1, 2, 3], [4, 5, 6]]")


def new_empty_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    *,
    dtype: DType | None = None,
    **options: Option,
) -> Tensor:
    """`empty_strided` in this tensor's element type, unless `dtype` is given; errors and options are the same.

    >>> import tracegrad as tg
    >>> tg.ones(2).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    given: dict[str, Any] = {**options}
    return empty_strided(size, stride, dtype=dtype or self.dtype, **given)


def new(self: Tensor, *args: object) -> Tensor:
    """The legacy constructor in this tensor's type: of a size, given as numbers or a `Size`, or of data in a sequence.

    ``new()`` is empty. What is made of a size is not to be relied on; it is zeros here. `new_empty` and `new_tensor`
    say what is meant.

    >>> import tracegrad as tg
    >>> tg.tensor([1]).new(2, 3).shape, tg.tensor([1]).new([2, 3])
    (tracegrad.Size([2, 3]), tensor([2, 3]))
    """
    if len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray)) and not isinstance(args[0], Size):
        return creation.tensor(args[0], dtype=self.dtype)
    sizes: Any = args or (0,)
    return creation.empty(*sizes, dtype=self.dtype)
