"""Index arithmetic: where an element of one array lies in another, as sums of loop variables.

An `Index` is a constant plus atoms times coefficients. An atom is a loop variable (or an index that was read from
memory), or, where a reshape cuts across the loops, a quotient or remainder of another index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from ..sizes.claims import below


@dataclass(frozen=True)
class Variable:
    """A C variable with ``0 <= value < extent``."""

    name: str
    extent: int

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Loaded(Variable):
    """An index that was read from memory, and the loop variables that it varies with."""

    depends: frozenset[Variable] = frozenset()


@dataclass(frozen=True)
class Quotient:
    """``of / by`` rounded down; `of` is never negative."""

    of: Index
    by: int

    @property
    def extent(self) -> int:
        last = self.of.highest // self.by
        below(self.of.highest, (last + 1) * self.by)  # for each size, where both depend on one
        return last + 1

    def __str__(self) -> str:
        return f"({self.of}) / {self.by}"


@dataclass(frozen=True)
class Remainder:
    """``of % by``; `of` is never negative."""

    of: Index
    by: int

    @property
    def extent(self) -> int:
        return min(self.by, self.of.highest + 1)

    def __str__(self) -> str:
        return f"({self.of}) % {self.by}"


@dataclass(frozen=True)
class Bounded:
    """An index that nothing is read at unless ``0 <= of < extent``, which a range says beside it."""

    of: Index
    extent: int

    def __str__(self) -> str:
        return f"({self.of})"


Atom = Variable | Quotient | Remainder | Bounded


@dataclass(frozen=True)
class Index:
    """``constant + sum(coefficient * atom)``; terms have no zero coefficients and no atom twice."""

    terms: tuple[tuple[Atom, int], ...] = ()
    constant: int = 0

    def __add__(self, other: Index | int) -> Index:
        if isinstance(other, int):
            return Index(self.terms, self.constant + other)
        sums = dict(self.terms)
        for atom, coefficient in other.terms:
            sums[atom] = sums.get(atom, 0) + coefficient
        return _rejoined(sums, self.constant + other.constant)

    def __mul__(self, factor: int) -> Index:
        terms = tuple((a, c * factor) for a, c in self.terms) if factor else ()
        return Index(terms, self.constant * factor)

    @property
    def lowest(self) -> int:
        return self.constant + sum(c * (a.extent - 1) for a, c in self.terms if c < 0)

    @property
    def highest(self) -> int:
        return self.constant + sum(c * (a.extent - 1) for a, c in self.terms if c > 0)

    def variables(self) -> frozenset[Variable]:
        """Every loop variable that the index depends on."""
        return frozenset[Variable]().union(*(variables_of(atom) for atom, _ in self.terms))

    def coefficient(self, variable: Variable) -> int:
        return dict(self.terms).get(variable, 0)

    @property
    def is_affine(self) -> bool:
        return all(isinstance(atom, Variable) for atom, _ in self.terms)

    def __str__(self) -> str:
        parts = [_term(atom, coefficient) for atom, coefficient in self.terms]
        if self.constant or not parts:
            parts.append(str(self.constant))
        return " + ".join(parts).replace("+ -", "- ")


def _rejoined(sums: dict[Atom, int], constant: int) -> Index:
    """A sum of terms, where ``of / by * by + of % by`` is `of` again."""
    for atom, coefficient in sums.items():
        found = _above(sums, atom, coefficient) if isinstance(atom, Remainder) and coefficient else None
        if found is not None:
            above, joined = found
            rest = tuple((a, c) for a, c in sums.items() if c and a not in (atom, above))
            return Index(rest, constant) + joined * coefficient
    return Index(tuple((a, c) for a, c in sums.items() if c), constant)


def _above(sums: Mapping[Atom, int], low: Remainder, coefficient: int) -> tuple[Atom, Index] | None:
    """The term that goes on where the remainder in ``low * coefficient`` ends, all of the quotient or a remainder of
    it, and what both are together."""
    whole, step = Quotient(low.of, low.by), coefficient * low.by
    if sums.get(whole) == step:
        return whole, low.of
    for atom, factor in sums.items():
        if isinstance(atom, Remainder) and factor == step and atom.of == Index(((whole, 1),)):
            return atom, modulo(low.of, low.by * atom.by)
    return None


def _term(atom: Atom, coefficient: int) -> str:
    if coefficient == 1:
        return str(atom)
    text = str(atom) if isinstance(atom, Variable) else f"({atom})"
    return f"-{text}" if coefficient == -1 else f"{text} * {coefficient}"


def variables_of(atom: Atom) -> frozenset[Variable]:
    if isinstance(atom, Loaded):
        return atom.depends
    return frozenset((atom,)) if isinstance(atom, Variable) else atom.of.variables()


ZERO = Index()


def of_variable(variable: Variable) -> Index:
    """The index that is one variable; a variable with a single value is that value."""
    return ZERO if variable.extent == 1 else Index(((variable, 1),))


def bounded(index: Index, extent: int) -> Index:
    """`index` where it is known to lie in 0 ... extent - 1: reshapes on the way to memory need no remainders then."""
    if extent == 1:
        return ZERO
    if below(-1, index.lowest) and below(index.highest, extent):
        return index
    return Index(((Bounded(index, extent), 1),))


def released(index: Index) -> Index:
    """`index` in variables, quotients and remainders alone."""
    if index.is_affine:
        return index
    total = Index((), index.constant)
    for atom, coefficient in index.terms:
        total = total + _released_atom(atom) * coefficient
    return total


def _released_atom(atom: Atom) -> Index:
    if isinstance(atom, Variable):
        return Index(((atom, 1),))
    inner = released(atom.of)
    if isinstance(atom, Bounded):
        return inner
    return divided(inner, atom.by) if isinstance(atom, Quotient) else modulo(inner, atom.by)


def divided(index: Index, by: int) -> Index:
    """``index / by`` for an index that is never negative, without a division where the terms allow it."""
    if by == 0:  # an empty array: no loop comes here
        return ZERO
    whole, rest = _split(index, by)
    if below(-1, rest.lowest) and below(rest.highest, by):
        return whole
    coarse = _coarse(rest, by)
    if coarse is not None:
        step, high, _ = coarse
        return whole + divided(high, by // step)
    if below(-1, rest.lowest):
        return whole + Index(((Quotient(rest, by), 1),))
    return Index(((Quotient(index, by), 1),))


def modulo(index: Index, by: int) -> Index:
    """``index % by`` for an index that is never negative, without a division where the terms allow it."""
    if by == 0:
        return ZERO
    _, rest = _split(index, by)
    if below(-1, rest.lowest) and below(rest.highest, by):
        return rest
    coarse = _coarse(rest, by)
    if coarse is not None:
        step, high, low = coarse
        return modulo(high, by // step) * step + low
    return Index(((Remainder(rest if below(-1, rest.lowest) else index, by), 1),))


def _split(index: Index, by: int) -> tuple[Index, Index]:
    """index = by * whole + rest, the rest made of the terms that `by` does not divide."""
    whole = tuple((a, c // by) for a, c in index.terms if c % by == 0)
    rest = tuple((a, c) for a, c in index.terms if c % by != 0)
    return Index(whole, index.constant // by), Index(rest, index.constant % by)


def _coarse(index: Index, by: int) -> tuple[int, Index, Index] | None:
    """(step, high, low) with index = step * high + low, where low is in 0 ... step - 1 and `step` divides `by`: what
    low adds decides no quotient. The largest step that is more than 1, if there is one and high is never negative."""
    step = by
    terms = sorted(index.terms, key=lambda term: -abs(term[1]))
    for place, (_, coefficient) in enumerate(terms):
        step = gcd(step, coefficient)
        low = Index(tuple(terms[place + 1 :]), index.constant % step)
        if step > 1 and below(-1, low.lowest) and below(low.highest, step):
            high = Index(tuple((a, c // step) for a, c in terms[: place + 1]), index.constant // step)
            return (step, high, low) if below(-1, high.lowest) else None
    return None


def strides_of(shape: Sequence[int]) -> tuple[int, ...]:
    """Row-major strides, in elements."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def flattened(position: Sequence[Index], shape: Sequence[int]) -> Index:
    """The offset of a position in a row-major array."""
    total = ZERO
    for index, stride, extent in zip(position, strides_of(shape), shape, strict=True):
        total = total + index * (stride if extent != 1 else 0)
    return total


def unflattened(offset: Index, shape: Sequence[int]) -> tuple[Index, ...]:
    """The position in a row-major array that lies at `offset`."""
    position = []
    for extent, stride in zip(shape, strides_of(shape), strict=True):
        if extent == 1:
            position.append(ZERO)
        else:
            quotient = divided(offset, stride)
            position.append(quotient if below(quotient.highest, extent) else modulo(quotient, extent))
    return tuple(position)


def substituted(index: Index, replacement: Mapping[Variable, Index]) -> Index:
    """`index` with variables replaced, simplified again."""
    total = Index((), index.constant)
    for atom, coefficient in index.terms:
        total = total + _substituted_atom(atom, replacement) * coefficient
    return total


def _substituted_atom(atom: Atom, replacement: Mapping[Variable, Index]) -> Index:
    if isinstance(atom, Variable):
        return replacement.get(atom, Index(((atom, 1),)))
    inner = substituted(atom.of, replacement)
    if isinstance(atom, Bounded):
        return bounded(inner, atom.extent)
    return divided(inner, atom.by) if isinstance(atom, Quotient) else modulo(inner, atom.by)


def cuts(indices: Iterable[Index]) -> dict[Variable, int]:
    """Loop variables that divide evenly where a quotient or remainder cuts them: each with the inner extent."""
    found: dict[Variable, int] = {}
    pending = [atom for index in indices for atom, _ in index.terms]
    while pending:
        atom = pending.pop()
        if isinstance(atom, Variable):
            continue
        pending.extend(a for a, _ in atom.of.terms)
        if isinstance(atom, Bounded):
            continue
        for variable, coefficient in atom.of.terms:
            if type(variable) is Variable and atom.by % abs(coefficient) == 0:
                inner = atom.by // abs(coefficient)
                if 1 < inner < variable.extent and variable.extent % inner == 0:
                    found[variable] = inner
    return found
