"""Bases of layers under the names that programs import from ``torch.nn.modules.*``: isinstance and subclasses."""

from __future__ import annotations

from ...nn.convolution import _Convolution, _ConvTranspose
from ...nn.dropout import _Dropout
from ...nn.layers.group_norms import InstanceNorm
from ...nn.lazy.layers import _LazyConvolution
from ...nn.lazy.mixin import LazyModuleMixin
from ...nn.lazy.norms import _LazyNorm
from ...nn.loss import Loss, WeightedLoss
from ...nn.multihead_attention import NonDynamicallyQuantizableLinear
from ...nn.normalization import BatchNorm, NormBase
from ...nn.padding import _Pad
from ...nn.parameter import UninitializedTensorMixin
from ...nn.pooling import _AdaptiveMaxPool, _AdaptivePool, _AvgPool, _LPPool, _MaxPool, _MaxUnpool
from ...nn.state import IncompatibleKeys

_ConvNd, _ConvTransposeNd, _LazyConvXdMixin = _Convolution, _ConvTranspose, _LazyConvolution
_BatchNorm, _NormBase, _InstanceNorm, _LazyNormBase = BatchNorm, NormBase, InstanceNorm, _LazyNorm
_Loss, _WeightedLoss = Loss, WeightedLoss
_DropoutNd = _Dropout
_MaxPoolNd, _MaxUnpoolNd, _AvgPoolNd, _LPPoolNd = _MaxPool, _MaxUnpool, _AvgPool, _LPPool
_AdaptiveAvgPoolNd, _AdaptiveMaxPoolNd = _AdaptivePool, _AdaptiveMaxPool
_ConstantPadNd = _ReflectionPadNd = _ReplicationPadNd = _CircularPadNd = _Pad
_IncompatibleKeys, _LazyProtocol = IncompatibleKeys, LazyModuleMixin

__all__ = [
    "LazyModuleMixin",
    "NonDynamicallyQuantizableLinear",
    "UninitializedTensorMixin",
    "_AdaptiveAvgPoolNd",
    "_AdaptiveMaxPoolNd",
    "_AvgPoolNd",
    "_BatchNorm",
    "_CircularPadNd",
    "_ConstantPadNd",
    "_ConvNd",
    "_ConvTransposeNd",
    "_DropoutNd",
    "_IncompatibleKeys",
    "_InstanceNorm",
    "_LPPoolNd",
    "_LazyConvXdMixin",
    "_LazyNormBase",
    "_LazyProtocol",
    "_Loss",
    "_MaxPoolNd",
    "_MaxUnpoolNd",
    "_NormBase",
    "_ReflectionPadNd",
    "_ReplicationPadNd",
    "_WeightedLoss",
]
