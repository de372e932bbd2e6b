"""Applying a derivative rule: collect what it names, call it, undo broadcasting. For the tape and for the compiler."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .array import quietly
from .complex_numbers.parts import conj
from .core import Params, Pointwise, Primitive, at_once, current
from .layouts.formats import laid_as
from .layouts.orders import goes_by_rows
from .movement import reshape
from .reductions import sum, sum_primitive
from .types import Type


@functools.cache
def names_needed(primitive: Primitive, positions: tuple[int, ...]) -> frozenset[str]:
    """All names that the rules of these operands read: what must stay alive until the backward pass."""
    rules = [primitive.derivative(p) for p in positions]
    return frozenset(name for rule in rules if rule is not None for name in rule.needs)


def _is_complex(g: Any) -> bool:
    """Whether `g` is complex; of an array without making its type, which costs as much as a short rule."""
    array = getattr(g, "ndarray", None)
    return current().type_of(g).dtype.is_complex if array is None else array.dtype.kind == "c"


def pull_back(
    primitive: Primitive, position: int, g: Any, known: Mapping[str, Any], params: Params, shape: tuple[int, ...]
) -> Any:
    """The cotangent of one operand.

    `known` maps operand names, ``out`` and the ``…_type`` names to what the rule wants of them; `shape` is the
    operand's shape, to which the result is summed back where the op broadcast it. Of an elementwise op it lies as `g`
    does, as PyTorch's derivatives name g first.

    Gradients of complex numbers are PyTorch's: the conjugate of the derivative in the sense of Wirtinger, so that a
    gradient step goes downhill. Rules are those of real functions, ``g * f'(x)``; of a complex-differentiable f the
    gradient is ``g * conj(f'(x))``, which is the conjugate of the rule at the conjugate of g.
    """
    rule = primitive.derivative(position)
    assert rule is not None, f"{primitive.name} has no gradient for operand {position}"
    is_complex = rule.reads_values and _is_complex(g)
    values: list[Any] = []
    for name in rule.needs:
        if name == "g":
            values.append(conj(g) if is_complex else g)
        elif name == "index" and primitive.variadic:
            values.append(position)
        else:
            values.append(params[name] if name in params else known[name])
    found = rule.rule(*values)
    array = getattr(found, "ndarray", None)
    if array is not None and isinstance(primitive.lower, Pointwise):
        of_g = g.ndarray
        if array.strides != of_g.strides and array.shape == of_g.shape and 0 not in of_g.strides:
            if not (array.flags.c_contiguous and goes_by_rows(of_g)):
                found = laid_as(found, of_g)
    return unbroadcast(conj(found) if is_complex else found, shape)


def pull_back_all(
    primitive: Primitive,
    positions: Sequence[int],
    g: Any,
    known: Mapping[str, Any],
    params: Params,
    shapes: Sequence[tuple[int, ...]],
) -> list[Any]:
    """The cotangents of the operands at `positions`, whose shapes are `shapes`."""
    rule = primitive.derivative(0) if primitive.joint else None
    if rule is None:
        pairs = zip(positions, shapes, strict=True)
        return [pull_back(primitive, position, g, known, params, shape) for position, shape in pairs]
    is_complex = rule.reads_values and _is_complex(g)
    named = {**known, **params, "g": conj(g) if is_complex else g, "positions": tuple(positions)}
    found: list[Any] = rule.rule(*(named[name] for name in rule.needs))
    return [None if each is None else conj(each) for each in found] if is_complex else found


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum `g` over the axes that broadcasting added or stretched, back to `shape`."""
    array = getattr(g, "ndarray", None)
    if array is not None and array.shape == shape:
        return g
    of: Type = current().type_of(g)
    if of.shape == shape:
        return g
    added = of.ndim - len(shape)
    axes = tuple(a for a, n in enumerate(of.shape) if a < added or (n != 1 and shape[a - added] == 1))
    if array is not None and axes and (interpreter := at_once(g)) is not None:
        return interpreter.literal(np.asarray(quietly(sum_primitive.evaluate, array, axes=axes)).reshape(shape))
    summed = sum(g, axes) if axes else g
    return summed if current().type_of(summed).shape == shape else reshape(summed, shape)
