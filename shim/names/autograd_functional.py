"""Names of ``torch.autograd.functional`` that programs read beside its functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...tensors.tensor import Tensor
from .vmap_internals import _vmap

__all__ = [
    "_as_tuple",
    "_as_tuple_nocheck",
    "_construct_standard_basis_for",
    "_grad_postprocess",
    "_tuple_postprocess",
    "_vmap",
]


def _as_tuple_nocheck(x: Any) -> tuple[Any, ...]:
    """`x` as a tuple: of its items if it is a list, of itself if it is neither list nor tuple."""
    return tuple(x) if isinstance(x, (tuple, list)) else (x,)


def _as_tuple(inp: Any, arg_name: str | None = None, fn_name: str | None = None) -> Any:
    """`inp` as a tuple; with the names of an argument also whether it was one, and TypeError for what is no tensor."""
    if arg_name is None and fn_name is None:
        return _as_tuple_nocheck(inp)
    was_tuple = isinstance(inp, tuple)
    found = inp if was_tuple else (inp,)
    for i, each in enumerate(found):
        if not isinstance(each, Tensor):
            place = f"value at index {i}" if was_tuple else f"given {arg_name}"
            raise TypeError(
                f"The {arg_name} given to {fn_name} must be either a Tensor or a tuple of Tensors but the {place} "
                f"has type {type(each)}."
            )
    return was_tuple, found


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """The inverse of `_as_tuple`: for a tuple of tuples, two say whether the outer and the inner ones stay."""
    outer, inner = to_unpack if isinstance(to_unpack, tuple) else (to_unpack, True)
    found = res if inner else tuple(each[0] for each in res)
    return found if outer else found[0]


def _grad_postprocess(inputs: Any, create_graph: bool) -> Any:
    """A nest of tensors, without their history unless a graph was asked for."""
    if not isinstance(inputs[0], Tensor):
        return tuple(_grad_postprocess(each, create_graph) for each in inputs)
    return inputs if create_graph else tuple(each.detach() for each in inputs)


def _construct_standard_basis_for(tensors: Sequence[Tensor], tensor_numels: Sequence[int]) -> tuple[Tensor, ...]:
    """The columns of an identity matrix, as many for each tensor as it has elements, and of its type."""
    assert len(tensors) == len(tensor_numels), "Expected tensors and tensor_numels to have the same length"
    assert tensors, "Expected at least one tensor"
    rows, first = sum(tensor_numels), 0
    chunks = []
    for tensor, count in zip(tensors, tensor_numels, strict=True):
        chunk = tensor.new_zeros(rows, count)
        chunk.diagonal(-first).fill_(1)
        chunks.append(chunk)
        first += count
    return tuple(chunks)
