"""The numbers of one specialisation at each call: read where they are, checked, computed with, put into the table."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from operator import is_
from typing import Any

import numpy as np

from ...runtime.program import address_of
from ...tensors.tensor import Tensor, make
from ..common.exactness import same_number
from ..common.pytree import Path, at
from ..execution.binding import Binding
from ..guards.sources import NOT_THERE
from ..recording.substitution import NumberLocation
from ..recording.symbolic_inputs import SymbolicInputs
from ..symbolic.number import is_nan, value_of


def _reading(spot: NumberLocation) -> Callable[[Any], Any]:
    assert spot.get is not None
    get, path = spot.get.now, spot.path
    return lambda args: at(get(), path)


class NumberInputs:
    """All of them. `values` are those of the last call that was looked at, sources first."""

    def __init__(self, symbolic_inputs: SymbolicInputs, scalars: list[Any], binding: Binding | None) -> None:
        self.sources = symbolic_inputs.sources
        self._snapshot = symbolic_inputs.snapshot
        self._compares = symbolic_inputs.compares
        self._formulas = symbolic_inputs.formulas
        self._scalars = scalars
        self._given: list[Any] = [None] * len(self.sources)
        self.values: list[Any] = []
        self._floats = np.zeros(max(1, len(scalars)), np.float64)
        self._integers = np.zeros(max(1, len(scalars)), np.int64)
        self._kinds = [source.kind for source in self.sources]
        if binding is not None:
            self._bind(binding)

    def _bind(self, binding: Binding) -> None:
        for i, scalar in enumerate(self._scalars):
            slot, table = binding.slot_of.get(scalar.root.node.label), self._table(scalar)
            if slot is not None:
                binding.slots.set_address(slot, address_of(table) + table.itemsize * i)

    def _table(self, scalar: Any) -> np.ndarray:
        return self._floats if scalar.dtype.is_floating_point else self._integers

    def find(self, call_arguments: Any) -> bool:
        """Read all numbers for this call; False if the recording does not hold for them."""
        return not self.sources or self._find(call_arguments)

    def _find(self, call_arguments: Any) -> bool:
        given = []
        try:
            for source in self.sources:
                value = value_of(source.spots[0].read(call_arguments))
                for other in source.spots[1:]:
                    if not same_number(value_of(other.read(call_arguments)), value):
                        return False
                given.append(value)
        except NOT_THERE:
            return False
        return self.take(given)

    def refusing(self, call_arguments: Any) -> tuple[Any, Any] | None:
        """What the recording expects of the numbers and what it is in this call, where these differ."""
        try:
            given = [value_of(source.spots[0].read(call_arguments)) for source in self.sources]
        except NOT_THERE:
            return None
        return self._formulas.refusing(given)

    def reader(self) -> Callable[[tuple[Any, ...]], bool]:
        """`find` for calls with arguments by position."""
        spots = [spot for source in self.sources for spot in source.spots]
        paths = [spot.path for spot in spots if spot.get is None]
        if len(spots) > len(self.sources) or any(len(path) != 2 for path in paths):
            return lambda args: self._find((args, {}))
        return self.reader_of({path: path[1] for path in paths})

    def reader_of(self, positions: Mapping[Path, int]) -> Callable[[Sequence[Any]], bool]:
        """`find` for the leaves of a call's inputs by the positions of their paths, and behind them, last, the
        inputs themselves."""
        if not self.sources:
            return lambda args: True
        if any(len(source.spots) > 1 for source in self.sources):
            return lambda args: self._find(args[-1])
        spots = [source.spots[0] for source in self.sources]
        gets = [operator.itemgetter(positions[s.path]) if s.get is None else _reading(s) for s in spots]

        def read(args: Sequence[Any]) -> bool:
            try:
                given = [get(args) for get in gets]
            except NOT_THERE:
                return False
            return self.take(given)

        return read

    def take(self, given: list[Any]) -> bool:
        """These are the sources' numbers; False if the recording does not hold for them."""
        if self.values and all(map(is_, given, self._given)):
            return True
        if any(type(value) is not kind for value, kind in zip(given, self._kinds, strict=True)):
            return False
        if self._compares and any(map(is_nan, given)):
            return False
        values = self._formulas.evaluate(given)
        if values is None:
            return False
        try:
            converted = [scalar.of(values[scalar.position]) for scalar in self._scalars]
        except (OverflowError, ValueError):
            return False
        for i, (scalar, value) in enumerate(zip(self._scalars, converted, strict=True)):
            self._table(scalar)[i] = value
        self._given, self.values = given, values
        return True

    def accepts(self, before: SymbolicInputs) -> bool:
        """True if the recording holds for the numbers that another one was made with: it opens more places."""
        numbers = {spot.label: number for spot, number in before.snapshot}
        opened = {spot.label for source in self.sources for spot in source.spots}
        for spot, number in self._snapshot:
            if spot.label not in opened and not same_number(numbers.get(spot.label), number):
                return False
        given = [numbers.get(source.spots[0].label) for source in self.sources]
        agree = all(
            type(value) is source.kind and all(same_number(numbers.get(spot.label), value) for spot in source.spots)
            for value, source in zip(given, self.sources, strict=True)
        )
        return agree and self._formulas.evaluate(given) is not None

    def arrays(self) -> list[tuple[str, np.ndarray]]:
        """Where the inputs of the graph lie that are made of numbers."""
        return [
            (scalar.root.node.label, self._table(scalar)[i : i + 1].reshape(()))
            for i, scalar in enumerate(self._scalars)
        ]

    def tensors(self) -> dict[str, Tensor]:
        """The inputs of the last call that was looked at, by label, for a backward pass that comes later."""
        return {
            scalar.root.node.label: make(self._table(scalar)[i].copy().reshape(()))
            for i, scalar in enumerate(self._scalars)
        }
