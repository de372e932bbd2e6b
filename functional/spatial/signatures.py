"""How the functions over windows are called: those of one, two and three axes are made by one function each.

Imported below `TYPE_CHECKING` only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, overload

from ...tensors.tensor import Tensor
from .sliding import Numbers, Targets


class Convolution(Protocol):
    """``conv1d`` and the like."""

    def __call__(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Numbers = 1,
        padding: str | Numbers = 0,
        dilation: Numbers = 1,
        groups: int = 1,
    ) -> Tensor: ...


class TransposedConvolution(Protocol):
    """``conv_transpose1d`` and the like."""

    def __call__(
        self,
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Numbers = 1,
        padding: Numbers = 0,
        output_padding: Numbers = 0,
        groups: int = 1,
        dilation: Numbers = 1,
    ) -> Tensor: ...


class AveragePooling(Protocol):
    """``avg_pool1d`` and the like."""

    def __call__(
        self,
        input: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Tensor: ...


class NormPooling(Protocol):
    """``lp_pool1d`` and the like."""

    def __call__(
        self,
        input: Tensor,
        norm_type: float,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        ceil_mode: bool = False,
    ) -> Tensor: ...


class AdaptiveAveragePooling(Protocol):
    """``adaptive_avg_pool1d`` and the like."""

    def __call__(self, input: Tensor, output_size: Targets) -> Tensor: ...


class MaxPooling(Protocol):
    """``max_pool1d`` and the like."""

    @overload
    def __call__(
        self,
        input: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
        return_indices: Literal[False] = False,
    ) -> Tensor: ...

    @overload
    def __call__(
        self,
        input: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any: ...


class PoolingWithIndices(Protocol):
    """``max_pool1d_with_indices`` and the like."""

    def __call__(
        self,
        input: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> tuple[Tensor, Tensor]: ...


class Unpooling(Protocol):
    """``max_unpool1d`` and the like."""

    def __call__(
        self,
        input: Tensor,
        indices: Tensor,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        output_size: Sequence[int] | None = None,
    ) -> Tensor: ...


class AdaptiveMaxPooling(Protocol):
    """``adaptive_max_pool1d`` and the like."""

    @overload
    def __call__(self, input: Tensor, output_size: Targets, return_indices: Literal[False] = False) -> Tensor: ...

    @overload
    def __call__(self, input: Tensor, output_size: Targets, return_indices: bool = False) -> Any: ...


class AdaptivePoolingWithIndices(Protocol):
    """``adaptive_max_pool1d_with_indices`` and the like."""

    def __call__(self, input: Tensor, output_size: Targets, return_indices: bool = False) -> tuple[Tensor, Tensor]: ...
