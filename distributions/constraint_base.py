"""What a constraint is, constraints that stand for others, and constraints made of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..tracing.declares import Declares

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


class Constraint:
    """A set of values. Subclasses define ``check(value)``, which gives a bool tensor: where `value` lies in the set.

    `is_discrete` says whether the set is made of isolated points, `event_dim` how many axes at the right make a value.

    >>> import tracegrad as tg
    >>> tg.distributions.constraints.positive.check(tg.tensor([1.0, -1.0]))
    tensor([ True, False])
    >>> tg.distributions.constraints.simplex.event_dim
    1
    """

    is_discrete: Any = False
    event_dim: Any = 0
    _declares = Declares(attributes=True)

    def check(self, value: Tensor) -> Tensor:
        """Bool tensor of shape ``value.shape[:value.dim() - event_dim]``: where `value` lies in the set."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({', '.join(f'{name}={getattr(self, name)}' for name in self._shown())})"

    def _shown(self) -> tuple[str, ...]:
        """The attributes that `repr` shows."""
        return ()


def all_of(holds: Any, ndim: int) -> Any:
    """Whether all of the last `ndim` axes hold."""
    for _ in range(ndim):
        holds = holds.all(-1)
    return holds


class _Dependent(Constraint):
    """Stands for a support that depends on parameters or on other values; nothing can be checked by it."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> Any:
        return self._known("is_discrete")

    @property
    def event_dim(self) -> Any:
        return self._known("event_dim")

    def _known(self, name: str) -> Any:
        value = getattr(self, f"_{name}")
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> _Dependent:
        """The same, of which more is known: ``constraints.dependent(event_dim=1)``."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """True for a constraint that is known only with the parameters of a distribution.

    >>> import tracegrad as tg
    >>> constraints = tg.distributions.constraints
    >>> constraints.is_dependent(constraints.dependent), constraints.is_dependent(constraints.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that computes a constraint; on the class it is a dependent constraint itself.

    Example:
        >>> import tracegrad as tg
        >>> class Between(tg.distributions.Distribution):
        ...     @tg.distributions.constraints.dependent_property(is_discrete=False, event_dim=0)
        ...     def support(self):
        ...         return tg.distributions.constraints.interval(self.low, self.high)
        >>> Between.support.event_dim
        0
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """`base_constraint` for all elements of the last `reinterpreted_batch_ndims` axes (beside its own) together.

    >>> import tracegrad as tg
    >>> constraints = tg.distributions.constraints
    >>> constraints.independent(constraints.positive, 1).check(tg.tensor([[1.0, 2.0], [1.0, -1.0]]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        holds = self.base_constraint.check(value)
        if holds.ndim < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.ndim}")
        return all_of(holds, self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """`base_constraint` for each component of a mixture, of which the last axis before the event holds copies.

    >>> import tracegrad as tg
    >>> constraint = tg.distributions.constraints.MixtureSameFamilyConstraint(tg.distributions.constraints.positive)
    >>> constraint
    MixtureSameFamilyConstraint(GreaterThan(lower_bound=0.0))
    """

    def __init__(self, base_constraint: Any) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return self.base_constraint.check(value.unsqueeze(-1 - self.event_dim)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"
