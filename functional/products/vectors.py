"""Products of vectors and of tensors along chosen axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from ...ops import movement
from ...ops.complex_numbers.parts import conj
from ...ops.pointwise import converted
from ...ops.products import dot as product
from ...ops.types import DIMENSIONED, FLOATING, bool_, broadcast_shapes, result_dtype
from ...tensors.arguments import axis_of
from ...tensors.autocasting import lower_precision
from ...tensors.composite import composite, relabel
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_once
from ..linear_algebra import dot, require_one_type, scaled_sum


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """The scalar product of two vectors of one type, the first one conjugated. RuntimeError for what are none.

    >>> import tracegrad as tg
    >>> tg.vdot(tg.tensor([1, 2]), tg.tensor([3, 4]))
    tensor(11)
    """
    return dot(conj(input), other)


def inner(input: Tensor, other: Tensor) -> Tensor:
    """The products summed over the last axes, which are equally long; with a number, each element times it.

    The result has the other axes of both. RuntimeError where the last axes or the types differ.

    >>> import tracegrad as tg
    >>> tg.inner(tg.ones(2, 3), tg.ones(4, 3)).shape
    tracegrad.Size([2, 4])
    """
    shapes = input.ndarray.shape, other.ndarray.shape
    if not all(shapes):
        return input * other
    if shapes[0][-1] != shapes[1][-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(shapes[0])} and {list(shapes[1])}"
        )
    return tensordot(input, other, ([-1], [-1]))


@composite("LinalgCrossBackward0")
def _crossed(input: Tensor, other: Tensor, axis: int) -> Tensor:
    a, b = ([movement.slice(x, *_third(x, axis, i)) for i in range(3)] for x in (input, other))
    parts = [a[i] * b[j] - a[j] * b[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return movement.concatenate(parts, axis)


def _third(x: Any, axis: int, i: int) -> tuple[tuple[int, ...], ...]:
    """Starts, stops and steps of the element `i` along an axis."""
    shape = x.ndarray.shape
    starts = tuple(i if a == axis else 0 for a in range(len(shape)))
    return starts, tuple(i + 1 if a == axis else n for a, n in enumerate(shape)), (1,) * len(shape)


def vector_product(input: Tensor, other: Tensor, *, dim: int = -1) -> Tensor:
    """``linalg.cross``: the vector products along `dim`, of extent 3; other axes are broadcast.

    RuntimeError for another extent or number of axes.
    """
    require_one_type("input and other", input, other)
    shapes = input.ndarray.shape, other.ndarray.shape
    if len(shapes[0]) != len(shapes[1]):
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    axis = axis_of(dim, len(shapes[0]))
    if not shapes[0] or shapes[0][axis] != 3 or shapes[1][axis] != 3:
        got = [shape[axis] if shape else 0 for shape in shapes]
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {got[0]} and {got[1]}")
    shape = broadcast_shapes(*shapes)
    left, right = (x if x.ndarray.shape == shape else movement.broadcast(x, shape) for x in (input, other))
    return _crossed(left, right, axis)


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """The vector products along `dim` (default: the first axis of extent 3); other axes are broadcast.

    RuntimeError where no axis has extent 3, or `dim` has another.

    >>> import tracegrad as tg
    >>> tg.cross(tg.tensor([1, 0, 0]), tg.tensor([0, 1, 0]))
    tensor([0, 0, 1])
    """
    if dim is None:
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated. Please either pass the dim explicitly or "
            "simply use torch.linalg.cross. The default value of dim will change to agree with that of linalg.cross in "
            "a future release."
        )
        threes = [axis for axis, extent in enumerate(input.ndarray.shape) if extent == 3]
        if not threes:
            raise RuntimeError("no dimension of size 3 in input")
        dim = threes[0]
    return vector_product(input, other, dim=dim)


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Kronecker's product: each element of `input` times the whole of `other`. Shapes get leading ones.

    >>> import tracegrad as tg
    >>> tg.kron(tg.tensor([1, 2]), tg.tensor([1, 10]))
    tensor([ 1, 10,  2, 20])
    """
    ndim = max(input.ndarray.ndim, other.ndarray.ndim)
    x, y = ((1,) * (ndim - each.ndarray.ndim) + each.ndarray.shape for each in (input, other))
    left = movement.reshape(input, tuple(extent for n in x for extent in (n, 1)))
    right = movement.reshape(other, tuple(extent for n in y for extent in (1, n)))
    out = movement.reshape(left * right, tuple(n * m for n, m in zip(x, y, strict=True)))
    relabel(out, "KronBackward0", (input, other))
    return out


# ------------------------------------------------------------------------------------------------------- tensordot


def _contracted_axes(dims: Any, ndims: tuple[int, int]) -> tuple[list[int], list[int]]:
    if not isinstance(dims, (tuple, list, Tensor, int)):
        raise RuntimeError(
            "tensordot expects dims to be int or tuple[list[int], list[int]] or list[list[int]] containing two lists, "
            f"but got dims={dims!r}"
        )
    if isinstance(dims, Tensor):
        dims = dims.tolist() if dims.numel() > 1 else int(dims.item())
    if not isinstance(dims, int):
        first, second = dims
        return _listed(first), _listed(second)
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(ndims):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return list(range(-dims, 0)), list(range(dims))


def _listed(axes: Any) -> list[int]:
    if not isinstance(axes, (tuple, list)):
        raise TypeError(f"tensordot(): argument 'dims' must be two tuples of ints, not {type(axes).__name__}")
    return [operator.index(axis) for axis in axes]


def tensordot(a: Tensor, b: Tensor, dims: int | Sequence[Sequence[int]] | Tensor = 2) -> Tensor:
    """The products summed over pairs of axes: the last `dims` of `a` with the first of `b`, or two lists of axes.

    The result has the other axes of `a`, then those of `b`. Axes of extent 1 stand for any extent. RuntimeError for
    lists, extents or types that do not fit together.

    >>> import tracegrad as tg
    >>> tg.tensordot(tg.ones(2, 3), tg.ones(3, 4), dims=([1], [0])).shape
    tracegrad.Size([2, 4])
    """
    shapes = a.ndarray.shape, b.ndarray.shape
    given = _contracted_axes(dims, (len(shapes[0]), len(shapes[1])))
    if len(given[0]) != len(given[1]):
        raise RuntimeError("both dimension lists should have same length")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"both inputs should have same dtype, got {a.dtype.title} and {b.dtype.title}; use .to()")
    axes = tuple([axis_of(d, len(shape)) for d in dims] for dims, shape in zip(given, shapes, strict=True))
    for left, right, d, e in zip(*axes, *given, strict=True):
        n, m = shapes[0][left], shapes[1][right]
        if n != m and 1 not in (n, m):
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {n} in dim {d} and second has size {m} in "
                f"dim {e}"
            )
    a, b = (
        _summed_where_one(x, own, y, theirs)
        for x, own, y, theirs in ((a, axes[0], b, axes[1]), (b, axes[1], a, axes[0]))
    )
    return _contracted(a, b, *axes)


def _summed_where_one(x: Tensor, axes: Sequence[int], other: Tensor, others: Sequence[int]) -> Tensor:
    """`x`, summed over axes that meet an axis of extent 1."""
    alone = [d for d, e in zip(axes, others, strict=True) if other.ndarray.shape[e] == 1 and x.ndarray.shape[d] != 1]
    return converted(x.sum(alone, keepdim=True), x.dtype) if alone else x


def _contracted(a: Any, b: Any, left: Sequence[int], right: Sequence[int]) -> Any:
    """One product of matrices: `a` with the contracted axes behind, `b` with them in front."""
    if len(set(left)) < len(left) or len(set(right)) < len(right):
        raise RuntimeError("dim appears multiple times in the list of dims: each axis may be contracted once")
    rows = [d for d in range(a.ndarray.ndim) if d not in left]
    columns = [d for d in range(b.ndarray.ndim) if d not in right]
    x, y = a.ndarray.shape, b.ndarray.shape
    inner = math.prod(x[d] for d in left)
    out = tuple(x[d] for d in rows) + tuple(y[d] for d in columns)
    first = movement.reshape(movement.transpose(a, (*rows, *left)), (math.prod(x[d] for d in rows), inner))
    second = movement.reshape(movement.transpose(b, (*right, *columns)), (inner, math.prod(y[d] for d in columns)))
    return movement.reshape(lower_precision(product)(first, second), out)


# -------------------------------------------------------------------------------------------------- added products


def addr(input: Tensor, vec1: Tensor, vec2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``; `input` is broadcast, types are promoted.

    RuntimeError for what are no vectors, and for a fraction as factor of integers.

    >>> import tracegrad as tg
    >>> tg.addr(tg.zeros(2, 2), tg.tensor([1.0, 2.0]), tg.ones(2), alpha=2)
    tensor([[2., 2.],
            [4., 4.]])
    """
    for name, vector in (("vec1", vec1), ("vec2", vec2)):
        if vector.ndarray.ndim != 1:
            raise RuntimeError(f"addr: Expected 1-D argument {name}, but got {vector.ndarray.ndim}-D")
    dtype = result_dtype((x.dtype, DIMENSIONED) for x in (input, vec1, vec2))
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, bool) and dtype is not bool_:
            raise RuntimeError(f"Boolean {name} only supported for Boolean results.")
        if isinstance(factor, float) and dtype.category < FLOATING:
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
        if isinstance(factor, complex) and not dtype.is_complex:
            raise RuntimeError(
                f"value cannot be converted to type {dtype.name.rstrip('0123456789')} without overflow: {name} is "
                "complex"
            )
    input, vec1, vec2 = (converted(x, dtype) for x in (input, vec1, vec2))
    out = scaled_sum(input, movement.reshape(vec1, (vec1.ndarray.size, 1)) * vec2, beta, alpha)
    relabel(out, "AddrBackward0", (input, vec1, vec2))
    return out


def _addr_fits(self: Tensor, vec1: Tensor, vec2: Tensor) -> None:
    if self.ndarray.ndim != 2:
        raise RuntimeError(f"2D tensor expected, got {self.ndarray.ndim}D tensor for input")
    if self.ndarray.shape != (*vec1.ndarray.shape, *vec2.ndarray.shape):
        shapes = [list(x.ndarray.shape) for x in (self, vec1, vec2)]
        raise RuntimeError("size mismatch, input: {}, v1: {}, v2: {}".format(*shapes))


addr.fits_in_place = _addr_fits  # type: ignore[attr-defined]


@lower_precision
@composite("AddbmmBackward0", {"batch1": ("batch2",), "batch2": ("batch1",)})
def addbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2).sum(0)``; `input` is broadcast.

    RuntimeError for other types, numbers of axes and sizes that do not fit together.

    >>> import tracegrad as tg
    >>> tg.addbmm(tg.zeros(1, 1), tg.ones(3, 1, 2), tg.ones(3, 2, 1))
    tensor([[6.]])
    """
    for name, x in (("batch1", batch1), ("batch2", batch2)):
        if x.ndarray.ndim != 3:
            raise RuntimeError(f"{name} must be a 3D tensor, got {x.ndarray.ndim}D")
    (n, rows, k), (m, inner, columns) = batch1.ndarray.shape, batch2.ndarray.shape
    if n != m:
        raise RuntimeError(f"batch1 and batch2 must have same number of batches, got {n} and {m}")
    if k != inner:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({rows}x{k} and {inner}x{columns})")
    require_one_type("self and batch1", input, batch1)
    require_one_type("self and mat2", input, batch2)
    left = movement.reshape(movement.transpose(movement.by_rows(batch1), (1, 0, 2)), (rows, n * k))
    return scaled_sum(input, product(left, movement.reshape(batch2, (n * k, columns))), beta, alpha)


addbmm.resizes_in_place = True  # type: ignore[attr-defined]
