"""The results of many steps as one: tensors stacked along a new first axis, leaf by leaf."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.core import current
from ...ops.movement import concatenate, reshape
from ...tensors.overriding import overrides
from ...tensors.tensor import EAGER, Tensor, make
from ..common.autograd_graph import is_spent
from ..common.classes import is_a
from ..common.pytree import filled, rebuilt


@dataclass(frozen=True, eq=False)
class Rows:
    """A leaf of several steps: the numbers of a tensor in each of them, along the first axis."""

    array: np.ndarray

    def values(self) -> list[Any]:
        return [make(row.copy()) for row in self.array]


@dataclass(frozen=True, eq=False)
class Tracked:
    """A leaf of one step: a tensor with a history, or one that nobody may look at yet."""

    tensor: Tensor

    def values(self) -> list[Any]:
        return [self.tensor]


@dataclass(frozen=True, eq=False)
class Values:
    """A leaf of several steps that is no tensor."""

    items: list[Any]

    def values(self) -> list[Any]:
        return self.items


class StackedResults:
    """What steps have returned, in order."""

    def __init__(self) -> None:
        self._trees: list[Any] = []
        self._told = 0  # how many of `_trees` were in `latest` before

    def add(self, result: Any) -> None:
        """The result of one step, with the numbers that its tensors have now."""
        self._trees.append(rebuilt(result, _of_one_step))

    def add_many(self, tree: Any) -> None:
        """The results of several steps: a tree of `Rows` and `Values`."""
        self._trees.append(tree)

    def latest(self) -> Any:
        """Those that were added since this was last asked for."""
        first, self._told = self._told, len(self._trees)
        return _joined(self._trees[first:])

    def all(self) -> Any:
        """All of them."""
        return _joined(self._trees)


def _of_one_step(leaf: Any) -> Rows | Tracked | Values:
    if not is_a(leaf, Tensor) or overrides(type(leaf)):
        return Values([leaf])
    if current() is not EAGER or _is_live(leaf):
        return Tracked(leaf.clone())
    return Rows(np.array(leaf.ndarray, order="C")[None])


def _is_live(tensor: Tensor) -> bool:
    """True if it can still be differentiated."""
    return tensor.is_tracked() and (tensor.grad_fn is None or not is_spent(tensor.grad_fn))


def _joined(trees: list[Any]) -> Any:
    if not trees:
        return []
    structure = rebuilt(trees[0], _no_leaf)
    if any(rebuilt(tree, _no_leaf) != structure for tree in trees[1:]):
        return [result for tree in trees for result in _one_by_one(tree)]
    columns = iter([_stacked(column) for column in zip(*map(filled, trees), strict=True)])
    return rebuilt(trees[0], lambda leaf: next(columns))


def _no_leaf(leaf: Any) -> None:
    return None


def _one_by_one(tree: Any) -> list[Any]:
    columns = [leaf.values() for leaf in filled(tree)]
    if not columns:
        return [tree]
    rows = [iter(row) for row in zip(*columns, strict=True)]
    return [rebuilt(tree, lambda leaf, row=row: next(row)) for row in rows]  # type: ignore[misc]


def _stacked(column: tuple[Any, ...]) -> Any:
    """One leaf of all steps."""
    types = {_row_type(leaf) for leaf in column}
    if len(types) > 1 or None in types:
        values = [value for leaf in column for value in leaf.values()]
        return None if all(value is None for value in values) else values
    if all(is_a(leaf, Rows) for leaf in column):
        return make(np.concatenate([leaf.array for leaf in column]))
    return concatenate([_with_axis(leaf) for leaf in column], 0)


def _row_type(leaf: Any) -> Any:
    if is_a(leaf, Rows):
        return leaf.array.dtype, leaf.array.shape[1:]
    return (leaf.tensor.ndarray.dtype, leaf.tensor.ndarray.shape) if is_a(leaf, Tracked) else None


def _with_axis(leaf: Any) -> Any:
    if is_a(leaf, Rows):
        return make(leaf.array)
    return reshape(leaf.tensor, (1, *leaf.tensor.ndarray.shape))
