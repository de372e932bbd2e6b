"""What functions of matrices refuse, in PyTorch's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import eager

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


class LinAlgError(RuntimeError):
    """Numbers that a function of matrices cannot work with: a singular matrix where an inverse is needed."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"
LinAlgError.__module__ = "tracegrad._C"

#: The element types that LAPACK computes in.
LAPACK = ("float32", "float64", "complex64", "complex128")


def type_name(x: Tensor) -> str:
    """What messages call the element type: Float."""
    return str(x.dtype.title)


def is_complex(x: Tensor) -> bool:
    """True for complex numbers."""
    return x.ndarray.dtype.kind == "c"


def require_matrices(name: str, x: Tensor, argument: str = "A") -> None:
    """RuntimeError unless `x` has two axes at least."""
    if x.ndarray.ndim < 2:
        argument = argument and f"{argument} "
        raise RuntimeError(
            f"{name}: The input tensor {argument}must have at least 2 dimensions. Got {x.ndarray.ndim}; use "
            "x.unsqueeze(0) or x.unsqueeze(1) to make a row or a column of a vector."
        )


def require_square(name: str, x: Tensor, argument: str = "A") -> None:
    """RuntimeError unless `x` is square matrices."""
    require_matrices(name, x, argument)
    rows, columns = x.ndarray.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            f"{name}: {argument} must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def require_floating(name: str, x: Tensor) -> None:
    """RuntimeError unless `x` is floating (complex included) and no shorter than 32 bits."""
    if x.ndarray.dtype.kind in "biu":
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {type_name(x)}. Convert it first, "
            "e.g. with .float()."
        )
    if x.dtype.name not in LAPACK:
        raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {type_name(x)}; call .float() first.")


def require_kernel(kernel: str, x: Tensor) -> None:
    """NotImplementedError unless LAPACK computes in the type of `x`."""
    if x.dtype.name not in LAPACK:
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{type_name(x)}'. Convert it first, e.g. with .float()."
        )


def require_one_type(name: str, a: Any, b: Any) -> None:
    """RuntimeError unless both have one element type."""
    if a.dtype is not b.dtype:
        raise RuntimeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {type_name(a)} and B of type "
            f"{type_name(b)} instead"
        )


def require_fitting(name: str, a: Any, b: Any, left: bool) -> None:
    """RuntimeError unless the matrices of ``AX = B`` (``XA = B`` if not `left`) fit together."""
    rows, columns = b.ndarray.shape[-2:]
    n, m = a.ndarray.shape[-2:]
    if (m if left else n) != (rows if left else columns):
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({n}x{m} and {rows}x{columns})"
        )


def numbers(x: Tensor) -> np.ndarray:
    """The numbers of a tensor, for a check or a choice."""
    return eager().read(x.detach(), "linear algebra")


def batch_place(info: np.ndarray) -> str:
    """Where a batch fails first, as messages say it; `info` is not 0 there. Nothing for a single matrix."""
    return f"(Batch element {int(np.flatnonzero(info)[0])}): " if info.ndim else ""


def first_failure(info: np.ndarray) -> int:
    """The first entry of `info` that is not 0."""
    return int(info[info != 0].flat[0])
