"""From what a call gives back to the line of the user's program that computes it, by way of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import ml_dtypes

from ...compiler.graph import Graph, Node, topological
from ...tensors.tensor import Tensor
from ..common.classes import is_a

# Arithmetic of one rounding, and what only moves numbers: the same bits in both ways.
_SAME_BITS = frozenset(
    "add sub mul div neg abs sqrt reciprocal cast where maximum minimum ceil floor round trunc sign copysign amax amin "
    "copy detach full iota reshape transpose broadcast slice update_slice concatenate flip pad strided unfold window "
    "diagonal spread take gather pick put scatter permutation uniform24 uniform53".split()
)

Key = tuple[str, Any]  # the kind of a result, and the tensor or the path in the returned structure


class Provenance:
    """Names and lines for one specialisation; without one, names only. `gradients` are the tensors that were ``.grad``
    before the call, by the identities of those whose they are."""

    def __init__(self, specialisation: Any, gradients: Mapping[int, Tensor]) -> None:
        self._graph: Graph | None = None if specialisation is None else specialisation.program.graph
        roots = [] if specialisation is None else specialisation.recording.recorder.roots
        self._names = {id(root.array): root.node.label for root in roots}
        self._gradients = gradients

    def name(self, key: Key) -> str:
        """What the user calls it: the parameter, or the place in the result."""
        kind, what = key
        if kind == "result":
            return "result" + "".join(f"[{part!r}]" for part in what)
        return self._names.get(id(what)) or what.label or "a tensor"

    def line(self, key: Key) -> str:
        """``∂ model.py:4 fc1``; empty if it is not known."""
        node = self._node(key)
        return "" if node is None else next((str(n.origin) for n in _behind(node) if str(n.origin)), "")

    def coarsest(self, key: Key) -> str:
        """The floating type with the fewest digits in which something behind a result is computed that the two ways may
        round differently: a result in float64 of a sum in float32 is no more exact than that. "" if it is not known."""
        node = self._node(key)
        found = set() if node is None else {n.type.dtype for n in _behind(node) if _may_differ(n)}
        return max(found, key=lambda dtype: float(ml_dtypes.finfo(dtype.numpy).eps)).name if found else ""

    def suspects(self, wrong: Iterable[Key], right: Iterable[Key]) -> list[str]:
        """The lines that wrong results come from and right ones do not, in the program's order."""
        innocent = set(topological(n for n in map(self._node, right) if n is not None))
        behind = topological(n for n in map(self._node, wrong) if n is not None)
        return list(dict.fromkeys(str(n.origin) for n in behind if n not in innocent and str(n.origin)))

    def _node(self, key: Key) -> Node | None:
        if self._graph is None:
            return None
        kind, what = key
        if kind == "result":
            return self._graph.result("_".join(("result", *map(str, what))))
        if kind == "updated":
            return self._graph.result(f"new_{self._label(what)}")
        of_its_own = self._graph.result(f"{self._label(what)}_grad")
        if of_its_own is not None or id(what) not in self._gradients:
            return of_its_own
        return self._graph.result(f"new_{self._label(self._gradients[id(what)])}")  # what was there is added to

    def _label(self, what: Any) -> str:
        return self._names.get(id(what)) or (what.label if is_a(what, Tensor) else "") or "tensor"


def _may_differ(node: Node) -> bool:
    is_exact = node.is_input or node.is_constant or node.op.name in _SAME_BITS
    return node.type.dtype.is_floating_point and not is_exact


def _behind(node: Node) -> Iterable[Node]:
    """The node, then its operands, the nearest first."""
    seen, queue = {node}, [node]
    for each in queue:
        yield each
        queue += [a for a in each.args if a not in seen]
        seen.update(each.args)
