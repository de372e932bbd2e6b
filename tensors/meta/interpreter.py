"""The interpreter of tensors without numbers: type rules say what each op would give, nothing is computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ops.array import Array, Evaluator, shows
from ...ops.core import Params, Primitive, Step
from ...ops.types import Type
from .memory import Blank, blank_array, blank_like, refuse


class ShapesOnly(Evaluator):
    """Evaluates views, which need no numbers, and gives blank memory for all other ops. `make` makes tensors."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def evaluate(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Callable[..., Any]) -> Any:
        if _is_of_numbers(operands):
            return super().evaluate(primitive, operands, params, self._make)
        found = primitive.type_rule(*map(self.type_of, operands), **params)
        if primitive.is_view and isinstance(operands[0], Array):
            base = operands[0]
            array = _viewed(primitive, base.ndarray, params)
            if array is not None and shows(array, base.ndarray):
                return kind(array, base.buffer, (*base.steps, Step(primitive, tuple(params.items()))))
        return kind(_laid_out(operands, found))

    def stacked(self, arrays: Sequence[Array], axis: int, kind: Callable[..., Any]) -> Any:
        return None

    def literal(self, values: np.ndarray, kind: Callable[..., Any] = Array) -> Any:
        return kind(blank_like(values, values.dtype))

    def write(self, target: Array, value: Array | np.generic) -> None:
        """As everywhere: what has no numbers counts its version up. A generator stays as it is, as in PyTorch."""
        if not _is_of_generator(target):
            super().write(target, value)

    def read(self, array: Array, purpose: str) -> np.ndarray:
        if isinstance(array.ndarray, Blank):
            refuse(purpose)
        return array.ndarray

    def peek(self, array: Array) -> np.ndarray:
        return self.read(array, "a decision of the library")

    def require(self, array: Array, requirement: Any, facts: tuple[int, ...]) -> None:
        """Nothing: there are no numbers to look at."""


def _is_of_numbers(operands: Sequence[Any]) -> bool:
    """Whether all operands have numbers, and one is a tensor: what is made of it has numbers, too (a count of steps).
    What is made of nothing but a shape, or of a generator, has none."""
    arrays = [operand for operand in operands if isinstance(operand, Array)]
    return bool(arrays) and not any(isinstance(x.ndarray, Blank) or _is_of_generator(x) for x in arrays)


def _is_of_generator(target: Array) -> bool:
    return target.label is not None and target.label.startswith("generator.")


def _viewed(primitive: Primitive, array: np.ndarray, params: Params) -> np.ndarray | None:
    """The view that a primitive gives; None for one that would be a copy."""
    if primitive.name == "reshape" and not array.flags.c_contiguous:
        try:
            return array.reshape(params["shape"], copy=False)
        except (TypeError, ValueError):  # numpy before 2.1 has no such argument
            return None
    out: np.ndarray = primitive.evaluate(array, **params)
    return out.view(Blank) if isinstance(array, Blank) else out


def _laid_out(operands: Sequence[Any], found: Type) -> Blank:
    """Blank memory for a result, which lies as the first operand of its shape."""
    for operand in operands:
        if isinstance(operand, Array) and operand.ndarray.shape == found.shape:
            return blank_like(operand.ndarray, found.dtype.numpy)
    return blank_array(found.shape, found.dtype.numpy)
