"""Which nodes of a graph that is being made are differentiable functions of certain inputs."""

from __future__ import annotations

from collections.abc import Iterator

from .graph import Node


class Leading:
    """Knows of each node that was asked for whether a derivative goes on from it to one of the inputs `ends`."""

    def __init__(self) -> None:
        self.ends: set[Node] = set()
        self._known: dict[Node, bool] = {}

    def leads_on(self, node: Node) -> bool:
        """Whether it is a differentiable function of one of the `ends`."""
        stack = [node]
        while stack:
            asked = stack[-1]
            if asked in self._known:
                stack.pop()
            elif asked in self.ends or any(self._known.get(arg, False) for arg in _differentiated(asked)):
                self._known[asked] = True
            elif unknown := [arg for arg in _differentiated(asked) if arg not in self._known]:
                stack += unknown
            else:
                self._known[asked] = False
        return self._known[node]

    def clear(self) -> None:
        """Keep no nodes alive."""
        self._known.clear()


def _differentiated(node: Node) -> Iterator[Node]:
    """The operands that have a derivative."""
    if not node.type.dtype.is_floating_point:
        return
    for i, arg in enumerate(node.args):
        if node.op.derivative(i) is not None:
            yield arg
