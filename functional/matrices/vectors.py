"""Products of vectors, and matrices made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.types import broadcast_shapes
from ...tensors.arguments import axis_of
from ...tensors.autocasting import lower_precision
from ...tensors.composite import composite
from .. import joining
from ..products.vectors import vdot
from ..shaping import diagonals
from .checks import is_complex, type_name
from .forms import conj

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


@composite("LinalgCrossBackward0", {"input": ("other",), "other": ("input",)})
def cross(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """The vector products along `dim`, whose extent is 3; both have equally many axes, which broadcast.

    >>> import tracegrad as tg
    >>> tg.linalg.cross(tg.tensor([1., 0., 0.]), tg.tensor([0., 1., 0.]))
    tensor([0., 0., 1.])
    """
    if input.ndarray.ndim != other.ndarray.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = axis_of(dim, input.ndarray.ndim)
    sizes = input.ndarray.shape[axis], other.ndarray.shape[axis]
    if sizes != (3, 3):
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {sizes[0]} and {sizes[1]}")
    if input.dtype is not other.dtype:
        raise RuntimeError(f"expected scalar type {type_name(input)} but found {type_name(other)}")
    shape = broadcast_shapes(input.ndarray.shape, other.ndarray.shape)
    x, y = input.expand(*shape), other.expand(*shape)
    return joining.roll(x, -1, axis) * joining.roll(y, -2, axis) - joining.roll(x, -2, axis) * joining.roll(y, -1, axis)


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of the matrices in two axes, the last two unless given, as the last axis.

    >>> import tracegrad as tg
    >>> tg.linalg.diagonal(tg.tensor([[1., 2.], [3., 4.]]))
    tensor([1., 4.])
    """
    return diagonals.diagonal(A, offset, dim1, dim2)


@lower_precision
def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The scalar products along `dim`, in which complex `x` is conjugated. RuntimeError for two types.

    >>> import tracegrad as tg
    >>> tg.linalg.vecdot(tg.tensor([[1., 2.], [3., 4.]]), tg.tensor([1., 1.]))
    tensor([3., 7.])
    """
    if x.dtype is not y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {type_name(x)} and y of type "
            f"{type_name(y)} instead. Convert one with .to()."
        )
    if x.ndarray.ndim == y.ndarray.ndim == 1 and axis_of(dim, 1) == 0:
        return vdot(x, y)
    return ((conj(x) if is_complex(x) else x) * y).sum(dim)


def vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0 to N - 1 of the elements ``x [..., n]`` as rows, ``[..., n, N]``; N is n unless given.

    >>> import tracegrad as tg
    >>> tg.linalg.vander(tg.tensor([1, 2, 3]))
    tensor([[1, 1, 1],
            [1, 2, 4],
            [1, 3, 9]])
    """
    n = (x.ndarray.shape[-1] if x.ndarray.ndim else 1) if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    x = x if x.ndarray.ndim else x.unsqueeze(0)
    x = x if x.ndarray.dtype.kind in "fc" else x.long()
    columns = x.unsqueeze(-1)
    powers = columns.expand(*x.ndarray.shape, n - 1).cumprod(-1)
    return joining.cat([columns.detach() * 0 + 1, powers], -1)
