"""Operands: what stands beside a tensor in an operation, made what the ops take (tensors and Python's numbers)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.array import Array
from .overriding import PLAIN, ask, overloaded, subclasses

Operator = Callable[[Any, Any], Any]
_TAKEN = (Array, bool, int, float)


def number_of(scalar: np.generic) -> int | float:
    """What one of numpy's numbers is as an operand: an int if it is an integer, else (np.bool_ too) a float.

    TypeError for a complex one: there are no complex tensors.
    """
    if isinstance(scalar, float):
        return scalar
    if isinstance(scalar, np.integer):
        return int(scalar)
    if isinstance(scalar, (np.floating, np.bool_)):
        return float(scalar)
    raise TypeError(f"{type(scalar).__name__} is no operand here: tensors are real. Take its .real or .imag.")


def binary_operator(op: Operator, name: str = "") -> Operator:
    """A method for ``x + y`` that leaves what is no operand to the other side.

    `name` is the method that objects with ``__torch_function__`` are asked for, if it is not called as `op`.
    """
    name = name or op.__name__

    def operator(self: Any, other: Any) -> Any:
        if isinstance(other, _TAKEN):
            if subclasses.exist and overloaded((self, other)):
                return _asked(self, other, name)
            return op(self, other)
        return op(self, number_of(other)) if isinstance(other, np.generic) else _asked(self, other, name)

    operator.__name__ = operator.__qualname__ = name
    return operator


def reflected_operator(op: Operator, name: str = "") -> Operator:
    """The same for ``y + x``, where y is no tensor."""
    return binary_operator(lambda self, other: op(other, self), name or op.__name__)


def product_operator(op: Operator, name: str = "") -> Operator:
    """A method for ``x @ y``, in which numbers are no operands."""
    general = binary_operator(op, name)

    def operator(self: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, (bool, int, float, np.generic)) else general(self, other)

    operator.__name__ = operator.__qualname__ = name or op.__name__
    return operator


def _asked(self: Any, other: Any, name: str) -> Any:
    """What `other` makes of an operation with a tensor; NotImplemented if it overrides nothing."""
    found = overloaded((self, other))
    if not found:
        return NotImplemented
    try:
        return ask(getattr(self.tensor_class, name), f"tracegrad.Tensor.{name}", found, (self, other), {})
    except TypeError:
        return NotImplemented


# ------------------------------------------------------------------------------------------ arguments of functions

#: Parameters that are tensors in every public function that has one of this name.
TENSORS = frozenset(
    "input x x1 x2 mat mat1 mat2 batch1 batch2 vec vec2 tensor tensor1 tensor2 mask target condition end index indices "
    "source src other exponent min max weight bias pos_weight var".split()
)
#: Functions in which a parameter of that name is something else.
_NO_TENSOR = {
    "source": {"movedim"},
    "index": {"select"},
    "x": {"is_tensor"},
    "end": {"arange", "linspace", "logspace"},
    "indices": {"index_put_"},
}
_ARITHMETIC = {"add", "sub", "mul", "div", "pow", "remainder", "floor_divide", "xlogy", "float_power", "where"}
_BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"}
#: Functions in which a parameter of that name may be a number as well.
_NUMBER_TOO = {
    "other": _ARITHMETIC | _BITS | {"eq", "ne", "lt", "le", "gt", "ge", "fmod", "rsub"},
    "input": (_ARITHMETIC | _BITS) - {"rsub"},
    "exponent": {"pow", "float_power"},
    "min": {"clamp", "clamp_min"},
    "max": {"clamp", "clamp_max"},
    "weight": {"lerp"},
    "src": {"scatter", "copy_"},
    "var": {"gaussian_nll_loss"},
}
_NUMBERS = (bool, int, float)


def checked(function: Callable[..., Any], name: str = "", skipped: int = 0, within: str = "") -> Callable[..., Any]:
    """The public form of `function`: TypeError in PyTorch's words for an argument that is no tensor where one belongs.

    numpy's numbers become Python's where numbers are taken, and arguments whose class has a ``__torch_function__`` are
    asked first. Messages call the function `name`, of the module `within`, and do not count the first `skipped`
    arguments (of a method: itself).
    """
    name = name or function.__name__
    signature = inspect.signature(function)
    if any(parameter in signature.parameters for parameter in _SEQUENCES):
        return _joining(function, ".".join(filter(None, ("tracegrad", within, name))))
    if function.__name__ in _KERNELS:
        function = _floating_only(function, _KERNELS[function.__name__])
    allowed = {n: classes for n, p in signature.parameters.items() if (classes := _classes(function.__name__, p))}
    if not allowed:
        return function
    names = [n for n, p in signature.parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    positional = [allowed.get(n) for n in names[: 1 + max((names.index(n) for n in allowed if n in names), default=-1)]]
    exact = [None if classes is None else exactly(classes) for classes in positional]
    is_op = hasattr(function, "primitive")  # it has no names for its operands
    title = ".".join(filter(None, ("tracegrad", "Tensor" if skipped else within, name)))
    in_python = bool(within) and name not in _IN_C

    def taken(args: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            arg if i >= len(positional) else _taken(arg, positional[i], name, names[i], i + 1 - skipped)
            for i, arg in enumerate(args)
        )

    def asked(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        values = (*args, *kwargs.values())
        found = overloaded(values)
        told = (getattr(arg, "tensor_class", None) for arg in values if in_python and isinstance(arg, Array))
        return ask(called, title, found, args, kwargs, next(told, None))

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            for arg in kwargs.values():
                if type(arg) not in PLAIN and overloaded((arg,)):
                    return asked(args, kwargs)
        if is_op and (kwargs or len(args) != len(names)):
            args, kwargs = signature.bind(*args, **kwargs).args, {}
        for classes, arg in zip(exact, args):  # noqa: B905
            if classes is not None and type(arg) not in classes:
                if overloaded((*args, *kwargs.values())):
                    return asked(args, kwargs)
                args = taken(args)
                break
        if kwargs:
            kwargs = {n: _taken(arg, allowed.get(n), name, n, 0) for n, arg in kwargs.items()}
        return function(*args, **kwargs)

    called.__name__ = called.__qualname__ = name
    called.is_overridable = True  # type: ignore[attr-defined]
    return called


#: Functions of ``nn.functional`` that PyTorch has in C: they tell ``__torch_function__`` of no plain tensors.
_IN_C = frozenset("gelu linear logsigmoid one_hot pairwise_distance prelu softplus cosine_similarity".split())
#: Parameters that are several tensors.
_SEQUENCES = ("tensors", "operands")
_NOT_JOINING = {"cond"}


def _joining(function: Callable[..., Any], title: str) -> Callable[..., Any]:
    """The public form of a function of several tensors, in a list or one by one."""
    if function.__name__ in _NOT_JOINING:
        return function

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if subclasses.exist and (found := overloaded((*args, *kwargs.values()))):
            return ask(called, title, found, args, kwargs)
        try:
            return function(*args, **kwargs)
        except Exception:  # an object that is no tensor may say what is to be done instead
            found = overloaded((*args, *kwargs.values()))
            if not found:
                raise
        return ask(called, title, found, args, kwargs)

    called.__name__ = called.__qualname__ = title.rpartition(".")[2]
    called.is_overridable = True  # type: ignore[attr-defined]
    return called


def overridable(function: Callable[..., Any], title: str) -> Callable[..., Any]:
    """`function`, for whose arguments with a ``__torch_function__`` that is asked first."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        found = overloaded((*args, *kwargs.values()))
        return ask(called, title, found, args, kwargs) if found else function(*args, **kwargs)

    return called


#: The classes of tensors that override nothing.
PLAIN_TENSORS: set[type] = set()
_exact: dict[tuple[type, ...], set[type]] = {}


def exactly(classes: tuple[type, ...]) -> set[type]:
    """The classes whose objects are of `classes` and override nothing, to look up exact classes in."""
    return _exact.setdefault(classes, {*classes, *PLAIN_TENSORS} - {Array})


def add_plain(kind: type) -> None:
    """Say that `kind` is a class of tensors that override nothing."""
    PLAIN.add(kind)
    PLAIN_TENSORS.add(kind)
    for classes, known in _exact.items():
        if Array in classes:
            known.add(kind)


#: Functions of floating-point numbers alone (others compute integers in the default type), and PyTorch's name of them.
_KERNELS = {
    "gelu": "GeluKernelImpl", "silu": "silu_cpu", "elu": "elu_cpu", "selu": "elu_cpu", "celu": "elu_cpu",
    "leaky_relu": "leaky_relu_cpu", "mish": "mish_cpu", "softplus": "softplus_cpu", "hardswish": "hardswish_cpu",
    "hardsigmoid": "hardsigmoid_cpu", "logsigmoid": "log_sigmoid_cpu", "glu": "glu_cpu", "frac": "frac_cpu",
    "lerp": "lerp_kernel_scalar", "logaddexp": "logaddexp_cpu", "hypot": "hypot_cpu",
}  # fmt: skip
#: PyTorch's names of the element types.
SCALAR_NAMES = {"bool": "Bool", "int32": "Int", "int64": "Long", "float32": "Float", "float64": "Double"}


def require_floating(kernel: str, x: Any) -> None:
    """NotImplementedError unless `x` is floating."""
    if not x.dtype.is_floating_point:
        name = SCALAR_NAMES[x.dtype.name]
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{name}'. Convert it first, e.g. with .float().")


def _floating_only(function: Callable[..., Any], kernel: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def called(input: Any, *args: Any, **kwargs: Any) -> Any:
        require_floating(kernel, input)
        return function(input, *args, **kwargs)

    return called


def _classes(function: str, parameter: inspect.Parameter) -> tuple[type, ...] | None:
    """What a parameter may be; None if that is not decided here."""
    name = parameter.name
    if name not in TENSORS or function in _NO_TENSOR.get(name, ()) or parameter.kind is parameter.VAR_POSITIONAL:
        return None
    numbers = _NUMBERS if function in _NUMBER_TOO.get(name, ()) else ()
    return (Array, *numbers, *((type(None),) if parameter.default is None else ()))


def _taken(arg: Any, classes: tuple[type, ...] | None, function: str, parameter: str, position: int) -> Any:
    """`arg`, if it is of the classes (numpy's numbers made Python's)."""
    if classes is None or isinstance(arg, classes):
        return arg
    if isinstance(arg, np.generic) and float in classes:
        return number_of(arg)
    place = f" (position {position})" if position else ""
    raise TypeError(f"{function}(): argument '{parameter}'{place} must be Tensor, not {type(arg).__name__}")
