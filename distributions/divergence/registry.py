"""Which function computes the divergence of which pair of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tracing.user_warning import warn_user
from ..distribution import Distribution, Divergences

Divergence = Callable[[Any, Any], Any]


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """Decorate the function that computes the divergence of objects of two classes and their subclasses.

    TypeError for what is no class of distributions.

    Example:
        >>> import tracegrad as tg
        >>> class Mine(tg.distributions.Normal):
        ...     pass
        >>> @tg.distributions.register_kl(Mine, Mine)
        ... def between_mine(p, q):
        ...     return tg.zeros(())
        >>> tg.distributions.kl_divergence(Mine(0.0, 1.0), Mine(1.0, 1.0))
        tensor(0.)
    """
    for name, kind in (("type_p", type_p), ("type_q", type_q)):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {kind}")

    def decorate(function: Divergence) -> Divergence:
        Distribution._divergences = Divergences({**Distribution._divergences.known, (type_p, type_q): function})
        return function

    return decorate


def _registered(type_p: type, type_q: type) -> Divergence:
    """The function for the nearest classes that both inherit from; p's classes decide first."""
    known = Distribution._divergences.known
    of_p, of_q = type_p.__mro__, type_q.__mro__
    by_p = next(((a, b) for a in of_p for b in of_q if (a, b) in known), None)
    by_q = next(((a, b) for b in of_q for a in of_p if (a, b) in known), None)
    if by_p is None or by_q is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type_p.__name__} and q type {type_q.__name__}"
        )
    if known[by_p] is not known[by_q]:
        warn_user(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl("
            f"{by_p[0].__name__}, {by_q[1].__name__})",
            RuntimeWarning,
        )
    return known[by_p]


def kl_divergence(p: Any, q: Any) -> Any:
    """The Kullback-Leibler divergence ``E_p[log p(x) - log q(x)]``, one number for each element of the batch.

    NotImplementedError for pairs that nobody has registered.

    Example:
        >>> import tracegrad as tg
        >>> D = tg.distributions
        >>> D.kl_divergence(D.Normal(tg.zeros(2), 1.0), D.Normal(tg.tensor([0.0, 2.0]), 1.0))
        tensor([0., 2.])
    """
    return _registered(type(p), type(q))(p, q)
