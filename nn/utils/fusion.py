"""Batch norms in evaluation mode as part of the layer before them."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar

from ...functional.shapes import reshape
from ...ops.elementary import rsqrt
from ...tensors.creation import ones_like, zeros_like
from ..module import Module
from ..parameter import Parameter

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

M = TypeVar("M", bound=Module)

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _fused(layer: M, bn: Any, transpose: bool) -> M:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("Expected bn.running_mean and bn.running_var to be not None; track them in training.")
    fused: Any = copy.deepcopy(layer)
    statistics = (bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    fused.weight, fused.bias = _weights(fused.weight, fused.bias, *statistics, transpose=transpose)
    return fused


def _weights(
    weight: Any, bias: Any, mean: Any, var: Any, eps: float, scale: Any, shift: Any, transpose: bool = False
) -> tuple[Parameter, Parameter]:
    bias = zeros_like(mean) if bias is None else bias
    scale = ones_like(mean) if scale is None else scale
    shift = zeros_like(mean) if shift is None else shift
    factor = scale * rsqrt(var + eps)
    along = [1] * weight.ndim
    along[1 if transpose else 0] = -1
    weights = (weight * reshape(factor, along)).to(weight.dtype), ((bias - mean) * factor + shift).to(bias.dtype)
    new = [Parameter(x.detach(), old.requires_grad) for x, old in zip(weights, (weight, bias), strict=True)]
    return new[0], new[1]


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """A copy of the convolution `conv` that computes `conv` and then the batch norm `bn`.

    `transpose` says that it is a transposed one, whose output channels are axis 1 of the weight. AssertionError unless
    both are in evaluation mode and `bn` has running statistics.

    >>> import tracegrad as tg
    >>> conv, bn = tg.nn.Conv1d(1, 2, 3).eval(), tg.nn.BatchNorm1d(2).eval()
    >>> x = tg.arange(5.0).reshape(1, 1, 5)
    >>> fused = tg.nn.utils.fuse_conv_bn_eval(conv, bn)
    >>> tg.allclose(fused(x), bn(conv(x)), atol=1e-6)
    True
    """
    return _fused(conv, bn, transpose)


def fuse_conv_bn_weights(
    conv_w: Tensor,
    conv_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
    transpose: bool = False,
) -> tuple[Parameter, Parameter]:
    """Weight and bias, as parameters, of a convolution followed by a batch norm: ``w * bn_w / sqrt(bn_rv + bn_eps)``
    and the like.

    `conv_w` [out, in, ...] (with `transpose` [in, out, ...]), all others [out] or None, as a layer without bias or
    scale has it.

    >>> import tracegrad as tg
    >>> w, b = tg.nn.utils.fuse_conv_bn_weights(tg.ones(1, 1, 1), None, tg.ones(1), tg.full((1,), 4.0), 0.0, None, None)
    >>> w.item(), b.item()
    (0.5, -0.5)
    """
    return _weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose)


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """A copy of the layer `linear` that computes `linear` and then the batch norm `bn`.

    AssertionError unless both are in evaluation mode, and where `bn` has neither one feature nor as many as the layer
    gives.

    >>> import tracegrad as tg
    >>> linear, bn = tg.nn.Linear(3, 2).eval(), tg.nn.BatchNorm1d(2).eval()
    >>> fused = tg.nn.utils.fuse_linear_bn_eval(linear, bn)
    >>> tg.allclose(fused(tg.eye(3)), bn(linear(tg.eye(3))), atol=1e-6)
    True
    """
    features = linear.out_features
    if bn.num_features not in (features, 1):
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    return _fused(linear, bn, False)


def fuse_linear_bn_weights(
    linear_w: Tensor,
    linear_b: Tensor | None,
    bn_rm: Tensor,
    bn_rv: Tensor,
    bn_eps: float,
    bn_w: Tensor | None,
    bn_b: Tensor | None,
) -> tuple[Parameter, Parameter]:
    """Weight and bias, as parameters, of a linear layer followed by a batch norm of these statistics.

    `linear_w` [out, in], all others [out] or None, as a layer without bias or scale has it.

    >>> import tracegrad as tg
    >>> one = tg.ones(1)
    >>> w, b = tg.nn.utils.fuse_linear_bn_weights(tg.ones(1, 2), None, one, one * 4, 0.0, one, one)
    >>> w.tolist(), b.tolist()
    ([[0.5, 0.5]], [0.5])
    """
    return _weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b)
