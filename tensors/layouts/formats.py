"""How elements lie in memory, as PyTorch names it, and the keywords of functions that make tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ...ops.layouts.formats import in_order
from ...ops.layouts.orders import CHANNELS_LAST, suggested_order
from ...ops.types import DType, dtype_from, public_name
from ..device import OnMeta, remaking

F = TypeVar("F", bound=Callable[..., Any])


class layout:
    """How a tensor is stored: ``tg.strided``, elements at distances of their own along each axis, or
    ``tg.sparse_coo``, places and values. Each exists once; ``tensor.layout`` says which it is.

    >>> import tracegrad as tg
    >>> tg.ones(2).layout
    tracegrad.strided
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"{public_name.package}.{self._name}"

    def __reduce__(self) -> str:
        return self._name


class memory_format(layout):
    """An order of axes in memory, each of which exists once.

    ``tg.contiguous_format`` is row-major, ``tg.channels_last`` (four axes) and ``tg.channels_last_3d`` (five) have axis
    1 innermost, ``tg.preserve_format`` is whatever there is.

    >>> import tracegrad as tg
    >>> tg.ones(1, 2, 3, 4).to(memory_format=tg.channels_last).stride()
    (24, 1, 8, 2)
    """

    __slots__ = ()


strided, sparse_coo = layout("strided"), layout("sparse_coo")
preserve_format, contiguous_format = memory_format("preserve_format"), memory_format("contiguous_format")
channels_last, channels_last_3d = memory_format("channels_last"), memory_format("channels_last_3d")
_RANKS = {channels_last: 4, channels_last_3d: 5}


def _require_format(format: Any) -> None:
    if not isinstance(format, memory_format):
        raise TypeError(f"memory_format must be a tracegrad.memory_format, not {type(format).__name__}")


def is_in_format(x: Any, format: Any) -> bool:
    """Whether the elements of a tensor lie in the order of `format` without gaps."""
    _require_format(format)
    if format not in _RANKS:
        return bool(x.ndarray.flags.c_contiguous)
    return x.ndarray.ndim == _RANKS[format] and bool(
        x.ndarray.transpose(CHANNELS_LAST[_RANKS[format]]).flags.c_contiguous
    )


def in_format(x: Any, format: Any) -> Any:
    """The tensor `x`, or a copy in memory that lies as `format` says. RuntimeError for another number of axes."""
    _require_format(format)
    if format is preserve_format:
        return x
    ndim = x.ndarray.ndim
    if format in _RANKS and ndim != _RANKS[format]:
        raise RuntimeError(f"required rank {_RANKS[format]} tensor to use {format._name} format")
    return in_order(x, CHANNELS_LAST[ndim] if format in _RANKS else tuple(range(ndim)))


def suggests(x: Any, format: Any) -> bool:
    """Whether `format` is what the strides of `x` suggest (rows, where it is no image): ``to`` gives x itself then."""
    _require_format(format)
    order = suggested_order(x.ndarray)
    return order is None if format is contiguous_format else order is not None and x.ndarray.ndim == _RANKS.get(format)


def factory(function: F) -> F:
    """A function that makes tensors, with the keywords ``layout``, ``pin_memory`` and ``memory_format`` of PyTorch.

    `dtype` may be one of Python's types. RuntimeError for memory that this library does not have.
    """
    name = function.__name__
    takes_format = name.startswith("empty") or name.endswith("_like")

    @functools.wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        args = tuple([dtype_from(arg) for arg in args])
        if not kwargs:
            try:
                return function(*args)
            except OnMeta:
                return remaking.on_meta(function, *args)
        dtype = kwargs.get("dtype", kwargs)
        if type(dtype) is not DType:
            if dtype is None:
                del kwargs["dtype"]
            elif dtype is not kwargs:
                kwargs["dtype"] = _checked_dtype(dtype_from(dtype), name)
        if "layout" in kwargs:
            _require_strided(kwargs.pop("layout"), name)
        if "pin_memory" in kwargs and kwargs.pop("pin_memory"):
            raise RuntimeError(
                "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available "
                "on this system. Leave it out."
            )
        format = kwargs.pop("memory_format", None) if takes_format else None
        try:
            out = function(*args, **kwargs)
        except OnMeta:
            out = remaking.on_meta(function, *args, **kwargs)
        return out if format is None else in_format(out, format)

    return make  # type: ignore[return-value]


def _checked_dtype(dtype: Any, name: str) -> DType:
    if not isinstance(dtype, DType):
        raise TypeError(f"{name}(): argument 'dtype' must be tracegrad.dtype, not {type(dtype).__name__}")
    return dtype


def _require_strided(given: Any, name: str) -> None:
    if given is not None and (not isinstance(given, layout) or isinstance(given, memory_format)):
        raise TypeError(f"{name}(): argument 'layout' must be tracegrad.layout, not {type(given).__name__}")
