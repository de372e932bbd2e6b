"""The same under the names and in the order of arguments that PyTorch's top level has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import layers
from ..layers import dropped
from . import dropping, groups

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    """``nn.functional.group_norm``, which tells shapes and errors; `cudnn_enabled` is about devices that are not here.

    >>> import tracegrad as tg
    >>> tg.group_norm(tg.tensor([[1., 3., 5., 5.]]), 2)
    tensor([[-1.0000,  1.0000,  0.0000,  0.0000]])
    """
    return groups.group_norm(input, num_groups, weight, bias, eps)


def instance_norm(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    """``nn.functional.instance_norm``, which tells shapes and errors, with its arguments in another order.

    >>> import tracegrad as tg
    >>> tg.instance_norm(tg.tensor([[[1., 3.]]]), None, None, None, None, True, 0.1, 1e-5, False)
    tensor([[[-1.0000,  1.0000]]])
    """
    return groups.instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    """``nn.functional.layer_norm``, which tells shapes and errors; `cudnn_enable` is about devices that are not here.

    >>> import tracegrad as tg
    >>> tg.layer_norm(tg.tensor([[1., 3.], [2., 2.]]), (2,))
    tensor([[-1.0000,  1.0000],
            [ 0.0000,  0.0000]])
    """
    return layers.layer_norm(input, normalized_shape, weight, bias, eps)


def dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """``nn.functional.dropout``, which tells shapes and errors; neither `p` nor `train` has a default.

    >>> import tracegrad as tg
    >>> tg.dropout(tg.ones(2), 0.5, train=False)
    tensor([1., 1.])
    """
    return layers.dropout(input, p, train)


def dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """``nn.functional.dropout(input, p, train, inplace=True)``: stored in `input`, which is returned.

    >>> import tracegrad as tg
    >>> tg.dropout_(tg.ones(2), 1.0, True)
    tensor([0., 0.])
    """
    return dropped(input, p, input.ndarray.shape, True) if train and p else input


def feature_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """As `dropout`, for whole channels: axes 0 and 1 decide. RuntimeError for fewer than two axes.

    >>> import tracegrad as tg
    >>> tg.feature_dropout(tg.ones(1, 2, 2), 1.0, True)
    tensor([[[0., 0.],
             [0., 0.]]])
    """
    return dropping.by_channel(input, p, train, False)


def feature_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_dropout`, stored in `input`, which is returned.

    >>> import tracegrad as tg
    >>> tg.feature_dropout_(tg.ones(1, 2, 1), 1.0, True)
    tensor([[[0.],
             [0.]]])
    """
    return dropping.by_channel(input, p, train, True)


def alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """``nn.functional.alpha_dropout``: dropout that keeps mean 0 and variance 1 after `selu`.

    >>> import tracegrad as tg
    >>> tg.alpha_dropout(tg.ones(2), 0.5, False)
    tensor([1., 1.])
    """
    return dropping.alpha_dropout(input, p, train)


def alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`alpha_dropout`, stored in `input`, which is returned.

    >>> import tracegrad as tg
    >>> tg.alpha_dropout_(tg.ones(2), 0.5, False)
    tensor([1., 1.])
    """
    return dropping.alpha_dropout(input, p, train, True)


def feature_alpha_dropout(input: Tensor, p: float, train: bool) -> Tensor:
    """``nn.functional.feature_alpha_dropout``: `alpha_dropout` of whole channels.

    >>> import tracegrad as tg
    >>> tg.feature_alpha_dropout(tg.ones(1, 2), 0.5, False)
    tensor([[1., 1.]])
    """
    return dropping.feature_alpha_dropout(input, p, train)


def feature_alpha_dropout_(input: Tensor, p: float, train: bool) -> Tensor:
    """`feature_alpha_dropout`, stored in `input`, which is returned.

    >>> import tracegrad as tg
    >>> tg.feature_alpha_dropout_(tg.ones(1, 2), 0.5, False)
    tensor([[1., 1.]])
    """
    return dropping.feature_alpha_dropout(input, p, train, True)
