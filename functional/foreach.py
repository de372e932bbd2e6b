"""``_foreach_*``: one operation for each tensor of a list, as optimizers written for PyTorch call them.

On a CPU they are loops over the methods of Tensor in PyTorch, too; here they are made of one table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..ops.arithmetic import maximum, minimum
from ..ops.identity import copy
from ..tensors.tensor import Tensor
from .matrices.norms import vector_norm


class Form(NamedTuple):
    """How one of these functions is called."""

    operation: Callable[..., Any]  # of one tensor, and of one item of each argument
    lists: tuple[str, ...] = ()  # names of the other lists of tensors
    varied: tuple[str, ...] = ()  # names of what is one number for all, a tensor, or a list of them
    default: Any = None  # of what is varied; None if it has to be given
    options: tuple[str, ...] = ()  # keywords for the operation
    packed: bool = False  # whether a tensor that is varied holds a number for each


def _method(name: str) -> Callable[..., Any]:
    def call(x: Tensor, *args: Any, **options: Any) -> Any:
        return getattr(x, name)(*args, **options)

    return call


def _combined(name: str) -> Callable[..., Any]:
    """``addcmul`` or ``addcdiv``, which take the factor by name."""

    def call(x: Tensor, first: Tensor, second: Tensor, value: Any) -> Any:
        return getattr(x, name)(first, second, value=value)

    return call


def _extreme_in_place(primitive: Callable[..., Any], method: str) -> Callable[..., Any]:
    """Where both are equal, each has half of the gradient, other than of ``clamp_min_``."""

    def call(x: Any, other: Any) -> Any:
        if isinstance(other, Tensor) and other.dtype is x.dtype:
            return x.copy_(primitive(copy(x), other))
        return getattr(x, method)(other)

    return call


def _powers(x: Any, exponent: Any) -> Any:
    return x**exponent


def _norm(x: Tensor, order: Any, dtype: Any = None) -> Any:
    return vector_norm(x, order, dtype=dtype)


def _powsum(x: Tensor, order: Any, dtype: Any = None) -> Any:
    return x.abs().pow(order).sum(dtype=dtype)


_UNARY = """abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal
round rsqrt sigmoid sign sin sinh sqrt tan tanh trunc""".split()
_OTHER = ("other", "scalar", "scalars")
_FACTOR = ("value", "scalars")
_EXTREMES = (("maximum", maximum, "clamp_min"), ("minimum", minimum, "clamp_max"))


def _forms_in_both() -> dict[str, Form]:
    """By name, the functions that are there in place as well, under the same name with ``_``."""
    forms = {name + end: Form(_method(name + end)) for name in _UNARY for end in ("", "_")}
    for end in ("", "_"):
        for name in ("add", "sub"):
            forms[name + end] = Form(_method(name + end), (), _OTHER, options=("alpha",))
        for name in ("mul", "div"):
            forms[name + end] = Form(_method(name + end), (), _OTHER)
        for name, primitive, method in _EXTREMES:
            forms[name + end] = Form(_extreme_in_place(primitive, method + "_") if end else primitive, (), _OTHER)
            forms[method + end] = Form(_method(method + end), (), _OTHER)
        for name in ("addcmul", "addcdiv"):
            forms[name + end] = Form(_combined(name + end), ("tensor1", "tensor2"), _FACTOR, 1, packed=True)
        forms["lerp" + end] = Form(_method("lerp" + end), ("tensors1",), ("weight", "weights"))
        forms["pow" + end] = Form(_method("pow_") if end else _powers, (), ("exponent",))
    return forms


FORMS = {
    **_forms_in_both(),
    "clone": Form(_method("clone"), options=("memory_format",)),
    "copy_": Form(_method("copy_"), ("src",), options=("non_blocking",)),
    "max": Form(_method("max")),
    "mm": Form(_method("mm"), ("mat2",)),
    "norm": Form(_norm, (), ("ord",), 2, options=("dtype",)),
    "powsum": Form(_powsum, (), ("ord",), 2, options=("dtype",)),
    "zero_": Form(_method("zero_")),
}
#: Options that may come by position.
_BY_POSITION = ("dtype", "non_blocking")


def _made(name: str, form: Form) -> Callable[..., Any]:
    """The function of that name."""
    public = f"_foreach_{name}"
    positions = ("self", *form.lists, *form.varied[:1], *(o for o in form.options if o in _BY_POSITION))

    def foreach(*args: Any, **kwargs: Any) -> Any:
        if len(args) > len(positions):
            raise TypeError(
                f"{public}() takes {len(positions)} positional argument{'s' * (len(positions) > 1)} but {len(args)} "
                "were given"
            )
        given = {**dict(zip(positions, args, strict=False)), **kwargs}
        shown = {name: f"'{name}' (position {i})" for i, (name, _) in enumerate(zip(positions, args, strict=False), 1)}
        tensors, columns = _columns(public, form, given, shown)
        options = {option: given.pop(option) for option in form.options if option in given}
        if given:
            raise TypeError(f"{public}() got an unexpected keyword argument '{next(iter(given))}'")
        results = [form.operation(*row, **options) for row in zip(*columns, strict=True)]
        return tensors if name.endswith("_") else tuple(results)

    foreach.__name__ = foreach.__qualname__ = public
    foreach.__doc__ = f"``{name}`` of each tensor of a list{', in place' if name.endswith('_') else ', as a tuple'}."
    return foreach


def _columns(
    public: str, form: Form, given: dict[str, Any], shown: Mapping[str, str]
) -> tuple[Any, list[Sequence[Any]]]:
    """The list that leads, and for each argument its items in order; what is taken of `given` is gone there.

    `shown` is how messages call arguments that were given by position.
    """
    names = [name for name in form.varied if name in given]
    lists = {name: _taken(public, name, given) for name in ("self", *form.lists)}
    varied = [given.pop(name) for name in names]
    if form.varied and not varied:
        varied = [_default(public, form)]
    if form.varied[:1] == ("exponent",) and _is_number(lists["self"]):  # the power of one number
        count = len(_tensors(public, "'exponent'", varied[0]))
        return varied[0], [[lists["self"]] * count, varied[0]]
    columns = [_tensors(public, shown.get(name, f"'{name}'"), value) for name, value in lists.items()]
    if not columns[0]:
        raise RuntimeError("Tensor list must have at least one tensor.")
    for column in columns[1:]:
        _require_as_many(columns[0], column)
    return lists["self"], [*columns, *[_spread(public, value, columns[0], form) for value in varied]]


def _taken(public: str, name: str, given: dict[str, Any]) -> Any:
    if name not in given:
        raise TypeError(f'{public}() missing 1 required positional arguments: "{name}"')
    return given.pop(name)


def _default(public: str, form: Form) -> Any:
    if form.default is None:
        raise TypeError(f'{public}() missing 1 required positional arguments: "{form.varied[0]}"')
    return form.default


def _tensors(public: str, shown: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"{public}(): argument {shown} must be tuple of Tensors, not {type(value).__name__}")
    for index, item in enumerate(value):
        if not isinstance(item, Tensor):
            raise TypeError(f"expected Tensor as element {index} in argument {shown}, but got {type(item).__name__}")
    return value


def _spread(public: str, value: Any, tensors: Sequence[Tensor], form: Form) -> Sequence[Any]:
    """What is varied, for each of the tensors."""
    if isinstance(value, (list, tuple)):
        if value and isinstance(value[0], Tensor):
            _require_as_many(tensors, value)
        elif len(value) != len(tensors):
            raise RuntimeError("Tensor list must have same number of elements as scalar list.")
        return value
    if isinstance(value, Tensor):
        return _spread_tensor(value, tensors, form.packed)
    if not _is_number(value):
        raise TypeError(
            f"{public}() received an invalid combination of arguments: {type(value).__name__} is no number, tensor, or "
            "list of these"
        )
    return [value] * len(tensors)


def _spread_tensor(value: Tensor, tensors: Sequence[Tensor], packed: bool) -> Sequence[Any]:
    if not packed:
        if value.dim():
            raise RuntimeError(
                f"scalar tensor expected to be 0 dim but it has {value.dim()} dimensions and {value.numel()} elements."
            )
        return [value] * len(tensors)
    if value.dim() != 1:
        raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {value.dim()} instead.")
    if value.numel() != len(tensors):
        raise RuntimeError(
            f"Expected length of scalars to match input of length {len(tensors)} but got {value.numel()} instead."
        )
    return value.tolist()


def _is_number(value: Any) -> bool:
    return hasattr(value, "__float__") or isinstance(value, complex)


def _require_as_many(tensors: Sequence[Any], others: Sequence[Any]) -> None:
    if len(tensors) != len(others):
        raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(others)}")


FUNCTIONS: Mapping[str, Callable[..., Any]] = {f"_foreach_{name}": _made(name, form) for name, form in FORMS.items()}
