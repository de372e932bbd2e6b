"""What whoever calls a program's C has to know beside the graph, and how that is written down."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

from .checks import Check
from .sizes.standins import Polynomial

Claim = tuple[Polynomial, Polynomial]
Span = tuple[Polynomial, int, int]


@dataclass(frozen=True)
class Interface:
    """`checks` tell what the positive return codes mean, `early` names the results that are written before it is known
    that no check fails. In a program for all sizes, `lifetimes` are what lies in the arena, `claims` what is relied on.
    """

    checks: tuple[Check, ...]
    early: frozenset[str]
    arena_bytes: int
    lifetimes: tuple[Span, ...] = ()
    claims: tuple[Claim, ...] = ()

    def written(self) -> dict[str, Any]:
        """Itself in what JSON knows."""
        return {
            "checks": [astuple(check) for check in self.checks],
            "early": sorted(self.early),
            "arena_bytes": self.arena_bytes,
            "lifetimes": [[_terms(size), first, last] for size, first, last in self.lifetimes],
            "claims": [[_terms(low), _terms(high)] for low, high in self.claims],
        }

    @staticmethod
    def read(written: Any) -> Interface:
        """What was `written`. ValueError, TypeError or KeyError if it is something else."""
        return Interface(
            tuple(Check(*check) for check in written["checks"]),
            frozenset(written["early"]),
            written["arena_bytes"],
            tuple((_polynomial(size), first, last) for size, first, last in written["lifetimes"]),
            tuple((_polynomial(low), _polynomial(high)) for low, high in written["claims"]),
        )


def _terms(polynomial: Polynomial) -> list[Any]:
    return [[list(powers), coefficient] for powers, coefficient in polynomial.terms]


def _polynomial(terms: Iterable[Any]) -> Polynomial:
    return Polynomial(tuple((tuple(powers), coefficient) for powers, coefficient in terms))
