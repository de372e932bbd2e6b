"""Convolution over one to three axes, transposed too.

Floating-point numbers go to the contraction of `ops/spatial/convolution.py`. Integers, and arrays without elements, are
a matrix product: the input's windows are laid out as a matrix of [channels * kernel, batch * places] (im2col).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ...ops import movement
from ...ops import reductions as folds
from ...ops.products import dot
from ...ops.spatial.convolution import conv, conv_input
from ...ops.windows import spread, window
from ...tensors.autocasting import lower_precision
from ...tensors.calling.kernels import OF_OPTIONS
from ...tensors.composite import composite
from ...tensors.layouts.kept_formats import KEEPS
from ...tensors.short_floats import rounded_once
from ...tensors.tensor import Tensor
from ...tracing.user_warning import warn_once
from ..shapes import contiguous
from .sliding import Shape, Sliding, per_axis, plural

if TYPE_CHECKING:
    from .signatures import Convolution, TransposedConvolution

F = TypeVar("F", bound=Callable[..., Any])


def _sliding(kernel: Shape, stride: Any, padding: Any, dilation: Any) -> Sliding:
    axes = len(kernel)
    steps, gaps = per_axis(stride, axes, "stride"), per_axis(dilation, axes, "dilation")
    low, high = _paddings(kernel, steps, gaps, padding)
    for name, numbers, least in (("stride", steps, 1), ("dilation", gaps, 1), ("padding", low, 0)):
        if min(numbers) < least:
            if name == "dilation":
                raise RuntimeError("non-positive dilation is not supported: dilation should be greater than zero")
            raise RuntimeError(f"{'non-positive' if least else 'negative'} {name} is not supported")
    return Sliding(kernel, steps, low, high, gaps)


def _paddings(kernel: Shape, steps: Shape, gaps: Shape, padding: Any) -> tuple[Shape, Shape]:
    """Places before and behind each axis; ``"same"`` puts the odd one behind."""
    if not isinstance(padding, str):
        low = per_axis(padding, len(kernel), "padding")
        return low, low
    if padding == "valid":
        return (0,) * len(kernel), (0,) * len(kernel)
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'. It is 'valid', 'same', or numbers")
    if max(steps) > 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = tuple((k - 1) * gap for k, gap in zip(kernel, gaps, strict=True))
    if any(n % 2 for n in total):
        warn_once(
            "Using padding='same' with even kernel lengths and odd dilation may require a zero-padded copy of the "
            "input be created"
        )
    return tuple(n // 2 for n in total), tuple(n - n // 2 for n in total)


# ----------------------------------------------------------------------------------------------------- arguments


def _require_axes(name: str, input: Tensor, weight: Tensor, axes: int) -> None:
    """RuntimeError for another number of axes."""
    shape = input.ndarray.shape
    if len(shape) not in (axes + 1, axes + 2):
        raise RuntimeError(
            f"Expected {axes + 1}D (unbatched) or {axes + 2}D (batched) input to {name}, but got input of size: "
            f"{list(shape)}"
        )
    if weight.ndarray.ndim < 3:
        raise RuntimeError(f"weight should have at least three dimensions, got {list(weight.shape)}")
    if weight.ndarray.ndim != axes + 2:
        raise RuntimeError(
            f"Expected {weight.ndarray.ndim}-dimensional input for {weight.ndarray.ndim}-dimensional weight"
            f"{list(weight.shape)}, but got {len(shape)}-dimensional input of size {list(shape)} instead: {name} needs "
            f"a weight of {axes + 2} axes (channels, channels, kernel)"
        )


def _batched(input: Tensor, axes: int) -> Tensor:
    """`input` with a batch axis."""
    shape = input.ndarray.shape
    return input if len(shape) == axes + 2 else movement.reshape(input, (1, *shape))


def _require_types(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if bias is not None and bias.dtype is not input.dtype:
        raise RuntimeError(f"Input type ({_word(input)}) and bias type ({_word(bias)}) should be the same")
    if weight.dtype is not input.dtype:
        raise RuntimeError(f"expected scalar type {_word(input, True)} but found {_word(weight, True)}")


def _word(x: Any, title: bool = False) -> str:
    word: str = x.dtype.title if title else x.dtype.c_name
    return word


def _require_weight(weight: Shape, groups: int) -> None:
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if weight[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{list(weight)} instead"
        )
    if weight[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{list(weight)}] instead"
        )


def _require_channels(
    given: str, input: Shape, weight: Shape, channels: int, bias: Tensor | None, results: int
) -> None:
    if input[1] != channels:
        raise RuntimeError(
            f"Given {given}, weight of size {list(weight)}, expected input{list(input)} to have {channels} channels, "
            f"but got {input[1]} channels instead"
        )
    if bias is not None and bias.ndarray.shape != (results,):
        begin = f"Given {given}, weight" if given.startswith("transposed") else "Given weight"
        raise RuntimeError(
            f"{begin} of size {list(weight)}, expected bias to be 1-dimensional with {results} elements, but got bias "
            f"of size {list(bias.shape)} instead"
        )


def _require_fit(space: Shape, sliding: Sliding) -> None:
    padded = [n + a + b for n, a, b in zip(space, sliding.padding, sliding.behind, strict=True)]
    if min(sliding.count(space)) < 1:
        raise RuntimeError(
            f"Calculated padded input size per channel: ({' x '.join(map(str, padded))}). Kernel size: "
            f"({' x '.join(map(str, sliding.span))}). Kernel size can't be greater than actual input size"
        )


def _require_elements(name: str, input: Shape, sliding: Sliding) -> None:
    """RuntimeError for input without places, unless it has no channels or no batch; for a kernel without elements."""
    if 0 in input[2:] and 0 not in input[:2]:
        shape = (*input[:2], *(1,) * (sliding.axes == 1), *input[2:])
        raise RuntimeError(
            f"Only zero batch or zero channel inputs are supported, but got input shape: {list(shape)} in {name}"
        )
    if 0 in sliding.kernel:
        raise RuntimeError(
            f"kernel size should be greater than zero, but got {_of_plane(sliding.kernel)} in the weight of {name}"
        )


def _require_places(input: Shape, places: Shape) -> None:
    """RuntimeError for a result without places, unless there is nothing to put there."""
    if min(places) < (1 if 0 not in input else 0):
        raise RuntimeError(
            f"Given input size per channel: ({_of_plane(input[2:])}). Calculated output size per channel: "
            f"({_of_plane(places)}). Output size is too small"
        )


def _of_plane(sizes: Shape) -> str:
    """Sizes as PyTorch's messages show them: one axis is the second of two."""
    return " x ".join(map(str, sizes if len(sizes) > 1 else (1, *sizes)))


# --------------------------------------------------------------------------------------------------- convolution


def _grouped(x: Tensor, groups: int) -> Tensor:
    """[batch, channels, *space] as [groups, channels of a group, batch, *space]."""
    batch, channels, *space = x.ndarray.shape
    split = movement.reshape(x, (batch, groups, channels // groups, *space))
    return movement.transpose(split, (1, 2, 0, *range(3, 3 + len(space))))


def _ungrouped(x: Tensor, batch: int, channels: int, space: Shape) -> Tensor:
    """[groups, channels of a group, batch, *space] as [batch, channels, *space]."""
    joined = movement.reshape(x, (channels, batch, *space))
    return contiguous(movement.transpose(joined, (1, 0, *range(2, 2 + len(space)))))


def _columns(x: Tensor, sliding: Sliding, windows: Shape) -> Tensor:
    """[groups, channels, batch, *space] as matrices [groups, channels * kernel, batch * windows]."""
    groups, channels, batch, *space = x.ndarray.shape
    rows, places = channels * math.prod(sliding.kernel), batch * math.prod(windows)
    if sliding.is_trivial:
        return movement.reshape(x, (groups, rows, places))
    once = movement.reshape(x, (groups, channels, *(1,) * (sliding.axes + 1), batch, *space))
    repeated = movement.broadcast(once, (groups, channels, 1, *sliding.kernel, batch, *space))
    # The batch is an axis of the space over which a kernel of one place slides.
    seen = window(repeated, (batch, *windows), (1, *sliding.stride), (1, *sliding.dilation), (0, *sliding.padding))
    return movement.reshape(seen, (groups, rows, places))


def _is_contraction(x: Tensor, weight: Tensor) -> bool:
    """True where there is a sum to take of floating-point numbers."""
    return bool(x.dtype.is_floating_point and x.ndarray.size and weight.ndarray.size)


def _with_bias(x: Tensor, bias: Tensor | None, axes: int) -> Tensor:
    return x if bias is None else x + movement.reshape(bias, (bias.ndarray.size, *(1,) * axes))


@rounded_once
def _convolution(
    name: str, x: Tensor, weight: Tensor, bias: Tensor | None, how: Sequence[Any], groups: int, axes: int
) -> Tensor:
    """`how`: stride, padding and dilation as they were given."""
    _require_axes(name, x, weight, axes)
    batched = _batched(x, axes)
    of_weight, of_input = weight.ndarray.shape, batched.ndarray.shape
    groups = operator.index(groups)
    sliding = _sliding(of_weight[2:], *how)
    _require_weight(of_weight, groups)
    _require_channels(f"groups={groups}", of_input, of_weight, of_weight[1] * groups, bias, of_weight[0])
    _require_fit(of_input[2:], sliding)
    _require_elements(name, of_input, sliding)
    _require_types(x, weight, bias)
    if max(sliding.dilation) > 1:
        OF_OPTIONS["dilated convolutions"].require(x)
    batch, windows, channels = of_input[0], sliding.count(of_input[2:]), of_weight[0]
    if _is_contraction(batched, weight):
        out = conv(batched, weight, windows, sliding.stride, sliding.dilation, sliding.padding, groups)
    else:
        columns = _columns(_grouped(batched, groups), sliding, windows)
        factors = movement.reshape(weight, (groups, channels // groups, math.prod(of_weight[1:])))
        out = _ungrouped(dot(factors, columns), batch, channels, windows)
    out = _with_bias(out, bias, axes)
    return out if batched is x else movement.reshape(out, (channels, *windows))


#: Both are kept, whatever is differentiated.
_KEPT = dict.fromkeys(("input", "weight"), ("input", "weight", "bias"))


def _conv(axes: int) -> Convolution:
    name = f"conv{axes}d"

    @lower_precision
    @composite("ConvolutionBackward0", _KEPT, keeps=KEEPS.get(name))
    def convolution(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: int | Sequence[int] = 1,
        padding: str | int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
    ) -> Tensor:
        return _convolution(name, input, weight, bias, (stride, padding, dilation), groups, axes)

    return _documented(
        convolution,
        name,
        f"""Slide a kernel over the last {plural(axes)} (cross-correlation: the kernel is not mirrored).

    `input` [batch, channels, *space] (or without batch) and `weight` [results, channels / groups, *kernel], of one
    type, give [batch, results, *places]; `bias` [results] is added. `padding` is zeros on both sides, or "valid"
    (none), or "same" (as many places as before). Along an axis of n there are ``(n + 2 * padding - dilation *
    (kernel - 1) - 1) // stride + 1`` places. RuntimeError where sizes or types do not fit together.

    >>> import tracegrad as tg
    >>> x, weight = tg.ones(1, 1{", 4" * axes}), tg.ones(2, 1{", 3" * axes})
    >>> tg.nn.functional.{name}(x, weight).shape
    tracegrad.Size([1, 2{", 2" * axes}])
    """,
    )


def _documented(function: F, name: str, doc: str) -> F:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)


# ------------------------------------------------------------------------------------------ transposed convolution


def _require_output_padding(extra: Shape, sliding: Sliding) -> None:
    if min(extra) < 0:
        raise RuntimeError("negative output_padding is not supported")
    if any(n >= max(step, gap) for n, step, gap in zip(extra, sliding.stride, sliding.dilation, strict=True)):
        raise RuntimeError(
            "output padding must be smaller than either stride or dilation, but got output_padding: "
            f"{list(extra)} stride: {list(sliding.stride)} dilation: {list(sliding.dilation)}"
        )


def _spread_out(columns: Tensor, sliding: Sliding, channels: int, batch: int, space: Shape, places: Shape) -> Tensor:
    """[groups, channels * kernel, batch * space], added up at the places: [groups, channels, batch, *places]."""
    groups = columns.ndarray.shape[0]
    split = movement.reshape(columns, (groups, channels, 1, *sliding.kernel, batch, *space))
    apart = spread(split, (batch, *places), (1, *sliding.stride), (1, *sliding.dilation), (0, *sliding.padding))
    return folds.sum(apart, tuple(range(2, 3 + sliding.axes)))


@rounded_once
def _transposed(
    name: str, x: Tensor, weight: Tensor, bias: Tensor | None, sliding: Sliding, extra: Shape, groups: int
) -> Tensor:
    batched = _batched(x, sliding.axes)
    of_weight, of_input = weight.ndarray.shape, batched.ndarray.shape
    _require_weight(of_weight, groups)
    channels = of_weight[1] * groups
    _require_channels(f"transposed={sliding.axes and 1}", of_input, of_weight, of_weight[0], bias, channels)
    _require_output_padding(extra, sliding)
    _require_elements(name, of_input, sliding)
    _require_types(x, weight, bias)
    batch, space = of_input[0], of_input[2:]
    along = zip(space, sliding.stride, sliding.padding, sliding.span, extra, strict=True)
    places = tuple((n - 1) * step - 2 * low + span + more for n, step, low, span, more in along)
    _require_places(of_input, places)
    if _is_contraction(batched, weight) and math.prod(places):
        out = conv_input(batched, weight, places, sliding.stride, sliding.dilation, sliding.padding, groups)
    else:
        rows = movement.reshape(_grouped(batched, groups), (groups, of_weight[0] // groups, batch * math.prod(space)))
        factors = movement.reshape(weight, (groups, of_weight[0] // groups, math.prod(of_weight[1:])))
        columns = dot(movement.transpose(factors, (0, 2, 1)), rows)
        out = _ungrouped(_spread_out(columns, sliding, of_weight[1], batch, space, places), batch, channels, places)
    out = _with_bias(out, bias, sliding.axes)
    return out if batched is x else movement.reshape(out, (channels, *places))


def _conv_transpose(axes: int) -> TransposedConvolution:
    name = f"conv_transpose{axes}d"

    @lower_precision
    @composite("ConvolutionBackward0", _KEPT, keeps=KEEPS.get(name))
    def conv_transpose(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: int | Sequence[int] = 1,
        padding: int | Sequence[int] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        dilation: int | Sequence[int] = 1,
    ) -> Tensor:
        _require_axes(name, input, weight, axes)
        sliding = _sliding(weight.ndarray.shape[2:], stride, per_axis(padding, axes, "padding"), dilation)
        extra = per_axis(output_padding, axes, "output_padding")
        return _transposed(name, input, weight, bias, sliding, extra, operator.index(groups))

    return _documented(
        conv_transpose,
        name,
        f"""The transpose of ``conv{axes}d``, its derivative by the input: each element spreads a kernel.

    `input` [batch, channels, *space] (or without batch) and `weight` [channels, results / groups, *kernel], of one
    type, give [batch, results, *places]; `bias` [results] is added. `padding` cuts places off both sides,
    `output_padding` adds some behind: n become ``(n - 1) * stride - 2 * padding + dilation * (kernel - 1) +
    output_padding + 1``. RuntimeError where sizes or types do not fit together.

    >>> import tracegrad as tg
    >>> x, weight = tg.ones(1, 2{", 2" * axes}), tg.ones(2, 1{", 3" * axes})
    >>> tg.nn.functional.{name}(x, weight).shape
    tracegrad.Size([1, 1{", 4" * axes}])
    """,
    )


conv_transpose1d, conv_transpose2d, conv_transpose3d = _conv_transpose(1), _conv_transpose(2), _conv_transpose(3)
