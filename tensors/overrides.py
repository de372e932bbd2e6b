"""``tracegrad.overrides``: how functions of one's own take part in ``__torch_function__``, under PyTorch's names."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

from . import overriding
from .tensor import Tensor

__all__ = [
    "get_overridable_functions",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

#: The modules whose functions can be overridden, by their public names; `declare` enters them.
_modules: dict[str, Any] = {}


def declare(name: str, module: Any) -> None:
    """Say that the checked functions of `module` are public ones."""
    _modules[name] = module


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """True if one of the arguments is of a class that overrides functions.

    >>> import tracegrad as tg
    >>> tg.overrides.has_torch_function((tg.ones(2), 3))
    False
    """
    return bool(overriding.overloaded(relevant_args))


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the overriding among `relevant_args` make of ``public_api(*args, **kwargs)``.

    TypeError if there are none, or all answer NotImplemented.

    >>> import tracegrad as tg
    >>> def double(x):
    ...     if tg.overrides.has_torch_function((x,)):
    ...         return tg.overrides.handle_torch_function(double, (x,), x)
    ...     return x * 2
    >>> class Named:
    ...     @classmethod
    ...     def __torch_function__(cls, func, types, args=(), kwargs=None):
    ...         return func.__name__
    >>> double(tg.ones(2)), double(Named())
    (tensor([2., 2.]), 'double')
    """
    name = resolve_name(public_api) or f"{public_api.__module__}.{getattr(public_api, '__name__', public_api)}"
    relevant_args = tuple(relevant_args)
    found = overriding.overloaded(relevant_args)
    if not found and any(isinstance(arg, Tensor) for arg in relevant_args):
        return Tensor.__torch_function__(public_api, (Tensor,), args, kwargs)
    if not found:
        raise TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: []")
    return overriding.ask(public_api, name, found, args, kwargs)


def wrap_torch_function(dispatcher: Callable[..., Sequence[Any]]) -> Callable[..., Any]:
    """A decorator: ``dispatcher(*args)`` gives the arguments that are asked before the function is called.

    >>> import tracegrad as tg
    >>> @tg.overrides.wrap_torch_function(lambda x: (x,))
    ... def double(x):
    ...     return x * 2
    >>> double(tg.ones(2))
    tensor([2., 2.])
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(called, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return called

    return decorate


def is_tensor_like(inp: Any) -> bool:
    """True for tensors and for objects of any class that has a ``__torch_function__``.

    >>> import tracegrad as tg
    >>> tg.overrides.is_tensor_like(tg.ones(2)), tg.overrides.is_tensor_like(3)
    (True, False)
    """
    return isinstance(inp, Tensor) or hasattr(inp, "__torch_function__")


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """The functions and methods that ask ``__torch_function__``, by the module or class that has them.

    >>> import tracegrad as tg
    >>> tg.add in tg.overrides.get_overridable_functions()[tg]
    True
    """
    found = {module: [f for _, f in _functions(module)] for module in _modules.values()}
    return {**found, Tensor: [member for _, member in _members()]}


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """True for methods of Tensor and for the ``__get__`` of its properties.

    >>> import tracegrad as tg
    >>> tg.overrides.is_tensor_method_or_property(tg.Tensor.add), tg.overrides.is_tensor_method_or_property(tg.add)
    (True, False)
    """
    return any(func == member for _, member in _members())


def resolve_name(f: Any) -> str | None:
    """The public name of a function that can be overridden; None for others.

    >>> import tracegrad as tg
    >>> tg.overrides.resolve_name(tg.Tensor.add), tg.overrides.resolve_name(tg.nn.functional.relu)
    ('tracegrad.Tensor.add', 'tracegrad.nn.functional.relu')
    """
    for title, member in _members():
        if f == member:
            return f"tracegrad.Tensor.{title}"
    for name, module in _modules.items():
        for title, function in _functions(module):
            if f is function:
                return f"{name}.{title}"
    return None


def _functions(module: Any) -> list[tuple[str, Any]]:
    return [(n, f) for n, f in vars(module).items() if isinstance(f, FunctionType) and hasattr(f, "is_overridable")]


@functools.cache
def _members() -> list[tuple[str, Any]]:
    members = dict.fromkeys(name for name in dir(Tensor) if name[0] != "_" or name[:2] == "__")
    found: list[tuple[str, Any]] = []
    for name in members:
        value = getattr(Tensor, name)
        if isinstance(value, FunctionType) and name not in ("__init__", "__new__", "__hash__"):
            found.append((name, value))
        elif isinstance(value, property):
            found.append((f"{name}.__get__", value.__get__))
    return found
