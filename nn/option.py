"""Flags of modules: attributes that a call declares to read, such as `training`, which many programs set."""

from __future__ import annotations

from typing import Any

from ..tracing.watch import changes, declare_set, declare_transient
from .recording import declared, is_made_here


class Option:
    """A data descriptor: an instance attribute whose reads are guards of a recording.

    A compiled function notices when it is set to something else and records anew. `changes` counts that as `kind`.
    """

    def __init__(self, kind: str = "modules") -> None:
        self.kind = kind

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return declared(instance, self.name, lambda: self._value(instance), self.kind)

    def __set__(self, instance: Any, value: Any) -> None:
        if not is_made_here(instance):
            name = f"{self.name} of a {type(instance).__name__}"
            if not declare_set(name, lambda: instance.__dict__.get(self.name), value):
                declare_transient(f"the call sets {name}")
        before = instance.__dict__.get(self.name, self)
        dict.__setitem__(instance.__dict__, self.name, value)
        if value is not before:
            setattr(changes, self.kind, getattr(changes, self.kind) + 1)

    def _value(self, instance: Any) -> Any:
        try:
            return instance.__dict__[self.name]
        except KeyError:
            raise AttributeError(f"{type(instance).__name__!r} object has no attribute {self.name!r}") from None
