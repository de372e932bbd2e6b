"""Operands: what stands beside a tensor in an operation, made what the ops take (tensors and Python's numbers)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ..ops.array import Array
from ..ops.callers.signatures import parameters_of
from ..ops.types import NUMBERS, bfloat16, dtype_from
from ..tracing.tracebacks import boundary, fold
from .calling.conventions import Conventions
from .calling.kernels import kernel_of
from .calling.nonfinite import checking
from .calling.own_results import own
from .calling.refusals import no_tensor, numbers_alone, refuse_sequence
from .calling.scalars import (
    Integers,
    OneTensor,
    Scalar,
    are_plain,
    handed_on,
    lists_of,
    of_one_list,
    scalars_of,
    tensors_of,
)
from .overriding import PLAIN, ask, overloaded, subclasses

#: The kinds of numpy's scalars that are no numbers: dates, durations, texts, bytes, records.
NO_NUMBERS = "mMSUV"


def number_of(scalar: np.generic) -> int | float | complex:
    """What one of numpy's numbers is as an operand: int, complex, or float (np.bool_ too).

    TypeError for what is no number (a date, a text).
    """
    if isinstance(scalar, (float, complex)):
        return scalar
    if isinstance(scalar, np.integer):
        return int(scalar)
    if isinstance(scalar, (np.floating, np.bool_)) or scalar.dtype == bfloat16.numpy:
        return float(scalar)
    if isinstance(scalar, np.complexfloating):
        return complex(scalar)
    raise TypeError(f"{type(scalar).__name__} is no operand here: tensors are made of numbers.")


# ------------------------------------------------------------------------------------------ arguments of functions

#: Parameters that are tensors in every public function that has one of this name.
TENSORS = frozenset(
    "input x x1 x2 mat mat1 mat2 batch1 batch2 vec vec1 vec2 tensor tensor1 tensor2 mask target condition end index "
    "indices source src other exponent min max weight bias pos_weight var input1 input2 anchor positive negative grid "
    "theta logits log_probs targets offsets per_sample_weights A".split()
)
#: First parameters that are tensors in functions of matrices.
MATRICES = frozenset({"A", "x", "input"})
#: Functions in which a parameter of that name is something else.
_NO_TENSOR = {
    "source": {"movedim"},
    "index": {"select", "select_scatter", "select_copy"},
    "min": {"histc"},
    "max": {"histc"},
    "x": {"is_tensor"},
    "end": {"arange", "linspace", "logspace", "range", "slice_scatter", "slice_copy"},
    "indices": {"index_put_", "index_put", "sparse_coo_tensor"},
}
_ARITHMETIC = {"add", "sub", "mul", "div", "pow", "remainder", "floor_divide", "xlogy", "float_power", "where"}
_SPECIAL = {"zeta", "xlog1py"}
_POLYNOMIALS = {
    *(f"{of}_polynomial_{kind}" for of in ("chebyshev", "shifted_chebyshev") for kind in "tuvw"),
    *("hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"),
}
_BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"}
#: Functions in which a parameter of that name may be a number as well.
_NUMBER_TOO = {
    "other": _ARITHMETIC | _BITS | _SPECIAL | set("eq ne lt le gt ge fmod rsub copysign xlogy_".split()),
    "input": ((_ARITHMETIC | _BITS | _SPECIAL | _POLYNOMIALS) - {"rsub"}) | {"searchsorted", "bucketize"},
    "exponent": {"pow", "float_power", "float_power_"},
    "min": {"clamp", "clamp_min"},
    "max": {"clamp", "clamp_max"},
    "weight": {"lerp"},
    "src": {"scatter", "copy_"},
    "var": {"gaussian_nll_loss"},
}
#: Functions of a number and a tensor, in either order, that take no two numbers.
_NUMBERS_AND_TENSORS = _BITS | {"pow", "float_power", "remainder", "xlogy"}


def located(form: Callable[..., Any], function: Callable[..., Any], module: str) -> Callable[..., Any]:
    """The public form of a function; where it is another object, pickle and people look for it in `module`."""
    if form is not function:
        form.__module__ = module
    return form


def checked(function: Callable[..., Any], name: str = "", skipped: int = 0, within: str = "") -> Callable[..., Any]:
    """The public form of `function`: TypeError in PyTorch's words for an argument that is no tensor where one belongs.

    numpy's numbers become Python's where numbers are taken, and arguments whose class has a ``__torch_function__`` are
    asked first. Messages call the function `name`, of the module `within`, and do not count the first `skipped`
    arguments (of a method: itself).
    """
    name = name or function.__name__
    parameters = parameters_of(function)
    conventions = Conventions(function, _path(name, "Tensor" if skipped else within), parameters.values())
    if any(parameter in parameters for parameter in _SEQUENCES):
        return _joining(function, f"tracegrad.{conventions.path}", conventions, parameters.values())
    function = of_one_list(function, name, parameters) if conventions.path == name else function
    allowed: dict[str, Any] = {n: classes for n, p in parameters.items() if (classes := _classes(function.__name__, p))}
    if not allowed:
        return _without_operands(function, conventions, parameters, within)
    allowed = {**_scalars(conventions, parameters), **allowed}
    names, positional = _by_position(allowed, parameters)
    exact = [None if classes is None else _exactly(classes) for classes in positional]
    lists = [i for i, classes in enumerate(positional) if isinstance(classes, Integers)]
    if needs_tensor := function.__name__ in _NUMBERS_AND_TENSORS:  # a number in front is looked at more closely
        exact[0] = exactly(tuple(c for c in allowed[names[0]] if c not in NUMBERS))
    is_op = hasattr(function, "primitive")  # it has no names for its operands
    title, kernel = f"tracegrad.{conventions.path}", kernel_of(_path(function.__name__, within))
    in_python = bool(within) and name not in _IN_C
    taken = functools.partial(_all_taken, name, positional, names, skipped, needs_tensor)

    @boundary
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if type(kwargs.get("dtype")) is type:
                kwargs["dtype"] = dtype_from(kwargs["dtype"])
            for arg in kwargs.values():
                if type(arg) not in PLAIN and overloaded((arg,)):
                    return _ask_first(called, title, in_python, args, kwargs)
        try:
            if is_op and (kwargs or len(args) != len(names)):
                args, kwargs = _bound(conventions, args, kwargs), {}
            for classes, arg in zip(exact, args):  # noqa: B905
                if classes is not None and type(arg) not in classes:
                    if overloaded((*args, *kwargs.values())):
                        return _ask_first(called, title, in_python, args, kwargs)
                    args = taken(args, kwargs.values())
                    break
            if lists and not are_plain(args, lists):
                args = taken(args, kwargs.values())
            if kwargs:
                kwargs = {n: _taken(arg, allowed.get(n), name, n, 0) for n, arg in kwargs.items()}
            if kernel and (kernel.operands > 1 or not args or args[0].ndarray.dtype in kernel.refused):
                kernel.check(function, args, kwargs)
            out = function(*args, **kwargs)
            if getattr(out, "_base", out) is not None:
                if not args or getattr(out, "buffer", out) is not getattr(args[0], "buffer", None):
                    own(out, (*args, *kwargs.values()))
            return out
        except Exception as error:
            meant = conventions.asked(called, args, kwargs) if isinstance(error, TypeError) else NotImplemented
            if meant is NotImplemented:
                fold(error)
                raise
            return meant

    called.__name__ = called.__qualname__ = name
    called.is_overridable = True  # type: ignore[attr-defined]
    return checking(called, name)


def _without_operands(
    function: Callable[..., Any], conventions: Conventions, parameters: Mapping[str, inspect.Parameter], within: str
) -> Callable[..., Any]:
    """The public form of a function that takes no tensors where their class is looked at."""
    scalars = {**scalars_of(parameters), **tensors_of(parameters)} if conventions.in_c and not within else {}
    if conventions.matter or scalars:
        return _conventional(function, conventions, parameters.values(), scalars)
    return function


def _by_position(allowed: Any, parameters: Mapping[str, inspect.Parameter]) -> tuple[list[str], list[Any]]:
    """The names of parameters by position, and what they take, up to the last of which that is said."""
    names = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    return names, [
        allowed.get(n) for n in names[: 1 + max((names.index(n) for n in allowed if n in names), default=-1)]
    ]


def _scalars(conventions: Conventions, parameters: Mapping[str, inspect.Parameter]) -> dict[str, Scalar]:
    """What parameters take besides `TENSORS`, of functions that PyTorch has in C, or that hand on to C lists, integers
    and truth values."""
    if conventions.in_c:
        return {**tensors_of(parameters), **scalars_of(parameters)}
    others = handed_on(conventions.name, parameters)
    return {**lists_of(parameters), **others} if conventions.lists_in_c else others


def _all_taken(
    name: str, positional: Any, names: list[str], skipped: int, needs_tensor: bool, args: Any, named: Any = ()
) -> Any:
    """The arguments that a function was given by position, see `_taken`; `named` are the others."""
    if needs_tensor and all(isinstance(arg, NUMBERS) for arg in (*args, *named)):
        raise numbers_alone(name, (*args, *named))
    return tuple(
        arg if i >= len(positional) else _taken(arg, positional[i], name, names[i], i + 1 - skipped, args[skipped:])
        for i, arg in enumerate(args)
    )


def _path(name: str, within: str) -> str:
    return f"{within}.{name}" if within else name


#: Functions of ``nn.functional`` that PyTorch has in C: they tell ``__torch_function__`` of no plain tensors.
_IN_C = frozenset("gelu linear logsigmoid one_hot pairwise_distance prelu softplus cosine_similarity".split())
#: Parameters that are several tensors.
_SEQUENCES = ("tensors", "operands")
_NOT_JOINING = {"cond"}


def _ask_first(called: Any, title: str, in_python: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the overriding among the arguments make of a call."""
    values = (*args, *kwargs.values())
    told = (getattr(arg, "tensor_class", None) for arg in values if in_python and isinstance(arg, Array))
    return ask(called, title, overloaded(values), args, kwargs, next(told, None))


def _bound(conventions: Conventions, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The operands of a primitive in order."""
    try:
        return conventions.signature.bind(*args, **kwargs).args
    except TypeError as error:
        raise TypeError(f"{conventions.name}() {error}") from None


def _conventional(
    function: Callable[..., Any],
    conventions: Conventions,
    parameters: Iterable[inspect.Parameter],
    scalars: Mapping[str, Scalar],
) -> Callable[..., Any]:
    """The public form of a function without tensors among its arguments."""
    swallows = any(p.kind is p.VAR_KEYWORD for p in parameters)
    positional = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    places = [(i, n, scalars[n]) for i, n in enumerate(positional) if n in scalars]
    name, first = conventions.name, 0 if conventions.is_method else 1

    @boundary
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            if swallows and "out" in kwargs:
                raise TypeError(f"{conventions.name}() got an unexpected keyword argument 'out'")
            for i, parameter, scalar in places:
                if i < len(args) and type(args[i]) not in scalar.exact:
                    args = (*args[:i], scalar.given(args[i], name, parameter, i + first), *args[i + 1 :])
            if kwargs and scalars:
                kwargs = {n: scalars[n].given(x, name, n, 0) if n in scalars else x for n, x in kwargs.items()}
            out = function(*args, **kwargs)
            return out if getattr(out, "_base", out) is None else own(out, (*args, *kwargs.values()))
        except Exception as error:
            meant = conventions.asked(called, args, kwargs) if isinstance(error, TypeError) else NotImplemented
            if meant is NotImplemented:
                fold(error)
                raise
            return meant

    return called


def _joining(
    function: Callable[..., Any], title: str, conventions: Conventions, parameters: Iterable[inspect.Parameter]
) -> Callable[..., Any]:
    """The public form of a function of several tensors, in a list or one by one."""
    if function.__name__ in _NOT_JOINING:
        return function
    name = title.rpartition(".")[2]
    several = next(parameter for parameter in parameters if parameter.name in _SEQUENCES)

    @boundary
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if subclasses.exist and (found := overloaded((*args, *kwargs.values()))):
            return ask(called, title, found, args, kwargs)
        try:
            try:
                out = function(*args, **kwargs)
                return out if getattr(out, "_base", out) is None else own(out, (*args, *kwargs.values()))
            except Exception as error:  # an object that is no tensor may say what is to be done instead
                found = overloaded((*args, *kwargs.values()))
                meant = NotImplemented if found else conventions.asked(called, args, kwargs)
                if not found and meant is NotImplemented:
                    if name != "einsum" or not isinstance(error, ValueError):  # whose lists may be axes
                        refuse_sequence(name, several, args, kwargs)
                    raise
        except Exception as error:
            fold(error)
            raise
        return ask(called, title, found, args, kwargs) if found else meant

    called.__name__ = called.__qualname__ = name
    called.is_overridable = True  # type: ignore[attr-defined]
    return checking(called, name)


def overridable(function: Callable[..., Any], title: str) -> Callable[..., Any]:
    """`function`, for whose arguments with a ``__torch_function__`` that is asked first; `title` is its whole path."""
    parameters = parameters_of(function)
    conventions = Conventions(function, title.partition(".")[2], parameters.values())
    first = next(iter(parameters), "")
    name = title.partition(".")[2].removeprefix("nn.functional.").replace(".", "_")
    scalars = {**scalars_of(parameters), **tensors_of(parameters)} if conventions.in_c else {}
    places = [(i, n, scalars[n]) for i, n in enumerate(parameters) if n in scalars]
    kernel = kernel_of(conventions.path)

    @boundary
    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        found = overloaded((*args, *kwargs.values()))
        if found:
            return ask(called, title, found, args, kwargs)
        try:
            for i, parameter, scalar in places:
                if i < len(args) and type(args[i]) not in scalar.exact:
                    args = (*args[:i], scalar.given(args[i], name, parameter, i + 1), *args[i + 1 :])
            if kwargs and scalars:
                kwargs = {n: scalars[n].given(x, name, n, 0) if n in scalars else x for n, x in kwargs.items()}
            try:
                if kernel and args and isinstance(args[0], Array) and args[0].ndarray.dtype in kernel.refused:
                    kernel.check(function, args, kwargs)
                out = function(*args, **kwargs)
                return out if getattr(out, "_base", out) is None else own(out, (*args, *kwargs.values()))
            except Exception as error:
                if first in MATRICES and args and not isinstance(args[0], Array):
                    raise no_tensor(name, first, 1, args, args[0]) from None
                meant = conventions.asked(function, args, kwargs) if isinstance(error, TypeError) else NotImplemented
                if meant is NotImplemented:
                    raise
                return meant
        except Exception as error:
            fold(error)
            raise

    return called


#: The classes of tensors that override nothing.
PLAIN_TENSORS: set[type] = set()
_exact: dict[tuple[type, ...], set[type]] = {}


def exactly(classes: tuple[type, ...]) -> set[type]:
    """The classes whose objects are of `classes` and override nothing, to look up exact classes in."""
    return _exact.setdefault(classes, {*classes, *PLAIN_TENSORS} - {Array})


def _exactly(classes: tuple[type, ...] | Scalar) -> set[type]:
    if isinstance(classes, Integers):
        return {*classes.exact, tuple}  # which is looked into by itself: most hold Python's integers
    if isinstance(classes, OneTensor):
        return exactly(tuple(classes.exact))
    return classes.exact if isinstance(classes, Scalar) else exactly(classes)


def add_plain(kind: type) -> None:
    """Say that `kind` is a class of tensors that override nothing."""
    PLAIN.add(kind)
    PLAIN_TENSORS.add(kind)
    for classes, known in _exact.items():
        if Array in classes:
            known.add(kind)


def _classes(function: str, parameter: inspect.Parameter) -> tuple[type, ...] | None:
    """What a parameter may be; None if that is not decided here."""
    name = parameter.name
    if name not in TENSORS or function in _NO_TENSOR.get(name, ()) or parameter.kind is parameter.VAR_POSITIONAL:
        return None
    numbers = NUMBERS if function in _NUMBER_TOO.get(name, ()) else ()
    may_be_none = parameter.default is None or "| None" in str(parameter.annotation)
    return (Array, *numbers, *((type(None),) if may_be_none else ()))


def _taken(
    arg: Any,
    classes: tuple[type, ...] | Scalar | None,
    function: str,
    parameter: str,
    position: int,
    args: tuple[Any, ...] = (),
) -> Any:
    """`arg`, if it is of the classes (numpy's numbers made Python's)."""
    if isinstance(classes, Scalar):
        return classes.given(arg, function, parameter, position)
    if classes is None or isinstance(arg, classes):
        return arg
    if isinstance(arg, np.generic) and float in classes:
        return number_of(arg)
    raise no_tensor(function, parameter, position, args, arg)
