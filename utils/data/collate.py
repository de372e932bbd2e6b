"""Making one batch out of a list of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...ops.movement import concatenate, reshape
from ...ops.types import float64
from ...tensors.creation import as_tensor, tensor
from ...tensors.overriding import overrides
from ...tensors.subclass import in_class
from ...tensors.tensor import Tensor


def default_collate(batch: Sequence[Any]) -> Any:
    """Tensors, arrays and numbers become tensors with a new first axis; tuples, lists and dicts, element by element.

    Python floats become float64, integers int64; strings and bytes stay lists. TypeError for anything else,
    RuntimeError for items of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        joined = concatenate([reshape(item, (1, *item.shape)) for item in batch], 0)
        return in_class(joined, type(first)) if overrides(type(first)) else joined
    if isinstance(first, (np.ndarray, np.generic)):
        return as_tensor(np.stack([np.asarray(item) for item in batch]))
    if isinstance(first, float):
        return tensor(batch, dtype=float64)
    if isinstance(first, int):
        return tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _same_mapping(first, {key: default_collate([item[key] for item in batch]) for key in first})
    if isinstance(first, Sequence):
        return _collated_sequences(first, batch)
    raise TypeError(
        "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; "
        f"found {type(first)}. Pass a collate_fn that knows what to do with it."
    )


def _same_mapping(like: Any, items: dict[Any, Any]) -> Any:
    try:
        return type(like)(items)
    except TypeError:  # a mapping whose class is made otherwise
        return items


def _collated_sequences(first: Any, batch: Sequence[Any]) -> Any:
    if any(len(item) != len(first) for item in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [default_collate(column) for column in zip(*batch, strict=True)]
    return type(first)(*columns) if hasattr(first, "_fields") else columns


def default_convert(data: Any) -> Any:
    """numpy arrays and numbers inside `data` as tensors, everything else as it is: what loaders without batches do."""
    if isinstance(data, np.ndarray) and data.dtype.kind not in "SUO":
        return as_tensor(data)
    if isinstance(data, np.generic) and data.dtype.kind not in "SUO":
        return as_tensor(np.asarray(data))
    if isinstance(data, Mapping):
        return _same_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if isinstance(data, tuple):
        converted = [default_convert(item) for item in data]
        return type(data)(*converted) if hasattr(data, "_fields") else converted
    if isinstance(data, list):
        return [default_convert(item) for item in data]
    return data
