"""Norms of vectors and matrices, condition numbers, ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops.comparison import where
from ...ops.types import DType, promote_types
from ...tensors.arguments import axes_of, axis_of
from ...tensors.composite import relabel
from .. import reductions
from .checks import is_complex, require_matrices, require_square, type_name
from .solving import inv_ex, limits
from .spectral import eigvalsh, svdvals

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Axes
    from ...tensors.tensor import Tensor


INFINITY = float("inf")


def _converted(name: str, x: Tensor, dtype: DType | None) -> Tensor:
    """`x` in `dtype`; RuntimeError for integers, and where that would lose digits."""
    if x.ndarray.dtype.kind in "biu":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {type_name(x)}. Convert it first, e.g. "
            "with .float()."
        )
    if dtype is None or dtype is x.dtype:
        return x
    if dtype.numpy.kind in "biu":
        raise RuntimeError(f"{name}: dtype should be floating point or complex. Got {dtype.title}")
    if is_complex(x) != (dtype.numpy.kind == "c"):
        wanted = "complex" if is_complex(x) else "real"
        raise RuntimeError(f"{name}: dtype should be {wanted} for {wanted} inputs. Got {dtype.title}")
    if promote_types(x.dtype, dtype) is not dtype:
        raise RuntimeError(
            f"{name}: the dtype of the input ({type_name(x)}) should be convertible without narrowing to the specified "
            f"dtype ({dtype.title})"
        )
    return x.to(dtype)


def _require_real(name: str, ord: Any) -> None:
    if isinstance(ord, complex):
        raise RuntimeError(f"{name}: Expected a non-complex scalar as the order of norm.")


def vector_norm(
    x: Tensor, ord: float = 2, dim: Axes | None = None, keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """The `ord`-norm of the elements over `dim` (an axis, several, or all), of any number of axes.

    ``sum(|x|**ord) ** (1/ord)``; infinities give the largest and smallest |x|, 0 the count of what is not 0. `dtype` is
    what is computed in. RuntimeError for integers, and for an empty maximum. Where the norm is 0, its gradient is 0.

    >>> import tracegrad as tg
    >>> tg.linalg.vector_norm(tg.tensor([[3., 4.], [0., 2.]]), dim=1)
    tensor([5., 2.])
    """
    _require_real("linalg.vector_norm", ord)
    if isinstance(ord, str) or not isinstance(ord, (int, float)):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}")
    given = x
    x = _converted("linalg.vector_norm", x, dtype)
    x = x.abs() if is_complex(x) else x
    if not x.ndarray.size and (ord < 0 or ord == INFINITY):
        _refuse_empty(x, ord, dim)
    axes = None if isinstance(dim, tuple) and not dim else dim
    out = reductions.norm(x, ord, axes, keepdim)
    relabel(out, "LinalgVectorNormBackward0", (given,))
    return out


def _refuse_empty(x: Tensor, ord: Any, dim: Any) -> None:
    if dim is None or (isinstance(dim, tuple) and not dim):
        raise RuntimeError(
            f"linalg.vector_norm cannot compute the {float(ord)} norm on an empty tensor because the operation does "
            "not have an identity"
        )
    for axis in axes_of(dim, x.ndarray.ndim):
        if not x.ndarray.shape[axis]:
            raise RuntimeError(
                f"linalg.vector_norm cannot compute the {float(ord)} norm on the dimension {axis} because this "
                "dimension is empty and the operation does not have an identity"
            )


def matrix_norm(
    A: Tensor, ord: float | str = "fro", dim: Axes = (-2, -1), keepdim: bool = False, *, dtype: DType | None = None
) -> Tensor:
    """A norm of the matrices in two axes.

    `ord` is "fro" (root of the sum of squares), "nuc" (sum of singular values), 2 and -2 (largest, smallest singular
    value), 1 and -1 (largest, smallest sum of a column's sizes), inf and -inf (of a row's). RuntimeError for others.

    >>> import tracegrad as tg
    >>> tg.linalg.matrix_norm(tg.tensor([[1., -2.], [3., 4.]]), float("inf"))
    tensor(7.)
    """
    name = "linalg.matrix_norm"
    require_matrices(name, A)
    _require_real(name, ord)
    if ord not in ("fro", "nuc") and (isinstance(ord, str) or abs(ord) not in (1, 2, INFINITY)):
        raise RuntimeError(f"{name}: Order {ord} not supported.")
    if isinstance(dim, int):
        raise TypeError(f"linalg_matrix_norm(): argument 'dim' must be tuple of ints, not {type(dim).__name__}")
    if len(dim) != 2:
        raise RuntimeError(f"{name}: dim must be a 2-tuple. Got {dim}")
    rows, columns = (axis_of(axis, A.ndarray.ndim) for axis in dim)
    if rows == columns:
        raise RuntimeError(f"{name}: dims must be different. Got ({dim[0]}, {dim[1]})")
    A = _converted(name, A, dtype)
    if ord == "fro":
        return vector_norm(A, 2, (rows, columns), keepdim)
    if isinstance(ord, str) or abs(ord) == 2:
        out = _of_singular_values(svdvals(A.movedim((rows, columns), (-2, -1))), ord)
    else:
        out = _of_sums(A, ord, rows, columns)
    if keepdim:
        for axis in sorted((rows, columns)):
            out = out.unsqueeze(axis)
    return out


def _of_singular_values(values: Any, ord: Any) -> Any:
    return values.sum(-1) if ord == "nuc" else _largest(values, -1) if ord > 0 else values.amin(-1)


def _largest(sizes: Any, axis: int) -> Any:
    """The largest along an axis, 0 where there is none."""
    return sizes.amax(axis) if sizes.ndarray.shape[axis] else sizes.sum(axis)


def _of_sums(A: Tensor, ord: float, rows: int, columns: int) -> Tensor:
    summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
    sums = vector_norm(A, 1, summed)
    axis = kept - (summed < kept)
    return _largest(sums, axis) if ord > 0 else sums.amin(axis)


def norm(
    A: Tensor,
    ord: float | str | None = None,
    dim: Axes | None = None,
    keepdim: bool = False,
    *,
    dtype: DType | None = None,
) -> Tensor:
    """The root of the sum of squares; with `ord`, `vector_norm` over one axis, or `matrix_norm` over two.

    Without `dim`, `ord` needs a vector or a matrix.

    >>> import tracegrad as tg
    >>> tg.linalg.norm(tg.tensor([[3., 0.], [0., 4.]])), tg.linalg.norm(tg.tensor([[3., 0.], [0., 4.]]), 2)
    (tensor(5.), tensor(4.))
    """
    if isinstance(ord, (tuple, list)):
        raise TypeError(
            "linalg_norm() received an invalid combination of arguments - got "
            f"(Tensor, {type(ord).__name__}), but expected ord to be a number, 'fro', 'nuc' or None"
        )
    if dim is not None and not isinstance(dim, int) and len(dim) not in (1, 2):
        raise RuntimeError(
            f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got [{', '.join(map(str, dim))}]"
        )
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.ndarray.ndim not in (1, 2):
            raise RuntimeError(
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {A.ndarray.ndim}D."
            )
        pair: Sequence[int] | None = (0, 1) if A.ndarray.ndim == 2 else None
    else:
        pair = dim if not isinstance(dim, int) and len(dim) == 2 else None
    if pair is not None:
        return matrix_norm(A, ord, tuple(pair), keepdim, dtype=dtype)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} of a vector is not supported: dim must be a 2-tuple.")
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def nuclear_norm(input: Tensor, dim: Axes | None = None, keepdim: bool = False) -> Tensor:
    """The sums of the singular values of matrices ``[..., m, n]``: ``linalg.matrix_norm(input, "nuc", dim)``.

    `dim` are their two axes, the last two unless given. RuntimeError for another number of axes, and for integers.

    >>> import tracegrad as tg
    >>> tg.nuclear_norm(tg.tensor([[3.0, 0.0], [0.0, -4.0]]))
    tensor(7.)
    """
    return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim)


def frobenius_norm(input: Tensor, dim: Axes, keepdim: bool = False) -> Tensor:
    """``linalg.vector_norm(input, 2, dim)``, the root of the sum of squares over at most two axes, by its older name.

    RuntimeError for more axes, and for integers.

    >>> import tracegrad as tg
    >>> tg.frobenius_norm(tg.tensor([[3.0, 0.0], [0.0, 4.0]]), (0, 1))
    tensor(5.)
    """
    if not isinstance(dim, int) and len(dim) > 2:
        raise RuntimeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    return vector_norm(input, 2, dim, keepdim)


def cond(A: Tensor, p: float | str | None = None) -> Tensor:
    """The condition numbers ``|A| * |A^-1|`` in the matrix norm `p`, 2 unless given (see `matrix_norm`).

    Infinity for singular matrices. Other norms than 2 and -2 take square matrices.

    >>> import tracegrad as tg
    >>> tg.linalg.cond(tg.tensor([[2., 0.], [0., 0.5]]))
    tensor(4.)
    """
    require_matrices("linalg.cond", A, "")
    p = 2 if p is None else p
    if p not in ("fro", "nuc") and (isinstance(p, str) or abs(p) not in (1, 2, INFINITY)):
        raise RuntimeError(f"linalg.cond got an invalid norm type: {p if isinstance(p, str) else float(p)}")
    if p in (2, -2):
        values = svdvals(A)
        if not values.ndarray.shape[-1]:
            return values.sum(-1)
        first, last = values[..., 0], values[..., -1]
        return first / last if p == 2 else last / first
    require_square("linalg.cond", A)
    if not A.ndarray.size and A.ndarray.shape[-1] == 0:
        return A.detach().real.sum((-2, -1)) if is_complex(A) else A.detach().sum((-2, -1))
    inverse, info = inv_ex(A)
    if p == "nuc":  # singular values of what is not finite do not exist
        inverse = where((info != 0).unsqueeze(-1).unsqueeze(-1), 0.0, inverse)
    out = matrix_norm(A, p) * matrix_norm(inverse, p)
    return where(info != 0, INFINITY, out)


def matrix_rank(
    A: Tensor,
    tol: float | Tensor | None = None,
    hermitian: bool = False,
    *,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
) -> Tensor:
    """How many singular values of matrices [..., m, n] are larger than ``max(atol, rtol * largest)``, int64 [...].

    `tol` is `atol` with an `rtol` of 0; else they are as in `pinv`. With `hermitian` one triangle is read.

    >>> import tracegrad as tg
    >>> tg.linalg.matrix_rank(tg.tensor([[1., 2.], [2., 4.]]))
    tensor(1)
    """
    require_matrices("torch.linalg.matrix_rank", A, "input")
    if A.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise RuntimeError("This function doesn't handle types other than float and double. Convert it first.")
    A = A.detach()
    if tol is not None:
        atol, rtol = tol, 0.0
    atol, rtol = limits(A, atol, rtol)
    if hermitian:
        require_square("torch.linalg.matrix_rank", A, "input")
    values = eigvalsh(A).abs() if hermitian else svdvals(A)
    if not values.ndarray.shape[-1]:
        return values.sum(-1).long()
    largest = values.amax(-1)
    limit = where(atol > rtol * largest, atol, rtol * largest)
    return (values > limit.unsqueeze(-1)).sum(-1)
