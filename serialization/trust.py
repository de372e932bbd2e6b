"""Classes and functions that a program trusts, so that files which only hold weights may name them."""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable, Iterator
from typing import Any

from ..ops.callers.class_homes import defined_as
from ..tracing.watch import forbid
from .torch_paths import torch_path

Global = Callable[..., Any] | tuple[Callable[..., Any], str]
_trusted: list[Any] = []
#: Modules from which nothing can be trusted.
BLOCKED = ("sys", "os", "posix", "nt")


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let files that ``load`` reads with ``weights_only=True`` call and make these classes and functions.

    An entry is a class or function, or a pair of one and the path under which files name it.

    >>> import collections, tracegrad as tg
    >>> tg.serialization.add_safe_globals([collections.deque])
    >>> tg.serialization.get_safe_globals()
    [<class 'collections.deque'>]
    >>> tg.serialization.clear_safe_globals()
    """
    _trusted.extend(entry for entry in safe_globals if not any(entry is known for known in _trusted))


def get_safe_globals() -> list[Any]:
    """What was added by `add_safe_globals` and `safe_globals`."""
    forbid("reading what files may hold", "Read it outside.")
    return list(_trusted)


def clear_safe_globals() -> None:
    """Forget what was added."""
    _trusted.clear()


class safe_globals:
    """`add_safe_globals` for as long as the block lasts.

    >>> import io, tracegrad as tg
    >>> file = io.BytesIO()
    >>> tg.save(tg.nn.ReLU(), file)
    >>> _ = file.seek(0)
    >>> with tg.serialization.safe_globals([tg.nn.ReLU]):
    ...     tg.load(file)
    ReLU()
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.safe_globals = safe_globals

    def __enter__(self) -> None:
        add_safe_globals(self.safe_globals)

    def __exit__(self, *error: Any) -> None:
        _trusted[:] = [known for known in _trusted if not any(known is entry for entry in self.safe_globals)]


def trusted_by_path() -> dict[str, Any]:
    """What is trusted, by the paths that files may have for it: its own, and PyTorch's."""
    found = {}
    for entry in _trusted:
        if not isinstance(entry, tuple):
            is_class = isinstance(entry, type)
            module, name = defined_as(entry) if is_class else (entry.__module__, entry.__qualname__)
            found[f"{module}.{name}"] = found[".".join(torch_path(module, name))] = entry
            continue
        if len(entry) != 2:
            raise ValueError(
                f"Expected tuple of length 2 (global, str of callable full path), but got tuple of length: {len(entry)}"
            )
        if type(entry[1]) is not str:
            raise TypeError(f"Expected second item in tuple to be str of callable full path, but got: {type(entry[1])}")
        found[entry[1]] = entry[0]
    return found


def names_in(data: bytes) -> Iterator[str]:
    """The paths of all classes and functions that a pickle names, which is not run."""
    texts = ["", ""]
    memo: dict[int, str] = {}
    argument: Any
    for opcode, argument, _ in pickletools.genops(io.BytesIO(data)):
        if opcode.name == "GLOBAL":
            yield argument.replace(" ", ".", 1)
        elif opcode.name == "STACK_GLOBAL":
            yield ".".join(texts)
        elif opcode.name == "MEMOIZE":
            memo[len(memo)] = texts[-1]
        elif opcode.name.endswith("PUT"):
            memo[argument] = texts[-1]
        elif opcode.name.endswith("GET"):
            texts = [texts[-1], memo.get(argument, "")]
        elif isinstance(argument, str):
            texts = [texts[-1], argument]
