"""What a file may name when only weights are loaded: a closed list of names, each with a constructor of our own.

A name that is not here is refused when it is read. No name is ever looked up: a file chooses among these functions,
and each of them checks the types of all that it is given.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.types import ALL_DTYPES, DType, dtype_named
from ..tensors import generator
from ..tensors.device import device
from ..tensors.layouts.formats import layout, memory_format
from ..tensors.meta.meta_tensor import is_meta
from ..tensors.tensor import Size, Tensor
from . import saved
from .rebuilding import restored_as
from .saved import CLASSES, Storage
from .storages import TypedStorage
from .torch_names import FUNCTIONS
from .untyped_storage import UntypedStorage


class Name:
    """A name that a file has read and not called yet."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class PendingArray:
    """A numpy array as an earlier version saved it: made empty, filled by the state that follows."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: np.ndarray | None = None

    def fill(self, state: Any) -> None:
        """Take numpy's own state of an array: version, shape, type, order, bytes."""
        version, shape, dtype, fortran, data = state
        if self.values is not None or version != 1 or type(data) is not bytes:
            raise ValueError("an array with a state that numpy does not write")
        self.values = _array(data, dtype, shape, "F" if fortran else "C")


def _array(data: Any, dtype: Any, shape: Any, order: Any) -> np.ndarray:
    known = isinstance(dtype, np.dtype) and dtype in NUMBERS.values()  # a string may equal an element type
    if type(data) not in (bytes, bytearray) or not known:
        raise ValueError("an array of something else than numbers")
    if type(shape) is not tuple or not all(type(extent) is int and extent >= 0 for extent in shape):
        raise ValueError(f"an array of shape {shape!r}")
    return np.frombuffer(data, dtype).reshape(shape, order="F" if order == "F" else "C")


#: numpy's element types by the names in its pickles: those that tensors have.
NUMBERS = {d.numpy.str[1:]: d.numpy for d in ALL_DTYPES}

_FACTORIES = {f"builtins.{kind.__name__}": kind for kind in (list, dict, set, int, float, str, bool, tuple)}


def exactly(value: Any, *kinds: type) -> Any:
    """`value`, whose class is one of `kinds`, not a subclass; TypeError otherwise."""
    if type(value) not in kinds:
        raise TypeError(f"{type(value).__name__} in the place of {' or '.join(kind.__name__ for kind in kinds)}")
    return value


_KEYS = (type(None), bool, int, float, complex, str, bytes, Size, DType, device)
_LARGEST_KEY = 1000


def check_key(key: Any) -> None:
    """TypeError unless `key` can be hashed and compared in bounded time.

    Both go through all that is in a tuple or a frozenset, and through a part as often as it is there.
    """
    waiting, seen = [key], 0
    while waiting:
        part = waiting.pop()
        seen += 1
        if seen > _LARGEST_KEY:
            raise TypeError(f"a key of a dict or a set with more than {_LARGEST_KEY} parts")
        if type(part) in (tuple, frozenset):
            waiting.extend(part)
        elif type(part) not in _KEYS and not isinstance(part, (Tensor, np.generic)):
            raise TypeError(f"{type(part).__name__} as a key of a dict or a member of a set")


def _members(items: list[Any]) -> list[Any]:
    for member in exactly(items, list):
        check_key(member)
    return items


def _counter(counts: Any = None) -> Counter[Any]:
    return Counter({} if counts is None else exactly(counts, dict))


def _defaultdict(factory: Any = None) -> defaultdict[Any, Any]:
    return defaultdict(None if factory is None else _FACTORIES[exactly(factory, Name).text])


def _bytes(text: Any = "", encoding: Any = "latin1") -> bytes:
    """Bytes as pickle writes them below protocol 3."""
    if encoding not in ("latin1", "latin-1"):
        raise ValueError(f"bytes in the encoding {encoding!r}")
    return exactly(text, str).encode("latin1")


def _bytearray(data: Any = b"", encoding: Any = "latin1") -> bytearray:
    return bytearray(data if type(data) is bytes else _bytes(data, encoding))


def _complex(real: Any, imaginary: Any) -> complex:
    return complex(exactly(real, float), exactly(imaginary, float))


def _dtype(name: Any) -> DType:
    return dtype_named(exactly(name, str))


def _device(name: Any) -> device:
    return device(exactly(name, str))


def _generator(where: Any, state: Any) -> generator.Generator:
    if str(exactly(where, str, device)) != "cpu":
        raise ValueError(f"a generator on the device {where!r}")
    return generator.restored(where, exactly(state, bytes))


def size(extents: Any) -> Size:
    """A shape; ValueError if it holds anything but integers from 0 on."""
    if not all(type(extent) is int and extent >= 0 for extent in exactly(extents, tuple, list)):
        raise ValueError("a Size of something else than sizes")
    return Size(extents)


def _storage(dtype: Any, shape: Any, order: Any, data: Any) -> Storage:
    exactly(order, tuple)
    return saved.storage(exactly(dtype, str), shape, order, exactly(data, bytes))


def _tensor(kind: Any, memory: Any, steps: Any, requires_grad: Any) -> Tensor:
    for step in exactly(steps, tuple):
        exactly(step, tuple)
    kind = CLASSES[exactly(kind, Name).text]
    return saved.tensor(kind, exactly(memory, Storage), steps, exactly(requires_grad, bool))


def _earlier_tensor(kind: Any, values: Any, requires_grad: Any, marked: Any = False, strides: Any = None) -> Tensor:
    """A tensor of an earlier version: a numpy array of its own. A pickle's strides, which would say how much memory to
    take, are not followed in a file."""
    if exactly(marked, bool):
        raise ValueError("a tensor of a subclass that is a parameter")
    given = exactly(values, PendingArray, np.ndarray)
    array = given.values if type(given) is PendingArray else given
    if array is None:
        raise ValueError("a tensor of an array without a state")
    return _tensor(kind, Storage(array.copy(order="K")), (), requires_grad)


def _torch_generator(where: Any) -> generator.Generator:
    if str(exactly(where, str, device)) != "cpu":
        raise ValueError(f"a generator on the device {where!r}")
    return generator.Generator(where)


def _from_type(function: Any, kind: Any, given: Any, state: Any) -> Any:
    """A tensor with attributes of the program's own, or of a class that it trusts."""
    name = exactly(function, Name).text
    if name not in FUNCTIONS or not name.startswith("torch._utils."):
        raise ValueError(f"a tensor that {name} makes")
    if type(kind) is Name:
        kind, state = CLASSES[kind.text], exactly(state, dict)
    elif not (isinstance(kind, type) and issubclass(kind, Tensor)):
        raise TypeError(f"a tensor of class {kind!r}")
    return restored_as(FUNCTIONS[name](*exactly(given, tuple)), kind, state)


def _numpy_dtype(name: Any, align: Any = False, copy: Any = True) -> np.dtype:
    return NUMBERS[exactly(name, str)]


def _numpy_scalar(dtype: Any, data: Any) -> np.generic:
    number: np.generic = _array(data, dtype, (1,), "C")[0]
    return number


def _numpy_array(kind: Any, shape: Any, code: Any) -> PendingArray:
    if exactly(kind, Name).text != "numpy.ndarray":
        raise ValueError(f"an array of class {kind.text}")
    return PendingArray()


CONSTRUCTORS: dict[str, Callable[..., Any]] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": _counter,
    "collections.defaultdict": _defaultdict,
    "builtins.dict": lambda: {},
    "builtins.list": lambda: [],
    "builtins.set": lambda items=(): set(_members(list(items))),
    "builtins.frozenset": lambda items=(): frozenset(_members(list(items))),
    "builtins.bytes": _bytes,
    "builtins.bytearray": _bytearray,
    "builtins.complex": _complex,
    "_codecs.encode": _bytes,
    "tracegrad.ops.types.dtype_named": _dtype,
    "tracegrad.tensors.device.device": _device,
    "tracegrad.tensors.generator.restored": _generator,
    "tracegrad.tensors.tensor.Size": size,
    "tracegrad.serialization.saved.storage": _storage,
    "tracegrad.serialization.saved.tensor": _tensor,
    **FUNCTIONS,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "torch._C.Generator": _torch_generator,
    "numpy.dtype": _numpy_dtype,
    "numpy._core.multiarray.scalar": _numpy_scalar,
    # what versions before wrote
    "tracegrad.tensors.generator._restored": _generator,
    "tracegrad.functional.copying._rebuilt": _earlier_tensor,
    "tracegrad.nn.parameter._restored": _earlier_tensor,
    "numpy._core.multiarray._reconstruct": _numpy_array,
    "numpy._core.numeric._frombuffer": _array,
}

_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray, Size, DType, device, generator.Generator)
_STORAGES = (TypedStorage, UntypedStorage)
_OF_ARRAYS = (layout, memory_format)
_SCALARS = tuple(d.numpy.type for d in ALL_DTYPES)


def is_allowed(name: str) -> bool:
    """Whether a file may name this at all."""
    return name in CONSTRUCTORS or name in CLASSES or name in _FACTORIES or name == "numpy.ndarray"


def check_result(result: Any, with_trusted: bool = False) -> None:
    """TypeError unless `result` and all that is in it are tensors, containers and numbers.

    `with_trusted`: or objects of classes that the program trusts, which may be anything.
    """
    leaves = frozenset((*_PLAIN, *_SCALARS, *_STORAGES, *_OF_ARRAYS))
    waiting, seen = [result], set()
    while waiting:
        value = waiting.pop()
        kind = type(value)
        if kind in leaves or id(value) in seen:
            continue
        seen.add(id(value))
        if kind in (list, tuple, set, frozenset):
            waiting.extend(value)
        elif kind in (dict, OrderedDict, Counter, defaultdict):
            waiting.extend(dict.keys(value))
            waiting.extend(dict.values(value))
            waiting.extend(getattr(value, "__dict__", {}).values())
        elif kind in CLASSES.values() or is_meta(value):
            waiting.extend(vars(value).values())
        elif kind in (Name, PendingArray) or not with_trusted:
            what = f"the name {value.text}" if kind is Name else kind.__name__.replace("PendingArray", "numpy.ndarray")
            raise TypeError(f"{what} in the place of a tensor, a container or a number")
