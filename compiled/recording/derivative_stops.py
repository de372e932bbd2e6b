"""Where derivatives stop: the graph of a recording has to end where the tape does.

The graph knows values by their memory, the tape knows tensors: two of these may show one memory, and only one of them
has its history. So each operation that is put on the tape says of each operand whether a gradient goes on to what
its memory was computed of. Where it does not, the graph has a ``detach``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...compiler.roots import is_tracked
from ...tape.grad_mode import switches


def stops_of(operands: Sequence[Any]) -> tuple[bool, ...]:
    """For each operand of an operation whether derivatives stop there; () for one that is not put on the tape."""
    if not switches.enabled:
        return ()
    for operand in operands:  # a generator would cost more than this
        if getattr(operand, "requires_grad", False):
            return tuple([not leads_on(each) for each in operands])
    return ()


def leads_on(array: Any) -> bool:
    """Whether a gradient of `array` goes on to what its memory was computed of. It does not where there is no history,
    nor from a view of a view that has none, which has a node that leads nowhere."""
    if not is_tracked(array):
        return False
    node = array._node
    if node is None:
        return True  # a leaf
    while node is not None and node.is_of_view():
        node = node.edges[0].node
    return node is not None


def leads_straight(part: Any, whole: Any) -> bool:
    """Whether the history of `part`, a view, is that of `whole` with nothing but views between."""
    end = whole.gradient_edge().node
    node = part.grad_fn
    while node is not None and node is not end and node.is_of_view():
        node = node.edges[0].node
    return node is not None and node is end
