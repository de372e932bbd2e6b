"""Putting one object in the place of another, wherever something holds it: stand-ins that the program has kept become
plain numbers when the call is over.
"""

from __future__ import annotations

import functools
import operator
import types
from collections import deque
from typing import Any

from ..common.classes import is_a
from ..common.collection import referrers
from ..guards.sources import attribute
from ..guards.value_kinds import own_attributes

DEEPEST = 8  # what never changes within what never changes, made anew from the innermost on
Found = dict[int, Any]  # what is to be put in the place of objects, by their identity

# What holds numbers for the length of a call, or is changed by the dict that it has.
_PASSING = (types.FrameType, type)


def swap(pairs: list[tuple[Any, Any]]) -> None:
    """Put the second of each pair wherever something holds the first: in what can be changed; what never changes, such
    as a tuple, is made anew, and is put in its own place in turn."""
    found: Found = {}
    kept = []  # so that identities stay taken
    for _ in range(DEEPEST):
        if not pairs:
            return
        kept.append(pairs)
        found.update((id(old), new) for old, new in pairs)
        olds = [old for old, _ in pairs]
        own = {id(kept), id(olds), *(id(each) for pairs in kept for each in (pairs, *pairs))}
        again: list[tuple[Any, Any]] = []
        for holder in referrers(olds):
            if id(holder) not in own and not is_a(holder, _PASSING) and not _put_in(holder, found):
                made = _made_anew(holder, found)
                if made is not holder:
                    again.append((holder, made))
        pairs = again


def _put_in(holder: Any, found: Found) -> bool:
    """Put what is `found` into what holds it; False for an object that never changes."""
    if is_a(holder, (tuple, frozenset)) or type(holder) in _ANEW:
        return False
    if is_a(holder, types.CellType):
        holder.cell_contents = found[id(holder.cell_contents)]
    elif is_a(holder, (list, deque)):
        for i, item in enumerate(holder):
            if id(item) in found:
                _base_of(holder, (list, deque)).__setitem__(holder, i, found[id(item)])
    elif is_a(holder, set):
        for item in [item for item in set.__iter__(holder) if id(item) in found]:
            set.remove(holder, item)
            set.add(holder, found[id(item)])
    elif is_a(holder, dict):
        _put_in_dict(holder, found)
    elif is_a(holder, functools.partial):
        partial: Any = holder
        function, arguments, keywords, own = partial.__reduce__()[2]
        given = tuple(_of(argument, found) for argument in _of(arguments, found))
        partial.__setstate__((_of(function, found), given, keywords, own))
    elif is_a(holder, BaseException):
        holder.args = _of(holder.args, found)
    elif is_a(holder, types.FunctionType):
        for name in ("__defaults__", "__kwdefaults__"):
            setattr(holder, name, _of(getattr(holder, name), found))
    _put_in_attributes(holder, found)
    return True


def _base_of(holder: Any, kinds: tuple[Any, ...]) -> Any:
    return next(kind for kind in kinds if is_a(holder, kind))


def _of(value: Any, found: Found) -> Any:
    return found.get(id(value), value)


def _put_in_dict(holder: dict[Any, Any], found: Found) -> None:
    items = list(dict.items(holder))
    if any(id(key) in found for key, _ in items):  # in the same order, under the other keys
        dict.clear(holder)
    elif not any(id(item) in found for _, item in items):
        return
    for key, item in items:
        dict.__setitem__(holder, _of(key, found), _of(item, found))
    for kind in [each for each in referrers([holder]) if is_a(each, type)]:  # which keeps what it has looked up
        for name in [name for name, item in items if id(item) in found]:
            type.__setattr__(kind, name, holder[name])


def _put_in_attributes(holder: Any, found: Found) -> None:
    own = own_attributes(holder)
    if is_a(own, dict):
        for name in [name for name, value in own.items() if id(value) in found]:
            dict.__setitem__(own, name, found[id(own[name])])
    for base in type(holder).__mro__:
        for name, member in vars(base).items():
            if is_a(member, types.MemberDescriptorType) and id(attribute(holder, name)) in found:
                if not _is_read_only(member):
                    member.__set__(holder, found[id(member.__get__(holder))])


def _is_read_only(member: types.MemberDescriptorType) -> bool:
    """True for what a class written in C shows and lets nobody set; a slot of a class statement can always be set."""
    return not member.__objclass__.__flags__ & (1 << 9)


# ------------------------------------------------------------------------------------------ what never changes, anew


def _made_anew(holder: Any, found: Found) -> Any:
    """An object like `holder`, which never changes, with what is `found`; itself where nothing like it can be made."""
    if is_a(holder, (tuple, frozenset)):
        kind: Any = _base_of(holder, (tuple, frozenset))
        made = kind.__new__(type(holder), [_of(item, found) for item in kind.__iter__(holder)])
        own = own_attributes(holder)
        if own:
            made.__dict__.update({name: _of(value, found) for name, value in own.items()})
        return made
    return _ANEW[type(holder)](holder, found)


def _slice(holder: slice, found: Found) -> slice:
    return slice(_of(holder.start, found), _of(holder.stop, found), _of(holder.step, found))


def _bound(holder: Any, found: Found) -> Any:
    """A method of a number, under the name that it has."""
    owner, kind = _of(holder.__self__, found), type(holder.__self__)
    if owner is holder.__self__:
        return holder
    function = getattr(holder, "__func__", None)
    names = [name for name in dir(kind) if function is not None and getattr(kind, name, None) is function]
    return getattr(owner, names[0] if names else holder.__name__)


def _property(holder: property, found: Found) -> property:
    return property(_of(holder.fget, found), _of(holder.fset, found), _of(holder.fdel, found), holder.__doc__)


def _alias(holder: types.GenericAlias, found: Found) -> Any:
    origin: Any = holder.__origin__
    return types.GenericAlias(origin, _of(holder.__args__, found))


def _reduced(holder: Any, found: Found) -> Any:
    """What is made again by a call, as when it is copied: the getters of `operator`."""
    function, arguments = holder.__reduce__()[:2]
    return _of(function, found)(*(_of(argument, found) for argument in arguments))


_ANEW: dict[type, Any] = {
    slice: _slice,
    types.MethodType: _bound,
    types.MethodWrapperType: _bound,
    types.BuiltinMethodType: _bound,
    property: _property,
    types.GenericAlias: _alias,
    operator.itemgetter: _reduced,
    operator.methodcaller: _reduced,
}
