"""When a call that has been noted gets a function for the calls that come at the same point of the tree of events."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any

from ..common.expenses import A_FUNCTION
from ..lazy.event_trie import TrieNode
from .expected_call import Expected, Noted, Unexpected
from .noting import NotedSpecialisation

AFTER = (2, 4, 8, 16)  # calls at one point that no function there has noted
MOST_FORMS = 4  # functions for calls of one thing at one point: in training and in evaluation, say


def expect(of: NotedSpecialisation, whole: Any, before: TrieNode, deferred: Any, call_arguments: Any) -> None:
    """A call of `whole` has been noted after `before`: what comes there again gets a function that notes it."""
    args, kwargs = call_arguments
    call = None if of.plan is None else of.plan.call
    if not kwargs and call is not None and is_due(before, id(owner_of_call(whole))):
        put_function(of, id(owner_of_call(whole)), before, args, deferred, Noted(call, of.looks_at(call)))


def is_due(before: TrieNode, key: int) -> bool:
    """Count a call of what `key` stands for, noted after `before`; True if a function may be worth it by now."""
    count = before.noted[key] = before.noted.get(key, 0) + 1
    return count in AFTER


def put_function(
    of: NotedSpecialisation, key: int, before: TrieNode, args: tuple[Any, ...], deferred: Any, noted: Noted,
    called: Callable[[Any], Any] = lambda function: function,
) -> None:  # fmt: skip
    """Keep a function for calls of what `key` stands for after `before`, as `called` wants it."""
    if of.recording.inputs.are_arguments:
        deferred.segments.spend(A_FUNCTION)
        try:
            function = called(Expected(of, before, args, deferred, noted).function())
            before.expected[key] = [function, *before.expected.get(key, ())][:MOST_FORMS]
        except Unexpected:
            pass  # each of them is noted the general way


def owner_of_call(whole: Any) -> Any:
    """What stands for `whole` from call to call: methods are made anew."""
    return whole.__self__ if type(whole) is MethodType else whole
