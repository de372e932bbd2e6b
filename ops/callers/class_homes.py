"""Classes that are shown under another path than the one where they are defined, as while ``torch`` names this package.

``type(x).__module__`` is then PyTorch's. Code of this package that asks whose a class is asks `home_of`.
"""

from __future__ import annotations

#: By class: the module and the name that it is defined under.
_homes: dict[type, tuple[str, str]] = {}


def home_of(kind: type) -> str:
    """The module that defines a class, whatever it is shown as."""
    return _homes[kind][0] if kind in _homes else kind.__module__


def defined_as(kind: type) -> tuple[str, str]:
    """The module that defines a class, and its qualified name there."""
    return _homes.get(kind) or (kind.__module__, kind.__qualname__)


def show_as(kind: type, module: str, name: str) -> None:
    """Let a class give another module and name as its own."""
    _homes.setdefault(kind, (kind.__module__, kind.__qualname__))
    _rename(kind, module, name)


def show_as_defined() -> None:
    """Undo all of that."""
    while _homes:
        kind, (module, name) = _homes.popitem()
        _rename(kind, module, name)


def _rename(kind: type, module: str, name: str) -> None:
    line = vars(kind).get("__firstlineno__")  # which Python 3.13 forgets with the module
    kind.__module__ = module
    if line is not None:
        kind.__firstlineno__ = line  # type: ignore[attr-defined]
    if kind.__qualname__ != name:
        kind.__qualname__, kind.__name__ = name, name.rpartition(".")[2]
