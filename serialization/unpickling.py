"""Reading a pickle without running it: a closed list of opcodes, and a closed list of names (`allowed.py`).

Nothing is imported, no attribute is set by name except in an OrderedDict's own dict, and no method of what was built is
called. What is built needs memory in proportion to the bytes that were read: lengths are claims until the bytes are
there, and what a file lets be copied again and again is counted. Nothing recurses, so depth is no danger either.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from pickle import UnpicklingError
from pickletools import opcodes
from typing import Any

import numpy as np

from ..tensors.generator import Generator
from .allowed import CONSTRUCTORS, Name, PendingArray, check_key, check_result, exactly, is_allowed, size
from .archive import ArchiveError
from .moved import current_module
from .torch_names import VALUES
from .trust import BLOCKED, trusted_by_path

_CHUNK = 1 << 20
_LONGEST_NAME = 512
#: How many bytes may be copied for each byte that was read: a storage is copied once, its bytes perhaps once before.
_COPIES = 4
_SMALL = 1 << 16
_PROTOCOLS = range(2, 6)
#: A generator is made of a few bytes and has its state at once.
_MOST_GENERATORS = 100
#: How many defaultdicts may hold defaultdicts. CPython frees one within the other by recursion in C that nothing bounds
#: (its other containers are freed in steps), so that a deep enough one ends the process.
_MOST_NESTING = 1000

#: How later versions of Python and numpy name what earlier ones wrote, and pickle up to protocol 2 still writes.
_RENAMED = {"__builtin__": "builtins", "numpy.core.multiarray": "numpy._core.multiarray"}
_RENAMED_TYPES = {
    "builtins.long": "builtins.int",
    "builtins.unicode": "builtins.str",
    "torch.Size": "tracegrad.tensors.tensor.Size",
    "torch.Tensor": "tracegrad.tensors.tensor.Tensor",
    "torch.nn.parameter.Parameter": "tracegrad.nn.parameter.Parameter",
}

_NAMES = {opcode.code: opcode.name for opcode in opcodes}

_REFUSED = (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError, RuntimeError, struct.error)


def load_weights(file: Any, storages: Any = None) -> Any:
    """The tensors, containers and numbers of one pickle in `file`; `storages` makes a storage of a persistent id.

    UnpicklingError for anything else in it, EOFError where it ends too early.
    """
    reader = _Reader(file, storages, trusted_by_path())
    try:
        return reader.load()
    except ArchiveError:
        raise
    except _REFUSED as error:
        raise UnpicklingError(f"{_words(error)} (at byte {reader.position})") from error


def renamed_type(name: str) -> str:
    """The name under which a path of a file is known here."""
    module, _, qualified = name.rpartition(".")
    full = f"{current_module(_RENAMED.get(module, module))}.{qualified}"
    return _RENAMED_TYPES.get(full, full)


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Reader:
    def __init__(self, file: Any, storages: Any, trusted: dict[str, Any]) -> None:
        self._file = file
        self._storages = storages
        self._trusted = trusted
        self.position = 0
        self._copied = self._generators = 0
        self._stack: list[Any] = []
        self._outer: list[list[Any]] = []  # the stacks below each open MARK
        self._memo: dict[int, Any] = {}
        self._nesting: set[int] = set()  # the ids of all defaultdicts that hold defaultdicts, perhaps of some that did

    def load(self) -> Any:
        while True:
            code = self.read(1)
            if code == b".":
                result = self.pop()
                check_result(result, bool(self._trusted))
                return result
            step = _OPCODES.get(code)
            if step is None:
                named = _NAMES.get(code.decode("latin1"), "unknown")
                raise UnpicklingError(f"Unsupported operand {code[0]} ({named}) at byte {self.position - 1}")
            step(self)

    # ------------------------------------------------------------------------------------------------------ reading

    def read(self, count: int) -> bytes:
        """The next `count` bytes; a claim that the file does not keep takes no memory."""
        parts, missing = [], count
        while missing:
            part = self._file.read(min(missing, _CHUNK))
            if not part:
                raise EOFError("Ran out of input: the file is cut off, or was not written by save.")
            parts.append(bytes(part))
            missing -= len(part)
            self.position += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def number(self, layout: str) -> Any:
        return struct.unpack(layout, self.read(struct.calcsize(layout)))[0]

    def counted(self, layout: str) -> bytes:
        return self.read(self.number(layout))

    def text(self, layout: str) -> str:
        return str(self.counted(layout), "utf-8", "surrogatepass")

    def line(self) -> str:
        letters = bytearray()
        while not letters.endswith(b"\n"):
            letters += self.read(1)
            if len(letters) > _LONGEST_NAME:
                raise ValueError("a name that is too long")
        return letters[:-1].decode("utf-8")

    # -------------------------------------------------------------------------------------------------------- stack

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def pop(self) -> Any:
        return self._stack.pop()

    def top(self) -> Any:
        return self._stack[-1]

    def mark(self) -> None:
        self._outer.append(self._stack)
        self._stack = []

    def since_mark(self) -> list[Any]:
        items, self._stack = self._stack, self._outer.pop()
        return items

    def drop(self) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self.since_mark()

    def last(self, count: int) -> tuple[Any, ...]:
        return tuple([self._stack.pop() for _ in range(count)][::-1])

    def remember(self, place: int) -> None:
        self._memo[place] = self.top()

    def memoize(self) -> None:
        self.remember(len(self._memo))

    def recall(self, place: int) -> None:
        self.push(self._memo[place])

    # --------------------------------------------------------------------------------------------------- containers

    def append(self, items: list[Any]) -> None:
        exactly(self.top(), list).extend(items)

    def put(self, items: list[Any]) -> None:
        target = exactly(self.top(), dict, OrderedDict, Counter, defaultdict)
        if len(items) % 2:
            raise ValueError("a key without a value")
        self._count_nesting(target, items[1::2])
        for key, value in zip(items[::2], items[1::2], strict=True):
            check_key(key)
            target[key] = value

    def _count_nesting(self, target: dict[Any, Any], values: list[Any]) -> None:
        if type(target) is defaultdict and any(type(value) is defaultdict for value in values):
            self._nesting.add(id(target))
            if len(self._nesting) > _MOST_NESTING:
                raise ValueError(f"more than {_MOST_NESTING} defaultdicts that hold defaultdicts")

    def add(self, items: list[Any]) -> None:
        target = exactly(self.top(), set)
        target.update(_checked(items))

    def protocol(self) -> None:
        given = self.number("<B")
        if given not in _PROTOCOLS:
            raise ValueError(f"pickle protocol {given}; files are read from protocols 2 to 5")

    # ------------------------------------------------------------------------------------------------ names and calls

    def name(self, module: str, qualified: str) -> None:
        module = current_module(_RENAMED.get(module, module))
        given = f"{module}.{qualified}"
        full = _RENAMED_TYPES.get(given, given)
        if module in BLOCKED:
            raise UnpicklingError(f"Trying to load unsupported GLOBAL {given} whose module {module} is blocked.")
        if given in self._trusted or full in VALUES:
            self.push(self._trusted[given] if given in self._trusted else VALUES[full])
        elif is_allowed(full):
            self.push(Name(full))
        else:
            shown = given.removeprefix("builtins.")
            raise UnpicklingError(
                f"Unsupported global: GLOBAL {shown} was not an allowed global by default. "
                f"Please use `torch.serialization.add_safe_globals([{shown}])` or the "
                f"`torch.serialization.safe_globals([{shown}])` context manager to allowlist this global "
                "if you trust this class/function."
            )

    def stack_name(self) -> None:
        module, qualified = self.last(2)
        self.name(exactly(module, str), exactly(qualified, str))

    def is_trusted(self, value: Any) -> bool:
        """Whether the program trusts this class or function."""
        return any(value is known for known in self._trusted.values())

    def reduce(self) -> None:
        function, given = self.last(2)
        if self.is_trusted(function):
            self.push(function(*exactly(given, tuple)))
            return
        name = exactly(function, Name).text
        if name not in CONSTRUCTORS:
            raise UnpicklingError(f"Trying to call reduce for unrecognized function {name}")
        self._count_copies(exactly(given, tuple))
        if name == "collections.OrderedDict" and given:
            raise TypeError("an OrderedDict that is made of something")
        if name == "torch._C.Generator":
            self._generators += 1
            if self._generators > _MOST_GENERATORS:
                raise ValueError(f"more than {_MOST_GENERATORS} generators")
        self.push(CONSTRUCTORS[name](*given))

    def make_object(self) -> None:
        kind, given = self.last(2)
        if self.is_trusted(kind):
            self.push(kind.__new__(kind, *exactly(given, tuple)))
            return
        if exactly(kind, Name).text != "tracegrad.tensors.tensor.Size":
            raise UnpicklingError(
                "Can only create new object for nn.Parameter or classes allowlisted via `add_safe_globals` but got "
                f"{kind.text}"
            )
        self._count_copies(exactly(given, tuple))
        self.push(size(*given))

    def build(self) -> None:
        state, target = self.pop(), self.top()
        if type(target) is PendingArray:
            target.fill(exactly(state, tuple))
        elif isinstance(target, np.dtype):
            if exactly(state, tuple)[1] not in ("<", "|"):
                raise ValueError("numbers in another byte order")
        elif type(target) is OrderedDict:
            _set_attributes(target, exactly(state, dict))
        elif type(target) is Generator:
            target.__setstate__(exactly(state, tuple))
        elif self.is_trusted(type(target)):
            set_state(target, state)
        else:
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types allowlisted via `add_safe_globals`, but got "
                f"{type(target)}"
            )

    def persistent(self) -> None:
        given = self.pop()
        if self._storages is None:
            raise UnpicklingError("unsupported persistent id encountered")
        self.push(self._storages(given))

    def _count_copies(self, given: tuple[Any, ...]) -> None:
        """A constructor copies its arguments, and a file may give the same ones any number of times."""
        self._copied += sum(_extent(value) for value in given)
        if self._copied > _COPIES * self.position + _SMALL:
            raise ValueError(f"the file claims {self._copied} bytes or more, of which it holds {self.position}")


def _extent(value: Any) -> int:
    if type(value) is PendingArray:
        return 0 if value.values is None else value.values.nbytes
    if isinstance(value, np.ndarray):
        return value.nbytes
    return len(value) if isinstance(value, (bytes, bytearray, str, tuple, list, set, frozenset, dict)) else 0


def _checked(items: list[Any]) -> list[Any]:
    for member in items:
        check_key(member)
    return items


def _set_attributes(target: OrderedDict[Any, Any], state: dict[Any, Any]) -> None:
    """PyTorch's state dicts have `_metadata`. No method of the dict may be hidden by an attribute."""
    for key in state:
        if type(key) is not str or hasattr(OrderedDict, key):
            raise ValueError(f"an OrderedDict with the attribute {key!r}")
    target.__dict__.update(state)


def set_state(target: Any, state: Any) -> None:
    """Give an object of a trusted class its state, as pickle does."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    attributes, slots = state if type(state) is tuple and len(state) == 2 else (state, None)
    if attributes:
        vars(target).update(attributes)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def _integer(data: bytes) -> int:
    return int.from_bytes(data, "little", signed=True)


def _named(reader: _Reader) -> None:
    module = reader.line()
    reader.name(module, reader.line())


_OPCODES: dict[bytes, Callable[[_Reader], Any]] = {
    b"\x80": _Reader.protocol,
    b"\x95": lambda r: r.read(8),  # FRAME: how much a reader may read ahead
    b"(": _Reader.mark,
    b"0": _Reader.drop,
    b"1": _Reader.since_mark,
    # constants
    b"N": lambda r: r.push(None),
    b"\x88": lambda r: r.push(True),
    b"\x89": lambda r: r.push(False),
    b"J": lambda r: r.push(r.number("<i")),
    b"K": lambda r: r.push(r.number("<B")),
    b"M": lambda r: r.push(r.number("<H")),
    b"\x8a": lambda r: r.push(_integer(r.counted("<B"))),
    b"G": lambda r: r.push(r.number(">d")),
    b"\x8c": lambda r: r.push(r.text("<B")),
    b"X": lambda r: r.push(r.text("<I")),
    b"\x8d": lambda r: r.push(r.text("<Q")),
    b"U": lambda r: r.push(r.text("<B")),
    b"C": lambda r: r.push(r.counted("<B")),
    b"B": lambda r: r.push(r.counted("<I")),
    b"\x8e": lambda r: r.push(r.counted("<Q")),
    b"\x96": lambda r: r.push(bytearray(r.counted("<Q"))),
    # containers
    b"]": lambda r: r.push([]),
    b"a": lambda r: r.append([r.pop()]),
    b"e": lambda r: r.append(r.since_mark()),
    b")": lambda r: r.push(()),
    b"\x85": lambda r: r.push(r.last(1)),
    b"\x86": lambda r: r.push(r.last(2)),
    b"\x87": lambda r: r.push(r.last(3)),
    b"t": lambda r: r.push(tuple(r.since_mark())),
    b"}": lambda r: r.push({}),
    b"s": lambda r: r.put(list(r.last(2))),
    b"u": lambda r: r.put(r.since_mark()),
    b"\x8f": lambda r: r.push(set()),
    b"\x90": lambda r: r.add(r.since_mark()),
    b"\x91": lambda r: r.push(frozenset(_checked(r.since_mark()))),
    # the memo
    b"q": lambda r: r.remember(r.number("<B")),
    b"r": lambda r: r.remember(r.number("<I")),
    b"\x94": _Reader.memoize,
    b"h": lambda r: r.recall(r.number("<B")),
    b"j": lambda r: r.recall(r.number("<I")),
    # names and calls
    b"c": _named,
    b"\x93": _Reader.stack_name,
    b"R": _Reader.reduce,
    b"\x81": _Reader.make_object,
    b"b": _Reader.build,
    b"Q": _Reader.persistent,
}
