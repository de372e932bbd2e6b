"""``__torch_function__``: classes that take part in every function and method that their objects are given to.

The protocol is PyTorch's. Among the arguments, those whose class overrides are asked in order (subclasses before their
bases, then from left to right) until one answers something else than NotImplemented. `Tensor` itself and classes whose
``__torch_function__`` is `disabled_torch_function` (parameters) override nothing.

Nothing here is asked of plain tensors: who takes arguments compares their exact classes with `PLAIN`, the closed set of
classes that override nothing, and comes here only for others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ..ops.types import DType
from ..tracing.blocks import Block
from ..tracing.user_warning import warn_user
from ..tracing.watch import forbid

#: Classes whose objects are arguments like any other. `Tensor` and `Parameter` are added where they are defined.
PLAIN: set[type] = {bool, int, float, type(None), str, DType, slice, type(Ellipsis)}


class Subclasses:
    """Whether there is any overriding subclass of Tensor: one look for what would have to look at each operand."""

    __slots__ = ("exist", "of_program")

    def __init__(self) -> None:
        #: Whether operands have to be looked at: `of_program`, or while there are tensors on the device meta.
        self.exist = False
        #: Whether a program has made such a class.
        self.of_program = False


subclasses = Subclasses()


class _Local(threading.local):
    disabled = False


_local = _Local()


def is_disabled() -> bool:
    """True while this thread is inside a `DisableTorchFunctionSubclass`."""
    return _local.disabled


class _NobodyAsked(Block):
    """What `DisableTorchFunctionSubclass` puts in place, safe from interrupts."""

    wanted = True

    def now(self) -> bool:
        return _local.disabled

    def put(self, state: bool) -> None:
        _local.disabled = state


class DisableTorchFunctionSubclass:
    """A context in which nobody's ``__torch_function__`` is called: tensors of subclasses count as plain tensors.

    >>> import tracegrad as tg
    >>> class Tagged(tg.Tensor):
    ...     pass
    >>> x = tg.ones(2).as_subclass(Tagged)
    >>> with tg._C.DisableTorchFunctionSubclass():
    ...     tg.neg(x)
    tensor([-1., -1.])
    >>> tg.neg(x)
    Tagged([-1., -1.])
    """

    def __init__(self) -> None:
        self._block = _NobodyAsked()

    def __enter__(self) -> None:
        self._block.__enter__()

    def __exit__(self, *exc_info: object) -> None:
        self._block.__exit__(*exc_info)


def disabled_torch_function(
    func: Callable[..., Any], types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
) -> Any:
    """The ``__torch_function__`` of classes that override nothing: ``func(*args, **kwargs)``, a plain tensor."""
    with DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


def overrides(kind: type) -> bool:
    """True if objects of the class take part in functions that they are given to."""
    if kind in PLAIN:
        return False
    function = getattr(kind, "__torch_function__", None)
    return function is not None and function is not disabled_torch_function


def overloaded(values: Iterable[Any]) -> list[Any]:
    """One object for each class among `values` that overrides, in the order in which they are asked.

    Lists and tuples are looked into.
    """
    found: list[Any] = []
    for value in values:
        for item in value if type(value) in (list, tuple) else (value,):
            _insert(item, found)
    if found and _local.disabled:
        forbid_in_recording(type(found[0]), "a function")  # a later call may come from another context
        return []
    return found


def _insert(value: Any, found: list[Any]) -> None:
    kind = type(value)
    if kind in PLAIN or any(type(other) is kind for other in found) or not overrides(kind):
        return
    before = (i for i, other in enumerate(found) if issubclass(kind, type(other)))
    found.insert(next(before, len(found)), value)


def ask(
    function: Callable[..., Any],
    name: str,
    found: Sequence[Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    plain: type | None = None,
) -> Any:
    """What the overriding arguments make of ``function(*args, **kwargs)``.

    TypeError if all of them answer NotImplemented. `name` is what messages call the function. `plain`, the class
    Tensor, is told of as well where an argument is of it.
    """
    kinds = _kinds((*args, *kwargs.values()), found, plain)
    forbid_in_recording(type(found[0]), name)
    for value in found:
        handler = value.__torch_function__
        if getattr(handler, "__self__", None) is value:
            warn_user(
                "Defining your `__torch_function__` as a plain method is deprecated and will be an error in future, "
                "please define it as a classmethod.",
                DeprecationWarning,
            )
        result = handler(function, kinds, args, dict(kwargs))
        if result is not NotImplemented:
            return result
    listed = "".join(f"  - tensor subclass {kind!r}\n" for kind in kinds)
    raise TypeError(
        f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n\n{listed}\n"
        f"no implementation found for '{name}' on types that implement __torch_function__: {list(kinds)}. Return a "
        "result for these types in one of them, or convert the arguments first, e.g. with .as_subclass()."
    )


def _kinds(values: Iterable[Any], found: Sequence[Any], plain: type | None) -> tuple[type, ...]:
    """The classes that are told: PyTorch's functions in Python tell Tensor as well, those in C do not."""
    kinds = tuple(map(type, found))
    tensors = [value for value in values if type(value) is plain]
    if not tensors:
        return kinds
    first = [type(value) for value in values if type(value) in (*kinds, plain)][0]
    leads = first is plain and not any(issubclass(kind, first) for kind in kinds)
    return (first, *kinds) if leads else (*kinds, type(tensors[0]))


def forbid_in_recording(kind: type, name: str) -> None:
    """Refuse an overriding class's part in `name` while a function is recorded: it is the class's own Python."""
    if getattr(kind, "is_of_library", False):
        return
    if getattr(kind, "is_meta", None) is True:
        forbid(f"{name} of a tensor on the device meta", "Ask for shapes outside.")
    forbid(
        f"{name} of a {kind.__name__}, whose class has a say in it (__torch_function__),",
        "Hand over plain tensors, e.g. x.as_subclass(tracegrad.Tensor), and give the result its class outside.",
    )


def default_torch_function(
    cls: type, func: Callable[..., Any], types: Iterable[type], args: Sequence[Any], kwargs: Mapping[str, Any] | None
) -> Any:
    """What `Tensor.__torch_function__` does: ``func`` as for plain tensors, and its tensors as `cls`.

    NotImplemented if one of the `types` is no base of `cls`.
    """
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        return result if _gives_own(func) else _converted(result, cls)


def _gives_own(function: Any) -> bool:
    """True for what gives a tensor that exists already: reading ``x.grad`` and ``x._base``."""
    read = getattr(function, "__self__", None)
    return isinstance(read, property) and getattr(read.fget, "__name__", "") == "grad"


def _converted(result: Any, cls: Any) -> Any:
    tensor = cls.tensor_class
    if cls is tensor:
        return result
    if isinstance(result, tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        items = [_converted(item, cls) for item in result]
        return type(result)._make(items) if hasattr(result, "_make") else type(result)(items)
    return result
