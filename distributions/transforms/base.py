"""``Transform``, its inverse, and transforms made of others."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...tensors.creation import zeros_like
from ...tracing.declares import Declares
from .. import constraints
from ..utils import sum_rightmost
from .known_pairs import image_of, keep, preimage_of

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor
    from ..constraint_base import Constraint


class Transform:
    """Base of invertible maps with a Jacobian: ``y = t(x)``, ``x = t.inv(y)``, ``t.log_abs_det_jacobian(x, y)``.

    A subclass defines `domain` and `codomain` (constraints), `bijective`, ``_call(x)``, ``_inverse(y)`` and
    ``log_abs_det_jacobian(x, y)``, whose result has the shape of the batch of x. With `cache_size` 1 the inverse of
    what it has made is what it was made of, without any computation (PyTorch remembers the latest pair alone).

    Example:
        >>> import tracegrad as tg
        >>> t = tg.distributions.transforms.ExpTransform()
        >>> t.inv(t(tg.tensor(2.0)))
        tensor(2.)
    """

    bijective: Any = False
    domain: Any
    codomain: Any
    _declares = Declares(attributes=True)

    def __init__(self, cache_size: int = 0) -> None:
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        super().__init__()

    @property
    def event_dim(self) -> int:
        """How many axes at the right make one value; ValueError where input and output differ in that."""
        if self.domain.event_dim != self.codomain.event_dim:
            raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")
        return self.domain.event_dim

    @property
    def inv(self) -> Any:
        """The inverse transform: ``t.inv.inv is t``."""
        return _InverseTransform(self)

    @property
    def sign(self) -> Any:
        """1 or -1 for an increasing or decreasing function of numbers."""
        raise NotImplementedError

    def with_cache(self, cache_size: int = 1) -> Any:
        """The same transform with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        if type(self).__init__ is Transform.__init__:
            return type(self)(cache_size=cache_size)
        raise NotImplementedError(f"{type(self)}.with_cache is not implemented")

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: Any) -> bool:
        return not self.__eq__(other)

    __hash__ = object.__hash__

    def __call__(self, x: Tensor) -> Tensor:
        """The value of the transform at x."""
        if self._cache_size == 0:
            return self._call(x)
        y = image_of(self, x)
        if y is None:
            y = self._call(x)
            keep(self, x, y)
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        x = preimage_of(self, y)
        if x is None:
            x = self._inverse(y)
            keep(self, x, y)
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """``log |dy/dx|`` for an input and its output."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the output for an input of `shape`."""
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        """The shape of the input for an output of `shape`."""
        return shape


class SameForAll(Transform):
    """Base of transforms without parameters: all objects of a class are equal."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self))

    __hash__ = Transform.__hash__


class _InverseTransform(Transform):
    """A transform the other way round; what it is asked it asks that transform."""

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Constraint:
        return self._inv.domain

    @property
    def bijective(self) -> Any:
        return self._inv.bijective

    @property
    def sign(self) -> Any:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Any:
        return self._inv.with_cache(cache_size).inv

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _InverseTransform) and self._inv == other._inv

    __hash__ = Transform.__hash__

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self._inv.forward_shape(shape)


def _widened(constraint: Any, event_dim: int) -> Any:
    """`constraint` over as many axes at the right as `event_dim`."""
    missing = event_dim - constraint.event_dim
    return constraints.independent(constraint, missing) if missing else constraint


class ComposeTransform(Transform):
    """`parts` one after the other, the first one first; of none, the identity.

    Example:
        >>> import tracegrad as tg
        >>> T = tg.distributions.transforms
        >>> T.ComposeTransform([T.ExpTransform(), T.AffineTransform(1.0, 2.0)])(tg.zeros(2))
        tensor([3., 3.])
    """

    def __init__(self, parts: Sequence[Transform], cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    def _event_dims(self) -> list[int]:
        """How many axes a value has before, between and after the parts."""
        dims = [0]
        for part in self.parts:  # relative to the input's
            dims.append(dims[-1] + part.codomain.event_dim - part.domain.event_dim)
        least = max((p.domain.event_dim - d for p, d in zip(self.parts, dims, strict=False)), default=0)
        return [d + least for d in dims]

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        return _widened(self.parts[0].domain, self._event_dims()[0]) if self.parts else constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Constraint:
        return _widened(self.parts[-1].codomain, self._event_dims()[-1]) if self.parts else constraints.real

    @property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> Any:
        return functools.reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Any:
        return _InverseOfComposition(self)

    def with_cache(self, cache_size: int = 1) -> Any:
        return self if self._cache_size == cache_size else ComposeTransform(self.parts, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = Transform.__hash__

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return zeros_like(x)
        values = [x]
        for part in self.parts[:-1]:
            values.append(part(values[-1]))
        steps = zip(self.parts, values, [*values[1:], y], self._event_dims(), strict=False)
        terms = [sum_rightmost(t.log_abs_det_jacobian(a, b), dim - t.domain.event_dim) for t, a, b, dim in steps]
        return functools.reduce(operator.add, terms)

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        return "ComposeTransform(\n    " + ",\n    ".join(map(repr, self.parts)) + "\n)"


class _InverseOfComposition(ComposeTransform):
    """The inverses of a composition's parts, the last one first."""

    def __init__(self, forward: ComposeTransform) -> None:
        super().__init__([part.inv for part in reversed(forward.parts)])
        self._forward = forward

    @property
    def inv(self) -> Any:
        return self._forward

    def __repr__(self) -> str:
        return super().__repr__()


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """`base_transform` for values with `reinterpreted_batch_ndims` more axes: Jacobians are summed over these.

    Example:
        >>> import tracegrad as tg
        >>> T = tg.distributions.transforms
        >>> T.IndependentTransform(T.ExpTransform(), 1).log_abs_det_jacobian(tg.ones(3), None)
        tensor(3.)
    """

    def __init__(self, base_transform: Transform, reinterpreted_batch_ndims: int, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def with_cache(self, cache_size: int = 1) -> Any:
        if self._cache_size == cache_size:
            return self
        return IndependentTransform(self.base_transform, self.reinterpreted_batch_ndims, cache_size=cache_size)

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Constraint:
        return constraints.independent(self.base_transform.domain, self.reinterpreted_batch_ndims)

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Constraint:
        return constraints.independent(self.base_transform.codomain, self.reinterpreted_batch_ndims)

    @property
    def bijective(self) -> Any:
        return self.base_transform.bijective

    @property
    def sign(self) -> Any:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError("Too few dimensions on input")
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return sum_rightmost(self.base_transform.log_abs_det_jacobian(x, y), self.reinterpreted_batch_ndims)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_transform!r}, {self.reinterpreted_batch_ndims})"

    def forward_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape: Sequence[int]) -> Sequence[int]:
        return self.base_transform.inverse_shape(shape)
