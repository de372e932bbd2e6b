"""Values and whole channels that are dropped at random while training."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ...ops import movement
from ...tracing.user_warning import warn_user
from ..activations import finished
from ..layers import drop_mask, dropped

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor

Shape = tuple[int, ...]

#: What a dropped value becomes where mean 0 and variance 1 are to be kept, before it is scaled (Klambauer et al. 2017).
_ALPHA = 1.7580993408473766


def _check_probability(p: float) -> None:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def _channels(input: Any) -> Shape:
    """The shape of a mask with one number for each channel of each sample."""
    shape: Shape = input.ndarray.shape
    if len(shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return shape[:2] + (1,) * (len(shape) - 2)


def by_channel(input: Any, p: float, training: bool, inplace: bool) -> Any:
    """Whole channels dropped: axes 0 and 1 decide."""
    shape = _channels(input)
    if not training or p == 0 or not input.ndarray.size:
        return input
    return dropped(input, p, shape, inplace)


def _unbatched(input: Any, p: float, training: bool, inplace: bool) -> Any:
    """The same for ``[channels, *space]``: axis 0 decides."""
    if not training or p == 0 or not input.ndarray.size:
        return input
    return dropped(input, p, input.ndarray.shape[:1] + (1,) * (input.ndarray.ndim - 1), inplace)


def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """As `dropout`, for whole channels of ``[batch, channels, length]`` or ``[channels, length]``.

    ValueError for a `p` outside [0, 1], RuntimeError for other numbers of axes.

    >>> import tracegrad as tg
    >>> tg.nn.functional.dropout1d(tg.ones(1, 2, 3), training=False)
    tensor([[[1., 1., 1.],
             [1., 1., 1.]]])
    """
    _check_probability(p)
    if input.ndarray.ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.ndarray.ndim}D input. Note that dropout1d "
            "exists to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an "
            "optional batch dimension (i.e. 2D or 3D inputs)."
        )
    return (by_channel if input.ndarray.ndim == 3 else _unbatched)(input, p, training, inplace)


def _warn_of_axes(name: str, ndim: int, axes: int) -> None:
    warn_user(
        f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an error in a future "
        "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
        f"{name} exists to provide channel-wise dropout on inputs with {axes} spatial dimensions, a channel dimension, "
        f"and an optional batch dimension (i.e. {axes + 1}D or {axes + 2}D inputs)."
    )


def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """As `dropout`, for whole channels: axes 0 and 1 decide, with three axes, too (PyTorch warns of that).

    ValueError for a `p` outside [0, 1], RuntimeError for fewer than two axes.

    >>> import tracegrad as tg
    >>> tg.nn.functional.dropout2d(tg.ones(1, 2, 2, 2)).sum((2, 3)).unique().numel() <= 2
    True
    """
    _check_probability(p)
    if input.ndarray.ndim not in (3, 4):
        _warn_of_axes("dropout2d", input.ndarray.ndim, 2)
    if input.ndarray.ndim == 3:
        warn_user(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is desired "
            "- input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will change in a "
            "future release to interpret the input as one without a batch dimension, i.e. shape (C, H, W). To maintain "
            "the 1D channel-wise dropout behavior, please switch to using dropout1d instead."
        )
    return by_channel(input, p, training, inplace)


def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """As `dropout`, for whole channels of ``[batch, channels, depth, height, width]``, or without batch.

    ValueError for a `p` outside [0, 1].

    >>> import tracegrad as tg
    >>> tg.nn.functional.dropout3d(tg.ones(1, 2, 1, 1, 2), p=1.0).sum()
    tensor(0.)
    """
    _check_probability(p)
    if input.ndarray.ndim not in (4, 5):
        _warn_of_axes("dropout3d", input.ndarray.ndim, 3)
    return (by_channel if input.ndarray.ndim == 5 else _unbatched)(input, p, training, inplace)


# --------------------------------------------------------------------------------------------------------- of selu


def _alpha_dropped(input: Any, p: float, mask_shape: Shape, inplace: bool) -> Any:
    if p == 1:
        return finished(input, input * 0, inplace)
    a = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    mask = drop_mask(input, p, mask_shape)
    shift = (mask - 1) * (_ALPHA * a) + _ALPHA * a * p
    return finished(input, input * (mask * a) + movement.broadcast(shift, input.ndarray.shape), inplace)


def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Dropout after `selu`: dropped values become that function's lowest one, then mean 0 and variance 1 are restored.

    Shape and type are those of `input`, which comes back if not `training`. ValueError for a `p` outside [0, 1].

    >>> import tracegrad as tg
    >>> tg.nn.functional.alpha_dropout(tg.tensor([1., 2.]))
    tensor([1., 2.])
    """
    _check_probability(p)
    if not training or p == 0 or not input.ndarray.size:
        return input
    return _alpha_dropped(input, p, input.ndarray.shape, inplace)


def feature_alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """`alpha_dropout` of whole channels: axes 0 and 1 decide.

    RuntimeError for fewer than two axes, ValueError for a `p` outside [0, 1].

    >>> import tracegrad as tg
    >>> tg.nn.functional.feature_alpha_dropout(tg.ones(1, 2, 3), training=True).shape
    tracegrad.Size([1, 2, 3])
    """
    _check_probability(p)
    if not training or p == 0 or not input.ndarray.size:
        return input
    return _alpha_dropped(input, p, _channels(input), inplace)
