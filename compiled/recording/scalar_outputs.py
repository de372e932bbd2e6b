"""Numbers that a recorded function only passes on: returned, or appended to lists outside of it.

In the recorded call ``item()`` gives the number of eager mode, an object that is known again by its identity. When the
call is done, such numbers are looked for where `escape_analysis.py` says that they go, and a replay puts numbers of its
own there. Of small ints Python has one object each: for these an instance of a subclass goes there until the call is
done.
"""

from __future__ import annotations

import types
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from ...compiler.graph import Origin
from ...ops.identity import copy
from ...tensors.tensor import Tensor
from ..common.callables import function_of
from ..common.classes import is_a
from ..common.collection import referrers
from ..common.pytree import containers, leaves, rebuilt
from ..guards.environment import Environment
from ..guards.sources import Source
from ..guards.states import is_one_object
from ..guards.value_guard import ValueGuard
from ..guards.value_kinds import own_attributes
from .escape_analysis import appended_lists, escape_at, only_appends
from .validity import refusal


class MarkedFloat(float):
    """Stands in results for the number of `tensor`, which the recording knows; made at a line of the program."""

    tensor: Tensor
    place: str


class MarkedInt(int):
    """The same for integers."""

    tensor: Tensor
    place: str


MARKED = (MarkedFloat, MarkedInt)


@dataclass(frozen=True)
class Appends:
    """What a call appends to one list, which is at `source`; `numbers` are those of the recorded call."""

    source: Source
    numbers: tuple[Any, ...]


class ScalarOutputs:
    """The marked numbers of one recorded call of `function`."""

    def __init__(self, function: Any) -> None:
        inner = function_of(function)
        self._code: Any = None if inner is None else inner.__code__
        self._given: list[Any] = []  # to the program,
        self._marked: list[Any] = []  # and what stands for it: itself where it is a small int
        self.is_gone = False  # small ints were made plain while the call was under way
        self._receivers: set[tuple[str, ...]] = set()
        self.appends: list[Appends] = []

    def mark(self, tensor: Tensor, frame: types.FrameType, caller: types.CodeType, is_alone: bool) -> Any:
        """The number of `tensor`, or None if the function may do more with it than pass it on, or if somebody else
        would find an instance of a subclass in a list.

        `frame` is the user's; it must be the recorded function itself, called from `caller`.
        """
        called_by = None if frame.f_back is None else frame.f_back.f_code
        value = tensor.ndarray.item()
        if frame.f_code is not self._code or called_by is not caller or type(value) not in (float, int):
            return None
        passing = escape_at(frame)
        if passing is None or not all(_is_list(frame, receiver) for receiver in passing.lists):
            return None
        if is_one_object(value) and passing.lists and not is_alone:
            return None
        number = MarkedFloat(value) if is_a(value, float) else MarkedInt(value)
        number.tensor = copy(tensor.detach())
        number.place = str(Origin(frame.f_code.co_filename, frame.f_lineno))
        self._marked.append(number)
        self._given.append(number if is_one_object(value) else value)
        self._receivers |= passing.lists
        return self._given[-1]

    def _known(self, leaf: Any) -> Any:
        """What stands for a number that the program was given; anything else as it is."""
        pairs = zip(self._given, self._marked, strict=False)
        return next((marked for given, marked in pairs if given is leaf), leaf)

    def _knows(self, leaf: Any) -> bool:
        return any(given is leaf for given in self._given)

    def settle(self, environment: Environment, result: Any) -> tuple[Any, Any]:
        """`result` with what stands for numbers of tensors, and with plain ones, which lists outside get as well.

        CaptureError if a number is not where it must be, and then, too, nobody but the caller sees a small int's.
        """
        if not self._marked or self.is_gone:
            self._leave_out_appended(environment)
            return result, plain(result)
        try:
            self._find_appends(environment)
            self._leave_out_appended(environment)
            self._check_all_found(result)
        finally:
            marked = rebuilt(result, self._known)
            self.make_plain(marked)
        return marked, plain(result)

    def _find_appends(self, environment: Environment) -> None:
        for fact in list(environment.facts):
            now = fact.source.now()
            if type(now) is list and any(map(self._knows, now)):
                if not self._is_only_appended(fact, now, environment):
                    raise refusal(
                        f"the function appends a number to {fact.name} and does more with that list",
                        f"at {next(self._known(item).place for item in now if self._knows(item))}",
                        "Return the number and append it outside.",
                    )
                self.appends.append(Appends(fact.source, tuple(map(self._known, now[len(fact.state[1]) :]))))
                environment.only_a_list(fact)

    def _leave_out_appended(self, environment: Environment) -> None:
        """What is in a list that the function only appends to, be it in calls that take another way, is no fact."""
        receivers = appended_lists(self._code) if self._code is not None else set()
        for fact in list(environment.facts):
            named = [r for r in receivers if r[-1] == fact.name.rsplit(".", 1)[-1]]
            if type(fact.value) is list and len(named) == 1 and fact.source.now() is fact.value:
                if environment.places_of(fact.value) == 1 and environment.only_named_in(named[0][-1], self._code):
                    if fact.holds():  # else this call has changed it, in a way that is refused
                        environment.only_a_list(fact)

    def _is_only_appended(self, fact: ValueGuard, now: list[Any], environment: Environment) -> bool:
        """True if the list has grown by marked numbers only, and no code that was found does more than append."""
        receivers = [r for r in self._receivers if r[-1] == fact.name.rsplit(".", 1)[-1]]
        count = len(fact.state[1])
        return (
            fact.value is now
            and len(receivers) == 1
            and all(map(self._knows, now[count:]))
            and not any(map(self._knows, now[:count]))
            and environment.places_of(now) == 1
            and only_appends(self._code, receivers[0])
            and environment.only_named_in(receivers[0][-1], self._code)
        )

    def _check_all_found(self, result: Any) -> None:
        found = {id(self._known(leaf)) for _, leaf in leaves(result)}
        found.update(id(number) for appends in self.appends for number in appends.numbers)
        lost = [number for number in self._marked if id(number) not in found]
        if lost:
            raise refusal(
                "a number that the function makes of a tensor is kept where a replay could not put the next one",
                f"made at {lost[0].place}",
                "Return it, or append it to a list in a variable.",
            )

    def make_plain(self, except_in: Any = None) -> None:
        """Replace instances of subclasses in lists and dicts, wherever they are (but in this tree), by plain ones."""
        spared = {id(self._given), id(self._marked), *map(id, containers(except_in))}
        for number in self._given:
            if not is_a(number, MARKED):
                continue
            for holder in referrers([number]):
                if id(holder) in spared:
                    continue
                if type(holder) is list:
                    holder[:] = [_plain(item) if item is number else item for item in holder]
                elif type(holder) in (dict, OrderedDict):
                    holder.update({key: _plain(item) for key, item in holder.items() if item is number})

    @property
    def marks_any(self) -> bool:
        """True once the program was given a number that is to be known again."""
        return bool(self._given)

    def withdraw(self) -> bool:
        """Let nobody see an instance of a subclass from now on, though the call is under way; True if there was one."""
        if any(is_a(number, MARKED) for number in self._given):
            self.is_gone = True
            self.make_plain()
        return self.is_gone


def plain(tree: Any) -> Any:
    """`tree` with plain numbers; itself if none is marked."""
    return rebuilt(tree, _plain) if any(is_a(leaf, MARKED) for _, leaf in leaves(tree)) else tree


def _plain(value: Any) -> Any:
    if is_a(value, MarkedFloat):
        return float(value)
    return int(value) if is_a(value, MarkedInt) else value


def _is_list(frame: types.FrameType, receiver: tuple[str, ...]) -> bool:
    """True if the receiver is a plain list, found without running any code."""
    name = receiver[0]
    value = frame.f_locals.get(name, frame.f_globals.get(name))
    for attribute in receiver[1:]:
        value = (own_attributes(value) or {}).get(attribute)
    return type(value) is list
