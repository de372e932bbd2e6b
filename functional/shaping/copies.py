"""Functions that give copies where others give views: ``view_copy`` of `view`, and so on, by one rule."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...ops.identity import copy
from ...tensors.arguments import axis_of
from .. import joining, shapes, windows
from ..joining import unbind
from . import diagonals, storage
from .splitting import copies_of, split_with_sizes

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def _copying(function: Callable[..., Tensor], shape: list[int], *arguments: object) -> Callable[..., Tensor]:
    """The function whose result is a copy of that of `function`; `arguments` and `shape` are those of its example."""

    @functools.wraps(function)
    def copying(*args: Any, **kwargs: Any) -> Tensor:
        return copy(function(*args, **kwargs))

    copying.__name__ = copying.__qualname__ = f"{function.__name__}_copy"
    copying.__doc__ = f"""``tg.Tensor.{function.__name__}`` as a copy with memory of its own.

    Arguments, shapes and errors are the same, and the gradient goes on to `input`.

    >>> import tracegrad as tg
    >>> x = tg.zeros(1, 3)
    >>> y = tg.{copying.__name__}(x{"".join(f", {argument}" for argument in arguments)}).fill_(1)
    >>> x, y.shape
    (tensor([[0., 0., 0.]]), tracegrad.Size({shape}))
    """
    return copying


as_strided_copy = _copying(windows.as_strided, [2], (2,), (1,))
diagonal_copy = _copying(diagonals.diagonal, [1])
expand_copy = _copying(shapes.expand, [2, 3], (2, 3))
narrow_copy = _copying(joining.narrow, [1, 2], 1, 0, 2)
permute_copy = _copying(shapes.permute, [3, 1], (1, 0))
select_copy = _copying(joining.select, [3], 0, 0)
squeeze_copy = _copying(shapes.squeeze, [3])
t_copy = _copying(shapes.t, [3, 1])
transpose_copy = _copying(shapes.transpose, [3, 1], 0, 1)
unfold_copy = _copying(windows.unfold, [1, 2, 2], 1, 2, 1)
unsqueeze_copy = _copying(shapes.unsqueeze, [1, 1, 3], 0)
view_copy = _copying(storage.view, [3, 1], (3, 1))


def alias_copy(input: Tensor) -> Tensor:
    """A copy with memory of its own.

    >>> import tracegrad as tg
    >>> tg.alias_copy(tg.ones(2))
    tensor([1., 1.])
    """
    return copy(input)


def detach_copy(input: Tensor) -> Tensor:
    """A copy without a history.

    >>> import tracegrad as tg
    >>> tg.detach_copy(tg.ones(2, requires_grad=True))
    tensor([1., 1.])
    """
    return copy(input.detach())


def slice_copy(input: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """A copy of the slice ``start:end:step`` along `dim`. ValueError for a `step` below 1.

    >>> import tracegrad as tg
    >>> tg.slice_copy(tg.arange(5), 0, 1, 5, 2)
    tensor([1, 3])
    """
    axis = axis_of(dim, input.ndarray.ndim)
    return copy(input[(slice(None),) * axis + (slice(start, end, step),)])


def split_copy(input: Tensor, split_size: int | Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split`, whose parts are copies.

    >>> import tracegrad as tg
    >>> tg.split_copy(tg.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    return copies_of(joining.split(input, split_size, dim))


def split_with_sizes_copy(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """`split_with_sizes`, whose parts are copies.

    >>> import tracegrad as tg
    >>> tg.split_with_sizes_copy(tg.arange(3), (1, 2))
    (tensor([0]), tensor([1, 2]))
    """
    return copies_of(split_with_sizes(input, split_sizes, dim))


def unbind_copy(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """`unbind`, whose parts are copies.

    >>> import tracegrad as tg
    >>> tg.unbind_copy(tg.arange(2))
    (tensor(0), tensor(1))
    """
    return copies_of(unbind(input, dim))
