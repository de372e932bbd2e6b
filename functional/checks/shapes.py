"""Shapes and types that functions refuse, in PyTorch's words, before anything is computed."""

from __future__ import annotations

from typing import Any

from ...tensors.tensor import Tensor

Shape = tuple[int, ...]


def check_channels(input: Tensor, weight: Tensor) -> None:
    """RuntimeError unless `weight` is one number, or one for each channel (axis 1) of `input`."""
    count, shape = weight.ndarray.size, input.ndarray.shape
    if count == 1:
        return
    if not shape:
        raise RuntimeError("Not allow zero-dim input tensor. Give one number as weight, or add an axis of channels.")
    channels = shape[1] if len(shape) > 1 else 1
    if count != channels:
        raise RuntimeError(
            f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {count} and channel "
            f"size = {channels}."
        )


def check_halves(input: Tensor, axis: int) -> None:
    """RuntimeError unless the axis, of which glu takes the halves, is even."""
    if not input.ndarray.ndim:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    extent = input.ndarray.shape[axis]
    if extent % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {axis} is size {extent}")


def check_normalized(input: Tensor, last: tuple[int, ...], weight: Tensor | None, bias: Tensor | None) -> None:
    """RuntimeError unless the parameters of a layer norm have the shape `last`, and `input` ends in it."""
    if not last:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for name, x in (("weight", weight), ("bias", bias)):
        if x is not None and x.ndarray.shape != last:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of shape {list(x.shape)} and "
                f"normalized_shape = {list(last)}"
            )
    shape = input.ndarray.shape
    if shape[max(len(shape) - len(last), 0) :] != last:
        raise RuntimeError(
            f"Given normalized_shape={list(last)}, expected input with shape [*{''.join(f', {n}' for n in last)}], but "
            f"got input of size{list(shape)}"
        )


def check_one_type(input: Tensor, *others: Any) -> None:
    """RuntimeError unless the parameters have the input's type."""
    first = input.ndarray.dtype
    for x in others:
        if x is not None and x.ndarray.dtype is not first and x.dtype is not input.dtype:
            raise RuntimeError(
                "mixed dtype (CPU): all inputs must share same datatype. Got "
                f"{input.dtype.title} and {x.dtype.title}; use .to()"
            )


def check_per_channel(input: Tensor, training: bool, named: dict[str, Any]) -> None:
    """RuntimeError unless a batch norm's parameters and statistics have a number for each channel."""
    shape = input.ndarray.shape
    channels = shape[1] if len(shape) > 1 else 0
    for name, x in named.items():
        if x is None and name.startswith("running") and not training:
            raise RuntimeError(f"{name} must be defined in evaluation mode")
        if x is not None and x.ndarray.shape != (channels,):
            raise RuntimeError(f"{name} should contain {channels} elements not {x.ndarray.size}")


def check_count(name: str, error: type[Exception], index: Tensor, source: Tensor, axis: int, words: str) -> None:
    """An error of that class unless `source` has a part for each index."""
    shape, count = source.ndarray.shape, index.ndarray.size
    extent = shape[axis] if shape else 1
    if count != extent:
        raise error(f"{name}(): Number of indices ({count}) should be equal to source.size(dim){words.format(extent)}")


def check_vector(index: Tensor) -> None:
    """RuntimeError unless there is one row of indices."""
    if index.ndarray.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar. flatten() it, or use scatter().")


def check_number(value: Any) -> None:
    """RuntimeError for a tensor with axes, where one number is to be filled in."""
    if isinstance(value, Tensor) and value.ndarray.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value.ndarray.ndim} dimension(s)."
        )


def check_tensors(name: str, tensors: list[Any]) -> None:
    """TypeError for an element that is no tensor."""
    for i, x in enumerate(tensors):
        if not isinstance(x, Tensor):
            raise TypeError(f"{name}(): expected Tensor as element {i} in argument 0, but got {type(x).__name__}")


def check_not_integers(kernel: str, x: Tensor) -> None:
    """NotImplementedError for integers and truth values."""
    if not x.dtype.is_floating_point:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{x.dtype.title}'; call .float()")


def check_vectors(tensors: list[Any], message: str) -> None:
    """RuntimeError unless each is a vector or a number."""
    for x in tensors:
        if x.ndarray.ndim > 1:
            raise RuntimeError(message.format(list(x.ndarray.shape)))


def check_expanded(shape: Shape, target: Shape, wanted: Shape) -> None:
    """RuntimeError unless a tensor of `shape` can be repeated to `target`, asked for as `wanted`."""
    added = len(target) - len(shape)
    for i in range(len(target) - 1, -1, -1):  # the last one that does not fit is told
        n = target[i]
        if n < 0 and i < added:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) isn't allowed in a leading, non-existing dimension {i}"
            )
        there = shape[i - added] if i >= added else 1
        if n < 0 or there not in (1, n):
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({there}) at non-singleton "
                f"dimension {i}.  Target sizes: {list(wanted)}.  Tensor sizes: {list(shape)}"
            )
