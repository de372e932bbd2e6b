"""``torch.nn.common_types``: types of sizes and ratios, one number or one for each axis, for annotations."""

from __future__ import annotations

from typing import Any, TypeVar

from ...tensors.tensor import Tensor

T = TypeVar("T")


def _or_tuple(*axes: Any) -> Any:
    """One of the first type, or a tuple with one of each."""
    return axes[0] | tuple.__class_getitem__(axes)


_variable: Any = T
_maybe: Any = int | None

_scalar_or_tuple_any_t = _or_tuple(_variable, ...)
_scalar_or_tuple_1_t = _or_tuple(_variable)
_scalar_or_tuple_2_t = _or_tuple(*[_variable] * 2)
_scalar_or_tuple_3_t = _or_tuple(*[_variable] * 3)
_scalar_or_tuple_4_t = _or_tuple(*[_variable] * 4)
_scalar_or_tuple_5_t = _or_tuple(*[_variable] * 5)
_scalar_or_tuple_6_t = _or_tuple(*[_variable] * 6)

_size_any_t = _or_tuple(int, ...)
_size_1_t = _or_tuple(int)
_size_2_t = _or_tuple(*[int] * 2)
_size_3_t = _or_tuple(*[int] * 3)
_size_4_t = _or_tuple(*[int] * 4)
_size_5_t = _or_tuple(*[int] * 5)
_size_6_t = _or_tuple(*[int] * 6)
_size_any_opt_t = _or_tuple(_maybe, ...)
_size_2_opt_t = _or_tuple(*[_maybe] * 2)
_size_3_opt_t = _or_tuple(*[_maybe] * 3)
_ratio_2_t = _or_tuple(*[float] * 2)
_ratio_3_t = _or_tuple(*[float] * 3)
_ratio_any_t = _or_tuple(float, ...)
_tensor_list_t = _or_tuple(Tensor, ...)
_maybe_indices_t = _or_tuple(*[Tensor] * 2)

__all__ = ["T", *(name for name in list(globals()) if name.endswith("_t"))]
