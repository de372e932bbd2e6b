"""The condensed graph: groups of nodes as an acyclic graph that stays one while groups join.

Which groups come before another is a bit set, with a bit for each group of the beginning. A join changes the sets of
those groups alone that follow one of the joined groups and not the others, so that asking is cheap and no path is
searched for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Generic, TypeVar

G = TypeVar("G")


class Condensed(Generic[G]):
    """Groups with the groups that they read directly (`before`), and that read them (`after`)."""

    def __init__(self, before: Mapping[G, Iterable[G]]) -> None:
        """`before` is in topological order: what a group reads comes before it."""
        self.before: dict[G, set[G]] = {group: set(others) for group, others in before.items()}
        self.after: dict[G, set[G]] = {group: set() for group in before}
        self._own: dict[G, int] = {group: 1 << place for place, group in enumerate(before)}
        self._ancestors: dict[G, int] = {}
        for group, others in self.before.items():
            for other in others:
                self.after[other].add(group)
            self._ancestors[group] = self._known(others)

    def __contains__(self, group: G) -> bool:
        return group in self.before

    def precedes(self, earlier: G, later: G) -> bool:
        """True where a path leads from `earlier` to `later`."""
        return bool(self._ancestors[later] & self._own[earlier])

    def between(self, earlier: G, later: G, fits: Callable[[G], bool]) -> set[G] | None:
        """The groups on paths from `earlier` to `later`; None as soon as one of them does not fit."""
        found: set[G] = set()
        pending = [later]
        while pending:
            for group in self.before[pending.pop()]:
                if group is earlier or group in found or not self.precedes(earlier, group):
                    continue
                if not fits(group):
                    return None
                found.add(group)
                pending.append(group)
        return found

    def is_convex(self, parts: set[G]) -> bool:
        """True where no path leads from one of `parts` to another through a group that is none of them."""
        own = reduce(or_, (self._own[part] for part in parts))
        return not any(self._ancestors[group] & own for part in parts for group in self.before[part] - parts)

    def join(self, parts: set[G], joined: G) -> None:
        """Put `joined` in the place of `parts`, among which are all groups between any two of them."""
        own = reduce(or_, (self._own.pop(part) for part in parts))
        ancestors = reduce(or_, (self._ancestors.pop(part) for part in parts)) & ~own
        before = set[G]().union(*(self.before.pop(part) for part in parts)) - parts
        after = set[G]().union(*(self.after.pop(part) for part in parts)) - parts
        for table, neighbours in ((self.after, before), (self.before, after)):
            for group in neighbours:
                table[group] -= parts
                table[group].add(joined)
        self.before[joined], self.after[joined] = before, after
        self._own[joined], self._ancestors[joined] = own, ancestors
        self._spread(joined)

    def _spread(self, joined: G) -> None:
        """What follows `joined` follows all of it. A set that has the news has passed it on already."""
        known = self._known((joined,))
        pending = list(self.after[joined])
        while pending:
            group = pending.pop()
            if known & ~self._ancestors[group]:
                self._ancestors[group] |= known
                pending.extend(self.after[group])

    def _known(self, groups: Iterable[G]) -> int:
        """The bits of `groups` and of all that comes before them."""
        return reduce(or_, (self._own[group] | self._ancestors[group] for group in groups), 0)
