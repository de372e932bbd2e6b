"""Modules in sequences and dicts."""

from __future__ import annotations

import operator
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import Any

from ...tracing.entries import TableRead
from ...tracing.watch import watcher
from ..joinable import Joinable
from ..module import Module
from ..printing import block, grouped
from ..recording import declared
from ..registry import adapted


class _Sequence(Module):
    """What Sequential and ModuleList share: members are the submodules, in order."""

    def _members(self) -> list[Module]:
        """The submodules in order. Recordings keep as guards which ones they are."""
        if watcher() is None:
            return list(self._modules.values())
        names = declared(self, "members", TableRead.of(self, ("_modules",), lambda: tuple(self._modules)))
        return [getattr(self, name) for name in names]

    def _name_at(self, index: Any) -> str:
        place, size = operator.index(index), len(self)
        if not -size <= place < size:
            raise IndexError(f"index {place} is out of range")
        return list(self._modules)[place]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._of(list(self._modules.items())[index])
        return getattr(self, self._name_at(index))

    def _of(self, members: list[tuple[str, Module]]) -> Any:
        """A sequence of the same class that holds some of the members."""
        part = type(self)()
        part._renumber([module for _, module in members])
        return part

    def __setitem__(self, index: Any, module: Module) -> None:
        setattr(self, self._name_at(index), adapted(module))

    def __delitem__(self, index: Any) -> None:
        names = list(self._modules)[index] if isinstance(index, slice) else [self._name_at(index)]
        self._renumber([module for name, module in self._modules.items() if name not in names])

    def _renumber(self, modules: Iterable[Module]) -> None:
        kept = {str(i): module for i, module in enumerate(modules)}
        self._modules.clear()
        self._modules.update(kept)

    def __len__(self) -> int:
        return declared(self, "length", lambda: len(self._modules))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._members())

    def append(self, module: Module) -> Any:
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Any:
        """Add modules at the end; returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                f"{type(self).__name__}.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Any:
        """Add a module before the place `index`; returns self."""
        modules = list(self._modules.values())
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def pop(self, index: int = -1) -> Any:
        """Take a module away and return it."""
        module = self[index]
        del self[index]
        return module

    def __dir__(self) -> list[str]:
        return [key for key in super().__dir__() if not key.isdigit()]


class Sequential(_Sequence, Joinable):
    """Modules applied one after the other; from arguments, or from an ordered dict that names them.

    It is indexed and sliced as a list; ``append``, ``extend``, ``insert``, ``pop`` change it, ``+`` and ``*`` join and
    repeat. A call hands the input to the first module, and returns what the last one returns. TypeError for members
    that are no modules.

    >>> import tracegrad as tg
    >>> model = tg.nn.Sequential(tg.nn.Flatten(), tg.nn.ReLU())
    >>> model
    Sequential(
      (0): Flatten(start_dim=1, end_dim=-1)
      (1): ReLU()
    )
    >>> model(tg.tensor([[[-1.0, 2.0]]]))
    tensor([[0., 2.]])
    """

    def __init__(self, *modules: Module | Mapping[str, Module]) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], dict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self.extend(modules)  # type: ignore[arg-type]

    def forward(self, input: Any) -> Any:
        for module in self._members():
            input = module(input)
        return input

    def _of(self, members: list[tuple[str, Module]]) -> Any:
        return type(self)(dict(members))


class ModuleList(_Sequence):
    """A list of modules, registered under their numbers, so that ``parameters()`` and the like reach them.

    It has no ``forward``. It is indexed, sliced and iterated as a list; ``append``, ``extend``, ``insert``, ``pop`` and
    ``+`` work as there. TypeError for members that are no modules.

    >>> import tracegrad as tg
    >>> layers = tg.nn.ModuleList([tg.nn.Linear(2, 3), tg.nn.Linear(3, 1)])
    >>> x = tg.ones(4, 2)
    >>> for layer in layers:
    ...     x = layer(x)
    >>> x.shape, len(list(layers.parameters()))
    (tracegrad.Size([4, 1]), 4)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        self.extend(modules or ())

    def insert(self, index: int, module: Module) -> None:
        """Add a module before the place `index`."""
        super().insert(index, module)

    def __iadd__(self, modules: Iterable[Module]) -> Any:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        """A list of the modules of both."""
        return ModuleList([*self, *other])

    def __repr__(self) -> str:
        return block(self._get_name(), "", grouped([repr(module) for module in self]))


class ModuleDict(Module):
    """A dict of modules, registered under its keys, so that ``parameters()`` and the like reach them.

    It has no ``forward``. It comes from a mapping, or from pairs of names and modules, and keeps their order; keys are
    strings without dots that are no attributes of a module (TypeError, KeyError).

    >>> import tracegrad as tg
    >>> heads = tg.nn.ModuleDict({"mean": tg.nn.Linear(2, 1), "scale": tg.nn.Linear(2, 1)})
    >>> heads["mean"](tg.ones(3, 2)).shape, list(heads)
    (tracegrad.Size([3, 1]), ['mean', 'scale'])
    """

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        self.update(modules or {})

    def __getitem__(self, key: str) -> Module:
        return declared(self, f"member {key}", lambda: self._modules[key])

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return declared(self, "length", lambda: len(self._modules))

    def __iter__(self) -> Iterator[str]:
        return iter(declared(self, "keys", lambda: tuple(self._modules)))

    def __contains__(self, key: object) -> bool:
        return declared(self, f"whether {key} is there", lambda: key in self._modules)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._plain().keys()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._plain().values()

    def items(self) -> ItemsView[str, Module]:
        """Names and modules."""
        return self._plain().items()

    def _plain(self) -> dict[str, Module]:
        return {key: self[key] for key in self}

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add modules, or replace those of the same name."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleDict.update should be called with an iterable of key/value pairs, but got "
                f"{type(modules).__name__}"
            )
        for i, pair in enumerate(modules.items() if isinstance(modules, Mapping) else modules):
            if not isinstance(pair, Iterable):
                raise TypeError(f"ModuleDict update sequence element #{i} should be Iterable; is {type(pair).__name__}")
            pair = tuple(pair)
            if len(pair) != 2:
                raise ValueError(f"ModuleDict update sequence element #{i} has length {len(pair)}; 2 is required")
            self[pair[0]] = pair[1]

    def pop(self, key: str) -> Module:
        """Take a module away and return it."""
        module = self[key]
        del self[key]
        return module

    def clear(self) -> None:
        """Take all modules away."""
        self._modules.clear()
