"""What functions with several results return: named tuples, a class for each function, as in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..ops.types import public_name

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

_Class = TypeVar("_Class", bound=type)


def _shown(self: Any) -> str:
    parts = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
    return f"{public_name.package}.return_types.{type(self).__name__}(\n{parts})"


def _made_of(kind: Any) -> Any:
    """How instances are made: of each field, or, as PyTorch's classes are, of one sequence of all."""
    of_fields, count = kind.__new__, len(kind._fields)

    def made(cls: Any, *values: Any, **named: Any) -> Any:
        if len(values) == 1 and not named:
            if not isinstance(values[0], (tuple, list)):
                raise TypeError("constructor requires a sequence")
            values = tuple(values[0])
            if len(values) != count:
                raise TypeError(f"{cls.__name__}() takes a {count}-sequence ({len(values)}-sequence given)")
        return of_fields(cls, *values, **named)

    return made


def _returned(kind: _Class) -> _Class:
    """The class of what the function of that name returns."""
    fields = len(kind._fields)  # type: ignore[attr-defined]
    for name, value in {"n_fields": fields, "n_sequence_fields": fields, "n_unnamed_fields": 0}.items():
        setattr(kind, name, value)
    setattr(kind, "__new__", _made_of(kind))  # noqa: B010 (as below)
    kind.__doc__ = f"What `{kind.__name__}` returns."
    setattr(kind, "__repr__", _shown)  # noqa: B010 (to a type checker it is a method of `type`)
    return kind


@_returned
class max(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class min(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class sort(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class topk(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class median(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class frexp(NamedTuple):
    mantissa: Tensor
    exponent: Tensor


@_returned
class kthvalue(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class mode(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class nanmedian(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class cummax(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class cummin(NamedTuple):
    values: Tensor
    indices: Tensor


@_returned
class aminmax(NamedTuple):
    min: Tensor
    max: Tensor


@_returned
class linalg_cholesky_ex(NamedTuple):
    L: Tensor
    info: Tensor


@_returned
class linalg_eig(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


@_returned
class linalg_eigh(NamedTuple):
    eigenvalues: Tensor
    eigenvectors: Tensor


@_returned
class linalg_inv_ex(NamedTuple):
    inverse: Tensor
    info: Tensor


@_returned
class linalg_ldl_factor(NamedTuple):
    LD: Tensor
    pivots: Tensor


@_returned
class linalg_ldl_factor_ex(NamedTuple):
    LD: Tensor
    pivots: Tensor
    info: Tensor


@_returned
class linalg_lstsq(NamedTuple):
    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


@_returned
class linalg_lu(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor


@_returned
class linalg_lu_factor(NamedTuple):
    LU: Tensor
    pivots: Tensor


@_returned
class linalg_lu_factor_ex(NamedTuple):
    LU: Tensor
    pivots: Tensor
    info: Tensor


@_returned
class linalg_qr(NamedTuple):
    Q: Tensor
    R: Tensor


@_returned
class linalg_slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


@_returned
class linalg_solve_ex(NamedTuple):
    result: Tensor
    info: Tensor


@_returned
class linalg_svd(NamedTuple):
    U: Tensor
    S: Tensor
    Vh: Tensor


@_returned
class svd(NamedTuple):
    U: Tensor
    S: Tensor
    V: Tensor


@_returned
class qr(NamedTuple):
    Q: Tensor
    R: Tensor


@_returned
class slogdet(NamedTuple):
    sign: Tensor
    logabsdet: Tensor


@_returned
class geqrf(NamedTuple):
    a: Tensor
    tau: Tensor


@_returned
class lu_unpack(NamedTuple):
    P: Tensor
    L: Tensor
    U: Tensor


@_returned
class triangular_solve(NamedTuple):
    solution: Tensor
    cloned_coefficient: Tensor


@_returned
class histogram(NamedTuple):
    hist: Tensor
    bin_edges: Tensor


@_returned
class histogramdd(NamedTuple):
    hist: Tensor
    bin_edges: tuple[Tensor, ...]
