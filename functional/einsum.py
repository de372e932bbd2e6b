"""``einsum``: sums of products by index letters, two operands at a time, each step one batched matrix product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ops import movement
from ..ops import reductions as folds
from ..ops.pointwise import converted
from ..ops.products import dot as product
from ..ops.types import DIMENSIONED, bool_, result_dtype
from ..tensors.autocasting import lower_precision

if TYPE_CHECKING:
    from ..tensors.tensor import Tensor


Letters = str

_product = lower_precision(product)


def einsum(equation: str | Tensor, *operands: Tensor | Sequence[Tensor] | Sequence[int]) -> Tensor:
    """The sum over all letters that the output does not name: ``einsum("ij,jk->ik", a, b)`` is ``a @ b``.

    Instead of an equation, each operand may be followed by a list of numbers from 0 to 51 that name its axes, and those
    of the output come last: ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. ``...`` stands for leading axes; axes of extent 1
    are broadcast. RuntimeError where letters and axes do not fit together, ValueError where operands are missing.

    >>> import tracegrad as tg
    >>> tg.einsum("ij,j->i", tg.ones(2, 3), tg.ones(3))
    tensor([3., 3.])
    """
    if not isinstance(equation, str):
        equation, operands = _equation_of((equation, *operands))
    single = len(operands) == 1 and isinstance(operands[0], (tuple, list))
    given: list[Any] = list(operands[0] if single else operands)
    if not given:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its "
            "subscripts list"
        )
    inputs, output = _parsed(equation, [x.ndarray.ndim for x in given])
    dtype = result_dtype((x.dtype, DIMENSIONED) for x in given)
    pairs = enumerate(zip(given, inputs, strict=True))
    terms = [_diagonal(converted(x, dtype), letters, place) for place, (x, letters) in pairs]
    terms = _broadcast(terms)
    while len(terms) > 1:
        first, second, *rest = terms
        needed = set(output).union(*(letters for _, letters in rest))
        terms = [_contracted(first, second, needed), *rest]
    return _ordered(*terms[0], output)


def _equation_of(given: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """The equation that lists of numbers behind the operands stand for, and the operands."""
    pairs = len(given) // 2
    named = [_letters_of(given[2 * i + 1]) for i in range(pairs)]
    equation = ",".join(named)
    if len(given) % 2:
        equation += "->" + _letters_of(given[-1])
    return equation, tuple(given[2 * i] for i in range(pairs))


def _letters_of(numbers: Any) -> str:
    letters = ""
    for number in numbers:
        if number is Ellipsis:
            letters += "..."
        elif 0 <= number < 52:
            letters += chr(ord("A") + number if number < 26 else ord("a") + number - 26)
        else:
            raise ValueError(
                f"einsum(): subscript in subscript list is not within the valid range [0, 52), got {number}"
            )
    return letters


def _parsed(equation: str, ndims: list[int]) -> tuple[list[Letters], Letters]:
    left, arrow, right = equation.replace(" ", "").partition("->")
    for place, letter in enumerate(left):
        if not ("a" <= letter <= "z" or "A" <= letter <= "Z" or letter in ".,"):
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {place} in the equation string, subscripts must be in "
                "[a-zA-Z]"
            )
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
            if output.count(letter) > 1:
                raise RuntimeError(f"einsum(): output subscript {letter} appears more than once in the output")
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


def _diagonal(x: Tensor, letters: Letters, place: int) -> tuple[Any, Letters]:
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


def _broadcast(terms: list[tuple[Any, Letters]]) -> list[tuple[Any, Letters]]:
    """The terms with axes of extent 1 as long as their letter is elsewhere."""
    extents: dict[str, int] = {}
    for place, (x, letters) in enumerate(terms):
        for letter, extent in zip(letters, x.ndarray.shape, strict=True):
            if extents.setdefault(letter, extent) == 1:
                extents[letter] = extent
            if extent not in (1, extents[letter]):
                raise RuntimeError(
                    f"einsum(): subscript {letter} has size {extent} for operand {place} which does not broadcast with "
                    f"previously seen size {extents[letter]}"
                )
    shapes = [tuple(extents[letter] for letter in letters) for _, letters in terms]
    return [
        (x if x.ndarray.shape == shape else movement.broadcast(x, shape), letters)
        for (x, letters), shape in zip(terms, shapes, strict=True)
    ]


def _summed(x: Tensor, letters: Letters, needed: set[str]) -> tuple[Any, Letters]:
    axes = tuple(i for i, letter in enumerate(letters) if letter not in needed)
    if axes:
        x = folds.sum(converted(x, folds.sum_dtype(x.dtype)), axes)
    return x, "".join(c for c in letters if c in needed)


def _contracted(first: tuple[Any, Letters], second: tuple[Any, Letters], needed: set[str]) -> tuple[Any, Letters]:
    """The product of two terms, summed over the letters that nobody needs any more."""
    x, a = _summed(*first, needed | set(second[1]))
    y, b = _summed(*second, needed | set(first[1]))
    if any(c in b and c not in needed for c in a):
        _require_one_type(x, y)
    dtype = result_dtype([(x.dtype, DIMENSIONED), (y.dtype, DIMENSIONED)])
    x, y = converted(x, dtype), converted(y, dtype)
    batch = [c for c in a if c in b and c in needed]
    inner = [c for c in a if c in b and c not in needed]
    rows, columns = [c for c in a if c not in b], [c for c in b if c not in a]
    extent = dict(zip(a, x.ndarray.shape, strict=True)) | dict(zip(b, y.ndarray.shape, strict=True))
    left = _matrix(x, a, (batch, rows, inner), extent)
    right = _matrix(y, b, (batch, inner, columns), extent)
    out = "".join((*batch, *rows, *columns))
    return movement.reshape(_product(left, right), tuple(extent[c] for c in out)), out


def _require_one_type(x: Any, y: Any) -> None:
    """RuntimeError unless `x` and `y` are what a matrix product takes; products without a sum are promoted."""
    if bool_ in (x.dtype, y.dtype):
        raise NotImplementedError("\"bmm\" not implemented for 'Bool'. Convert it first, e.g. with .float().")
    if x.dtype is not y.dtype:
        raise RuntimeError(f"expected scalar type {x.dtype.title} but found {y.dtype.title}")


def _matrix(x: Tensor, letters: Letters, groups: Any, extent: dict[str, int]) -> Tensor:
    """`x` with its axes in groups, each group as one axis."""
    order = tuple(letters.index(c) for group in groups for c in group)
    return movement.reshape(
        movement.transpose(x, order), tuple(math.prod(extent[c] for c in group) for group in groups)
    )


def _ordered(x: Tensor, letters: Letters, output: Letters) -> Tensor:
    x, letters = _summed(x, letters, set(output))
    return movement.transpose(x, tuple(letters.index(c) for c in output))
