"""Tensors of nested lists in which some numbers are other ones at each call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..ops import movement
from ..ops.array import eager
from ..ops.identity import copy
from ..ops.numbers import now, stands_in
from ..ops.sources import full
from ..ops.types import DType
from .data import EXACT_NUMBERS, values_of

MOST = 64  # numbers of one tensor that are inputs of the graph; a longer list is a constant


def numbers_that_vary(data: Any) -> list[Any]:
    """All numbers of nested lists, if some but not too many of them are stand-ins (`ops.numbers`)."""
    if not isinstance(data, (list, tuple)) or not _may_vary(data):
        return []
    numbers = list(_items(data))
    return numbers if 0 < sum(map(stands_in, numbers)) <= MOST else []


def _may_vary(data: Any) -> bool:
    """False for nested lists of nothing but numbers that are none but themselves, which is seen row by row."""
    if EXACT_NUMBERS.issuperset(map(type, data)):
        return False
    return any(_may_vary(item) if isinstance(item, (list, tuple)) else type(item) not in EXACT_NUMBERS for item in data)


def _items(data: Any) -> Iterator[Any]:
    for item in data:
        if isinstance(item, (list, tuple)):
            yield from _items(item)
        else:
            yield item


def literal_of(data: Any, numbers: list[Any], dtype: DType | None) -> Any:
    """The tensor of `data`, whose numbers in order are `numbers`; stand-ins become inputs of the graph."""
    values = values_of(_now(data), dtype)
    whole = eager().literal(values)
    flat = whole if values.ndim == 1 else movement.reshape(whole, (values.size,))
    parts, done = [], 0
    for i, number in enumerate([*numbers, None]):
        if i == len(numbers) or stands_in(number):
            if done < i:
                parts.append(movement.slice(flat, (done,), (i,), (1,)))
            if i < len(numbers):
                parts.append(full((1,), number, whole.dtype))
            done = i + 1
    joined = movement.concatenate(parts, 0)
    return joined if values.ndim == 1 else copy(movement.reshape(joined, values.shape))


def _now(data: Any) -> Any:
    return [_now(item) for item in data] if isinstance(data, (list, tuple)) else now(data)
