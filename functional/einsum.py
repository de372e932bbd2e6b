"""``einsum``: sums of products by index letters, two operands at a time, each step one batched matrix product."""

from __future__ import annotations

import math
from typing import Any

from ..ops import movement
from ..ops import reductions as folds
from ..ops.pointwise import converted
from ..ops.products import dot
from ..ops.types import DIMENSIONED, result_dtype

Letters = str


def einsum(equation: str, *operands: Any) -> Any:
    """The sum over all letters that the output does not name: ``einsum("ij,jk->ik", a, b)`` is ``a @ b``.

    RuntimeError where letters and axes do not fit together. ``...`` stands for leading axes.
    """
    given = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else list(operands)
    inputs, output = _parsed(equation, [x.ndarray.ndim for x in given])
    dtype = result_dtype((x.dtype, DIMENSIONED) for x in given)
    pairs = enumerate(zip(given, inputs, strict=True))
    terms = [_diagonal(converted(x, dtype), letters, place) for place, (x, letters) in pairs]
    _check_extents(terms)
    while len(terms) > 1:
        first, second, *rest = terms
        needed = set(output).union(*(letters for _, letters in rest))
        terms = [_contracted(first, second, needed), *rest]
    return _ordered(*terms[0], output)


def _parsed(equation: str, ndims: list[int]) -> tuple[list[Letters], Letters]:
    left, arrow, right = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if len(inputs) != len(ndims):
        raise RuntimeError(
            f"einsum(): more operands were provided than specified in the equation, or fewer: {len(ndims)} for {left!r}"
        )
    inputs = [_spelled_out(letters, ndim) for letters, ndim in zip(inputs, ndims, strict=True)]
    for place, (letters, ndim) in enumerate(zip(inputs, ndims, strict=True)):
        if len(letters) != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(letters)}) does not match the number of "
                f"dimensions ({ndim}) for operand {place} and no ellipsis was given"
            )
    used = "".join(inputs)
    leading = "".join(sorted({c for c in used if not c.isalpha()}))
    if arrow:
        output = right.replace("...", leading)
        for letter in output:
            if letter not in used:
                raise RuntimeError(
                    f"einsum(): output subscript {letter} does not appear in the equation for any input operand"
                )
        return inputs, output
    return inputs, leading + "".join(sorted(c for c in set(used) if c.isalpha() and used.count(c) == 1))


def _spelled_out(letters: Letters, ndim: int) -> Letters:
    """``...`` as digits, counted from the last axis that it stands for."""
    count = ndim - len(letters.replace("...", ""))
    return letters.replace("...", "0123456789"[10 - count :] if count > 0 else "")


def _diagonal(x: Any, letters: Letters, place: int) -> tuple[Any, Letters]:
    """`x` with repeated letters reduced to the diagonal of their axes."""
    for letter in set(letters):
        while letters.count(letter) > 1:
            first = letters.index(letter)
            second = letters.index(letter, first + 1)
            sizes = x.ndarray.shape[second], x.ndarray.shape[first]
            if sizes[0] != sizes[1]:
                raise RuntimeError(
                    f"einsum(): subscript {letter} is repeated for operand {place} but the sizes don't match, "
                    f"{sizes[0]} != {sizes[1]}"
                )
            x = x.diagonal(0, first, second)
            # The diagonal is the last axis; of three equal letters two are left.
            letters = _without(_without(letters, second), first) + letter
    return x, letters


def _without(letters: Letters, place: int) -> Letters:
    return letters[:place] + letters[place + 1 :]


def _check_extents(terms: list[tuple[Any, Letters]]) -> None:
    extents: dict[str, int] = {}
    for place, (x, letters) in enumerate(terms):
        for letter, extent in zip(letters, x.ndarray.shape, strict=True):
            if extents.setdefault(letter, extent) != extent:
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {extent} for operand {place} which does not broadcast with "
                    f"previously seen size {extents[letter]}"
                )


def _summed(x: Any, letters: Letters, needed: set[str]) -> tuple[Any, Letters]:
    axes = tuple(i for i, letter in enumerate(letters) if letter not in needed)
    return (folds.sum(x, axes) if axes else x), "".join(c for c in letters if c in needed)


def _contracted(first: tuple[Any, Letters], second: tuple[Any, Letters], needed: set[str]) -> tuple[Any, Letters]:
    """The product of two terms, summed over the letters that nobody needs any more."""
    x, a = _summed(*first, needed | set(second[1]))
    y, b = _summed(*second, needed | set(first[1]))
    batch = [c for c in a if c in b and c in needed]
    inner = [c for c in a if c in b and c not in needed]
    rows, columns = [c for c in a if c not in b], [c for c in b if c not in a]
    extent = dict(zip(a, x.ndarray.shape, strict=True)) | dict(zip(b, y.ndarray.shape, strict=True))
    left = _matrix(x, a, (batch, rows, inner), extent)
    right = _matrix(y, b, (batch, inner, columns), extent)
    out = "".join((*batch, *rows, *columns))
    return movement.reshape(dot(left, right), tuple(extent[c] for c in out)), out


def _matrix(x: Any, letters: Letters, groups: Any, extent: dict[str, int]) -> Any:
    """`x` with its axes in groups, each group as one axis."""
    order = tuple(letters.index(c) for group in groups for c in group)
    return movement.reshape(
        movement.transpose(x, order), tuple(math.prod(extent[c] for c in group) for group in groups)
    )


def _ordered(x: Any, letters: Letters, output: Letters) -> Any:
    x, letters = _summed(x, letters, set(output))
    return movement.transpose(x, tuple(letters.index(c) for c in output))
