"""What optimizers declare to compiled functions: which objects they are made of, and who counts their changes."""

from __future__ import annotations

from typing import Any

from ..tracing.declares import Declares
from ..tracing.watch import WatchedDict, WatchedList


def _groups(optimizer: Any) -> Any:
    return optimizer.__dict__.get("param_groups", ())


def _parameters(optimizer: Any) -> list[Any]:
    return [p for group in _groups(optimizer) for p in dict.get(group, "params", ())]


def _objects(optimizer: Any) -> list[Any]:
    """The state, the groups, their lists and parameters."""
    groups = _groups(optimizer)
    objects = [optimizer.__dict__.get("state"), groups, *groups]
    for group in groups:
        params = dict.get(group, "params", ())
        objects += [params, *params]
    return objects


def _is_counted(optimizer: Any) -> bool:
    """True while nobody can change a group without being counted: all lists and dicts are the library's."""
    groups = _groups(optimizer)
    return type(groups) is WatchedList and all(
        isinstance(group, WatchedDict) and type(dict.get(group, "params")) is WatchedList for group in groups
    )


OPTIMIZER = Declares(
    "options",
    apart=frozenset({"param_groups", "state", "_opt_called", "_recorded", "_watched_step", "fused_step"}),
    parts=_parameters,
    made_of=_objects,
    is_counted=_is_counted,
)
