"""What optimizers declare to compiled functions: which objects they are made of, and who counts their changes."""

from __future__ import annotations

from typing import Any

from ..tracing.declares import Declares
from ..tracing.watch import WatchedDict, WatchedList
from .hooks import HOOKS


def _groups(optimizer: Any) -> Any:
    return optimizer.__dict__.get("param_groups", ())


def _parameters(optimizer: Any) -> list[Any]:
    return [p for group in _groups(optimizer) for p in dict.get(group, "params", ())]


def _parts(optimizer: Any) -> list[Any]:
    """Parameters, and the hooks around a step."""
    tables = (optimizer.__dict__.get(name) or {} for name in HOOKS[:2])
    return [*_parameters(optimizer), *(hook for table in tables for hook in table.values())]


def _objects(optimizer: Any) -> list[Any]:
    """The state, the groups, their lists and parameters."""
    groups = _groups(optimizer)
    objects = [optimizer.__dict__.get("state"), groups, *groups]
    for group in groups:
        params = dict.get(group, "params", ())
        objects += [params, *params]
    return objects


def _is_counted(optimizer: Any) -> bool:
    """True while nobody can change a group without being counted: all lists and dicts are the library's, and the
    optimizer is made."""
    groups = _groups(optimizer)
    return (
        not optimizer._in_making
        and type(groups) is WatchedList
        and all(isinstance(group, WatchedDict) and type(dict.get(group, "params")) is WatchedList for group in groups)
    )


_MARKS = ("_opt_called", "_recorded", "_watched_step", "fused_step", "_in_step", "_in_making", "_latest_call")
_APART = ("param_groups", "state", *_MARKS, *HOOKS)

OPTIMIZER = Declares(
    "options",
    apart=frozenset(_APART),
    parts=_parts,
    made_of=_objects,
    is_counted=_is_counted,
)
