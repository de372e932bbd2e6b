"""The TypeErrors of operands that are no tensors: one wording for all functions, in PyTorch's words."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from ...ops.array import Array

#: Functions with overloads for tensors and numbers, of which PyTorch says that none fits.
_OVERLOADED = frozenset("pow where eq ne lt le gt ge fmod remainder bitwise_and bitwise_or bitwise_xor".split())
#: Parameters of primitives under the names that programs know.
_NAMES = {"x": "input", "y": "other"}


def no_tensor(function: str, parameter: str, position: int, args: Sequence[Any], arg: Any) -> TypeError:
    """The error for `arg`, given as `parameter`; `position` counts from 1, and is 0 for what is given by name."""
    place = f" (position {position})" if position else ""
    text = f"argument '{_NAMES.get(parameter, parameter)}'{place} must be Tensor, not {kind_of(arg)}"
    if function.rstrip("_") in _OVERLOADED and position:
        return TypeError(f"{function}() received an invalid combination of arguments - got ({_types(args)}): {text}")
    return TypeError(f"{function}(): {text}")


def no_scalar(function: str, parameter: str, position: int, wanted: str, arg: Any) -> TypeError:
    """The error for `arg` where a number, a truth value or a text belongs; `position` as above."""
    place = f" (position {position})" if position else ""
    return TypeError(f"{function}(): argument '{parameter}'{place} must be {wanted}, not {kind_of(arg)}")


def no_element(function: str, parameter: str, position: int, at: int, arg: Any) -> TypeError:
    """The error for `arg`, element `at` of a list of integers; `position` as above."""
    place = f" (position {position})" if position else ""
    if not at:
        found = f"but found element of type {kind_of(arg)} at pos 0"
        return TypeError(f"{function}(): argument '{parameter}'{place} must be tuple of ints, {found}")
    error = f'"type must be tuple of ints,but got {kind_of(arg)}"'
    return TypeError(
        f"{function}(): argument '{parameter}' failed to unpack the object at pos {at + 1} with error {error}"
    )


def kind_of(arg: Any) -> str:
    """What messages call the class of `arg`."""
    kind = type(arg)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def numbers_alone(function: str, args: Sequence[Any]) -> TypeError:
    """The error for numbers where at least one operand is a tensor."""
    got = _types(args)
    return TypeError(f"{function}() received an invalid combination of arguments - got ({got}), but takes a Tensor")


def refuse_sequence(
    function: str, parameter: inspect.Parameter, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """TypeError for what was given as several tensors and is none."""
    name = parameter.name
    if parameter.kind is parameter.VAR_POSITIONAL:
        given: Any = [arg for arg in args if not isinstance(arg, str)]  # but for an equation
        given = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    elif args or name in kwargs:
        given = kwargs.get(name, args[0] if args else None)
        if not isinstance(given, (tuple, list)):
            place = "" if name in kwargs else " (position 1)"
            text = f"argument '{name}'{place} must be tuple of Tensors, not {type(given).__name__}"
            raise TypeError(f"{function}(): {text}") from None
    else:
        return
    for i, tensor in enumerate(given):
        if not isinstance(tensor, Array):
            got = f"expected Tensor as element {i} in argument 0, but got {type(tensor).__name__}"
            raise TypeError(f"{got}: {function}() takes tensors only") from None


def _types(args: Sequence[Any]) -> str:
    return ", ".join(type(arg).__name__ for arg in args)
