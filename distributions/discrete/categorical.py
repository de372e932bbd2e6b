"""``Categorical``, the same one-hot, and ``Multinomial``: one of several classes, and counts of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...functional.layers import one_hot
from ...functional.normalizing.softmax import log_softmax
from ...functional.selecting import gather, where
from ...functional.shapes import permute
from ...functional.statistics.weighted_draws import multinomial
from ...ops.elementary import exp
from ...ops.elementwise.special import lgamma
from ...ops.types import DType, broadcast_shapes, int64
from ...tape.grad_mode import no_grad
from ...tensors.creation import arange, eye, full, ones_like, zeros
from ...tensors.fusion import fused
from ...tensors.limits import finfo
from ...tensors.tensor import Size, Tensor
from .. import array_forms, constraints
from ..distribution import Distribution
from ..utils import lazy_property, logits_to_probs, probs_to_logits
from .bernoulli import Binomial
from .odds import require_one

if TYPE_CHECKING:
    from ..constraint_base import Constraint


@fused("DivBackward0", array_forms.shares, array_forms.shares_gradient, checked={0: (0,)}, one_kernel=False)
def _shares(weights: Any) -> Any:
    return weights / weights.sum(-1, True)


@fused("SqueezeBackward1", array_forms.picked, array_forms.picked_gradient)
def _picked(logits: Any, index: Any) -> Any:
    return gather(logits, -1, index.unsqueeze(-1)).squeeze(-1)


@fused(
    "NegBackward0",
    array_forms.entropies,
    array_forms.entropies_gradient,
    operands=2,
    checked={1: (0,)},
    watched={0: (0,)},
    one_kernel=False,
)
def _entropies(logits: Any, probs: Any, low: float) -> Any:
    return -(logits.clamp(min=low) * probs).sum(-1)  # 0 * -inf counts as 0


@functools.cache
def _lowest(dtype: DType) -> float:
    return finfo(dtype).min


class Categorical(Distribution):
    """The integers from 0 to K - 1 with the probabilities `probs` (normalised) or ``softmax(logits)``, ``[..., K]``.

    Example:
        >>> import tracegrad as tg
        >>> policy = tg.distributions.Categorical(logits=tg.zeros(4))
        >>> policy.log_prob(tg.tensor(3))
        tensor(-1.3863)
    """

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        require_one(probs, logits)
        name = "probs" if logits is None else "logits"
        given: Any = probs if logits is None else logits
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if logits is None:
            self.probs = _shares(given)
        else:
            self.logits = log_softmax(given, dim=-1)
        self._num_events = given.size(-1)
        super().__init__(given.shape[:-1], validate_args=validate_args)

    @lazy_property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits)

    @property
    def _param(self) -> Tensor:
        return vars(self)["probs" if "probs" in vars(self) else "logits"]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter: ``batch_shape + (K,)``."""
        return self._param.shape

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    def _without_moment(self) -> Any:
        return full(self._extended_shape(), math.nan, dtype=self._param.dtype)

    @property
    def mean(self) -> Tensor:
        """NaN: classes are no numbers."""
        return self._without_moment()

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        """NaN: classes are no numbers."""
        return self._without_moment()

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        count = math.prod(sample_shape)
        with no_grad():
            probs = self.probs.detach()
            drawn = multinomial(probs if probs.ndim == 2 else probs.reshape(-1, self._num_events), count, True)
            return (drawn if count == 1 else drawn.t()).reshape(self._extended_shape(sample_shape))

    def _log_density(self, value: Tensor) -> Tensor:
        value = value.to(int64)
        logits, shape = self.logits, value.shape
        if shape != logits.shape[:-1]:
            shape = Size(broadcast_shapes(shape, logits.shape[:-1]))
            value, logits = value.expand(shape), logits.expand((*shape, self._num_events))
        return _picked(logits, value)

    def entropy(self) -> Tensor:
        return _entropies(self.logits, self.probs, _lowest(self.logits.dtype))

    def enumerate_support(self, expand: bool = True) -> Tensor:
        return self._along_batch(arange(self._num_events, dtype=int64), expand)


class _OfClasses(Distribution):
    """Base of distributions whose values are vectors with a number for each class; parameters are a Categorical's."""

    arg_constraints: Any = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def _set_classes(self, validate_args: bool | None, probs: Any, logits: Any) -> None:
        self._categorical = Categorical(probs, logits)
        classes = self._categorical
        Distribution.__init__(self, classes.batch_shape, classes.param_shape[-1:], validate_args=validate_args)

    def _expand_into(self, new: Any, batch_shape: Size) -> None:
        new._categorical = self._categorical.expand(batch_shape)

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter: ``batch_shape + (K,)``."""
        return self._categorical.param_shape


class OneHotCategorical(_OfClasses):
    """`Categorical` as vectors with a single 1.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.OneHotCategorical(tg.ones(4)).log_prob(tg.tensor([0.0, 1.0, 0.0, 0.0]))
        tensor(-1.3863)
    """

    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(
        self, probs: Tensor | None = None, logits: Tensor | None = None, validate_args: bool | None = None
    ) -> None:
        self._set_classes(validate_args, probs, logits)

    @property
    def mean(self) -> Tensor:
        return self._categorical.probs

    @property
    def mode(self) -> Tensor:
        return one_hot(self.probs.argmax(dim=-1), self.probs.size(-1)).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            chosen = self._categorical.sample(sample_shape)
            return one_hot(chosen, self._categorical._num_events).to(self.probs.dtype)

    def _log_density(self, value: Tensor) -> Tensor:
        return self._categorical.log_prob(value.argmax(dim=-1))

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self.event_shape[0]
        values = eye(n, dtype=self._param.dtype).reshape(n, *(1,) * len(self.batch_shape), n)
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """`OneHotCategorical` whose samples pass their gradient on to `probs` as if they were these.

    Bengio, Léonard and Courville, "Estimating or propagating gradients through stochastic neurons", 2013.

    Example:
        >>> import tracegrad as tg
        >>> probs = tg.ones(3, requires_grad=True)
        >>> tg.distributions.OneHotCategoricalStraightThrough(probs).rsample().requires_grad
        True
    """

    has_rsample = True

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        samples = self.sample(sample_shape)
        return samples + (self.probs - self.probs.detach())


class Multinomial(_OfClasses):
    """How often each class comes in `total_count` draws, an int.

    Example:
        >>> import tracegrad as tg
        >>> tg.distributions.Multinomial(6, tg.ones(3)).mean
        tensor([2., 2., 2.])
    """

    def __init__(
        self,
        total_count: int = 1,
        probs: Tensor | None = None,
        logits: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._set_classes(validate_args, probs, logits)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        with no_grad():
            drawn = self._categorical.sample((self.total_count, *sample_shape))
            by_value = permute(drawn, *range(1, drawn.dim()), 0)
            counts = zeros(self._extended_shape(sample_shape), dtype=int64)
            return counts.scatter_add(-1, by_value, ones_like(by_value)).to(self.probs.dtype)

    def _log_density(self, value: Tensor) -> Tensor:
        logits = where((value == 0) & (self.logits == -math.inf), 0.0, self.logits)
        return lgamma(value.sum(-1) + 1) - lgamma(value + 1).sum(-1) + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        """That of the draws in order, and what is known of the order when the counts are."""
        n = full((), self.total_count, dtype=self.probs.dtype)
        counts = Binomial(self.total_count, self.probs, validate_args=False)
        values = arange(1, self.total_count + 1, dtype=n.dtype).reshape(-1, *(1,) * self.probs.dim())
        of_orders = (exp(counts.log_prob(values)) * lgamma(values + 1)).sum((0, -1))
        return n * self._categorical.entropy() - lgamma(n + 1) + of_orders
