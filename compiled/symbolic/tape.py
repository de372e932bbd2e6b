"""The tape of a recording with stand-ins for numbers: where they meet tensors, they become inputs of the graph."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...compiler.capture import Recorder
from ...compiler.roots import Root
from ...ops.core import REGISTRY, Params, Primitive
from ...ops.identity import copy
from ...ops.movement import broadcast
from ...ops.pointwise import cast
from ...ops.types import DType, bool_, float64, int64, number_in
from ...tape.tape import Tape
from ...tensors.tensor import Tensor, make
from ...tensors.varying_slices import window
from ..common.classes import is_a
from .number import Formulas, Number, looked_at

# Integers that divide are looked at: C has no error for a divisor of zero.
_DIVISIONS = frozenset(REGISTRY[name] for name in ("floor_divide", "remainder", "fmod"))
_FULL, _SLICE = REGISTRY["full"], REGISTRY["slice"]


@dataclass(frozen=True, eq=False)
class Scalar:
    """A graph input that holds the number at `position` of the formulas, as it is in `dtype`."""

    position: int
    dtype: DType
    root: Root

    def of(self, value: Any) -> Any:
        """What goes into the table for `value`; what `number_in` raises for what cannot be converted."""
        if self.dtype.is_floating_point:
            if is_a(value, int):
                np.int64(value)  # an OverflowError for what no tensor takes, whatever its type
            return float(value)  # C rounds to float32, as numpy does
        return int(number_in(value, self.dtype))


@dataclass(frozen=True, eq=False)
class NumberInput:
    """A number read anew for each call that follows a change: where it comes from, and its place in the table."""

    describe: str
    get: Callable[[], float]
    root: Root


class NumberTape(Tape):
    """A tape over `recorder`. It belongs to one recording; `scalars` are the inputs that it has made."""

    def __init__(self, recorder: Recorder, make: Callable[..., Any], names: Sequence[str]) -> None:
        super().__init__(recorder, make)
        self._recorder = recorder
        self._names = names  # of the sources
        self.scalars: dict[tuple[int, DType], Scalar] = {}
        self._integers: dict[int, tuple[Tensor, Number]] = {}

    def constant(self, number: Any, dtype: DType) -> Any:
        if not is_a(number, Number) or not number.tg_is_data():
            return super().constant(number, dtype)
        wide = float64 if dtype.is_floating_point else int64
        key = (number.tg_position, dtype if wide is int64 else wide)
        if key not in self.scalars:
            self.scalars[key] = Scalar(*key, self._root(number, key[1], wide))
        operand: Any = self.scalars[key].root.array
        if wide is not dtype:
            operand = cast(operand, dtype)
            self._recorder.promote_as_number(operand)
        if wide is int64:
            self._integers[id(operand)] = (operand, number)
        return operand

    def _root(self, number: Number, dtype: DType, wide: DType) -> Root:
        position = number.tg_position
        name = self._names[position] if position < len(self._names) else "number"
        converted = number_in(number.tg_value, dtype)
        array = make(np.asarray(converted, wide.numpy))
        array.label = name
        return self._recorder.add_number(array, name)

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        if primitive in _DIVISIONS and id(operands[1]) in self._integers:
            divisor, number = self._integers[id(operands[1])]
            operands = [operands[0], super().constant(looked_at(number), divisor.dtype)]
        if any(_has_number(value) for value in params.values()):
            if primitive is _SLICE:
                return self._sliced(operands[0], **params)
            filled = primitive is _FULL and params["value"].tg_is_data()
            if filled and _fills_exactly(params["value"], params["dtype"]):
                return copy(broadcast(self.constant(params["value"], params["dtype"]), params["shape"]))
            params = {name: _looked_at(value) for name, value in params.items()}
        return super().apply(primitive, operands, params)

    def _sliced(self, x: Any, starts: Sequence[Any], stops: Sequence[Any], steps: Sequence[int]) -> Any:
        """Slices of a fixed size that begin anywhere are picked; otherwise where they begin is a fact."""
        windows, regions = [], []
        extents = x.ndarray.shape
        for axis, (start, stop, step) in enumerate(zip(starts, stops, steps, strict=True)):
            length = _looked_at(-(-(stop - start) // step))
            if is_a(start, Number) and start.tg_is_data() and length < extents[axis]:
                windows.append((axis, start, length, step))
                regions.append((0, extents[axis], 1))
            else:
                regions.append((_looked_at(start), _looked_at(stop), step))
        if not windows or any(region != (0, extent, 1) for region, extent in zip(regions, extents, strict=True)):
            x = super().apply(
                _SLICE, [x], dict(zip(("starts", "stops", "steps"), zip(*regions, strict=True), strict=True))
            )
        for axis, start, length, step in windows:
            otherwise = functools.partial(_close, weakref.ref(start.tg_formulas), start.tg_position)
            x = window(x, axis, start, start.tg_value, length, step, otherwise)
        return x

    def let_go(self) -> None:
        """Forget the tensors of the recording."""
        self._integers.clear()


def _close(formulas: weakref.ref[Formulas], position: int) -> None:
    of = formulas()
    if of is not None:
        of.close(position)


def _fills_exactly(value: Any, dtype: DType) -> bool:
    """Whether numpy fills memory with what `number_in` gives: for others it has errors of its own."""
    if dtype.is_floating_point or dtype is bool_:
        return True
    return dtype is int64 and is_a(value, int)


def _has_number(value: Any) -> bool:
    return is_a(value, Number) or (is_a(value, tuple) and any(map(_has_number, value)))


def _looked_at(value: Any) -> Any:
    """A parameter without stand-ins: their values are facts."""
    if is_a(value, Number):
        return value.tg_formulas.pin(value)
    if is_a(value, tuple) and _has_number(value):
        return type(value)([_looked_at(item) for item in value])
    return value
