"""Attributes of modules: parameters, buffers and submodules are kept in registries of their own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..tensors.tensor import Tensor
from ..tracing.counted import Counted
from ..tracing.eager_compiler import what_is_compiled
from ..tracing.entries import TableRead
from ..tracing.stored_places import stored_places
from ..tracing.watch import WatchedDict, changes, watcher
from .calls.everywhere import as_registered
from .option import Option
from .parameter import Buffer, Parameter
from .recording import declared, is_made_here, note_made
from .rollback import default


def _title(value: Any) -> str:
    """What PyTorch's messages call the type of `value`."""
    return f"torch.{value.dtype.title}Tensor" if isinstance(value, Tensor) else type(value).__name__


def _is_registered(module: Any, name: str) -> bool:
    return any(name in module.__dict__.get(kind, ()) for kind in REGISTRIES)


def _registered(module: Any, kind: str, name: str) -> Any:
    return module.__dict__.get(kind, {}).get(name)


REGISTRIES = ("_parameters", "_buffers", "_modules")
_adapters: list[Callable[[Any], Any]] = []


def adapt_children(adapter: Callable[[Any], Any]) -> None:
    """From now on keep ``adapter(module)`` where `module` is added to another one."""
    _adapters.append(adapter)


def adapted(module: Any) -> Any:
    """What is kept of `module` as a child."""
    for adapter in _adapters:
        module = adapter(module)
    return module


class Registry(Counted):
    """Sorts what is assigned into `_parameters`, `_buffers` and `_modules`, and finds it there again.

    Compiled functions notice what is rebound in the registries.
    """

    _parameters: WatchedDict
    _buffers: WatchedDict
    _modules: WatchedDict
    _non_persistent_buffers_set: set[str]

    def __init__(self) -> None:
        empty: dict[str, Any] = {registry: WatchedDict() for registry in REGISTRIES}
        dict.update(self.__dict__, empty, _non_persistent_buffers_set=set())
        note_made(self)

    # -------------------------------------------------------------------------------------------------- registering

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under `name`; None reserves the name for one that is missing."""
        self._check_name("parameter", "parameters", name, self.__dict__.get("_parameters"))
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' (nn.Parameter or None required). "
                "Wrap the tensor: nn.Parameter(tensor)."
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. "
                "Compute the value in forward() instead."
            )
        self._parameters[name] = as_registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; with ``persistent=False`` it is left out of ``state_dict``."""
        self._check_name("buffer", "buffer", name, self.__dict__.get("_buffers"))
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' (Tensor or None required)"
            )
        self._keep("_buffers", name, as_registered("buffer", self, name, tensor))
        self._non_persistent_buffers_set.discard(name)
        if not persistent:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a submodule under `name`; None reserves the name. A compiled module is kept as an `OptimizedModule`."""
        self._check_name("module", "module", name, self.__dict__.get("_modules"))
        module = adapted(module)
        if module is not None and not isinstance(module, Registry):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._keep("_modules", name, as_registered("module", self, name, module))

    register_module = add_module

    def _check_name(self, what: str, plural: str, name: Any, registry: WatchedDict | None) -> None:
        if registry is None:
            raise AttributeError(f"cannot assign {plural} before Module.__init__() call; call super().__init__() first")
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        if "." in name:
            raise KeyError(f'{what} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if hasattr(self, name) and name not in registry:
            raise KeyError(f"attribute '{name}' already exists")

    def _keep(self, kind: str, name: str, value: Any) -> None:
        """Put a submodule or buffer into its registry. A function that makes a whole module makes its parts with it;
        parameters are leaves, which no replay makes."""
        registry = self.__dict__[kind]
        (dict.__setitem__ if is_made_here(self) else type(registry).__setitem__)(registry, name, value)

    # --------------------------------------------------------------------------------------------------- attributes

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in REGISTRIES:
            registry = own.get(kind)
            if registry is not None and name in registry:
                if watcher() is not None:
                    return declared(self, name, TableRead.of(self, (kind,), _registered, self, kind, name))
                return registry[name]
        if watcher() is not None:
            declared(self, f"whether {name} is there", functools.partial(_is_registered, self, name))
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @default
    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor) and value.is_parameter:
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Buffer) and name not in self.__dict__.get("_buffers", ()):
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)  # type: ignore[arg-type, attr-defined]
        elif isinstance(value, Registry):
            if "_modules" not in self.__dict__:
                raise AttributeError("cannot assign module before Module.__init__() call; call it first")
            self._forget(name, keep="_modules")
            # Without a look at the attribute: a __getattr__ may lead to this very module.
            self._keep("_modules", name, as_registered("module", self, name, value))
        elif isinstance(module := what_is_compiled(value), Registry) and module is not self and name.isidentifier():
            # The attribute is the program; the module that it was made of is the child, as a compiled one is PyTorch's.
            Registry.__setattr__(self, name, module)
            object.__setattr__(self, name, value)
        elif not self._replace(name, value):
            if isinstance(getattr(type(self), name, None), Option):  # which counts its changes itself
                object.__setattr__(self, name, value)
            else:
                stored_places.store(self, name, value)  # a compiled step may have looked at it

    def _replace(self, name: str, value: Any) -> bool:
        """Put `value` into the registry that has `name`; False if none has."""
        if name in self.__dict__.get("_parameters", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_title(value)}' as parameter '{name}' (torch.nn.Parameter or None expected)"
                )
            self._parameters[name] = None
        elif name in self.__dict__.get("_modules", ()):
            if value is not None:
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = None
            dict.pop(self.__dict__, name, None)  # its compiled form
        elif name in self.__dict__.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise TypeError(
                    f"cannot assign '{type(value).__name__}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)"
                )
            value = self._buffers[name] = as_registered("buffer", self, name, value)
            if isinstance(value, Buffer):
                left_out = self._non_persistent_buffers_set
                (left_out.discard if value.persistent else left_out.add)(name)  # type: ignore[attr-defined]
        else:
            return False
        return True

    def _forget(self, name: str, keep: str) -> None:
        """Take `name` away everywhere but in the registry `keep`."""
        dict.pop(self.__dict__, name, None)
        for kind in REGISTRIES:
            if kind != keep and name in self.__dict__.get(kind, ()):
                del self.__dict__[kind][name]
        self.__dict__.get("_non_persistent_buffers_set", set()).discard(name)

    def __delattr__(self, name: str) -> None:
        for kind in REGISTRIES:
            if name in self.__dict__.get(kind, ()):
                del self.__dict__[kind][name]
                self._non_persistent_buffers_set.discard(name)
                dict.pop(self.__dict__, name, None)  # a module's compiled form
                return
        changes.count += 1
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        registered = [name for kind in REGISTRIES for name in self.__dict__.get(kind, ())]
        return sorted({*object.__dir__(self), *registered})
