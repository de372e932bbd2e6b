"""Powers, exponentials and products of matrices."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...autograd.numpy_function import NumpyFunction
from ...tensors.autocasting import full_precision
from ...tracing.user_warning import warn_user
from .. import joining
from ..linear_algebra import matmul
from .checks import require_square, type_name
from .forms import identity_like, mH, unaffected, zeros
from .solving import inv

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


# ----------------------------------------------------------------------------------------------------------- powers


_inverse = full_precision(inv)  # what a negative power calls in PyTorch, too


def matrix_power(A: Tensor, n: int) -> Tensor:
    """The n-th powers of square matrices, of the inverse for a negative n. TypeError unless n is an int.

    >>> import tracegrad as tg
    >>> tg.linalg.matrix_power(tg.tensor([[1., 1.], [0., 1.]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    require_square("linalg.matrix_power", A)
    if n == 0:
        return unaffected(identity_like(A).expand(*A.shape), A)
    base, n = (_inverse(A), -n) if n < 0 else (A, n)
    out: Any = None
    while n:
        if n & 1:
            out = base if out is None else matmul(out, base)
        n >>= 1
        base = matmul(base, base) if n else base
    return out.clone() if out is A else out


# ------------------------------------------------------------------------------------------------------ exponentials

#: N. Higham, The scaling and squaring method for the matrix exponential revisited (2005): the degree of the numerator,
#: and the 1-norm up to which it is exact to the type's precision.
_DEGREE = {4: (7, 3.925724783138660), 8: (13, 5.371920351148152)}


@functools.cache
def _coefficients(degree: int) -> list[float]:
    whole = math.factorial(2 * degree)
    return [
        math.factorial(2 * degree - i) * math.factorial(degree)
        / (whole * math.factorial(degree - i) * math.factorial(i))
        for i in range(degree + 1)
    ]  # fmt: skip


def _exponential(a: np.ndarray) -> np.ndarray:
    n = a.shape[-1]
    if not a.size:
        return np.zeros_like(a)
    degree, limit = _DEGREE[a.real.dtype.itemsize]
    sizes = np.abs(a).sum(-2).max(-1)
    sizes = np.where(np.isfinite(sizes), sizes, 0)
    squarings = np.ceil(np.log2(np.maximum(sizes / limit, 1))).astype(int)
    x = a * np.exp2(-squarings).astype(a.real.dtype)[..., None, None]
    even, odd, power = 0, 0, np.broadcast_to(np.eye(n, dtype=a.dtype), a.shape)
    square, coefficients = x @ x, _coefficients(degree)
    for i in range(0, degree + 1, 2):
        even = even + power * a.dtype.type(coefficients[i])
        odd = odd + power * a.dtype.type(coefficients[i + 1])
        power = power @ square
    odd = x @ odd
    out = np.linalg.solve(even - odd, even + odd)
    for i in range(int(squarings.max())):
        out = np.where((squarings > i)[..., None, None], out @ out, out)
    return out


def _exponential_gradient(g: Any, A: Any) -> Any:
    """N. Higham, Functions of matrices (2008): the exponential of a block triangle has the derivative beside it."""
    n = A.ndarray.shape[-1]
    adjoint = mH(A)
    first = joining.cat([adjoint, g], -1)
    last = joining.cat([zeros(A, *A.ndarray.shape), adjoint], -1)
    return EXPONENTIAL(joining.cat([first, last], -2))[..., :n, n:]


EXPONENTIAL = NumpyFunction(
    "linalg.matrix_exp", "A", "exponential", _exponential, _exponential_gradient, "LinalgMatrixExpBackward0"
)


def matrix_exp(A: Tensor) -> Tensor:
    """The exponentials ``sum(A**k / k!)`` of square matrices.

    >>> import tracegrad as tg
    >>> tg.linalg.matrix_exp(tg.tensor([[0., 1.], [0., 0.]]))
    tensor([[1., 1.],
            [0., 1.]])
    """
    require_square("linalg.matrix_exp", A)
    if A.ndarray.dtype.kind in "biu":
        raise RuntimeError(
            f"linalg.matrix_exp: Expected a floating point or complex tensor as input. Got {type_name(A)}. Convert it "
            "first, e.g. with .float()."
        )
    if A.dtype.name in ("float16", "bfloat16"):
        return EXPONENTIAL(A.float()).to(A.dtype)
    return EXPONENTIAL(A)


# --------------------------------------------------------------------------------------------------------- products


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    """The product of several matrices in the order of least work; the first and the last may be vectors.

    >>> import tracegrad as tg
    >>> tg.linalg.multi_dot([tg.ones(2, 3), tg.ones(3, 4), tg.ones(4)])
    tensor([12., 12.])
    """
    given = list(tensors)
    if len(given) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(given)}")
    _require_chain(given)
    first, last = given[0].ndarray.ndim == 1, given[-1].ndarray.ndim == 1
    given[0] = given[0].unsqueeze(0) if first else given[0]
    given[-1] = given[-1].unsqueeze(1) if last else given[-1]
    out = _product(given, _cuts([given[0].ndarray.shape[0], *(x.ndarray.shape[1] for x in given)]), 0, len(given))
    out = out.squeeze(0) if first else out
    return out.squeeze(-1) if last else out


def _require_chain(given: Sequence[Any]) -> None:
    for i, x in enumerate(given):
        ends = i in (0, len(given) - 1)
        if x.ndarray.ndim != 2 and not (ends and x.ndarray.ndim == 1):
            which = "the first tensor" if i == 0 else "the last tensor" if ends else f"tensor {i}"
            raise RuntimeError(f"multi_dot(): {which} must be {'1D or 2D' if ends else '2D'} but got {x.ndarray.ndim}D")
        if x.dtype is not given[0].dtype:
            raise RuntimeError(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{type_name(given[0])} and tensor {i} {type_name(x)}"
            )
    for i, (a, b) in enumerate(zip(given, given[1:], strict=False)):
        if a.ndarray.shape[-1] != b.ndarray.shape[0]:
            raise RuntimeError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} and {list(b.shape)} cannot be "
                "multiplied"
            )


def _cuts(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where a product of the matrices from i to j is cut into two for the least work; matrix i is
    ``sizes[i] x sizes[i + 1]``."""
    n = len(sizes) - 1
    work, cuts = {(i, i + 1): 0 for i in range(n)}, {}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length
            costs = {k: work[i, k] + work[k, j] + sizes[i] * sizes[k] * sizes[j] for k in range(i + 1, j)}
            cuts[i, j] = min(costs, key=costs.__getitem__)
            work[i, j] = costs[cuts[i, j]]
    return cuts


def _product(given: Sequence[Any], cuts: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if j == i + 1:
        return given[i]
    cut = cuts[i, j]
    return matmul(_product(given, cuts, i, cut), _product(given, cuts, cut, j))


def chain_matmul(*matrices: Tensor | Sequence[Tensor]) -> Tensor:
    """The product of matrices, given one by one or as a sequence: `linalg.multi_dot` under its older name.

    It warns, as PyTorch does. RuntimeError for what is no matrix, and where there is none.

    >>> import tracegrad as tg
    >>> tg.chain_matmul(tg.ones(1, 2), tg.ones(2, 3), tg.ones(3, 1))
    tensor([[6.]])
    """
    warn_user(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters.",
    )
    single = len(matrices) == 1 and isinstance(matrices[0], (list, tuple))
    given: list[Any] = list(matrices[0] if single else matrices)
    for x in given:
        if x.ndarray.ndim != 2:
            raise RuntimeError(f"Tensor dimension is {x.ndarray.ndim}, expected 2 instead.")
    if not given:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return given[0] if len(given) == 1 else multi_dot(given)
