"""Parameters in lists and dicts."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import Any

from ...tensors.tensor import Tensor
from ..module import Module
from ..parameter import Parameter
from ..recording import declared


class ParameterList(Module):
    """A list of parameters, registered under their numbers; tensors become parameters, other objects stay.

    >>> import tracegrad as tg
    >>> weights = tg.nn.ParameterList([tg.ones(2), tg.zeros(3)])
    >>> len(weights), [name for name, _ in weights.named_parameters()]
    (2, ['0', '1'])
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        self.extend(values or ())

    def _name_at(self, index: Any) -> str:
        place, size = operator.index(index), len(self)
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of range")
        return str(place % size)

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return type(self)(list(self)[index])
        return getattr(self, self._name_at(index))

    def __setitem__(self, index: int, value: Any) -> None:
        setattr(self, self._name_at(index), _as_parameter(value))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        size = declared(self, "length", lambda: self._size)
        return (getattr(self, str(i)) for i in range(size))

    def append(self, value: Any) -> ParameterList:
        """Add a parameter, or another object, at the end; returns self."""
        setattr(self, str(self._size), _as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> ParameterList:
        """Add parameters at the end; returns self. TypeError for a single tensor."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}; give a list"
            )
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> ParameterList:
        return self.extend(values)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called. Call the module that uses its parameters.")

    def extra_repr(self) -> str:
        """A line for each."""
        return "\n".join(f"  ({i}): {_described(value, True)}" for i, value in enumerate(self))


class ParameterDict(Module):
    """A dict of parameters, registered under its keys, which are strings; tensors become parameters.

    Keys stay in the order in which they came; those of a plain dict are sorted, as in PyTorch. Other objects than
    tensors stay what they are.

    >>> import tracegrad as tg
    >>> scales = tg.nn.ParameterDict({"left": tg.ones(2)})
    >>> scales["right"] = tg.zeros(2)
    >>> [name for name, _ in scales.named_parameters()]
    ['left', 'right']
    """

    def __init__(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] | ParameterDict | None = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, _key_of(key))

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, _key_of(key), _as_parameter(value))
        self._keys = {**self._keys, key: None}

    def __delitem__(self, key: str) -> None:
        if key not in self._keys:
            raise KeyError(key)
        delattr(self, key)
        self._keys = dict.fromkeys(name for name in self._keys if name != key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(declared(self, "keys", lambda: tuple(self._keys)))

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def __or__(self, other: ParameterDict) -> ParameterDict:
        copied = self.copy()
        copied.update(other)
        return copied

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        copied = ParameterDict(other)
        copied.update(self)
        return copied

    def __ior__(self, other: ParameterDict) -> ParameterDict:
        self.update(other)
        return self

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(list(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The parameter of that name, which is `default` from now on if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The parameter of that name, `default` if there is none."""
        return self[key] if key in self else default

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict with the same value for all keys."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> KeysView[str]:
        """The names."""
        return dict.fromkeys(self).keys()

    def values(self) -> Iterable[Any]:
        """The parameters."""
        return [self[key] for key in self]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Names and parameters."""
        return [(key, self[key]) for key in self]

    def update(self, parameters: Mapping[str, Any] | Iterable[tuple[str, Any]] | ParameterDict) -> None:
        """Add parameters from a mapping or from pairs, or replace those of the same name. TypeError for others."""
        if not isinstance(parameters, Iterable):
            raise TypeError(
                "ParametersDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(parameters).__name__}; give a dict"
            )
        pairs: Any = parameters
        if isinstance(parameters, (OrderedDict, ParameterDict)):
            pairs = parameters.items()
        elif isinstance(parameters, Mapping):
            pairs = sorted(parameters.items())
        for key, value in list(pairs):
            self[key] = value

    def pop(self, key: str) -> Any:
        """Take a parameter away and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last one away; returns its name and itself."""
        key = list(self._keys)[-1]
        return key, self.pop(key)

    def clear(self) -> None:
        """Take all parameters away."""
        for key in list(self._keys):
            del self[key]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called. Call the module that uses its parameters.")

    def extra_repr(self) -> str:
        """A line for each."""
        return "\n".join(f"  ({key}): {_described(value, False)}" for key, value in self.items())


def _key_of(key: Any) -> str:
    if not isinstance(key, str):
        raise TypeError(
            "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
            f"'{type(key).__name__}')."
        )
    return key


def _described(value: Any, by_dtype: bool) -> str:
    """A line of what a container of parameters shows."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if value.is_parameter else "Tensor"
    of = repr(value.dtype) if by_dtype else f"torch.{value.dtype.title.capitalize()}Tensor"
    return f"{kind} containing: [{of} of size {'x'.join(map(str, value.shape))}]"


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not value.is_parameter else value
