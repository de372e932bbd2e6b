"""What a recording learns from the library itself, and how a compiled function notices later changes.

Tensors, modules and optimizers *declare* what they read (flags, options, entries of dicts) to the recording of their
thread, if there is one; a compiled function keeps these reads as guards. Everything that rebinds such a thing counts
`changes` up, so that one comparison of an integer tells a compiled function that no guard needs to be looked at.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from ..ops.array import eager
from ..ops.callers.source_files import title_of_written
from .counts import changes as changes
from .entries import EntryRead, SameEntries, copied


class SideEffect(RuntimeError):
    """One of two branches that are both recorded has changed a Python object, which nothing can take back."""


class Watcher(Protocol):
    """Who listens while a function is recorded."""

    recorder: Any  # makes the graph (`compiler.capture`)
    number_checks: Any  # what Python refuses of numbers that may be others in later calls (`compiler.number_checks`)

    def read(self, describe: str, get: Callable[[], Any], value: Any) -> None:
        """The program depends on `value`, which ``get()`` gives again later."""

    def number(self, describe: str, get: Callable[[], float], value: float) -> Any:
        """A number that may change between calls; returns what the program should compute with instead."""

    def read_of(self, kind: str) -> None:
        """The program depends on what `changes` counts under the name `kind`."""

    def made(self, tensor: Any) -> None:
        """A new tensor object exists."""

    def grad_read(self, tensor: Any) -> None:
        """``tensor.grad`` is about to be read."""

    def grad_written(self, tensor: Any) -> None:
        """``tensor.grad`` is about to be rebound."""

    def deriving(self, origin: Any, function: Callable[..., Any], *args: Any) -> Any:
        """``function(*args)``, whose operations are derivatives of `origin`."""

    def origin(self) -> Any:
        """Where the user's program is now."""

    def tensor_number(self, tensor: Any) -> Any:
        """A 0-d tensor as a number that promotes like a Python float and stays data."""

    def transient_because(self, reason: str) -> None:
        """This call does something only once (it makes an optimizer's state): nothing to replay, record the next."""

    def aliased(self, tensor: Any) -> None:
        """Another tensor that shows `tensor`'s memory is about to be made, outside of the operations."""

    def flag_written(self, tensor: Any) -> None:
        """``tensor.requires_grad`` is about to change."""

    def written(self, tensor: Any, seen_by: Any) -> None:
        """`tensor`'s memory gets other numbers. They have a history for `seen_by` and its views, but for no other
        tensor that shows the memory; for none at all where it is None: under no_grad, through detach()."""

    def hashed(self, tensor: Any) -> None:
        """`tensor` is looked up in a dict or a set, as the object that it is."""

    def attribute_missing(self, tensor: Any, name: str) -> None:
        """The program asks `tensor` for an attribute that it does not have."""

    def gated(self, tensor: Any, inside: Any, taken: bool) -> None:
        """`tensor` has entered a branch as `inside`, which has the same numbers; this call takes the branch or not."""

    def hooked(self, node: Any) -> None:
        """An operation of the tape is about to get a hook."""

    def differentiated(self, node: Any) -> None:
        """A backward pass has come to an operation: it may be one that was done before the recording."""

    def forbid(self, what: str, instead: str) -> None:
        """The function does something that a recording cannot repeat; raises."""

    def trial(self, function: Callable[..., Any], arguments: list[Any], run: Callable[[], Any]) -> Any:
        """``run()``, which calls `function` whatever branch is taken; SideEffect if that does more than compute."""

    def module_called(self, module: Any, path: str) -> None:
        """The forward of a module, known by `path`, is about to run."""

    def module_left(self) -> None:
        """The innermost module's forward is done."""


Server = Callable[[Any, Callable[..., Any], tuple[Any, ...], Mapping[str, Any]], Any]
AT_ONCE = object()  # what `serve` is asked for where work is best done at once: items of a dataset, many and small
A_PASS = object()  # for a backward pass with options of its own (retain_graph, inputs, ...), of one tensor or several


class _Local(threading.local):
    watcher: Watcher | None = None
    server: Server | None = None


_local = local = _Local()


@functools.cache
def counter(kinds: tuple[str, ...]) -> Callable[[], int]:
    """What tells how often `changes` has counted any of `kinds`: ``counter(("count", "grads"))()``."""
    total = " + ".join(f"changes.{kind}" for kind in kinds)
    code = compile(f"lambda: {total}", title_of_written("counts"), "eval")  # the quickest way to say it
    count: Callable[[], int] = eval(code, {"changes": changes})
    return count


def watcher() -> Watcher | None:
    """The recording of this thread, None while none is made."""
    return _local.watcher


def watched(by: Watcher | None, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)`` with `by` as this thread's recording; put back twice, as in `interpreted`."""
    before = _local.watcher
    try:
        try:
            _local.watcher = by
            return function(*args, **kwargs)
        finally:
            _local.watcher = before
    finally:
        _local.watcher = before


def set_server(new: Server | None) -> Server | None:
    """Let this thread's `serve` go to `new` (None: nobody); returns the one before."""
    before, _local.server = _local.server, new
    return before


def served(by: Server | None, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)`` with this thread's `serve` going to `by` (None: nobody)."""
    before = _local.server
    try:
        try:
            _local.server = by
            return function(*args, **kwargs)
        finally:
            _local.server = before
    finally:
        _local.server = before


def serve(whole: Any, otherwise: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``otherwise(*args, **kwargs)``: what calling `whole`, a piece of the library's work, means to its caller. In a
    re-recorded call such a piece is a program of its own."""
    server = _local.server
    return otherwise(*args, **kwargs) if server is None else server(whole, otherwise, args, kwargs)


def unserved(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``, of which nothing is a program of its own: for values that are stored in memory
    that was read for them. Nodes of single operations copy what they keep of it, before it is written to."""
    return function(*args, **kwargs) if _local.server is None else served(None, function, *args, **kwargs)


def declare_read(describe: str, get: Callable[[], Any]) -> Any:
    """``get()``, kept as a guard when a recording is being made."""
    value = get()
    if _local.watcher is not None:
        _local.watcher.read(describe, get, value)
    return value


def declare_kind(kind: str) -> None:
    """Say that the program depends on what is counted apart: "options" of an optimizer or of "modules", "training"."""
    if _local.watcher is not None:
        _local.watcher.read_of(kind)


def declare_number(describe: str, get: Callable[[], float]) -> Any:
    """``get()``, as run-time data when a recording is being made: changing it later recompiles nothing."""
    value = get()
    if _local.watcher is not None:
        return _local.watcher.number(describe, get, value)
    return value


def as_number(tensor: Any) -> Any:
    """A 0-d tensor as a number to compute with: a Python float in eager mode, run-time data in a recording."""
    if _local.watcher is not None:
        return _local.watcher.tensor_number(tensor)
    return float(eager().peek(tensor))


def declare_transient(reason: str) -> None:
    """Say that this call does something that later calls will not do, such as making an optimizer's state."""
    if _local.watcher is not None:
        _local.watcher.transient_because(reason)


def forbid(what: str, instead: str) -> None:
    """Refuse `what` while a function is recorded: a later call would not do it again. `instead` is the advice."""
    if _local.watcher is not None:
        _local.watcher.forbid(what, instead)


def declare_alias(tensor: Any) -> None:
    """Say that `tensor` gets an alias (``detach()``, ``.data``), so that a recording meets the tensor itself first."""
    if _local.watcher is not None:
        _local.watcher.aliased(tensor)


def declare_flag(tensor: Any) -> None:
    """Say that ``tensor.requires_grad`` is about to change."""
    if _local.watcher is not None:
        _local.watcher.flag_written(tensor)


def declare_hook(node: Any) -> None:
    """Say that the operation `node` of the tape gets a hook."""
    if _local.watcher is not None:
        _local.watcher.hooked(node)


def declare_write(tensor: Any, seen_by: Any) -> None:
    """Say that `tensor`'s memory gets other numbers, of which the tape tells `seen_by` and its views, or nobody."""
    if _local.watcher is not None:
        _local.watcher.written(tensor, seen_by)


def declare_set(describe: str, get: Callable[[], Any], value: Any) -> bool:
    """Say that something outside of the function is about to be set to `value`.

    Where it has that value already, a recording guards this and True is returned; setting it anew is then nothing.
    """
    if _local.watcher is None:
        return True
    before = get()
    plain = type(before) is type(value) and isinstance(value, (bool, int, float, str))
    same = before is value or (plain and before == value)
    if same:
        _local.watcher.read(describe, get, before)
    return same


def _declare_entries(entries: dict[Any, Any]) -> None:
    assert _local.watcher is not None
    _local.watcher.read("entries", SameEntries(entries), True)


class WatchedDict(dict):
    """A dict whose changes compiled functions notice: optimizers keep their options and state in it. They are counted
    after the change: who looks at a guard in between must look again."""

    __slots__ = ()  # as Python's own dict, it takes no attributes
    __deepcopy__ = copied

    def _count_change(self) -> None:
        changes.count += 1

    def _declare_all(self) -> None:
        """The program depends on every entry: on which there are, and on what they are."""
        _declare_entries(self)

    def items(self) -> Any:
        if _local.watcher is not None:
            self._declare_all()
        return super().items()

    def values(self) -> Any:
        if _local.watcher is not None:
            self._declare_all()
        return super().values()

    def __iter__(self) -> Iterator[Any]:
        if _local.watcher is not None:
            self._declare_all()
        return super().__iter__()

    def __setitem__(self, key: Any, value: Any) -> None:
        if _local.watcher is not None and not (isinstance(value, WatchedDict) and not dict.__len__(value)):
            declare_kind("options")
            if not declare_set(f"[{key!r}]", lambda: self.get(key), value):
                forbid(f"setting [{key!r}] of an optimizer's options or state, or of a module", "Set it outside.")
        super().__setitem__(key, value)
        self._count_change()

    def put_first(self, key: Any, value: Any) -> None:
        """Put an entry into a dict that nobody knows yet, which is a change to a recording only."""
        if _local.watcher is not None:
            self[key] = value
        else:
            super().__setitem__(key, value)

    def __delitem__(self, key: Any) -> None:
        forbid(f"deleting [{key!r}] of an optimizer's options or state, or of a module", "Delete it outside.")
        super().__delitem__(key)
        self._count_change()

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def pop(self, *args: Any) -> Any:
        forbid(f"removing [{args[0]!r}] of an optimizer's options or state, or of a module", "Remove it outside.")
        out = super().pop(*args)
        self._count_change()
        return out

    def clear(self) -> None:
        forbid("clearing an optimizer's options or state, or the parts of a module", "Clear them outside.")
        super().clear()
        self._count_change()

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def popitem(self) -> Any:
        forbid("removing an entry of an optimizer's options or state, or of a module", "Remove it outside.")
        out = super().popitem()
        self._count_change()
        return out

    def __ior__(self, other: Any) -> Any:  # type: ignore[misc]
        self.update(other)
        return self


class Entries(WatchedDict):
    """Options or state of an optimizer: what a program reads of them is declared as well. The library itself, which
    declares its reads in its own ways, goes past these methods."""

    __slots__ = ()

    def _count_change(self) -> None:
        changes.options += 1

    def _declare_all(self) -> None:
        declare_kind("options")
        super()._declare_all()

    def _declare(self, key: Any, look: Callable[..., Any]) -> None:
        if _local.watcher is not None:
            declare_kind("options")
            name = f"[{key!r}]" if isinstance(key, str) else "an entry"
            declare_read(f"{name} of an optimizer's options or state", EntryRead.of(self, key, look, self, key))

    def __getitem__(self, key: Any) -> Any:
        value = super().__getitem__(key)  # which may make it
        self._declare(key, dict.get)
        return value

    def get(self, key: Any, default: Any = None) -> Any:
        self._declare(key, dict.get)
        return super().get(key, default)

    def __contains__(self, key: Any) -> bool:
        self._declare(key, dict.__contains__)
        return super().__contains__(key)

    def __len__(self) -> int:
        if _local.watcher is not None:
            declare_kind("options")
            declare_read("the number of an optimizer's options or state", functools.partial(dict.__len__, self))
        return super().__len__()


class WatchedList(list):
    """A list whose changes compiled functions notice: optimizers keep their groups and parameters in it."""

    __slots__ = ()

    def __reduce__(self) -> Any:
        return WatchedList, (list(self),)


def _counting(name: str) -> Callable[..., Any]:
    """The list's method, counted, and refused while a function is recorded."""
    change = getattr(list, name)

    @functools.wraps(change)
    def changed(self: WatchedList, *args: Any, **kwargs: Any) -> Any:
        forbid("changing an optimizer's list of groups or of parameters", "Change it outside.")
        out = change(self, *args, **kwargs)
        changes.count += 1
        return out

    return changed


for _name in "append extend insert remove pop clear sort reverse __setitem__ __delitem__ __iadd__ __imul__".split():
    setattr(WatchedList, _name, _counting(_name))
