"""The Fourier transforms of overlapping pieces of a signal, and the signal back from them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ...ops.array import eager
from ...ops.complex_numbers.parts import view_as_real
from ...ops.types import real_of
from ...tensors.autocasting import full_precision
from ...tensors.creation import ones
from ...tracing.user_warning import warn_once, warn_user
from .. import joining
from ..spatial.padding import pad
from ..windows import unfold
from . import transforms

if TYPE_CHECKING:
    from ...ops.types import DType
    from ...tensors.tensor import Tensor


def _require(holds: bool, name: str, message: str) -> None:
    if not holds:
        raise RuntimeError(f"{name}(): {message}")


def _window(name: str, window: Tensor | None, n_fft: int, win_length: int, dtype: DType) -> Tensor:
    """The weights of the `n_fft` elements of a piece: the window in its middle."""
    if window is not None and tuple(window.shape) != (win_length,):
        raise RuntimeError(
            f"{name}(): expected a 1D window tensor of size equal to win_length={win_length}, but got window with size "
            f"{list(window.shape)}"
        )
    window = ones(win_length, dtype=real_of(dtype)) if window is None else window
    before = (n_fft - win_length) // 2
    return pad(window, (before, n_fft - win_length - before)) if win_length < n_fft else window


_NO_WINDOW = "A window was not provided. A rectangular window will be applied"
_ONES = (
    "To suppress this warning and use a rectangular window, explicitly set `window=torch.ones(n_fft, device=<device>)`."
)


@full_precision
def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """The transforms of pieces of `n_fft` elements of a signal, `hop_length` (n_fft // 4) apart, weighted by `window`.

    Shapes: ``input [t]`` or ``[batch, t]``, the result ``[..., frequencies, pieces]``; complex, or with a last axis for
    the two parts if not `return_complex`, which real signals need. With `center` the signal is padded by n_fft // 2 on
    both sides in `pad_mode` (see `nn.functional.pad`), so that pieces lie around their points. The window of
    `win_length` (n_fft) elements, ones unless given, stands in the middle of a piece. `onesided` (of real signals)
    is the first half of the frequencies; `normalized` divides by sqrt(n_fft). Without `center`, `align_to_window` lets
    the windows, and not the pieces, begin with the signal: zeros stand around it. RuntimeError for sizes that do not
    fit together, and for `align_to_window` with `center`.

    >>> import tracegrad as tg
    >>> tg.stft(tg.ones(8), 4, window=tg.hann_window(4), return_complex=True).shape
    tracegrad.Size([3, 9])
    """
    is_complex = input.dtype.is_complex or (window is not None and window.dtype.is_complex)
    if return_complex is None and not is_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that "
            "return_complex=True in a future PyTorch release."
        )
    if window is None:
        warn_once(f"{_NO_WINDOW}, which is known to cause spectral leakage. Other windows such as torch.hann_window or "
                  f"torch.hamming_window are recommended to reduce spectral leakage. {_ONES}")  # fmt: skip
    if return_complex is False and not is_complex:
        warn_once(
            "stft with return_complex=False is deprecated. In a future pytorch release, stft will return complex "
            "tensors for all inputs, and return_complex=False will raise an error."
        )
    _require(input.ndarray.ndim in (1, 2), "stft", "expected a 1D or 2D tensor")
    _require(input.ndarray.dtype.kind in "fc", "stft", "expected a tensor of floating point or complex values")
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    x = input if input.ndarray.ndim == 2 else input.unsqueeze(0)
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    if center:
        half = n_fft // 2
        x = pad(x.unsqueeze(1), (half, half), pad_mode).squeeze(1)
    extent = x.ndarray.shape[1]
    _require(0 < n_fft <= extent, "stft", f"expected 0 < n_fft <= {extent}, but got n_fft={n_fft}")
    _require(hop_length > 0, "stft", f"expected hop_length > 0, but got hop_length={hop_length}")
    _require(0 < win_length <= n_fft, "stft", f"expected 0 < win_length <= n_fft, but got win_length={win_length}")
    onesided = not is_complex if onesided is None else onesided
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if align_to_window:
        x = _around_windows(x, n_fft, hop_length, win_length)
    pieces = unfold(x, 1, n_fft, hop_length)
    if window is not None or win_length < n_fft:
        pieces = pieces * _window("stft", window, n_fft, win_length, input.dtype)
    transform = transforms.rfft if onesided else transforms.fft
    out = transform(pieces, norm="ortho" if normalized else None).transpose(1, 2)
    out = out if input.ndarray.ndim == 2 else out.squeeze(0)
    return out if return_complex or (return_complex is None and is_complex) else view_as_real(out)


def _around_windows(x: Tensor, n_fft: int, hop: int, win_length: int) -> Tensor:
    """Signals with the zeros on both sides that a piece has around its window."""
    extent, around = x.ndarray.shape[1], (n_fft - win_length) // 2
    wide = pad(x, (around, around))
    if (extent - win_length) // hop > (extent + 2 * around - n_fft) // hop:
        raise RuntimeError(
            f"stft(): the last window of {win_length} elements is not in the middle of a piece of n_fft={n_fft} "
            "elements within the signal: take an n_fft that is longer than the window by an even number"
        )
    return wide


def _overlapped(pieces: Tensor, hop: int) -> Tensor:
    """The sum of pieces ``[batch, count, n]`` that lie `hop` apart, ``[batch, n + hop * (count - 1)]``."""
    batch, count, n = pieces.ndarray.shape
    places = (np.arange(count)[:, None] * hop + np.arange(n)).reshape(-1)
    whole = pieces.detach().new_zeros((batch, n + hop * (count - 1)))
    return whole.index_add(1, eager().literal(places), pieces.reshape(batch, count * n))


def _require_spectrum(input: Tensor, n_fft: int, hop: int, win_length: int, onesided: bool, returns: bool) -> None:
    if not input.dtype.is_complex:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with return_complex=True."
        )
    _require(input.ndarray.size > 0, "istft", "input tensor cannot be empty")
    _require(input.ndarray.ndim in (2, 3), "istft", "expected a tensor with 2 or 3 dimensions")
    rows = input.ndarray.shape[-2]
    wanted, words = (
        (n_fft // 2 + 1, "n_fft / 2 + 1 when onesided=True") if onesided else (n_fft, "n_fft when onesided=False")
    )
    _require(
        rows == wanted,
        "istft",
        f"expected the frequency dimension (3rd to the last) of the input tensor to match {words}, but got {rows}",
    )
    _require(0 < hop <= win_length, "istft", "expected 0 < hop_length <= win_length")
    _require(0 < win_length <= n_fft, "istft", "expected 0 < win_length <= n_fft")
    _require(not (onesided and returns), "istft", "cannot have onesided output if window or input is complex")


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """The signal whose `stft` with these arguments is ``input [..., frequencies, pieces]``; `length` elements of it.

    Where pieces overlap, it is their least-squares estimate (D. Griffin, J. Lim, 1984). RuntimeError where the windows
    leave a point out.

    >>> import tracegrad as tg
    >>> x, w = tg.arange(8.), tg.hann_window(4)
    >>> tg.istft(tg.stft(x, 4, window=w, return_complex=True), 4, window=w).round(decimals=4)
    tensor([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    if window is None:
        warn_once(f"{_NO_WINDOW}. Please provide the same window used by stft to make the inversion lossless. {_ONES}")
    hop = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if onesided is None:
        onesided = input.ndarray.shape[-2] != n_fft
    _require_spectrum(input, n_fft, hop, win_length, onesided, return_complex)
    weights = _window("istft", window, n_fft, win_length, input.dtype)
    x = (input if input.ndarray.ndim == 3 else input.unsqueeze(0)).transpose(1, 2)
    norm = "ortho" if normalized else None
    if return_complex:
        pieces = transforms.ifft(x, norm=norm)
    else:
        pieces = transforms.irfft(x[..., : n_fft // 2 + 1], n_fft, norm=norm)
    count = x.ndarray.shape[1]
    signal = _overlapped(pieces * weights, hop)
    squares = (weights * weights).reshape(1, 1, n_fft).expand(1, count, n_fft)
    out = _between(signal, _overlapped(squares, hop), n_fft, center, length)
    return out if input.ndarray.ndim == 3 else out.squeeze(0)


def _between(signal: Tensor, envelope: Tensor, n_fft: int, center: bool, length: int | None) -> Tensor:
    """The part of the signal that is asked for, divided by the sums of squared weights."""
    extent = signal.ndarray.shape[1]
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else extent - n_fft // 2 if center else extent
    stop = min(end, extent)
    signal, envelope = (joining.narrow(x, 1, start, stop - start) for x in (signal, envelope))
    least = np.abs(eager().read(envelope.detach(), "istft()")).min(initial=math.inf)
    _require(bool(least > 1e-11), "istft", f"window overlap add min: 1, the least sum of squared weights is {least}")
    out = signal / envelope
    if end > extent:
        warn_user(
            "The length of signal is shorter than the length parameter. Result is being padded with zeros in the tail. "
            "Please check your center and hop_length settings.",
        )
        out = pad(out, (0, end - extent))
    return out
