"""Functions of neural networks under PyTorch's path ``nn.functional``; they are defined in ``functional/``."""

from __future__ import annotations

from ..functional.activations import (
    celu,
    elu,
    gelu,
    glu,
    leaky_relu,
    logsigmoid,
    mish,
    prelu,
    relu,
    selu,
    silu,
    softplus,
    softsign,
    tanhshrink,
)
from ..functional.attention import scaled_dot_product_attention
from ..functional.class_losses import cross_entropy, nll_loss
from ..functional.criteria.ctc import ctc_loss
from ..functional.criteria.linear_cross_entropy import linear_cross_entropy
from ..functional.criteria.margins import (
    cosine_embedding_loss,
    hinge_embedding_loss,
    margin_ranking_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    soft_margin_loss,
    triplet_margin_loss,
    triplet_margin_with_distance_loss,
)
from ..functional.criteria.two_classes import binary_cross_entropy, binary_cross_entropy_with_logits
from ..functional.layers import (
    cosine_similarity,
    dropout,
    embedding,
    layer_norm,
    normalize,
    one_hot,
    pairwise_distance,
    rms_norm,
)
from ..functional.linear_algebra import linear
from ..functional.lookup.embedding_bag import embedding_bag
from ..functional.losses import (
    gaussian_nll_loss,
    huber_loss,
    kl_div,
    l1_loss,
    mse_loss,
    poisson_nll_loss,
    smooth_l1_loss,
)
from ..functional.multihead_attention import multi_head_attention_forward
from ..functional.normalizing.dropping import alpha_dropout, dropout1d, dropout2d, dropout3d, feature_alpha_dropout
from ..functional.normalizing.groups import group_norm, instance_norm
from ..functional.normalizing.local_response import local_response_norm
from ..functional.normalizing.softmax import log_softmax, softmax, softmin
from ..functional.products.distances import bilinear, pdist
from ..functional.rectifiers.drawn import gumbel_softmax, rrelu
from ..functional.rectifiers.in_place import (
    celu_,
    elu_,
    hardtanh_,
    leaky_relu_,
    relu_,
    rrelu_,
    selu_,
    threshold_,
)
from ..functional.rectifiers.piecewise import hardsigmoid, hardswish, hardtanh, relu6, threshold
from ..functional.rectifiers.shrinkage import hardshrink, softshrink
from ..functional.resampling.grid_sampling import affine_grid, grid_sample
from ..functional.resampling.interpolation import interpolate, upsample, upsample_bilinear, upsample_nearest
from ..functional.resampling.shuffling import channel_shuffle, pixel_shuffle, pixel_unshuffle
from ..functional.spatial.average_pooling import (
    adaptive_avg_pool1d,
    adaptive_avg_pool2d,
    adaptive_avg_pool3d,
    avg_pool1d,
    avg_pool2d,
    avg_pool3d,
)
from ..functional.spatial.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from ..functional.spatial.folding import fold, unfold
from ..functional.spatial.fractional_pooling import (
    fractional_max_pool2d,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d,
    fractional_max_pool3d_with_indices,
)
from ..functional.spatial.max_pooling import (
    adaptive_max_pool1d,
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d,
    adaptive_max_pool3d_with_indices,
    max_pool1d,
    max_pool1d_with_indices,
    max_pool2d,
    max_pool2d_with_indices,
    max_pool3d,
    max_pool3d_with_indices,
    max_unpool1d,
    max_unpool2d,
    max_unpool3d,
)
from ..functional.spatial.norm_pooling import lp_pool1d, lp_pool2d, lp_pool3d
from ..functional.spatial.padding import pad
from ..functional.spatial.time_first import conv_tbc
from ..ops.elementary import sigmoid
from ..ops.trigonometry import tanh
from ..tensors.operands import checked, located
from .batch_norm import batch_norm

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "affine_grid",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "grid_sample",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "linear_cross_entropy",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "pdist",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

# The public functions check their operands; layers and users call these.
for _name in __all__:
    _function = globals()[_name]
    globals()[_name] = located(checked(_function, within="nn.functional"), _function, __name__)
