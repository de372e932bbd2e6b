"""``Distribution``: what all distributions have, by general rules over what each declares of itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..ops.callers.class_homes import home_of
from ..ops.elementary import exp, sqrt
from ..tape.grad_mode import no_grad
from ..tensors.tensor import Size, Tensor
from ..tracing.declares import Declares
from ..tracing.user_warning import warn_user
from . import constraints
from .utils import broadcast_all, lazy_property
from .validation import holds_at_once, require_valid

if TYPE_CHECKING:
    from .constraint_base import Constraint

_PACKAGE = __name__.rpartition(".")[0]


class Divergences:
    """What `register_kl` knows, by pairs of classes.

    It is replaced, never changed: guards see that by its identity, and have hundreds of pairs not to compare.
    """

    __slots__ = ("known",)

    def __init__(self, known: Mapping[Any, Any]) -> None:
        self.known = known


class Distribution:
    """Base of probability distributions.

    `batch_shape` is the shape of the parameters: one distribution for each element. `event_shape` is the shape of one
    value drawn from it. Arguments are checked unless `validate_args` is False (see `set_default_validate_args`):
    parameters against ``arg_constraints``, values against ``support``; ValueError tells what was found.

    A subclass declares ``arg_constraints`` (parameter to constraint) and ``support``, and defines ``rsample`` or
    ``sample``, ``log_prob`` and what else there is of ``cdf``, ``icdf``, ``entropy``, ``mean``, ``variance``.

    Example:
        >>> import tracegrad as tg
        >>> class Coin(tg.distributions.Distribution):
        ...     arg_constraints = {}
        ...     support = tg.distributions.constraints.boolean
        ...     def sample(self, sample_shape=()):
        ...         return tg.ones(self._extended_shape(sample_shape))
        >>> Coin().sample((2,))
        tensor([1., 1.])
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__
    _declares = Declares(attributes=True)
    _divergences = Divergences({})
    _event_rank: int | None = None  # axes of one value at the right of the parameters that `_setup` broadcasts

    def __init__(
        self,
        batch_shape: Any = (),
        event_shape: Any = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _setup(self, validate_args: bool | None, **parameters: Any) -> None:
        """Keep parameters (numbers or tensors, broadcast) as attributes; their common shape is the batch's."""
        values = broadcast_all(*parameters.values())
        vars(self).update(zip(parameters, values, strict=True))
        Distribution.__init__(self, values[0].shape, validate_args=validate_args)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Whether distributions made from now on check their arguments, unless they are told. ValueError for no bool.

        Example:
            >>> import tracegrad as tg
            >>> tg.distributions.Distribution.set_default_validate_args(True)
        """
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    # ------------------------------------------------------------------------------------------------------- shapes

    @property
    def batch_shape(self) -> Size:
        """One distribution for each element of this shape."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one value."""
        return self._event_shape

    def _extended_shape(self, sample_shape: Any = ()) -> Size:
        """The shape of samples: ``sample_shape + batch_shape + event_shape``."""
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _for_samples(self, parameter: Any, sample_shape: Any) -> Any:
        """`parameter` with an element for each of the samples."""
        shape = self._extended_shape(sample_shape)
        return parameter if parameter.shape == shape else parameter.expand(shape)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The distribution with its parameters broadcast to another `batch_shape`; nothing is copied or checked.

        NotImplementedError for classes of one's own that take other arguments and do not define it.
        """
        family = next(kind for kind in type(self).__mro__ if home_of(kind).startswith(_PACKAGE))
        if home_of(family).endswith(("distribution", "exponential_family")):
            raise NotImplementedError
        new = self._get_checked_instance(family, _instance)
        for name, value in vars(self).items():
            vars(new).setdefault(name, value)
        self._expand_into(new, Size(batch_shape))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _expand_into(self, new: Any, batch_shape: Size) -> None:
        """Give `new` this distribution's parameters in the shape of its batch."""
        for name, constraint in self.arg_constraints.items():
            value = vars(self).get(name)
            if isinstance(value, Tensor):
                extent = 0 if constraints.is_dependent(constraint) else constraint.event_dim
                vars(new)[name] = value.expand((*batch_shape, *value.shape[value.dim() - extent :]))

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return type(self).__new__(type(self)) if _instance is None else _instance

    # --------------------------------------------------------------------------------------- what subclasses declare

    @property
    def arg_constraints(self) -> Any:
        """The constraint that each parameter satisfies."""
        raise NotImplementedError

    @property
    def support(self) -> Constraint:
        """The constraint that values satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The expected value, of shape ``batch_shape + event_shape``."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The value of highest density, of shape ``batch_shape + event_shape``."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance, of shape ``batch_shape + event_shape``."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return sqrt(self.variance)

    # ------------------------------------------------------------------------------------------------------ samples

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Values of shape ``sample_shape + batch_shape + event_shape``, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """As `sample`, but differentiable with respect to the parameters, where `has_rsample` is True."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """``sample((n,))``, an old spelling."""
        warn_user("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample(Size((n,)))

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values of a discrete distribution along a new first axis; broadcast to the batch if `expand`."""
        raise NotImplementedError

    def _along_batch(self, values: Any, expand: bool) -> Any:
        """A vector of all values as ``[n, 1, ..., 1]``, or ``[n, *batch_shape]``."""
        column = values.reshape(-1, *(1,) * len(self._batch_shape))
        return column.expand(-1, *self._batch_shape) if expand else column

    # ------------------------------------------------------------------------------------------------- probabilities

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density (or of the probability) at `value`, of shape ``sample_shape + batch_shape``.

        ValueError where `value` is outside the support, if arguments are checked.
        """
        if self._validate_args:
            self._validate_sample(value)
        return self._log_density(value)

    def _log_density(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of what is not above `value`. ValueError where `value` is outside the support."""
        if self._validate_args:
            self._validate_sample(value)
        return self._cumulative(value)

    def _cumulative(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`: the quantile of a probability."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape ``batch_shape``."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """``exp(entropy())``."""
        return exp(self.entropy())

    # ---------------------------------------------------------------------------------------------------- validation

    def _validate_parameters(self) -> None:
        try:
            declared = self.arg_constraints
        except NotImplementedError:
            declared = {}
            warn_user(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
            )
        for name, constraint in declared.items():
            is_lazy = name not in vars(self) and isinstance(getattr(type(self), name, None), lazy_property)
            if not is_lazy and not constraints.is_dependent(constraint):
                self._validate_parameter(name, constraint)

    def _validate_parameter(self, name: str, constraint: Any) -> None:
        value = getattr(self, name)
        if holds_at_once(constraint, value):
            return
        with no_grad():
            holds = constraint.check(value)

        def text() -> str:
            return (
                f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
            )

        require_valid(holds, self, text, value)

    def _validate_sample(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        self._validate_shape(value)
        try:
            support = self.support
        except NotImplementedError:
            warn_user(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
            )
            return
        if holds_at_once(support, value):
            return
        with no_grad():
            holds = support.check(value)

        def text() -> str:
            return (
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

        require_valid(holds, self, text, value)

    def _validate_shape(self, value: Any) -> None:
        shape, expected = value.shape, self._batch_shape + self._event_shape
        if shape == expected:
            return
        event = shape[len(shape) - len(self._event_shape) :]
        if event != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {shape} vs {self._event_shape}.")
        if any(i != 1 and j != 1 and i != j for i, j in zip(reversed(shape), reversed(expected), strict=False)):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {shape} vs {expected}.")

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in vars(self)]
        shown = [(name, vars(self)[name]) for name in names]
        listed = ", ".join(f"{name}: {value if value.numel() == 1 else value.size()}" for name, value in shown)
        return f"{type(self).__name__}({listed})"
