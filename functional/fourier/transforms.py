"""``tracegrad.fft``'s transforms: PyTorch's arguments for the three transforms of `primitives`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...ops.complex_numbers.parts import conj
from ...ops.types import FLOATING, complex_of, get_default_dtype
from ...tensors.arguments import axis_of
from .primitives import Axes, complex_transform, half_transform, padded, transform_from_half

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Sizes
    from ...tensors.tensor import Tensor


def _scale(norm: str | None, forward: bool) -> str:
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}". It is "backward", "forward" or "ortho".')
    if norm == "ortho":
        return "root"
    return "none" if (norm == "forward") != forward else "count"


def _as_real(name: str, x: Tensor, words: str = "a real input tensor") -> Tensor:
    """`x` in a type with a transform. RuntimeError for complex numbers."""
    if x.dtype.is_complex:
        raise RuntimeError(f"{name} expects {words}, but got {x.dtype.title}. Take its .real, or use fft.")
    return _floating(x)


def _floating(x: Tensor) -> Tensor:
    if x.dtype.is_floating_point and x.dtype.itemsize < 4:
        raise RuntimeError(f"Unsupported dtype {x.dtype.title}. Convert it first, e.g. with .float().")
    return x if x.dtype.category >= FLOATING else x.to(get_default_dtype())


def _as_complex(x: Tensor) -> Tensor:
    x = _floating(x)
    return x if x.dtype.is_complex else x.to(complex_of(x.dtype))


def _axis(x: Tensor, dim: int) -> int:
    if not x.ndarray.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return axis_of(dim, x.ndarray.ndim)


def _require_points(n: int) -> None:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def _one_axis(x: Tensor, n: int | None, dim: int) -> tuple[Any, int]:
    """`x` with `n` elements along the axis `dim`, and this axis."""
    axis = _axis(x, dim)
    n = x.ndarray.shape[axis] if n is None else n
    _require_points(n)
    return padded(x, axis, n), axis


def _half_of(x: Tensor, n: int | None, dim: int) -> tuple[Any, int, int]:
    """The half spectrum of `n` numbers along `dim`, the axis, and n."""
    axis = _axis(x, dim)
    n = 2 * (x.ndarray.shape[axis] - 1) if n is None else n
    _require_points(n)
    return padded(x, axis, n // 2 + 1), axis, n


def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along `dim`: ``out[k] = sum(input[j] * exp(-2 pi i j k / n))``, complex.

    The input is cut or filled up with zeros to `n` elements. `norm` "backward" (the default) scales the inverse by
    1/n, "forward" this one, "ortho" both by 1/sqrt(n). float32 and integers give complex64, float64 complex128;
    RuntimeError for float16.

    >>> import tracegrad as tg
    >>> tg.fft.fft(tg.tensor([1., 2., 3., 4.]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
    """
    x, axis = _one_axis(_as_complex(input), n, dim)
    return complex_transform(x, (axis,), _scale(norm, True), True)


def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`, with its arguments.

    >>> import tracegrad as tg
    >>> tg.fft.ifft(tg.tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])).real
    tensor([1., 2., 3., 4.])
    """
    x, axis = _one_axis(_as_complex(input), n, dim)
    return complex_transform(x, (axis,), _scale(norm, False), False)


def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The first half, ``n // 2 + 1`` frequencies, of `fft` of real numbers; the rest are their conjugates.

    >>> import tracegrad as tg
    >>> tg.fft.rfft(tg.tensor([1., 2., 3., 4.]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """
    x, axis = _one_axis(_as_real("rfft", input), n, dim)
    return half_transform(x, (axis,), _scale(norm, True))


def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: `n` real numbers, ``2 * (m - 1)`` of m frequencies unless given.

    Imaginary parts of the first frequency, and of the last if n is even, are ignored.

    >>> import tracegrad as tg
    >>> tg.fft.irfft(tg.tensor([10.+0.j, -2.+2.j, -2.+0.j]))
    tensor([1., 2., 3., 4.])
    """
    x, axis, n = _half_of(_as_complex(input), n, dim)
    return transform_from_half(x, (axis,), _scale(norm, False), n)


def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform of a signal whose second half mirrors the first, conjugated: `n` real numbers.

    >>> import tracegrad as tg
    >>> tg.fft.hfft(tg.tensor([1., 2., 1.]))
    tensor([ 6.,  0., -2.,  0.])
    """
    x, axis, n = _half_of(_as_complex(input), n, dim)
    return transform_from_half(conj(x), (axis,), _scale(norm, True), n)


def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`: the first half of the signal.

    >>> import tracegrad as tg
    >>> tg.fft.ihfft(tg.tensor([6., 0., -2., 0.])).real
    tensor([1., 2., 1.])
    """
    x, axis = _one_axis(_as_real("ihfft", input), n, dim)
    return conj(half_transform(x, (axis,), _scale(norm, False)))


# ---------------------------------------------------------------------------------------------------- several axes


def _sizes_and_axes(x: Tensor, s: Sequence[int] | int | None, dim: Any) -> tuple[list[int], Axes]:
    ndim = x.ndarray.ndim
    s = [s] if isinstance(s, int) else s
    if dim is not None:
        dims = [dim] if isinstance(dim, int) else list(dim)
        axes = tuple(_axis(x, d) for d in dims)
        if len(set(axes)) != len(axes):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(axes):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    elif s is not None and len(s) > ndim:
        raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
    else:
        axes = tuple(range(ndim - len(s), ndim)) if s is not None else tuple(range(ndim))
    shape = x.ndarray.shape
    sizes = [shape[axis] for axis in axes] if s is None else list(s)
    sizes = [shape[axis] if n == -1 else n for n, axis in zip(sizes, axes, strict=True)]
    for n in sizes:
        _require_points(n)
    return sizes, axes


def _resized(x: Tensor, sizes: Sequence[int], axes: Axes) -> Tensor:
    for n, axis in zip(sizes, axes, strict=True):
        x = padded(x, axis, n)
    return x


def _require_axes(name: str, axes: Axes) -> None:
    if not axes:
        raise RuntimeError(f"{name} must transform at least one axis")


def _half_sizes(name: str, x: Tensor, s: Any, dim: Any) -> tuple[Any, Axes, int]:
    """The half spectrum cut or filled up to the sizes `s` of the signal, the axes, and the last size."""
    sizes, axes = _sizes_and_axes(x, s, dim)
    _require_axes(name, axes)
    given = None if s is None else (s if isinstance(s, int) else s[-1])
    last = 2 * (x.ndarray.shape[axes[-1]] - 1) if given in (None, -1) else sizes[-1]
    _require_points(last)
    return _resized(x, [*sizes[:-1], last // 2 + 1], axes), axes, last


def fftn(input: Tensor, s: Sizes | None = None, dim: Sizes | None = None, norm: str | None = None) -> Tensor:
    """`fft` over several axes: `dim`, or the last ``len(s)``, or all. `s` are the numbers of elements (-1: as it is).

    The result is complex. RuntimeError for an axis that is named twice, for another number of sizes than axes, and for
    float16.

    >>> import tracegrad as tg
    >>> tg.fft.fftn(tg.tensor([[1., 2.], [3., 4.]])).real
    tensor([[10., -2.],
            [-4.,  0.]])
    """
    x = _as_complex(input)
    sizes, axes = _sizes_and_axes(x, s, dim)
    return complex_transform(_resized(x, sizes, axes), axes, _scale(norm, True), True)


def ifftn(input: Tensor, s: Sizes | None = None, dim: Sizes | None = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`, with its arguments and errors; complex.

    >>> import tracegrad as tg
    >>> tg.fft.ifftn(tg.tensor([[10., -2.], [-4., 0.]])).real
    tensor([[1., 2.],
            [3., 4.]])
    """
    x = _as_complex(input)
    sizes, axes = _sizes_and_axes(x, s, dim)
    return complex_transform(_resized(x, sizes, axes), axes, _scale(norm, False), False)


def rfftn(input: Tensor, s: Sizes | None = None, dim: Sizes | None = None, norm: str | None = None) -> Tensor:
    """`fftn` of real numbers, with the first half of the last axis only: ``n // 2 + 1`` frequencies of n elements.

    Arguments are those of `fftn`. RuntimeError without an axis, and for complex numbers.

    >>> import tracegrad as tg
    >>> tg.fft.rfftn(tg.ones(2, 4)).shape
    tracegrad.Size([2, 3])
    """
    x = _as_real("rfftn", input, "a real-valued input tensor")
    sizes, axes = _sizes_and_axes(x, s, dim)
    _require_axes("rfftn", axes)
    return half_transform(_resized(x, sizes, axes), axes, _scale(norm, True))


def irfftn(input: Tensor, s: Sizes | None = None, dim: Sizes | None = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`: real numbers. The last size is ``2 * (m - 1)`` of m frequencies unless `s` says it.

    Arguments are those of `fftn`. RuntimeError without an axis.

    >>> import tracegrad as tg
    >>> tg.fft.irfftn(tg.fft.rfftn(tg.tensor([[1., 2.], [3., 4.]])))
    tensor([[1., 2.],
            [3., 4.]])
    """
    x, axes, last = _half_sizes("irfftn", _as_complex(input), s, dim)
    return transform_from_half(x, axes, _scale(norm, False), last)


def hfftn(input: Tensor, s: Sizes | None = None, dim: Sizes | None = None, norm: str | None = None) -> Tensor:
    """`hfft` over the last of several axes, and `fft` over the others: real numbers.

    Arguments are those of `fftn`; the last size is ``2 * (m - 1)`` of m elements unless `s` says it.

    >>> import tracegrad as tg
    >>> tg.fft.hfftn(tg.ones(2, 2))
    tensor([[4., 0.],
            [0., 0.]])
    """
    x, axes, last = _half_sizes("hfftn", _as_complex(input), s, dim)
    scale = _scale(norm, True)
    x = complex_transform(x, axes[:-1], scale, True) if len(axes) > 1 else x
    return transform_from_half(conj(x), axes[-1:], scale, last)


def ihfftn(input: Tensor, s: Sizes | None = None, dim: Sizes | None = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`: the first half of the last axis, complex. RuntimeError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.fft.ihfftn(tg.tensor([[4., 0.], [0., 0.]])).real
    tensor([[1., 1.],
            [1., 1.]])
    """
    if input.dtype.is_complex:
        raise RuntimeError(f"Only supports floating-point dtypes, but found: {input.dtype.title}. Take its .real.")
    x = _floating(input)
    sizes, axes = _sizes_and_axes(x, s, dim)
    _require_axes("ihfftn", axes)
    scale = _scale(norm, False)
    half = conj(half_transform(_resized(x, sizes, axes), axes[-1:], scale))
    return complex_transform(half, axes[:-1], scale, False) if len(axes) > 1 else half


def fft2(input: Tensor, s: Sizes | None = None, dim: Sizes | None = (-2, -1), norm: str | None = None) -> Tensor:
    """`fftn` over the last two axes, unless `dim` says others; its arguments, types and errors.

    >>> import tracegrad as tg
    >>> tg.fft.fft2(tg.ones(2, 2)).real
    tensor([[4., 0.],
            [0., 0.]])
    """
    return fftn(input, s, dim, norm)


def ifft2(input: Tensor, s: Sizes | None = None, dim: Sizes | None = (-2, -1), norm: str | None = None) -> Tensor:
    """`ifftn` over the last two axes, unless `dim` says others; its arguments, types and errors.

    >>> import tracegrad as tg
    >>> tg.fft.ifft2(tg.ones(2, 2)).real
    tensor([[1., 0.],
            [0., 0.]])
    """
    return ifftn(input, s, dim, norm)


def rfft2(input: Tensor, s: Sizes | None = None, dim: Sizes | None = (-2, -1), norm: str | None = None) -> Tensor:
    """`rfftn` over the last two axes, unless `dim` says others; its arguments, types and errors.

    >>> import tracegrad as tg
    >>> tg.fft.rfft2(tg.ones(2, 2, 4)).shape
    tracegrad.Size([2, 2, 3])
    """
    return rfftn(input, s, dim, norm)


def irfft2(input: Tensor, s: Sizes | None = None, dim: Sizes | None = (-2, -1), norm: str | None = None) -> Tensor:
    """`irfftn` over the last two axes, unless `dim` says others; its arguments, types and errors.

    >>> import tracegrad as tg
    >>> tg.fft.irfft2(tg.ones(2, 2, 3)).shape
    tracegrad.Size([2, 2, 4])
    """
    return irfftn(input, s, dim, norm)


def hfft2(input: Tensor, s: Sizes | None = None, dim: Sizes | None = (-2, -1), norm: str | None = None) -> Tensor:
    """`hfftn` over the last two axes, unless `dim` says others; its arguments, types and errors.

    >>> import tracegrad as tg
    >>> tg.fft.hfft2(tg.ones(2, 2))
    tensor([[4., 0.],
            [0., 0.]])
    """
    return hfftn(input, s, dim, norm)


def ihfft2(input: Tensor, s: Sizes | None = None, dim: Sizes | None = (-2, -1), norm: str | None = None) -> Tensor:
    """`ihfftn` over the last two axes, unless `dim` says others; its arguments, types and errors.

    >>> import tracegrad as tg
    >>> tg.fft.ihfft2(tg.ones(2, 2)).real
    tensor([[1., 0.],
            [0., 0.]])
    """
    return ihfftn(input, s, dim, norm)
