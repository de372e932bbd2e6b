"""Products of matrices and vectors, all made of the one batched matrix product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ops import movement
from ..ops import reductions as folds
from ..ops.array import by_columns
from ..ops.comparison import where
from ..ops.core import current
from ..ops.pointwise import converted
from ..ops.products import derived
from ..ops.products import dot as product
from ..ops.sources import zeros
from ..ops.types import bool_, broadcast_shapes
from ..ops.vjp import unbroadcast
from ..tensors.autocasting import full_precision, lower_precision
from ..tensors.calling.own_results import own
from ..tensors.composite import composite
from ..tensors.fusion import fused
from ..tensors.short_floats import rounded_once
from .forms import products as forms
from .shapes import t

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

_EACH_OTHER = {0: (1,), 1: (0,)}  # the gradient of one reads the other


@lower_precision
def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """The product of two matrices ``[m, k]`` and ``[k, n]``, ``[m, n]``: ``out[i, j] = sum(input[i] * mat2[:, j])``.

    Both have one type, which the result has; under `autocast` the lower precision. RuntimeError for other numbers of
    axes (`matmul` takes any), sizes or types. Compiled sums may differ in their last bits.

    >>> import tracegrad as tg
    >>> tg.mm(tg.tensor([[1.0, 2.0]]), tg.tensor([[3.0], [4.0]]))
    tensor([[11.]])
    """
    _require_ndim("mm", (("self", input, 2), ("mat2", mat2, 2)))
    return product(input, mat2)


def _require_ndim(name: str, operands: Any) -> None:
    for argument, x, ndim in operands:
        if x.ndarray.ndim != ndim:
            kind = {1: "a 1D tensor", 2: "a matrix", 3: "a 3D tensor"}[ndim]
            raise RuntimeError(f"{name}: {argument} must be {kind}, got {x.ndarray.ndim}D; matmul() takes any shapes")


@lower_precision
@composite("BmmBackward0")
def bmm(input: Tensor, mat2: Tensor) -> Tensor:
    """The products of matching matrices in two batches: ``[b, m, k]`` and ``[b, k, n]`` give ``[b, m, n]``.

    Nothing is broadcast, `matmul` does that. Both have one type. RuntimeError for other numbers of axes, sizes or
    types.

    >>> import tracegrad as tg
    >>> tg.bmm(tg.ones(2, 1, 3), tg.ones(2, 3, 1)).flatten()
    tensor([3., 3.])
    """
    _require_ndim("bmm", (("batch1", input, 3), ("batch2", mat2, 3)))
    if input.ndarray.shape[0] != mat2.ndarray.shape[0] or input.ndarray.shape[2] != mat2.ndarray.shape[1]:
        b, _, k = input.ndarray.shape
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {k}] but got: "
            f"{list(mat2.ndarray.shape[:2])}."
        )
    return product(input, mat2)


def mv(input: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector: ``[m, n]`` and ``[n]`` give ``[m]``. Both have one type; RuntimeError for other sizes.

    >>> import tracegrad as tg
    >>> tg.mv(tg.tensor([[1.0, 2.0], [3.0, 4.0]]), tg.tensor([1.0, 10.0]))
    tensor([21., 43.])
    """
    _require_ndim("mv", (("self", input, 2), ("vec", vec, 1)))
    (m, k), n = input.ndarray.shape, vec.ndarray.size
    if k != n:
        raise RuntimeError(f"size mismatch, got input ({m}), mat ({m}x{k}), vec ({n})")
    return _matrix_times_vector(input, vec)


@fused("MvBackward0", forms.matrix_times_vector, forms.matrix_times_vector_gradient, 2, _EACH_OTHER, one_kernel=False)
def _matrix_times_vector(input: Tensor, vec: Tensor) -> Tensor:
    column = movement.reshape(vec, (vec.ndarray.size, 1))
    return own(movement.reshape(product(input, column), (input.ndarray.shape[0],)), (input, vec))


def dot(input: Tensor, tensor: Tensor) -> Tensor:
    """The scalar product of two vectors of one length and type, 0-d: ``sum(input * tensor)``, nothing conjugated.

    RuntimeError for other numbers of axes, lengths or types.

    >>> import tracegrad as tg
    >>> tg.dot(tg.tensor([1, 2]), tg.tensor([3, 4]))
    tensor(11)
    """
    if input.ndarray.ndim != 1 or tensor.ndarray.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input.ndarray.ndim}D and {tensor.ndarray.ndim}D tensors")
    if input.dtype is not tensor.dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {input.dtype.title} and {tensor.dtype.title}"
        )
    n = input.ndarray.size
    if n != tensor.ndarray.size:
        raise RuntimeError(
            f"inconsistent tensor size, expected tensor [{n}] and src [{tensor.ndarray.size}] to have the same number "
            f"of elements, but got {n} and {tensor.ndarray.size} elements respectively"
        )
    return _scalar_product(input, tensor)


@fused("DotBackward0", forms.scalar_product, forms.scalar_product_gradient, 2, _EACH_OTHER, one_kernel=False)
def _scalar_product(input: Tensor, tensor: Tensor) -> Tensor:
    n = input.ndarray.size
    row, column = movement.reshape(input, (1, n)), movement.reshape(tensor, (n, 1))
    return own(movement.reshape(product(row, column), ()), (input, tensor))


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Each element of one vector times each of the other: ``[m]`` and ``[n]`` give ``[m, n]``.

    The result has the type that theirs are promoted to. RuntimeError for other numbers of axes.

    >>> import tracegrad as tg
    >>> tg.outer(tg.tensor([1, 2]), tg.tensor([3, 4]))
    tensor([[3, 4],
            [6, 8]])
    """
    _require_ndim("outer", (("self", input, 1), ("vec2", vec2, 1)))
    return movement.reshape(input, (input.ndarray.size, 1)) * vec2


@lower_precision
def matmul(input: Tensor, other: Tensor) -> Tensor:
    """The matrix product ``input @ other`` over the last two axes, ``[..., m, k]`` and ``[..., k, n]``.

    Leading axes are broadcast: the result is ``[..., m, n]``. A vector is a row on the left and a column on the right,
    and this axis is left out of the result; two vectors give their scalar product. Both have one type; under
    `autocast` the lower precision. RuntimeError where sizes, batches or types do not fit together, and for 0-d tensors.

    >>> import tracegrad as tg
    >>> tg.matmul(tg.tensor([[1, 2], [3, 4]]), tg.tensor([1, 10]))
    tensor([21, 43])
    """
    a, b = input.ndarray.ndim, other.ndarray.ndim
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return dot(input, other)
    if a == 2 and b == 2:
        return product(input, other)
    if a == 2 and b == 1:
        return mv(input, other)
    if a == 1:
        row = matmul(movement.reshape(input, (1, input.ndarray.size)), other)
        return own(_without_axis(row, -2), ())
    if b == 1:
        return own(_without_axis(matmul(input, movement.reshape(other, (other.ndarray.size, 1))), -1), ())
    return own(_by_rows(input, other), ()) if b == 2 else _batched(input, other)


def _without_axis(x: Tensor, axis: int) -> Tensor:
    shape = list(x.ndarray.shape)
    del shape[axis]
    return movement.reshape(x, tuple(shape))


def _by_rows(input: Tensor, other: Tensor) -> Tensor:
    """All rows of a batch times one matrix: a single product."""
    *lead, k = input.ndarray.shape
    rows = movement.reshape(input, (math.prod(lead), k))
    out = product(rows, other)
    return movement.reshape(out, (*lead, other.ndarray.shape[1]))


def _batched(input: Tensor, other: Tensor) -> Tensor:
    x, y = input.ndarray.shape, other.ndarray.shape
    batch = broadcast_shapes(x[:-2], y[:-2])
    left = input if x[:-2] == batch else movement.broadcast(input, (*batch, *x[-2:]))
    right = other if y[:-2] == batch else movement.broadcast(other, (*batch, *y[-2:]))
    return product(left, right)


def require_one_type(which: str, x: Tensor, y: Tensor) -> None:
    """RuntimeError unless both have one type."""
    if x.ndarray.dtype is not y.ndarray.dtype and x.dtype is not y.dtype:
        raise RuntimeError(f"{which} must have the same dtype, but got {x.dtype.title} and {y.dtype.title}; use .to()")


def _derivatives(g: Any, wanted: Sequence[bool], input: Any, mat1: Any, mat2: Any) -> tuple[Any, Any, Any]:
    to_input, to_first, to_second = wanted
    return (
        unbroadcast(g, input.ndarray.shape) if to_input else None,
        derived(g, mat2, 0, by_columns(mat1.ndarray)) if to_first else None,
        derived(g, mat1, 1, by_columns(mat2.ndarray)) if to_second else None,
    )


@fused("AddmmBackward0", forms.affine, forms.affine_gradient, 3, {1: (2,), 2: (1,)}, summed=1, derivatives=_derivatives)
def _affine(input: Tensor, mat1: Tensor, mat2: Tensor) -> Tensor:
    return mm(mat1, mat2) + input


def scaled_sum(input: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    """``beta * input + alpha * product``, of one type, in the shape of `product`, to which `input` must fit.

    Factors of integers are cut to integers. Where `beta` is 0, `input` is not read: NaN in it does not matter.
    """
    shape = product.ndarray.shape
    if input.ndarray.shape != shape:
        input = movement.broadcast(input, shape)
    if beta == 0:
        input = where(current().constant(False, bool_), input, zeros(product.type_))
    return _scaled(product, alpha) + (input if beta == 0 else _scaled(input, beta))


def _scaled(x: Tensor, factor: float) -> Tensor:
    if x.dtype.category == 1 and isinstance(factor, float):
        factor = int(factor)
    return x if factor == 1 else converted(x * factor, x.dtype)


@rounded_once
@composite("AddmmBackward0")
def _scaled_affine(input: Tensor, mat1: Tensor, mat2: Tensor, beta: float, alpha: float) -> Tensor:
    return scaled_sum(input, mm(mat1, mat2), beta, alpha)


@lower_precision
def addmm(input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``.

    ``mat1 [m, k]``, ``mat2 [k, n]``, and `input` that is broadcast to the result ``[m, n]``. All have one type, of
    integers the factors are cut to integers. Where `beta` is 0, NaN in `input` do not matter. RuntimeError for sizes or
    types that do not fit.

    >>> import tracegrad as tg
    >>> tg.addmm(tg.ones(1), tg.tensor([[1.0, 2.0]]), tg.tensor([[3.0], [4.0]]), beta=10)
    tensor([[21.]])
    """
    if mat1.ndarray.dtype is not mat2.ndarray.dtype and mat1.dtype is not mat2.dtype:
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {mat1.dtype.title} and {mat2.dtype.title}")
    require_one_type("self and mat2", input, mat2)
    if alpha == 1 and beta == 1:
        return _affine(input, mat1, mat2)
    return _scaled_affine(input, mat1, mat2, beta, alpha)


@lower_precision
@rounded_once
@composite("BaddbmmBackward0")
def baddbmm(input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``.

    ``batch1 [b, m, k]``, ``batch2 [b, k, n]``, and `input` that is broadcast to the result ``[b, m, n]``. All have one
    type. Where `beta` is 0, NaN in `input` do not matter. RuntimeError for sizes or types that do not fit.

    >>> import tracegrad as tg
    >>> tg.baddbmm(tg.ones(1, 1, 1), tg.ones(2, 1, 3), tg.ones(2, 3, 1), alpha=2).flatten()
    tensor([7., 7.])
    """
    require_one_type("input and batch1", input, batch1)
    return scaled_sum(input, bmm(batch1, batch2), beta, alpha)


@rounded_once
@composite("AddmvBackward0")
def addmv(input: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``: ``mat [m, n]``, ``vec [n]``, and `input` that is broadcast to ``[m]``.

    All have one type. Where `beta` is 0, NaN in `input` do not matter. RuntimeError for sizes or types that do not fit.

    >>> import tracegrad as tg
    >>> tg.addmv(tg.ones(2), tg.tensor([[1.0, 2.0], [3.0, 4.0]]), tg.tensor([1.0, 10.0]))
    tensor([22., 44.])
    """
    require_one_type("input and mat", input, mat)
    return scaled_sum(input, mv(mat, vec), beta, alpha)


def _fits(self: Tensor, first: Tensor, second: Tensor) -> None:
    """RuntimeError unless the product of matrices, or with a vector, has the size of `self`, which it is added to."""
    left, right = first.ndarray.shape, second.ndarray.shape
    size = (*left[:-1], *right[-1:]) if len(right) == len(left) else left[:-1]
    if self.ndarray.shape != size:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {list(self.ndarray.shape)} and output tensor size {list(size)} "
            "should match"
        )


addmm.fits_in_place = _fits  # type: ignore[attr-defined]
baddbmm.fits_in_place = _fits  # type: ignore[attr-defined]
addmv.fits_in_place = _fits  # type: ignore[attr-defined]


@lower_precision
def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias``, what ``nn.Linear`` computes.

    Shapes: ``input [..., in]``, ``weight [out, in]`` (or ``[in]``, then the result lacks its last axis), ``bias
    [out]``, result ``[..., out]``. All have one type; under `autocast` the lower precision. RuntimeError where sizes or
    types do not fit together.

    >>> import tracegrad as tg
    >>> weight, bias = tg.tensor([[1.0, 2.0], [3.0, 4.0]]), tg.tensor([0.0, 0.5])
    >>> tg.nn.functional.linear(tg.tensor([1.0, 1.0]), weight, bias)
    tensor([3.0000, 7.5000])
    """
    if weight.ndarray.ndim == 1:
        out = matmul(input, weight)
        return out if bias is None else out + bias
    if input.ndarray.ndim == 2:
        return product(input, t(weight)) if bias is None else addmm(bias, input, t(weight))
    if not input.ndarray.ndim:
        raise RuntimeError(
            f"both arguments to linear need to be at least 1D, but they are 0D and {weight.ndarray.ndim}D"
        )
    *lead, k = input.ndarray.shape
    rows = movement.reshape(input, (math.prod(lead), k))
    out = product(rows, t(weight)) if bias is None else addmm(bias, rows, t(weight))
    return own(movement.reshape(out, (*lead, weight.ndarray.shape[0])), ())


@full_precision
@composite("TraceBackward0")
def trace(input: Tensor) -> Tensor:
    """The sum of a matrix's main diagonal, 0-d; of integers in int64.

    RuntimeError for other numbers of axes, NotImplementedError for bool.

    >>> import tracegrad as tg
    >>> tg.trace(tg.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """
    if input.dtype is bool_:
        raise NotImplementedError("\"trace\" not implemented for 'Bool'. Convert it first, e.g. with .int().")
    if input.ndarray.ndim != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {input.ndarray.ndim}")
    n = min(input.ndarray.shape)
    square = movement.slice(input, (0, 0), (n, n), (1, 1))
    flat = movement.reshape(square, (n * n,))
    on_it = movement.slice(flat, (0,), (n * n,), (n + 1,))
    return folds.sum(converted(on_it, folds.sum_dtype(input.dtype)), (0,))


def vecdot(x: Tensor, y: Tensor, dim: int = -1) -> Tensor:
    """The scalar products along `dim`."""
    return (x * y).sum(dim)
