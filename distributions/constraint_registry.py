"""Transforms from unconstrained numbers onto constrained sets: ``transform_to`` and ``biject_to``.

``transform_to(constraint)`` parametrises a set in a way that suits optimisation, ``biject_to(constraint)`` by a
bijection, which Hamiltonian Monte Carlo and densities need.

Example:
    >>> import tracegrad as tg
    >>> constraints, transform_to = tg.distributions.constraints, tg.distributions.transform_to
    >>> transform_to(constraints.positive)(tg.zeros(2))
    tensor([1., 1.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensors.tensor import Tensor
from ..tracing.declares import Declares
from . import constraints, transforms

Factory = Callable[[Any], Any]


class ConstraintRegistry:
    """Which transform leads to which class of constraints.

    Example:
        >>> import tracegrad as tg
        >>> registry = tg.distributions.constraint_registry.ConstraintRegistry()
        >>> _ = registry.register(tg.distributions.constraints.real, lambda c: tg.distributions.identity_transform)
        >>> registry(tg.distributions.constraints.real) == tg.distributions.identity_transform
        True
    """

    _declares = Declares(attributes=True)

    def __init__(self) -> None:
        self._registry: dict[type, Factory] = {}

    def register(self, constraint: Any, factory: Factory | None = None) -> Any:
        """Let ``factory(constraint)`` make the transform for a class of constraints (or that of an object).

        Without `factory` this is a decorator. TypeError for what is no constraint.
        """
        if factory is None:
            return lambda given: self.register(constraint, given)
        kind = type(constraint) if isinstance(constraint, constraints.Constraint) else constraint
        if not (isinstance(kind, type) and issubclass(kind, constraints.Constraint)):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {kind}")
        self._registry = {**self._registry, kind: factory}
        return factory

    def __call__(self, constraint: Any) -> Any:
        """The transform for a constraint. NotImplementedError where none is registered for its class."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _for_both(*kinds: Any) -> Callable[[Factory], Factory]:
    """Register a factory of bijections with both registries."""

    def decorate(factory: Factory) -> Factory:
        for kind in kinds:
            biject_to.register(kind, factory)
            transform_to.register(kind, factory)
        return factory

    return decorate


@_for_both(constraints.real)
def _identity(constraint: Any) -> Any:
    return transforms.identity_transform


@biject_to.register(constraints.independent)
def _independent_bijection(constraint: Any) -> Any:
    base = biject_to(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@transform_to.register(constraints.independent)
def _independent(constraint: Any) -> Any:
    base = transform_to(constraint.base_constraint)
    return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)


@_for_both(constraints.greater_than, constraints.greater_than_eq)
def _above(constraint: Any) -> Any:
    up = transforms.AffineTransform(constraint.lower_bound, 1)
    return transforms.ComposeTransform([transforms.ExpTransform(), up])


@_for_both(constraints.less_than)
def _below(constraint: Any) -> Any:
    down = transforms.AffineTransform(constraint.upper_bound, -1)
    return transforms.ComposeTransform([transforms.ExpTransform(), down])


@_for_both(constraints.interval, constraints.half_open_interval)
def _between(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    if not (isinstance(low, Tensor) or isinstance(high, Tensor)) and (low, high) == (0, 1):
        return transforms.SigmoidTransform()
    to_interval = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), to_interval])


@biject_to.register(constraints.simplex)
def _broken_stick(constraint: Any) -> Any:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _softmax(constraint: Any) -> Any:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _triangle(constraint: Any) -> Any:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def _positive_definite(constraint: Any) -> Any:
    return transforms.PositiveDefiniteTransform()


@_for_both(constraints.corr_cholesky)
def _correlations(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.cat)
def _cat_of_bijections(constraint: Any) -> Any:
    parts = [biject_to(c) for c in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@transform_to.register(constraints.cat)
def _cat(constraint: Any) -> Any:
    parts = [transform_to(c) for c in constraint.cseq]
    return transforms.CatTransform(parts, constraint.dim, constraint.lengths)


@biject_to.register(constraints.stack)
def _stack_of_bijections(constraint: Any) -> Any:
    return transforms.StackTransform([biject_to(c) for c in constraint.cseq], constraint.dim)


@transform_to.register(constraints.stack)
def _stack(constraint: Any) -> Any:
    return transforms.StackTransform([transform_to(c) for c in constraint.cseq], constraint.dim)
