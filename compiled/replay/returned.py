"""Whose what a call returns is: the call's own, its arguments', or what the function finds without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...tensors.tensor import Tensor
from ..common.classes import is_a
from ..common.pytree import Path, leaves
from ..recording.plain_results import is_plain
from ..recording.recording import Recording
from ..recording.scalar_outputs import MARKED
from ..recording.substitution import NumberLocation
from ..symbolic.number import Computed


def gives_its_own(recording: Recording) -> bool:
    """True if a call returns what it was recorded with besides its arguments: a captured tensor, a view or a number of
    one, or an object that is found by the function."""
    arguments = {id(root.array) for _, root in recording.arguments}
    captured = {id(root.array.buffer.whole) for root in recording.recorder.roots if id(root.array) not in arguments}
    for _, leaf in leaves(recording.outcome):
        tensor = leaf.tensor if is_a(leaf, MARKED) else leaf
        if not is_a(tensor, Tensor):
            if not (is_a(leaf, Computed) or is_plain(leaf)):
                return True
        elif id(tensor) not in arguments:
            if id(tensor.buffer.whole) in captured or not recording.is_own(tensor):
                return True
    return False


def tuples_from_outside(recording: Recording) -> dict[int, Callable[[Any, Any], Any]]:
    """Where each call finds a tuple that was there before, as an argument or at a source: by its identity, in the form
    of `Results`. One that is returned is this very object."""
    found: dict[int, Callable[[Any, Any], Any]] = {}
    for fact in recording.environment.facts:
        if is_a(fact.value, tuple) and fact.value and fact.source.storage() is not None:
            found[id(fact.value)] = _as_now(NumberLocation(fact.name, fact.source, ()))
    for path, value in _tuples(recording.given, ()):
        if path and value:
            found[id(value)] = _as_now(NumberLocation("argument", None, path))
    return found


def _as_now(place: NumberLocation) -> Callable[[Any, Any], Any]:
    return lambda fresh, call_arguments: place.read(call_arguments)


def _tuples(tree: Any, path: Path) -> Iterator[tuple[Path, tuple[Any, ...]]]:
    if is_a(tree, (tuple, list, dict)):
        if is_a(tree, tuple) and len(path) > 1:  # else it is what holds the arguments
            yield path, tree
        for key, item in tree.items() if is_a(tree, dict) else enumerate(tree):
            yield from _tuples(item, (*path, key))
