"""The usual call with arguments that are no tensors and numbers by position: keywords, batches, strings, flags.

A function written for one specialisation takes the containers among the arguments apart and compares the plain values;
what is left are the leaves by position, with which `fast_path.py` does the call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..common.classes import is_a
from ..common.pytree import DICTS
from ..common.written_code import each, lines, written
from .arguments import NumberArgument, TensorArgument
from .fast_path import MISS, UsualArguments, compile_call_with

if TYPE_CHECKING:
    from .specialisation import Specialisation

_PLAIN_KEYS = frozenset((str, int, bool, bytes, type(None)))
_NOTHING: dict[str, Any] = {}

SOURCE = """
def flat(args, kwargs):
    {inputs}
    try:
        {unpacked}
    except ValueError:
        return MISS
    {fixed}
    return [{leaves}, (args, kwargs)]
"""
LOOKED_UP = """
    found = find(args, kwargs)
    if found is None:
        return MISS
    args, kwargs = found
"""


class StructuredCall:
    """The usual call of one specialisation: ``call(args, kwargs)``; `MISS` means that the general way decides."""

    __slots__ = ("_call", "_flat")

    def __init__(self, flat: Callable[[Any, Any], Any], call: Callable[[Any], Any]) -> None:
        self._flat, self._call = flat, call

    def __call__(self, args: tuple[Any, ...], kwargs: dict[str, Any] = _NOTHING) -> Any:
        given = self._flat(args, kwargs)
        return MISS if given is MISS else self._call(given)


def compile_structured_call(of: Specialisation) -> StructuredCall | None:
    """The usual call of `of`, or None if its calls are never usual."""
    arguments = of.arguments
    if arguments.simple is not None or arguments.by_identity or arguments.own_containers or of.backward is not None:
        return None
    if not _has_plain_keys(arguments.skeleton):
        return None
    positions = {path: i for i, (path, _) in enumerate(arguments.leaves)}
    specs = [spec for _, spec in arguments.leaves]
    hand_out = of.results.hand_out
    usual = UsualArguments(
        [*specs, None],  # behind the leaves, the inputs themselves
        of.inputs.reader_of(positions),
        lambda fresh, given, values: hand_out(fresh, given[0][-1], values),
    )
    call = compile_call_with(of, usual)
    if call is None:
        return None
    return StructuredCall(_flattening(of), call)


def _flattening(of: Specialisation) -> Callable[[Any, Any], Any]:
    """The function that gives the leaves of a call's inputs, and the inputs behind them; `MISS` if they are others."""
    arguments, inputs = of.arguments, of.recording.inputs
    names: dict[str, Any] = {"MISS": MISS, "find": inputs.find, "fits": arguments.fits_leaf}
    unpacking = _Unpacking(names)
    _, (own, named) = arguments.skeleton
    unpacked = unpacking.lines("args", own) + unpacking.lines("kwargs", named)
    fixed = []
    for i, (_, spec) in enumerate(arguments.leaves):
        if not is_a(spec, (TensorArgument, NumberArgument)):
            names[f"value{i}"] = spec
            fixed.append(f"if l{i} is not value{i} and not fits(value{i}, l{i}): return MISS")
    source = SOURCE.format(
        inputs="pass" if inputs.are_arguments else LOOKED_UP.strip(), unpacked=lines(8, unpacked),
        fixed=lines(4, fixed), leaves=each("l{}", range(unpacking.leaves)) or "*()",
    )  # fmt: skip
    return written(source, f"arguments of {of.recording.name!r}", names)


def _has_plain_keys(skeleton: Any) -> bool:
    """True if all keys of dicts are equal to the same only, among values of their type."""
    if skeleton is None:
        return True
    kind, children = skeleton
    if kind not in DICTS:
        return issubclass(kind, (list, tuple)) and all(map(_has_plain_keys, children))
    return all(kind in _PLAIN_KEYS and _has_plain_keys(child) for (kind, _), child in children)


class _Unpacking:
    """Writes the lines that take containers apart."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.leaves = 0
        self._names = names
        self._containers = 0

    def lines(self, name: str, skeleton: Any) -> list[str]:
        """`name` is a container like `skeleton` (`pytree.skeleton`), or it is a miss; its leaves become variables, in
        the order of `pytree.leaves`: what is in an inner container comes before what follows it."""
        kind, children = skeleton
        at, self._containers = self._containers, self._containers + 1
        self._names[f"kind{at}"] = kind
        checks, items = [f"if type({name}) is not kind{at}: return MISS"], name
        if kind in DICTS:
            self._names[f"keys{at}"] = tuple(key for (_, key), _ in children)
            self._names[f"kinds{at}"] = [kind for (kind, _), _ in children]
            checks.append(f"if tuple({name}) != keys{at} or [*map(type, {name})] != kinds{at}: return MISS")
            children, items = [child for _, child in children], f"{name}.values()"
        parts: list[str] = []
        inner: list[str] = []
        for i, child in enumerate(children):
            parts.append(f"l{self._next_leaf()}" if child is None else f"c{at}_{i}")
            inner += [] if child is None else self.lines(parts[-1], child)
        return [*checks, f"[{', '.join(parts)}] = {items}", *inner]

    def _next_leaf(self) -> int:
        self.leaves += 1
        return self.leaves - 1
