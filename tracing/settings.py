"""Process-wide settings that programs set and ask for: compiled functions that have asked notice when they change."""

from __future__ import annotations

from typing import Generic, TypeVar

from .watch import changes, declare_read, declare_set, forbid

T = TypeVar("T")


class Setting(Generic[T]):
    """One of them, under the `name` that messages give it."""

    __slots__ = ("_name", "_value")

    def __init__(self, name: str, value: T) -> None:
        self._name, self._value = name, value

    def now(self) -> T:
        """The value, for the library itself: what is computed does not depend on it."""
        return self._value

    def get(self) -> T:
        """The value, for the program: a recording keeps it as a guard."""
        value: T = declare_read(self._name, self.now)
        return value

    def set(self, value: T) -> None:
        """Set it, for good; a recording in which it changes is not replayed."""
        if not declare_set(self._name, self.now, value):
            forbid(f"changing {self._name}", "Set it outside.")
        self.put(value)

    def put(self, value: T) -> None:
        """Set it for a block, which puts it back at its end."""
        if value is not self._value:
            self._value = value
            changes.count += 1
