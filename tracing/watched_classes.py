"""Whether a public class of this package still has the members that it was imported with: methods can be patched.

`nn.Module` and the others have Python's own metaclass, as in PyTorch, so that programs may give their subclasses
another one; nothing of theirs is called when a member is set. But CPython counts the versions of classes, for its cache
of methods: setting a member makes the version of the class and of all its subclasses invalid, until a member is looked
up the next time. So a *witness* is kept that inherits from all public classes, and on which nobody looks up anything.
"""

from __future__ import annotations

import atexit
import ctypes
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..ops.callers.source_files import title_of_written
from .watch import changes

_VALID_VERSION = 1 << 19  # of a type's flags, up to Python 3.12
_IN_PYTHON = 1 << 9  # of a type's flags: made by a class statement
_HAS_WATCHERS = sys.version_info >= (3, 12)
_MOST = 500  # looks after which each call compares the members: CPython gives a class 1000 versions (3.13)
_NOT_THERE = object()
_COMPILER = {"compiled", "compiler", "runtime"}  # what replays is not what is replayed


# What Python itself keeps in a class once it has been pickled or copied.
_CACHES = frozenset({"__slotnames__"})


class Patches:
    """What is not as it was imported; the same object for the same members."""

    __slots__ = ("__weakref__", "members")

    def __init__(self, members: dict[tuple[type, str], Any]) -> None:
        self.members = members

    def __repr__(self) -> str:
        return f"<{', '.join(f'{kind.__name__}.{name}' for kind, name in self.members) or 'as imported'}>"


class ClassWatch:
    """All public classes. `term` is a Python expression with `names` that is true while nothing was set in one."""

    def __init__(self) -> None:
        self.term = "classes.is_unchanged"
        self.names: dict[str, Any] = {"classes": self}
        self.is_unchanged = False
        self._unchanged: Callable[[], Any] = lambda: False
        self._imported: dict[type, dict[str, Any]] = {}
        self._witnesses: list[type] = []
        self._looks = 0
        self._known: weakref.WeakValueDictionary[Any, Patches] = weakref.WeakValueDictionary()
        self._now = Patches({})

    @property
    def kinds(self) -> list[type]:
        """The classes that are watched."""
        return list(self._imported)

    @property
    def flagged(self) -> list[type]:
        """The classes whose flags tell what `term` does; none where it asks for something else."""
        return [] if _HAS_WATCHERS else self._witnesses

    def is_as_looked_at(self) -> bool:
        """True if nothing was set in a class since `patches` was last asked."""
        return bool(self._unchanged())

    def counts(self, kind: type, name: str) -> bool:
        """True if `changes` counts when the class gets another member of that name, be it in one of its bases."""
        for base in kind.__mro__:
            if base not in self._imported:
                return False
            if name in vars(base):
                return True
        return False

    def begin(self, kinds: Iterable[type]) -> None:
        """From now on watch `kinds`."""
        self._imported = {kind: dict(vars(kind)) for kind in kinds}
        self._witnesses = _witnesses(self._imported)
        if _HAS_WATCHERS:
            _call_on_change(self._changed, self._witnesses)
        else:
            self.names = {f"witness{i}": witness for i, witness in enumerate(self._witnesses)}
            self.term = " & ".join([*(f"{name}.__flags__" for name in self.names), str(_VALID_VERSION)])
        self._unchanged = eval(compile(f"lambda: {self.term}", title_of_written("classes"), "eval"), dict(self.names))
        self._look()

    def patches(self) -> Patches:
        """What is not as it was imported, now."""
        if not self._unchanged():
            self._look()
        return self._now

    def _look(self) -> None:
        self._looks += 1
        if not _HAS_WATCHERS or self._looks <= _MOST:
            for witness in self._witnesses:
                getattr(witness, "_", None)  # before the members are read: what is set meanwhile is noticed
            self.is_unchanged = True
        found = dict(self._differences())
        key = frozenset((kind, name, id(value)) for (kind, name), value in found.items())
        before, self._now = self._now, self._known.setdefault(key, Patches(found))
        if before is not self._now:
            changes.count += 1

    def _differences(self) -> Iterator[tuple[tuple[type, str], Any]]:
        for kind, imported in self._imported.items():
            now = dict(vars(kind))
            for name in {**imported, **now}.keys() - _CACHES:
                if name == "__annotations__" and not now.get(name) and not imported.get(name):
                    continue  # a class without annotations that is asked for them gets some
                if now.get(name, _NOT_THERE) is not imported.get(name, _NOT_THERE):
                    yield (kind, name), now.get(name, _NOT_THERE)

    def _changed(self, kind: type) -> int:
        self.is_unchanged = False
        return 0


class _Quiet:
    """First among a witness's bases: it is no subclass that a class should hear of."""

    __slots__ = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        pass


def _witnesses(kinds: Iterable[type]) -> list[type]:
    """A few classes that together inherit from all of `kinds`: not all layouts of objects go together."""
    bases = {base for kind in kinds for base in kind.__mro__[1:]}
    by_layout: dict[type, list[type]] = {object: []}
    for kind in kinds:
        if kind not in bases:
            by_layout.setdefault(_layout(kind), []).append(kind)
    plain, *others = by_layout.values()
    first, *rest = others or [[]]
    return [witness for group in ([*plain, *first], *rest) for witness in _inheriting(group)]


def _layout(kind: type) -> type:
    """The class that says what the objects of `kind` hold: it has slots, or is made in C."""
    while kind.__flags__ & _IN_PYTHON and not {*vars(kind).get("__slots__", ())} - {"__dict__", "__weakref__"}:
        kind = kind.__base__ or object
    return kind


def _inheriting(kinds: list[type]) -> list[type]:
    """A class that inherits from all of `kinds`; more of them where their orders of bases do not go together."""
    try:
        return [types.new_class("Witness", (_Quiet, *kinds))]
    except TypeError:
        half = len(kinds) // 2
        return _inheriting(kinds[:half]) + _inheriting(kinds[half:])


_callbacks: list[Any] = []


def _call_on_change(function: Callable[[type], int], witnesses: list[type]) -> None:
    """Let CPython call ``function(witness)`` before a member is set that `witness` would inherit."""
    callback = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object)(function)
    api = ctypes.pythonapi
    api.PyType_Watch.argtypes = [ctypes.c_int, ctypes.py_object]
    number = api.PyType_AddWatcher(callback)
    for witness in witnesses:
        api.PyType_Watch(number, witness)
    _callbacks.append(callback)  # CPython calls it in processes that forget what they would do at their end, too
    atexit.register(api.PyType_ClearWatcher, number)


classes = ClassWatch()


def watch_classes(package: str) -> None:
    """Watch the classes that the packages in `package` offer, and their bases."""
    offered: dict[type, None] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == package and hasattr(module, "__path__"):
            offered.update((value, None) for value in vars(module).values() if isinstance(value, type))
    bases = dict.fromkeys(base for kind in offered for base in kind.__mro__)
    watched = [kind for kind in bases if _is_ours(kind, package)]
    classes.begin(sorted(watched, key=lambda kind: (kind.__module__, kind.__qualname__)))


def _is_ours(kind: type, package: str) -> bool:
    root, *folder = kind.__module__.split(".")
    is_computing = root == package and not set(folder[:1]) & _COMPILER
    is_plain = type(kind) is type or "is_parameter" in vars(kind)  # Parameter's metaclass answers isinstance alone
    return is_plain and is_computing and not issubclass(kind, Exception)
