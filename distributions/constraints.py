"""Sets of values that parameters and samples lie in: what ``arg_constraints`` and ``support`` are made of.

``constraints.positive.check(x)`` says for each element (for each vector or matrix, where a constraint is about those)
whether it lies in the set. ``event_dim`` is the number of axes at the right end that make one value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..functional.elementwise.closeness import isclose
from ..functional.joining import cat as cat_tensors
from ..functional.joining import stack as stack_tensors
from ..functional.matrices.spectral import eigvalsh
from ..functional.matrices.triangular import cholesky_ex
from ..functional.reductions import norm
from ..functional.selecting import where
from ..functional.shaping.diagonals import tril
from ..ops.reductions import sum_primitive
from ..tensors.creation import eye
from ..tensors.limits import finfo
from .constraint_base import (  # noqa: F401 (the first and the last are part of the offer)
    Constraint,
    MixtureSameFamilyConstraint,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
    all_of,
    is_dependent,
)

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor

# ----------------------------------------------------------------------------------------------------- single numbers


class _Boolean(Constraint):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    def check(self, value: Tensor) -> Tensor:
        return value == value  # all but NaN


class _Bounded(Constraint):
    """Base of sets with a lower bound, an upper bound or both."""

    _bounds: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) + len(kwargs) != len(self._bounds):
            raise TypeError(
                f"{type(self).__name__} takes {' and '.join(self._bounds)}, got {[*args, *kwargs.values()]}"
            )
        for name, value in [*zip(self._bounds, args, strict=False), *kwargs.items()]:
            if name not in self._bounds:
                raise TypeError(f"{type(self).__name__} takes {' and '.join(self._bounds)}, not {name}")
            setattr(self, name, value)

    def _shown(self) -> tuple[str, ...]:
        return self._bounds


class _GreaterThan(_Bounded):
    """Numbers above `lower_bound`, which they do not reach.

    >>> import tracegrad as tg
    >>> tg.distributions.constraints.greater_than(1).check(tg.tensor([1.0, 2.0]))
    tensor([False,  True])
    """

    _bounds = ("lower_bound",)
    lower_bound: Any

    def check(self, value: Tensor) -> Tensor:
        return value > self.lower_bound


class _GreaterThanEq(_Bounded):
    """Numbers from `lower_bound` on.

    >>> import tracegrad as tg
    >>> tg.distributions.constraints.greater_than_eq(1).check(tg.tensor([1.0, 0.0]))
    tensor([ True, False])
    """

    _bounds = ("lower_bound",)
    lower_bound: Any

    def check(self, value: Tensor) -> Tensor:
        return value >= self.lower_bound


class _LessThan(_Bounded):
    """Numbers below `upper_bound`, which they do not reach.

    >>> import tracegrad as tg
    >>> tg.distributions.constraints.less_than(1).check(tg.tensor([1.0, 0.0]))
    tensor([False,  True])
    """

    _bounds = ("upper_bound",)
    upper_bound: Any

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Bounded):
    """Numbers from `lower_bound` to `upper_bound`, both of them included.

    >>> import tracegrad as tg
    >>> tg.distributions.constraints.interval(0, 1).check(tg.tensor([1.0, 1.5]))
    tensor([ True, False])
    """

    _bounds = ("lower_bound", "upper_bound")
    lower_bound: Any
    upper_bound: Any

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    """Numbers from `lower_bound`, which is included, to `upper_bound`, which is not.

    >>> import tracegrad as tg
    >>> tg.distributions.constraints.half_open_interval(0, 1).check(tg.tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    def check(self, value: Tensor) -> Tensor:
        return (value >= self.lower_bound) & (value < self.upper_bound)


def _whole(holds: Any, value: Any) -> Any:
    """Where `holds`, and the value is a whole number."""
    return holds & (value % 1 == 0) if _is_floating(value) else holds


def _is_floating(value: Any) -> bool:
    return value.dtype.kind == "f" if type(value) is np.ndarray else value.dtype.is_floating_point


def _sums(value: Any) -> Any:
    """Along the last axis."""
    return sum_primitive.evaluate_wide(value, (value.ndim - 1,)) if type(value) is np.ndarray else value.sum(-1)


class _IntegerInterval(_Interval):
    """Whole numbers from `lower_bound` to `upper_bound`, both of them included.

    >>> import tracegrad as tg
    >>> tg.distributions.constraints.integer_interval(0, 2).check(tg.tensor([2.0, 1.5]))
    tensor([ True, False])
    """

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole((value >= self.lower_bound) & (value <= self.upper_bound), value)


class _IntegerLessThan(_LessThan):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value <= self.upper_bound, value)


class _IntegerGreaterThan(_GreaterThan):
    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return _whole(value >= self.lower_bound, value)


# --------------------------------------------------------------------------------------------------- vectors, matrices


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return ((value == 0) | (value == 1)).all(-1) & (_sums(value) == 1)


class _Simplex(Constraint):
    """Not negative, and the sum is 1 up to 1e-6."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (abs(_sums(value) - 1) < 1e-6)


class _Multinomial(Constraint):
    """Counts, from 0 on, of at most `upper_bound` in all along the last axis.

    >>> import tracegrad as tg
    >>> tg.distributions.constraints.multinomial(3).check(tg.tensor([[1, 2], [2, 2]]))
    tensor([ True, False])
    """

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return all_of(tril(value) == value, 2)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular, with a positive diagonal."""

    def check(self, value: Tensor) -> Tensor:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """`_LowerCholesky` with rows of length 1: what correlation matrices are products of."""

    def check(self, value: Tensor) -> Tensor:
        tolerance = finfo(value.dtype).eps * value.size(-1) * 10  # as far as roundings of a row take it
        lengths = norm(value.detach(), dim=-1)
        return super().check(value) & ((lengths - 1).abs() <= tolerance).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return value.new_ones(value.shape[:-2]) == (1 if value.shape[-2] == value.shape[-1] else 0)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        square = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return square
        return square & all_of(isclose(value, value.transpose(-2, -1), atol=1e-6), 2)


class _OfSymmetric(_Symmetric):
    """Base of sets of symmetric matrices; what is not symmetric is replaced by the identity before it is decomposed."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        n = value.shape[-1]
        if value.shape[-2] != n:
            return symmetric
        safe = where(symmetric[..., None, None], value, eye(n, dtype=value.dtype))
        return symmetric & self._check_symmetric(safe)

    def _check_symmetric(self, value: Any) -> Any:
        raise NotImplementedError


class _PositiveSemidefinite(_OfSymmetric):
    """Symmetric, and no eigenvalue is negative."""

    def _check_symmetric(self, value: Any) -> Any:
        return (eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_OfSymmetric):
    """Symmetric, and Cholesky's decomposition exists."""

    def _check_symmetric(self, value: Any) -> Any:
        return cholesky_ex(value).info == 0


class _Combined(Constraint):
    """Base of `cat` and `stack`: several constraints, each on a part of the axis `dim`."""

    def __init__(self, cseq: Sequence[Any], dim: int) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> Any:
        return any(c.is_discrete for c in self.cseq)


class _Cat(_Combined):
    """Constraints of parts of the given `lengths` (1 each by default) along the axis `dim` (0).

    AssertionError for what is no constraint, and for another number of lengths.

    >>> import tracegrad as tg
    >>> constraints = tg.distributions.constraints
    >>> constraints.cat([constraints.positive, constraints.real], lengths=[1, 2]).check(tg.tensor([-1.0, -1.0, 0.0]))
    tensor([False,  True,  True])
    """

    def __init__(self, cseq: Sequence[Any], dim: int = 0, lengths: Sequence[int] | None = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"{len(self.cseq)} constraints need as many lengths, got {len(self.lengths)}")

    @property
    def event_dim(self) -> Any:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        parts = zip(self.cseq, starts, self.lengths, strict=True)
        return cat_tensors([c.check(value.narrow(self.dim, start, length)) for c, start, length in parts], self.dim)


class _Stack(_Combined):
    """One constraint for each place along the axis `dim` (default 0). AssertionError for what is no constraint.

    >>> import tracegrad as tg
    >>> constraints = tg.distributions.constraints
    >>> constraints.stack([constraints.positive, constraints.real]).check(tg.tensor([-1.0, -1.0]))
    tensor([False,  True])
    """

    def __init__(self, cseq: Sequence[Any], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> Any:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value: Tensor) -> Tensor:
        return stack_tensors([c.check(value.select(self.dim, i)) for i, c in enumerate(self.cseq)], self.dim)


#: Constraints whose checks are written in operators that arrays have, too: `validation.holds_at_once`.
_OF_ARRAYS = frozenset((
    _Boolean, _Real, _GreaterThan, _GreaterThanEq, _LessThan, _Interval, _HalfOpenInterval, _IntegerInterval,
    _IntegerLessThan, _IntegerGreaterThan, _OneHot, _Simplex,
))  # fmt: skip

dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
symmetric = _Symmetric()
cat = _Cat
stack = _Stack
