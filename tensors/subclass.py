"""Subclasses of Tensor: how they are made, and the class between them and Tensor through which their methods go.

``class T(tracegrad.Tensor)`` gets `Overriding` among its bases in Tensor's place. It has all of Tensor's methods again,
each of which asks `__torch_function__` first; plain tensors have nothing of it, and pay nothing. The library's own code
uses tensors of subclasses as plain ones (`_is_computing`).
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

from ..ops import movement
from ..ops.array import Array
from ..tracing.watch import changes
from .blank import blank, copy_fields
from .overriding import (
    ask,
    default_torch_function,
    disabled_torch_function,
    forbid_in_recording,
    is_disabled,
    overloaded,
    subclasses,
)

_set_class = vars(object)["__class__"].__set__


def _change_class(tensor: Any, cls: type) -> None:
    _set_class(tensor, cls)
    changes.count += 1


class Subclassing:
    """The part of Tensor that makes tensors of subclasses."""

    __slots__ = ()
    tensor_class: Any = None  # Tensor, as the protocol knows it
    _of_library = False  # whether tensors of a subclass are looked for only while there are some
    #: Compiled functions have looked at the class of each tensor: giving it another one counts as a change.
    __class__ = property(type, _change_class)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.tensor_class is None:
            cls.tensor_class = cls
        elif cls.__torch_function__ is not disabled_torch_function and not _goes_through(cls):
            subclasses.exist = True
            subclasses.of_program = subclasses.of_program or not cls._of_library
            cls.__bases__ = _with_methods(cls.__bases__, overriding(cls.tensor_class))

    @classmethod
    def __torch_function__(
        cls,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Called for each function and method that a tensor of a subclass is an argument of.

        This one computes ``func(*args, **kwargs)`` as for plain tensors, and gives tensors in the result the class
        `cls`; NotImplemented if one of the `types` is no base of it. A subclass may define its own, and call this one
        by ``super().__torch_function__(func, types, args, kwargs)``.
        """
        return default_torch_function(cls, func, types, args, kwargs)

    def as_subclass(self, cls: type) -> Any:
        """A tensor of the class `cls` that shows the same memory, with the same history; TypeError if `cls` is no
        subclass of Tensor.

        >>> import tracegrad as tg
        >>> class Tagged(tg.Tensor):
        ...     pass
        >>> tg.ones(2).as_subclass(Tagged)
        Tagged([1., 1.])
        """
        tensor: Any = self
        _require_tensor_class(cls, tensor.tensor_class)
        if cls is not tensor.tensor_class:
            forbid_in_recording(cls, "as_subclass()")
        return in_class(alias_of(tensor), cls)

    @staticmethod
    def _make_subclass(cls: Any, data: Any, require_grad: bool = False) -> Any:
        """A leaf of the class `cls` that shows the memory of `data`."""
        _require_tensor_class(cls, data.tensor_class)
        if cls is not data.tensor_class:
            forbid_in_recording(cls, "_make_subclass()")
        made = in_class(alias_of(data.tensor_class.detach(data)), cls)
        made._base = None
        data.tensor_class.requires_grad_(made, require_grad)
        return made


def _require_tensor_class(cls: Any, tensor_class: type) -> None:
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__}); pass a subclass of Tensor")
    if not issubclass(cls, tensor_class):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not possible. Make sure your "
            f"class inherits from Tensor: {cls.__name__} does not."
        )


def alias_of(tensor: Any) -> Any:
    """A view of all of `tensor`."""
    shape = tensor.ndarray.shape
    alias = movement.slice(tensor, (0,) * len(shape), shape, (1,) * len(shape))
    if alias._node is not None:
        alias._node.rename("AliasBackward0")
    return alias


def in_class(tensor: Any, cls: Any) -> Any:
    """`tensor`, a new one that nobody else knows, as an object of `cls`."""
    if type(tensor) is cls:
        return tensor
    try:
        _set_class(tensor, cls)
        return tensor
    except TypeError:  # `cls` has slots
        made = blank(cls)
        Array.__init__(made, tensor.ndarray, tensor.buffer, tensor.steps)
        made.label, made.place = tensor.label, tensor.place
        copy_fields(tensor, made)
        return made


# ------------------------------------------------------------------------------------------- the methods of subclasses


def _goes_through(cls: type) -> bool:
    return any("__overriding__" in vars(base) for base in cls.__mro__)


def _with_methods(bases: tuple[type, ...], methods: Any) -> tuple[type, ...]:
    """`bases` with `methods` for Tensor, or before the first one that inherits from it."""
    if methods.tensor_class in bases:
        return tuple(methods if base is methods.tensor_class else base for base in bases)
    first = next(i for i, base in enumerate(bases) if issubclass(base, methods.tensor_class))
    return (*bases[:first], methods, *bases[first:])


#: Methods of the same meaning, by which PyTorch calls them in ``__torch_function__``.
KNOWN_AS = {
    "__add__": "add", "__radd__": "add", "__sub__": "sub", "__mul__": "mul", "__rmul__": "mul", "__truediv__": "div",
    "__mod__": "remainder", "__rand__": "bitwise_and", "__ror__": "bitwise_or", "__rxor__": "bitwise_xor",
    "__ne__": "ne", "__lt__": "lt", "__le__": "le", "__gt__": "gt", "__ge__": "ge", "__matmul__": "matmul",
    "__neg__": "neg", "__abs__": "abs", "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_",
    "__itruediv__": "div_", "__ifloordiv__": "floor_divide_", "__imod__": "remainder_", "ndimension": "dim",
    "nelement": "numel", "__ipow__": "pow_",
}  # fmt: skip
#: What ``y + x`` is where y is a tensor, too: Python asks the subclass first.
_FORWARD = {
    f"__r{name}__": f"__{name}__"
    for name in ("add", "sub", "mul", "truediv", "pow", "mod", "floordiv", "and", "or", "xor", "matmul")
}
_COMPARISONS = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_OPERATORS = {*_FORWARD, *_FORWARD.values(), *(f"__i{name[2:]}" for name in _FORWARD.values()), *_COMPARISONS}
#: Python's own protocols that go through ``__torch_function__``.
_SPECIAL = (
    "__array__ __array_wrap__ __bool__ __complex__ __contains__ __deepcopy__ __delitem__ __float__ __format__ "
    "__getitem__ __index__ __int__ __invert__ __len__ __neg__ __abs__ __pos__ __reduce_ex__ __repr__ __setitem__ "
    "_is_view"
).split()
#: What Tensor has for the library itself, or what is asked of the class.
_OWN = (
    "as_subclass attach base become forget_history gradient_edge is_parameter leaf_hooks note_view_of "
    "post_accumulate_hooks rebase steps_from_base type_ tensor_class"
).split()


@functools.cache
def overriding(tensor_class: Any) -> Any:
    """The class with Tensor's methods, each of which asks `__torch_function__` first."""
    members: dict[str, Any] = {"__slots__": (), "__overriding__": True, "__module__": tensor_class.__module__}
    for name, member in _methods(tensor_class):
        if isinstance(member, property):
            members[name] = _overriding_property(name, tensor_class)
        elif name in _OPERATORS:
            members[name] = _overriding_operator(name, tensor_class)
        else:
            members[name] = _overriding_method(name, tensor_class)
    members["__iter__"] = _iterated(tensor_class)
    members["__hash__"] = tensor_class.__hash__  # which a class with an __eq__ of its own would lose
    return type.__new__(type, "Tensor", (tensor_class,), members)


def _methods(tensor_class: type) -> Iterator[tuple[str, Any]]:
    for name in dir(tensor_class):
        public = name[0] != "_" and name not in _OWN
        if public or name in _SPECIAL or name in _OPERATORS:
            member = next(vars(base)[name] for base in tensor_class.__mro__ if name in vars(base))
            if isinstance(member, (FunctionType, property)):
                yield name, member


def _overriding_method(name: str, tensor_class: Any) -> Callable[..., Any]:
    @functools.wraps(getattr(tensor_class, name))
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        plain = getattr(super(overriding(tensor_class), self), name)
        if is_disabled():
            forbid_in_recording(type(self), _public(name))
            return plain(*args, **kwargs)
        if _is_computing(sys._getframe(1)):
            return disabled_torch_function(plain, (), args, kwargs)
        return _asked(plain, tensor_class, KNOWN_AS.get(name, name), (self, *args), kwargs)

    return method


def _asked(
    plain: Callable[..., Any], tensor_class: Any, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Any:
    """What the arguments make of Tensor's method `name`; `plain` is bound to the first, for a class with no say."""
    found = overloaded((*args, *kwargs.values()))
    if not found:
        return plain(*args[1:], **kwargs)
    return ask(getattr(tensor_class, name), _public(name), found, args, kwargs)


def _iterated(tensor_class: Any) -> Callable[[Any], Any]:
    def rows(self: Any) -> Any:
        if is_disabled() or _is_computing(sys._getframe(1)) or not self.ndarray.ndim:
            return tensor_class.__iter__(self)
        plain = getattr(super(overriding(tensor_class), self), "unbind")  # noqa: B009
        return iter(_asked(plain, tensor_class, "unbind", (self, 0), {}))

    return rows


def _overriding_operator(name: str, tensor_class: Any) -> Callable[..., Any]:
    """A method that has another chance with the other operand's: NotImplemented for a TypeError."""

    @functools.wraps(getattr(tensor_class, name))
    def operator(self: Any, other: Any) -> Any:
        plain = getattr(super(overriding(tensor_class), self), name)
        if is_disabled():
            forbid_in_recording(type(self), _public(name))
            return plain(other)
        if _is_computing(sys._getframe(1)):
            return disabled_torch_function(plain, (), (other,))
        called, operands = name, (self, other)
        if name in _FORWARD and isinstance(other, tensor_class):
            called, operands = _FORWARD[name], (other, self)
        if not overloaded(operands):
            return plain(other)
        try:
            return _asked(plain, tensor_class, KNOWN_AS.get(called, called), operands, {})
        except TypeError:
            return NotImplemented

    return operator


def _overriding_property(name: str, tensor_class: Any) -> property:
    """Reading is ``Tensor.name.__get__``, writing ``__set__``, to ``__torch_function__``."""

    def through(self: Any, caller: Any, way: str, *value: Any) -> Any:
        plain = getattr(getattr(tensor_class, name), way)
        if is_disabled():
            return plain(self, *value)
        if _is_computing(caller):
            return disabled_torch_function(plain, (), (self, *value))
        found = overloaded((self, *value))
        return ask(plain, f"{_public(name)}.{way}", found, (self, *value), {}) if found else plain(self, *value)

    known = getattr(tensor_class, name)
    return property(
        lambda self: through(self, sys._getframe(1), "__get__"),
        (lambda self, value: through(self, sys._getframe(1), "__set__", value)) if known.fset else None,
        (lambda self: through(self, sys._getframe(1), "__delete__")) if known.fdel else None,
        known.__doc__,
    )


def _public(name: str) -> str:
    return f"tracegrad.Tensor.{name}"


#: Folders of this package in which tensors of subclasses are used as PyTorch's Python does: by their methods.
_IN_PYTHON = frozenset({"nn", "utils", "tests", "examples", "benchmarks"})


def _is_computing(frame: Any) -> bool:
    """True for code of this package that computes: there, numbers count, and not whose they are."""
    return _computes(frame.f_globals.get("__name__", ""))


@functools.cache
def _computes(module: str) -> bool:
    root, *folder = module.split(".")
    return root == __name__.partition(".")[0] and bool(folder) and folder[0] not in _IN_PYTHON
