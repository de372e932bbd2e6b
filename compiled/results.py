"""What a call returns: the recorded result's structure, with new tensors or the very arguments in their places."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..autograd.nodes import SECOND_BACKWARD
from ..autograd.nodes import Node as TapeNode
from ..autograd.tensor import Tensor
from .recording import Recording, is_spent
from .structure import at, rebuilt


class Spent(TapeNode):
    """The history of a result whose graph was already used by ``backward()`` inside the compiled call."""

    def __init__(self, title: str) -> None:
        super().__init__(title, ())

    def backward(self, cotangents: Any, wanted: Any) -> list[Any]:
        raise RuntimeError(SECOND_BACKWARD)


@dataclass(frozen=True)
class FreshOutput:
    """A tensor that each call makes anew. `live` says that the graph behind it can still be differentiated; where a
    ``backward()`` inside the function has used it up, `spent` stands for it."""

    live: bool = False
    spent: Spent | None = None


@dataclass(frozen=True, eq=False)
class Placed:
    """A leaf of the result that is filled at each call: ``fill(fresh tensors, (args, kwargs))``."""

    fill: Callable[[list[Tensor], Any], Any]


class Results:
    """How to hand out the results of one specialisation."""

    def __init__(self, recording: Recording) -> None:
        self._paths = {id(root.array): path for path, root in recording.arguments}
        self._recording = recording
        self._places: dict[int, Placed] = {}
        self.fresh: list[FreshOutput] = []
        self._tree = rebuilt(recording.result, self._placed)

    def hand_out(self, fresh: list[Tensor], call_arguments: Any) -> Any:
        """The result of one call."""
        if isinstance(self._tree, Placed):
            return self._tree.fill(fresh, call_arguments)
        return rebuilt(self._tree, lambda leaf: leaf.fill(fresh, call_arguments) if isinstance(leaf, Placed) else leaf)

    def _placed(self, leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        path = self._paths.get(id(leaf))
        if path is not None:
            return Placed(lambda _, call_arguments: at(call_arguments, path))
        if self._recording.is_root(leaf):
            return leaf
        if id(leaf) not in self._places:
            self._places[id(leaf)] = self._new_fresh(leaf)
        return self._places[id(leaf)]

    def _new_fresh(self, tensor: Tensor) -> Placed:
        index = len(self.fresh)
        node = tensor.grad_fn
        if node is None:
            self.fresh.append(FreshOutput())
        else:
            self.fresh.append(FreshOutput(spent=Spent(node.name())) if is_spent(node) else FreshOutput(live=True))
        return Placed(lambda fresh, _: fresh[index])
