"""How many references there are to each of many objects, and what they hold: one look at all of them, instead of one
for each.

`sys.getrefcount` takes 16 ns an object in a loop. In CPython an object's count is the word at its address, and `id` is
the address; so numpy gathers the counts of hundreds of objects in less than a microsecond. Where an interpreter keeps
counts in another way (which is tried once, at import) they are asked for one by one.
"""

from __future__ import annotations

import struct
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_WORD = 8


class _AllMemory:
    """What numpy takes for an array of 64-bit words that begins at the second word of memory (0 is no address)."""

    __array_interface__ = {"data": (_WORD, False), "shape": (2**44,), "typestr": "<i8", "version": 3}


class ReferenceCounts:
    """The references to the objects of some tuples, compared with `counts`, one for each object in order.

    It keeps the tuples, not the objects, so it counts nowhere itself.

    >>> kept = (np.zeros(3),)
    >>> counts = ReferenceCounts([kept], [1])  # nobody but the tuple
    >>> counts.agree()
    True
    >>> another = kept[0]
    >>> counts.agree()
    False
    """

    __slots__ = ("agree",)

    def __init__(self, tuples: Sequence[tuple[Any, ...]], counts: Sequence[int]) -> None:
        #: True if each object has as many references as it shall have.
        self.agree: Callable[[], bool] = _comparing(tuple(tuples), np.array(counts, np.int64).tobytes())


def _by_address(tuples: tuple[tuple[Any, ...], ...], expected: bytes) -> Callable[[], bool]:
    places = np.array([id(o) // _WORD - 1 for kept in tuples for o in kept], np.intp)
    words = _words

    def agree(keeping: Any = tuples) -> bool:  # objects that are gone have no counts
        return words[places].tobytes() == expected

    return agree


def _one_by_one(tuples: tuple[tuple[Any, ...], ...], expected: bytes) -> Callable[[], bool]:
    def agree() -> bool:  # two references are the loop's variable and the argument
        found = [sys.getrefcount(o) - 2 for kept in tuples for o in kept]
        return np.array(found, np.int64).tobytes() == expected

    return agree


def _counts_are_words() -> bool:
    """True if the word at an object's address is the number of references to it, before and after it has changed."""
    if sys.implementation.name != "cpython" or struct.calcsize("P") != _WORD or sys.byteorder != "little":
        return False
    kept = (np.zeros(1), object())
    as_it_is, with_others = (np.array(counts, np.int64).tobytes() for counts in ((1, 1), (3, 2)))
    found = [_by_address((kept,), as_it_is)(), not _by_address((kept,), with_others)()]
    others = [*kept, kept[0]]
    found += [not _by_address((kept,), as_it_is)(), _by_address((kept,), with_others)()]
    return all(found) and bool(others)


_words: Any = np.asarray(_AllMemory())
_comparing = _by_address if _counts_are_words() else _one_by_one

# --------------------------------------------------------------------------------------------------- words of objects

# Which words are the class of an object, what a cell holds, how many entries a dict or a list has, the version of a
# dict, where the items of a list are, the flags of a class, and the ``__dict__`` that an object was given.
_CLASS, _CELL, _LENGTH, _VERSION, _ITEMS, _FLAGS, _DICT = 1, 2, 2, 3, 3, 21, -3


def place_of_count(thing: Any) -> int:
    """Where in `memory` the number of references to an object is."""
    return id(thing) // _WORD - 1


def place_of_class(thing: Any) -> int:
    """Where the address of the class of an object is."""
    return place_of_count(thing) + _CLASS


def place_in_cell(cell: types.CellType) -> int:
    """Where the address of what is in a cell is."""
    return place_of_count(cell) + _CELL


def place_of_length(entries: dict[Any, Any]) -> int:
    """Where a dict has the number of its entries."""
    return place_of_count(entries) + _LENGTH


def place_of_version(entries: dict[Any, Any]) -> int:
    """Where a dict has its version: another one after each write that puts something else into it, whoever writes."""
    return place_of_count(entries) + _VERSION


def places_of_list(items: list[Any]) -> list[int]:
    """Where a list has the number of its items, and the address of the first."""
    return [place_of_count(items) + _LENGTH, place_of_count(items) + _ITEMS]


def place_of_items(items: list[Any]) -> int:
    """Where the addresses of a list's items begin, as long as the words at `places_of_list` are the same."""
    return int(_words[place_of_count(items) + _ITEMS]) // _WORD - 1


def place_of_dict(thing: Any) -> int:
    """Where an object that was given a ``__dict__`` has its address."""
    offset = type(thing).__dictoffset__  # negative from Python 3.11 on: the dict is where that version keeps all
    return place_of_count(thing) + (offset // _WORD if offset > 0 else _DICT)


def place_of_flags(kind: type) -> int:
    """Where a class has its flags."""
    return place_of_count(kind) + _FLAGS


def places_of(thing: Any) -> list[int]:
    """Where an object of a class with slots has all its words, the number of references first, but for its
    ``__dict__``. Weak references to it begin before the others from Python 3.12 on."""
    first, of_weak = place_of_count(thing), type(thing).__weakrefoffset__
    own = range(first, first + type(thing).__basicsize__ // _WORD)
    return [*own, first + of_weak // _WORD] if of_weak < 0 else [*own]


def _words_are_known() -> bool:
    """True if cells and classes have their words where CPython has had them so far, before and after changes."""
    if not _counts_are_words():
        return False
    value, other = object(), object()
    cell, kind = types.CellType(value), type("Kind", (), {})
    found = [int(_words[place_in_cell(cell)]) == id(value), int(_words[place_of_flags(kind)]) == kind.__flags__]
    entries: dict[Any, Any] = {}
    found.append(int(_words[place_of_length(entries)]) == 0)
    cell.cell_contents, kind.member = other, 1  # type: ignore[attr-defined]
    entries.update(a=1, b=2)
    found.append(int(_words[place_of_length(entries)]) == 2)
    found += [int(_words[place_in_cell(cell)]) == id(other), int(_words[place_of_flags(kind)]) == kind.__flags__]
    getattr(kind, "member", None)
    return all([*found, int(_words[place_of_flags(kind)]) == kind.__flags__])


#: The words of this process's memory by the places above: ``memory[places]``. None where they are not known.
memory: Any = _words if _words_are_known() else None


def place_of_entries(kind: type) -> int:
    """Where the dict of a class, which Python shows through a proxy only, has its version."""
    proxy = vars(kind)  # its third word is the address of the dict
    return int(_words[place_of_count(proxy) + _CELL]) // _WORD - 1 + _VERSION


def place_of_own_dict(thing: Any) -> int | None:
    """Where an object of a class written in C has the address of its ``__dict__``; None for others."""
    offset = type(thing).__dictoffset__
    return place_of_count(thing) + offset // _WORD if offset > 0 else None


def is_without_dict(thing: Any) -> bool:
    """True for an object of a class written in C (a function, a partial, an exception) that has no ``__dict__`` yet:
    whoever asks for it by name makes one. False where that is not known."""
    place = place_of_own_dict(thing)
    return place is not None and memory is not None and not memory[place]


def _sample(a: Any = (), *, b: Any = ()) -> Any:
    return a, b


def _slots_of(thing: Any, names: Sequence[str]) -> dict[tuple[type, str], int]:
    """Which word of an object is which attribute, where just one holds its address."""
    words = [int(_words[place]) for place in places_of(thing)]
    found = {(type(thing), name): id(getattr(thing, name)) for name in names}
    return {key: words.index(address) for key, address in found.items() if words.count(address) == 1}


def _all_slots() -> dict[tuple[type, str], int]:
    """The slots of functions and classes that programs may give something else."""
    if memory is None:
        return {}
    _sample.__qualname__ = "sample of a function with parts"
    parts = ("__code__", "__defaults__", "__kwdefaults__", "__qualname__")
    return _slots_of(_sample, parts) | _slots_of(type("Kind", (), {}), ("__mro__",))


def place_in_slot(thing: Any, name: str) -> int | None:
    """Where a function or a class has the address of one of its parts; None where that is not known."""
    slot = _slots.get((type(thing), name))
    if slot is None:
        return None
    place, value = place_of_count(thing) + slot, getattr(thing, name)
    return place if int(_words[place]) == (0 if value is None else id(value)) else None


class _WithDict:
    pass


def _set_often(thing: Any, values: Sequence[int]) -> None:
    """Set an attribute as often as it takes until the interpreter has a quicker way to."""
    for thing.b in values:
        pass


def _versions_are_known() -> bool:
    """True if dicts have versions that each write changes, and lists and objects have their words where CPython 3.10
    to 3.13 have them."""
    if memory is None or not (3, 10) <= sys.version_info[:2] <= (3, 13):  # dicts of later ones have no versions
        return False
    entries: dict[str, Any] = {"a": 1}
    versions = [int(memory[place_of_version(entries)])]
    for change in (lambda: entries.update(a=2), lambda: entries.update(b=2), lambda: entries.pop("a"), entries.clear):
        change()
        versions.append(int(memory[place_of_version(entries)]))
    thing, items = _WithDict(), [object(), object()]
    object.__setattr__(thing, "__dict__", entries)
    length, _ = places_of_list(items)
    found = [int(memory[place_of_items(items) + i]) == id(item) for i, item in enumerate(items)]
    found += [int(memory[place_of_dict(thing)]) == id(entries), int(memory[length]) == len(items)]
    found.append(int(memory[place_of_class(thing)]) == id(_WithDict))
    for last in (-1, -2):
        _set_often(thing, [*range(64), last])
        versions.append(int(memory[place_of_version(entries)]))
    versions.append(int(memory[place_of_entries(_WithDict)]))
    _WithDict.member = 1  # type: ignore[attr-defined]
    versions.append(int(memory[place_of_entries(_WithDict)]))
    return len(set(versions)) == len(versions) and all(found)


def _modules_have_versions() -> bool:
    """True if the dict of a module has a version that each write changes, in whatever way it is written."""
    if memory is None or not (3, 10) <= sys.version_info[:2] <= (3, 13):
        return False
    module = types.ModuleType("sample")
    own = vars(module)
    versions = [int(memory[place_of_version(own)])]
    for text in ("a = 1", "a = 2", "del a"):
        exec(text, own)
        versions.append(int(memory[place_of_version(own)]))
    module.a = 3  # type: ignore[attr-defined]
    versions.append(int(memory[place_of_version(own)]))
    own["a"] = 4
    versions.append(int(memory[place_of_version(own)]))
    return len(set(versions)) == len(versions)


#: True if what is written into the dicts of modules can be seen in `memory`.
modules_have_versions = _modules_have_versions()
#: True if what is written into dicts, lists and the ``__dict__`` of objects can be seen in `memory`.
versions_are_known = _versions_are_known()
_slots = _all_slots()
