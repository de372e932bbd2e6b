"""Making one batch out of a list of items."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....functional.joining import stack
from ....ops.types import float64
from ....tensors.creation import as_tensor, tensor
from ....tensors.operands import checked
from ....tensors.tensor import Tensor
from .containers import is_namedtuple, like_mapping, like_sequence

#: How numpy writes the types that no tensor has: strings, bytes, objects.
np_str_obj_array_pattern = re.compile(r"[SaUO]")

default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)

_stack = checked(stack, "stack")  # as programs call it: classes of tensors have a say
Collate = Callable[..., Any]  # of a batch and the keyword `collate_fn_map`
CollateMap = dict[Any, Collate]  # by classes, or tuples of classes


def default_convert(data: Any) -> Any:
    """numpy arrays and numbers inside `data` as tensors, everything else as it is: what loaders without batches do.

    Tuples become lists; other containers keep their class.

    >>> import numpy, tracegrad as tg
    >>> tg.utils.data.default_convert({"x": numpy.arange(2), "name": "a"})
    {'x': tensor([0, 1]), 'name': 'a'}
    """
    if isinstance(data, Tensor):
        return data
    if _is_of_numpy(data):
        is_text = isinstance(data, np.ndarray) and np_str_obj_array_pattern.search(data.dtype.str)
        return data if is_text else as_tensor(data)
    if isinstance(data, Mapping):
        return like_mapping(data, lambda: {key: default_convert(data[key]) for key in data})
    if is_namedtuple(data):
        return type(data)(*(default_convert(item) for item in data))
    if isinstance(data, tuple):
        return [default_convert(item) for item in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return like_sequence(data, lambda: map(default_convert, data))
    return data


def _is_of_numpy(data: Any) -> bool:
    return type(data).__module__ == "numpy" and type(data).__name__ not in ("str_", "string_")


def collate(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """One batch of items of one structure. What is no container goes to the function that `collate_fn_map` has for its
    class, or else for one of its bases, in the map's order; it is called with the items and the map.

    Tuples become lists, namedtuples, mappings and other sequences keep their class. TypeError for a class that is not
    in the map, RuntimeError for sequences of different lengths.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.data._utils.collate import collate
    >>> collate([(1, "a"), (2, "b")], collate_fn_map={int: lambda batch, *, collate_fn_map: sum(batch)})
    Traceback (most recent call last):
    TypeError: default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'str'>
    """
    first = batch[0]
    function = _function_for(first, collate_fn_map or {})
    if function is not None:
        return function(batch, collate_fn_map=collate_fn_map)

    def column(items: Sequence[Any]) -> Any:
        return collate(items, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return like_mapping(first, lambda: {key: column([item[key] for item in batch]) for key in first})
    if is_namedtuple(first):
        return type(first)(*map(column, zip(*batch, strict=False)))
    if isinstance(first, Sequence) and not isinstance(first, (str, bytes)):
        if any(len(item) != len(first) for item in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        columns = list(zip(*batch, strict=False))
        if isinstance(first, tuple):
            return [column(items) for items in columns]
        return like_sequence(first, lambda: map(column, columns))
    raise TypeError(default_collate_err_msg_format.format(type(first)))


def _function_for(first: Any, functions: CollateMap) -> Collate | None:
    exact = functions.get(type(first))
    if exact is not None:
        return exact
    return next((function for kinds, function in functions.items() if isinstance(first, kinds)), None)


def collate_tensor_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Tensors of one shape, with a new first axis. TypeError if one is none, RuntimeError for other shapes."""
    for i, item in enumerate(batch):
        if not isinstance(item, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type(item).__name__}")
    return _stack(batch, 0)


def collate_numpy_array_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Arrays of one shape as one tensor with a new first axis; TypeError for strings and objects."""
    if np_str_obj_array_pattern.search(batch[0].dtype.str):
        raise TypeError(default_collate_err_msg_format.format(batch[0].dtype))
    return collate([as_tensor(item) for item in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """numpy's numbers as one tensor of their type."""
    return as_tensor(batch)


def collate_float_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Python's real numbers as a float64 tensor."""
    return tensor(batch, dtype=float64)


def collate_int_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Python's integers as an int64 tensor."""
    return tensor(batch)


def collate_str_fn(batch: Sequence[Any], *, collate_fn_map: CollateMap | None = None) -> Any:
    """Texts as they are."""
    return batch


#: What `default_collate` does, by class: a program may add classes of its own.
default_collate_fn_map: CollateMap = {
    Tensor: collate_tensor_fn,
    np.ndarray: collate_numpy_array_fn,
    (np.bool_, np.number, np.object_): collate_numpy_scalar_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}
_AS_SHIPPED = dict(default_collate_fn_map)


def default_collate(batch: Sequence[Any]) -> Any:
    """Tensors, arrays and numbers become tensors with a new first axis; containers, element by element.

    Python's real numbers become float64, integers int64, numpy's keep their type; texts stay lists; tuples become
    lists, other containers keep their class. TypeError for anything else, RuntimeError for items of different lengths
    or shapes. What is done with each class stands in ``default_collate_fn_map``, which a program may extend.

    >>> import tracegrad as tg
    >>> tg.utils.data.default_collate([{"x": 1, "y": (3, "a")}, {"x": 2, "y": (4, "b")}])
    {'x': tensor([1, 2]), 'y': [tensor([3, 4]), ('a', 'b')]}
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def stacks_tensors(collate_fn: Any) -> bool:
    """True if `collate_fn` makes of tuples of plain tensors the list of their stacks, and nothing else happens."""
    return collate_fn is default_collate and default_collate_fn_map == _AS_SHIPPED and collate is _collate


_collate = collate
