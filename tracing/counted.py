"""Objects whose attributes compiled functions read: what is set in their ``__dict__``, past ``__setattr__``, counts as
a change as well."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from .watch import changes

_NOTHING = object()
C = TypeVar("C", bound="Counted")


class CountingDict(dict[str, Any]):
    """The ``__dict__`` of an object. The library's own code, which counts in its own ways, goes past these methods."""

    __slots__ = ()

    def __setitem__(self, name: str, value: Any) -> None:
        before = self.get(name, _NOTHING)
        super().__setitem__(name, value)
        changes.count += before is not value

    def setdefault(self, name: str, default: Any = None) -> Any:
        if name not in self:
            self[name] = default
        return self[name]

    def __ior__(self, other: Any) -> CountingDict:  # type: ignore[override, misc]
        self.update(other)
        return self


def _counting(name: str) -> Callable[..., Any]:
    change = getattr(dict, name)

    def changed(self: CountingDict, *args: Any, **kwargs: Any) -> Any:
        try:
            return change(self, *args, **kwargs)
        finally:
            changes.count += 1

    return changed


for _name in ("__delitem__", "update", "pop", "popitem", "clear"):
    setattr(CountingDict, _name, _counting(_name))


class Counted:
    """An object with such a ``__dict__``. Where a program gives it another one, or makes the object without this
    class's ``__new__``, compiled functions look at the attributes at each call."""

    # What it returns is said so that editors know the class of what programs make.
    def __new__(cls: type[C], *args: Any, **kwargs: Any) -> C:
        new: Any = super().__new__
        made: C = new(cls) if new is object.__new__ else new(cls, *args, **kwargs)
        object.__setattr__(made, "__dict__", CountingDict())
        return made

    def __getstate__(self) -> Any:
        """What is pickled and copied: a plain dict."""
        return dict(self.__dict__)


class _Signature:
    """The signature of a class as later Pythons find it: of `__new__` or `__init__`, as the nearest class defines."""

    def __get__(self, instance: Any, owner: type) -> inspect.Signature:
        if instance is not None:
            raise AttributeError("__signature__")  # an object's is that of its call
        for base in owner.__mro__:
            for name in ("__new__", "__init__"):
                if name in vars(base) and base is not Counted:
                    first, *others = inspect.signature(getattr(base, name)).parameters.values()
                    return inspect.Signature(others)
        return inspect.Signature()


if sys.version_info < (3, 11):  # which takes an inherited `__new__` before an inherited `__init__`
    Counted.__signature__ = _Signature()  # type: ignore[attr-defined]
