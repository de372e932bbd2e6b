"""Layers that drop values at random while training."""

from __future__ import annotations

from ..tensors.tensor import Tensor
from . import functional as F
from .module import Module


class _Dropout(Module):
    """Something is dropped with probability `p` in training; ValueError for a `p` outside [0, 1]."""

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if not 0 <= p <= 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """In training each element is 0 with probability `p` (default 0.5), and the others are divided by ``1 - p``, so
    that the expectation stays (Srivastava et al. 2014). In evaluation the input is returned.

    Input and output have one shape, whatever it is, and one floating type. `inplace` (default False) overwrites the
    input. The draws are PyTorch's from the same seed; `compile`d calls draw anew each time. ValueError for `p` outside
    [0, 1].

    >>> import tracegrad as tg
    >>> layer = tg.nn.Dropout(0.25)
    >>> layer.eval()(tg.ones(3))
    tensor([1., 1., 1.])
    >>> sorted(set(layer.train()(tg.ones(100)).tolist()))
    [0.0, 1.3333333730697632]
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """In training whole channels are 0 with probability `p` (default 0.5), and the others are divided by ``1 - p``.

    Input and output [batch, channels, length], or [channels, length], of one floating type; one draw for each channel
    of each sample. `inplace` (default False) overwrites the input. In evaluation the input is returned. ValueError for
    `p` outside [0, 1], RuntimeError for another number of axes.

    >>> import tracegrad as tg
    >>> tg.nn.Dropout1d(1.0)(tg.ones(1, 2, 3))
    tensor([[[0., 0., 0.],
             [0., 0., 0.]]])
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """In training whole channels are 0 with probability `p` (default 0.5), and the others are divided by ``1 - p``,
    which helps where neighbouring places of a channel go together (Tompson et al. 2015).

    Input and output [batch, channels, height, width], of one floating type; one draw for each channel of each sample.
    As in PyTorch, three axes are [batch, channels, length], with a warning. `inplace` (default False) overwrites the
    input. In evaluation the input is returned. ValueError for `p` outside [0, 1].

    >>> import tracegrad as tg
    >>> out = tg.nn.Dropout2d(0.5)(tg.ones(2, 8, 3, 3))
    >>> bool((out.amax((2, 3)) == out.amin((2, 3))).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """In training whole channels are 0 with probability `p` (default 0.5), and the others are divided by ``1 - p``.

    Input and output [batch, channels, depth, height, width], or without batch, of one floating type; one draw for each
    channel of each sample. `inplace` (default False) overwrites the input. In evaluation the input is returned.
    ValueError for `p` outside [0, 1].

    >>> import tracegrad as tg
    >>> out = tg.nn.Dropout3d(0.5)(tg.ones(2, 8, 2, 2, 2))
    >>> bool((out.amax((2, 3, 4)) == out.amin((2, 3, 4))).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Dropout for networks with `SELU`: dropped elements get the value that SELU saturates at, and all are scaled and
    shifted so that mean 0 and variance 1 stay (Klambauer et al. 2017).

    In training each element is dropped with probability `p` (default 0.5); in evaluation the input is returned. Input
    and output have one shape, whatever it is, and one floating type. `inplace` is kept and does nothing, as in PyTorch.
    ValueError for `p` outside [0, 1].

    >>> import tracegrad as tg
    >>> out = tg.nn.AlphaDropout(0.5)(tg.zeros(100))
    >>> len(set(out.tolist()))
    2
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """`AlphaDropout` of whole channels: one draw for each channel of each sample, with probability `p` (default 0.5).

    Input and output [batch, channels, ...], of one floating type; in evaluation the input is returned. `inplace` is
    kept and does nothing, as in PyTorch. ValueError for `p` outside [0, 1], RuntimeError for fewer than two axes.

    >>> import tracegrad as tg
    >>> out = tg.nn.FeatureAlphaDropout(0.5)(tg.zeros(2, 8, 3))
    >>> bool((out.amax(2) == out.amin(2)).all())
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        return F.feature_alpha_dropout(input, self.p, self.training)
