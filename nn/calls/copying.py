"""``copy.deepcopy`` of modules: as it is by itself, but quicker at the many tables of a module that are empty."""

from __future__ import annotations

import copy
import copyreg
from typing import Any

from ...ops.types import DType
from ...tracing.watch import WatchedDict
from ...tracing.watched_order import WatchedOrder

_ITSELF = frozenset({bool, int, float, str, bytes, complex, type(None), DType})
_EMPTY_AS_A_RULE = frozenset({WatchedDict, WatchedOrder, set})
_OWN_WAYS = ("__getnewargs_ex__", "__getnewargs__")


def deepcopied(module: Any, memo: dict[int, Any]) -> Any:
    """A copy of `module`, which has no ``__deepcopy__`` of the program's."""
    kind: Any = type(module)
    if not _is_usual(kind):
        reduce = copyreg.dispatch_table.get(kind)
        made = module.__reduce_ex__(4) if reduce is None else reduce(module)
        return module if isinstance(made, str) else copy._reconstruct(module, memo, *made)  # type: ignore[attr-defined]
    new = memo[id(module)] = kind.__new__(kind)
    state = module.__getstate__()
    if type(state) is dict:
        new.__setstate__({name: _copied(value, memo) for name, value in state.items()})
    elif state is not None:
        new.__setstate__(copy.deepcopy(state, memo))
    return new


def _is_usual(kind: type) -> bool:
    """True for classes that are copied as objects are: made without arguments, then given the attributes."""
    if kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__:
        return False
    if kind in copyreg.dispatch_table or any(hasattr(kind, name) for name in _OWN_WAYS):
        return False
    return not issubclass(kind, (dict, list))  # whose items are copied as well


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in _ITSELF:
        return value
    if kind in _EMPTY_AS_A_RULE and not value and id(value) not in memo:
        made = memo[id(value)] = kind()
        return made
    return copy.deepcopy(value, memo)
