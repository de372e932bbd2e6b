"""Functions that PyTorch has removed: it refuses them with the name of what is to be used instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


_INSTEAD = {
    "matrix_rank": "\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was "
    "renamed in `torch.linalg.matrix_rank()` to 'hermitian'.",
    "solve": " `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its arguments "
    "reversed and does not return the LU factorization.\n\nTo get the LU factorization see `torch.lu`, which can be "
    "used with `torch.lu_solve` or `torch.lu_unpack`.\nX = torch.solve(B, A).solution should be replaced with:\n"
    "X = torch.linalg.solve(A, B)",
    "lstsq": " `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n`torch.linalg.lstsq` has reversed "
    "arguments and does not return the QR decomposition in the returned tuple (although it returns other information "
    "about the problem).\n\nTo get the QR decomposition consider using `torch.linalg.qr`.\n\nX, _ = torch.lstsq(B, A)"
    ".solution[:A.size(1)]\nshould be replaced with:\nX = torch.linalg.lstsq(A, B).solution",
    "symeig": " The default behavior has changed from using the upper triangular portion of the matrix by default to "
    "using the lower triangular portion.\n\nL, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
    "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\nL, V = torch.symeig(A, eigenvectors=True) "
    "should be replaced with:\nL, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')",
    "eig": " `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real tensors "
    "mimicking complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\nL_complex = torch.linalg.eigvals(A)\n"
    "\nand\n\nL, V = torch.eig(A, eigenvectors=True) should be replaced with:\n"
    "L_complex, V_complex = torch.linalg.eig(A)",
}


def _removed(name: str) -> Callable[..., NoReturn]:
    def refused(input: Tensor, *arguments: object, **options: object) -> NoReturn:
        raise RuntimeError(f"This function was deprecated since version 1.9 and is now removed.{_INSTEAD[name]}")

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f"""RuntimeError: PyTorch has removed ``torch.{name}``; the message says what to use.

    >>> import tracegrad as tg
    >>> tg.{name}(tg.eye(2))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    RuntimeError: This function was deprecated since version 1.9 and is now removed...
    """
    return refused


matrix_rank, solve, lstsq, symeig, eig = map(_removed, ("matrix_rank", "solve", "lstsq", "symeig", "eig"))
