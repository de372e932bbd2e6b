"""Numbers, lists of integers, truth values and texts among the arguments of functions, as PyTorch's C takes them.

What a parameter takes follows from its annotation: ``keepdim: bool`` takes True and False only, so that
``x.sum(0, 1)``, which means no sum over two axes, is an error and no kept axis.
"""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.types import NUMBERS, DType, bool_, dtype_from
from .refusals import no_element, no_scalar, no_tensor

#: Parameters that PyTorch calls numbers, where its C takes integers for tensors of integers.
_OF_TENSORS_TYPE = frozenset({"alpha", "beta", "value"})


#: Integers that PyTorch keeps as symbols where sizes are: whatever has one as its index is taken, bool excepted.
_OF_SIZES = frozenset(
    "diagonal end groups high ignore_index index k length low m minlength n num_samples output_size padding_idx "
    "repeats sections split_size start step storage_offset".split()
)

#: Where PyTorch's Python tells one integer from a list by its class: an int or a tensor, none of numpy's.
_BY_CLASS = frozenset({"split_size_or_sections"})


#: Truth values by which PyTorch's Python decides, so that anything is one, and functions in which it uses all.
_USED_IN_PYTHON = frozenset(
    "inplace return_indices antialias recompute_scale_factor include_last_offset hard size_average reduce "
    "gaussian_nll_loss triplet_margin_with_distance_loss multi_head_attention_forward multi_margin_loss normalize "
    "pca_lowrank svd_lowrank stft compile load manual_seed save".split()
)


class Scalar:
    """What a parameter takes that is no tensor: `kind` is bool, int, float or str; None too, if `optional`."""

    def __init__(self, kind: type, title: str, optional: bool, of_sizes: bool) -> None:
        self.title, self._kind, self._optional, self._of_sizes = title, kind, optional, of_sizes
        plain: set[type] = {float, int, bool} if kind is float else {kind}
        #: The classes whose objects need no further look.
        self.exact: set[type] = {*plain, type(None)} if optional else plain

    def given(self, arg: Any, function: str, parameter: str, position: int) -> Any:
        """`arg` as functions take it; TypeError if PyTorch refuses it. `position` is 0 for what is given by name."""
        taken = arg if type(arg) in self.exact else self.taken(arg)
        if taken is NotImplemented:
            raise no_scalar(function, parameter, position, self.title, arg)
        return taken

    def taken(self, arg: Any) -> Any:
        """`arg` as functions take it; NotImplemented if PyTorch refuses it."""
        if arg is None:
            return None if self._optional else NotImplemented
        if self._kind is bool:
            return arg if isinstance(arg, bool) else NotImplemented
        if self._kind is str:
            return arg.decode() if isinstance(arg, bytes) else arg if isinstance(arg, str) else NotImplemented
        if self._kind is int and self._of_sizes and not isinstance(arg, (int, str, float)):
            return _index(arg)
        if isinstance(arg, Array) and (arg.type_.ndim or getattr(arg, "requires_grad", False)):
            return NotImplemented
        return _whole(arg) if self._kind is int else _number(arg)


def _whole(arg: Any) -> Any:
    if isinstance(arg, bool):
        return NotImplemented
    if isinstance(arg, int):  # a stand-in stays one
        return arg
    is_whole = arg.type_.dtype.numpy.kind in "iu" if isinstance(arg, Array) else hasattr(arg, "__index__")
    return operator.index(arg) if is_whole and not isinstance(arg, (np.ndarray, np.bool_)) else NotImplemented


def _index(arg: Any) -> Any:
    if isinstance(arg, np.bool_) or (isinstance(arg, Array) and arg.type_.dtype is bool_):
        return NotImplemented
    try:
        return operator.index(arg)
    except TypeError:
        return NotImplemented


def _number(arg: Any) -> Any:
    if isinstance(arg, (*NUMBERS, Array)):
        return arg
    return arg.item() if isinstance(arg, np.generic) and arg.dtype.kind not in "mMSUO" else NotImplemented


class Integers(Scalar):
    """What a list of sizes, axes or distances takes: a tuple or list; one integer too, if `one_too`.

    Whether it is a list of integers, PyTorch's C sees by the first one, which must be no truth value; of the others it
    refuses what has no ``__index__`` (arrays, ranges and texts are no lists at all).
    """

    def __init__(self, optional: bool, one_too: bool, truth_too: bool, by_class: bool = False) -> None:
        super().__init__(int, "tuple of ints", optional, True)
        self._one_too = one_too
        self._no_one = (np.ndarray, np.generic) if by_class else np.ndarray
        kinds = {int: one_too, bool: truth_too, type(None): optional}
        self.exact = {kind for kind, is_one in kinds.items() if is_one}

    def given(self, arg: Any, function: str, parameter: str, position: int) -> Any:
        if type(arg) in self.exact:
            return arg
        if not isinstance(arg, (tuple, list)):
            is_one = self._one_too and not isinstance(arg, self._no_one)
            taken = self.taken(arg) if is_one or arg is None else NotImplemented
            if taken is NotImplemented:
                raise no_scalar(function, parameter, position, self.title, arg)
            return taken
        for n in arg:
            if type(n) is not int:
                return type(arg)(_elements(arg, function, parameter, position)) if type(arg) in (tuple, list) else arg
        return arg


def of_one_list(
    function: Callable[..., Any], name: str, parameters: Mapping[str, inspect.Parameter]
) -> Callable[..., Any]:
    """`function`; where it gathers integers behind a tensor, it takes one list of them, as no method does."""
    gathering = [p.name for p in parameters.values() if p.kind is p.VAR_POSITIONAL and p.annotation in _LISTS]
    if not gathering or "input" not in parameters:
        return function
    integers, parameter = _one_of(Integers, False, False, False), gathering[0]

    @functools.wraps(function)
    def called(input: Any, *given: Any, **named: Any) -> Any:
        if len(given) > 1:
            count = len(given) + 1
            raise TypeError(f"{name}() takes 2 positional arguments but {count} were given: '{parameter}' is one tuple")
        for one in given:
            integers.given(one, name, parameter, 2)
        return function(input, *given, **named)

    return called


class OfElements(Scalar):
    """What is written to elements: a number, or a tensor, of which functions say themselves that it has no axes."""

    def taken(self, arg: Any) -> Any:
        return arg if isinstance(arg, Array) else _number(arg)


class OfFilled(Scalar):
    """What a new tensor is filled with: numpy's truth values are floats, as PyTorch reads them."""

    def taken(self, arg: Any) -> Any:
        return float(arg) if isinstance(arg, np.bool_) else super().taken(arg)


#: Parameters that are a number or a tensor of one; in the second PyTorch reads the number of the tensor.
_FILLED = {"value": OfElements, "fill_value": OfFilled}


class Types(Scalar):
    """What a ``dtype`` takes: an element type, or the one of Python's that stands for it (``float``)."""

    def __init__(self, optional: bool) -> None:
        super().__init__(DType, "tracegrad.dtype", optional, False)

    def taken(self, arg: Any) -> Any:
        found = dtype_from(arg)
        return found if isinstance(found, DType) else super().taken(arg) if arg is None else NotImplemented


class OneTensor(Scalar):
    """What a parameter that is annotated as a tensor takes, in functions whose parameters have names of their own."""

    def __init__(self, optional: bool) -> None:
        super().__init__(Array, "Tensor", optional, False)

    def given(self, arg: Any, function: str, parameter: str, position: int) -> Any:
        if isinstance(arg, Array) or (arg is None and self._optional):
            return arg
        raise no_tensor(function, parameter, position, (), arg)


def are_plain(args: Sequence[Any], places: Sequence[int]) -> bool:
    """Whether the tuples at these places hold nothing but Python's integers."""
    for i in places:
        if i < len(args) and type(args[i]) is tuple:
            for n in args[i]:
                if type(n) is not int:
                    return False
    return True


def _elements(given: Any, function: str, parameter: str, position: int) -> list[Any]:
    """The numbers in `given`, integers of whatever kind, as Python's."""
    taken = []
    for i, n in enumerate(given):
        is_whole = isinstance(n, int) and (i or not isinstance(n, bool))
        number = (int(n) if isinstance(n, bool) else n) if is_whole else _index(n) if not isinstance(n, bool) else n
        if number is NotImplemented or isinstance(number, bool):
            raise no_element(function, parameter, position, i, n)
        taken.append(number)
    return taken


#: What signatures call lists of integers, and whether one integer is a list, too.
_LISTS = {"Axes": True, "Sizes": True, "Numbers": True, "int | Sequence[int]": True, "Sequence[int]": False}
_KINDS = {"bool": bool, "int": int, "float": float, "Number": float, "str": str}


def scalars_of(parameters: Mapping[str, inspect.Parameter]) -> dict[str, Scalar]:
    """By name, what those of `parameters` take that are scalars."""
    return {name: scalar for name, parameter in parameters.items() if (scalar := _scalar_of(parameter))}


def tensors_of(parameters: Mapping[str, inspect.Parameter]) -> dict[str, Scalar]:
    """By name, what those of `parameters` take that are tensors and nothing else."""
    kinds = {"Tensor": False, "Tensor | None": True}
    return {n: _one_of(OneTensor, kinds[text]) for n, p in parameters.items() if (text := str(p.annotation)) in kinds}


def lists_of(parameters: Mapping[str, inspect.Parameter]) -> dict[str, Scalar]:
    """Those of `scalars_of` that are lists of integers."""
    return {name: scalar for name, scalar in scalars_of(parameters).items() if isinstance(scalar, Integers)}


def handed_on(function: str, parameters: Mapping[str, inspect.Parameter]) -> dict[str, Scalar]:
    """Those of `scalars_of` that are truth values and integers which PyTorch's Python, this function, hands on to C."""
    if function in _USED_IN_PYTHON:
        return {}
    scalars = {name: scalar for name, scalar in scalars_of(parameters).items() if name not in _USED_IN_PYTHON}
    return {name: scalar for name, scalar in scalars.items() if scalar.title in ("bool", "int")}


def _scalar_of(parameter: inspect.Parameter) -> Scalar | None:
    """What `parameter` takes, if its annotation is one of the kinds (with ``| None`` or without)."""
    text = str(parameter.annotation)
    name = text.removesuffix(" | None")
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return None
    of_list = name.removesuffix(" | bool").removesuffix(" | tuple[()]")
    if of_list in _LISTS:
        optional, by_class = name != text or parameter.default in (None, ()), parameter.name in _BY_CLASS
        return _one_of(Integers, optional, _LISTS[of_list], " | bool" in name, by_class)
    if name == "DType":
        return _one_of(Types, name != text)
    if text == "Tensor | Number" and parameter.name in _FILLED:
        return _one_of(_FILLED[parameter.name], float, "Number", False, False)
    if name not in _KINDS:
        return None
    title = "Number" if name == "float" and parameter.name in _OF_TENSORS_TYPE else name
    return _one_of(Scalar, _KINDS[name], title, name != text, parameter.name in _OF_SIZES)


@functools.cache
def _one_of(kind: type[Scalar], *how: Any) -> Scalar:
    """The one object for all parameters that take the same: there are some 800 of them."""
    return kind(*how)
