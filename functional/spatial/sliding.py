"""How kernels slide over the axes of a space: what convolution, pooling and unfolding have in common."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...ops import movement
from ...ops.windows import window

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


Shape = tuple[int, ...]
Numbers = int | Sequence[int]
#: How many windows there are to be along each axis; None leaves an axis as it is.
Targets = int | Sequence[int | None]


def plural(axes: int) -> str:
    """ "axis" or "2 axes", for docstrings."""
    return "axis" if axes == 1 else f"{axes} axes"


def block(axes: int) -> str:
    """The text of an example's image of two places along each axis: 0, 1, ..."""
    return f"tg.arange({2**axes}.0).reshape(1, 1{', 2' * axes})"


@dataclass(frozen=True)
class Sliding:
    """How a kernel slides over the axes of a space: one number for each axis."""

    kernel: Shape
    stride: Shape
    padding: Shape  # before each axis
    behind: Shape
    dilation: Shape

    @property
    def axes(self) -> int:
        return len(self.kernel)

    @property
    def span(self) -> Shape:
        """How many places the kernel reaches over."""
        return tuple((k - 1) * gap + 1 for k, gap in zip(self.kernel, self.dilation, strict=True))

    def count(self, space: Shape) -> Shape:
        """How many windows there are; at most 0 where the kernel does not fit."""
        along = zip(space, self.padding, self.behind, self.span, self.stride, strict=True)
        return tuple((n + low + high - span) // step + 1 for n, low, high, span, step in along)

    @property
    def is_trivial(self) -> bool:
        """True for kernels of one place that take each place once."""
        return max((*self.kernel, *self.stride)) == 1 and not any((*self.padding, *self.behind))


def per_axis(value: Any, axes: int, name: str) -> Shape:
    """A number for each axis, from one number or as many as there are axes.

    RuntimeError for another count, TypeError for what is no int.
    """
    given = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if given and isinstance(given[0], bool):  # PyTorch looks at the first one
        raise TypeError(f"argument '{name}' must be tuple of ints, not {value!r}")
    if len(given) not in (1, axes):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {axes} values to match the convolution "
            f"dimensions, but got {name}={list(given)}"
        )
    try:
        numbers = tuple(operator.index(n) for n in given)
    except TypeError:
        raise TypeError(f"argument '{name}' must be int or a tuple of ints, not {value!r}") from None
    return numbers * axes if len(numbers) == 1 else numbers


# -------------------------------------------------------------------------------------------------------- pooling


def pool_sizes(name: str, axes: int, kernel: Any, stride: Any, padding: Any, dilation: Any = 1) -> Sliding:
    numbers = {"kernel_size": kernel, "stride": kernel if _is_absent(stride) else stride}
    of_kernel, steps, low, gaps = (
        per_axis(value, axes, word) for word, value in {**numbers, "padding": padding, "dilation": dilation}.items()
    )
    sliding = Sliding(of_kernel, steps, low, low, gaps)
    if name == "max_pool1d":
        _require_row(name, sliding)
    if 0 in sliding.stride:
        raise RuntimeError("stride should not be zero")
    for what, along in (("kernel size", of_kernel), ("stride", steps), ("dilation", gaps)):
        if min(along) <= 0:
            raise RuntimeError(f"{what} should be greater than zero, but got {list(along)}")
    if min(low) < 0:
        raise RuntimeError(f"pad must be non-negative, but got pad: {min(low)}")
    for before, span in zip(sliding.padding, sliding.span, strict=True):
        if 2 * before > span:
            raise RuntimeError(
                "pad should be at most half of effective kernel size, but got "
                f"pad={max(sliding.padding)}, kernel_size={max(sliding.kernel)} and dilation={max(sliding.dilation)}"
            )
    if any(2 * before > k for before, k in zip(low, of_kernel, strict=True)):  # a dilated one reaches further
        raise RuntimeError(
            f"pad should be smaller than or equal to half of kernel size, but got pad={list(low)}, k={list(of_kernel)}"
        )
    return sliding


def require_room(space: Shape, sliding: Sliding) -> None:
    """RuntimeError where the kernel does not fit into the input without padding, as PyTorch's means over three axes."""
    if any(extent < k for extent, k in zip(space, sliding.kernel, strict=True)):
        (t, h, w), (kt, kh, kw) = space, sliding.kernel
        raise RuntimeError(f"input image (T: {t} H: {h} W: {w}) smaller than kernel size (kT: {kt} kH: {kh} kW: {kw})")


def _require_row(name: str, sliding: Sliding) -> None:
    """What PyTorch says of windows over one axis."""
    (kernel,), (stride,), (padding,), (dilation,) = sliding.kernel, sliding.stride, sliding.padding, sliding.dilation
    for what, number in (("kernel_size", kernel), ("stride", stride), ("dilation", dilation)):
        if number <= 0:
            raise RuntimeError(f"{name}() {what} must be greater than zero, but got {number}")
    if padding < 0:
        raise RuntimeError(f"{name}() padding must be non-negative, but got {padding}: pad must be non-negative")
    if padding > kernel // 2:
        raise RuntimeError(
            f"{name}() padding should be at most half of kernel size, but got padding={padding} and "
            f"kernel_size={kernel}: pad should be at most half of effective kernel size"
        )


def _is_absent(stride: Any) -> bool:
    return stride is None or (isinstance(stride, (tuple, list)) and not stride)


def space_of(name: str, input: Tensor, axes: int) -> Shape:
    shape: Shape = input.ndarray.shape
    if axes == 3 and len(shape) not in (4, 5):
        raise RuntimeError(f"non-empty 4D or 5D (batch mode) tensor expected for input, but got {list(shape)}")
    if len(shape) not in (axes + 1, axes + 2) or 0 in shape[-axes - 1 :]:
        raise RuntimeError(
            f"{name}: Expected {axes + 1}D or {axes + 2}D (batch mode) tensor with optional 0 dim batch size for "
            f"input, but got:{list(shape)}"
        )
    return shape[-axes:]


def counts_of(name: str, space: Shape, sliding: Sliding, channels: int, ceil_mode: bool) -> Shape:
    """How many windows there are along each axis; with `ceil_mode` a last one that begins inside counts too."""
    counts = sliding.count(space)
    if ceil_mode:
        along = zip(space, counts, sliding.stride, sliding.padding, sliding.span, strict=True)
        counts = tuple(
            n + ((extent + 2 * low - span) % step != 0 and n * step < extent + low)
            for extent, n, step, low, span in along
        )
    if min(counts) < 1 and name == "max_pool1d":
        raise RuntimeError(f"max_pool1d() Invalid computed output size: {counts[0]}")
    if min(counts) < 1:
        given, found = ("x".join(map(str, (channels, *numbers))) for numbers in (space, map(_not_negative, counts)))
        raise RuntimeError(f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small")
    return counts


def _not_negative(n: int) -> int:
    return max(n, 0)


def windows_of(x: Tensor, sliding: Sliding, counts: Shape, value: float | int = 0) -> Tensor:
    """[*batch, *space] as its windows [*batch, *kernel, *counts], `value` outside."""
    axes = sliding.axes
    shape = x.ndarray.shape
    batch, space = shape[: len(shape) - axes], shape[len(shape) - axes :]
    once = movement.reshape(x, (*batch, *(1,) * axes, *space))
    repeated = movement.broadcast(once, (*batch, *sliding.kernel, *space))
    return window(repeated, counts, sliding.stride, sliding.dilation, sliding.padding, value)


def _whole(n: Any) -> int:
    """An integer of whatever kind. TypeError for anything else."""
    try:
        return operator.index(n)
    except TypeError:
        raise TypeError(f"argument 'output_size' must be tuple of ints, but found an element of {n!r}") from None


def targets_of(name: str, output_size: Any, space: Shape) -> Shape:
    if isinstance(output_size, bool):
        raise TypeError(f"{name}(): argument 'output_size' must be tuple of ints, not bool")
    given = output_size if len(space) > 1 or isinstance(output_size, (tuple, list)) else _whole(output_size)
    given = tuple(given) if isinstance(given, Iterable) else (given,) * len(space)
    given = tuple(n if n is None and len(space) > 1 else _whole(n) for n in given)
    if len(given) != len(space):
        wanted = "'output_size' should contain one int" if len(space) == 1 else f"output_size must be {len(space)}"
        raise RuntimeError(f"{name}: {'internal error: ' * ('max' in name)}{wanted}, got {list(given)}")
    targets = tuple(extent if n is None else n for n, extent in zip(given, space, strict=True))
    if min(targets) < 0:
        raise RuntimeError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {list(targets)}: Trying "
            f"to create tensor with negative dimension {min(targets)}"
        )
    return targets


def adaptive_space(name: str, input: Tensor, axes: int, output_size: Any) -> Shape:
    shape: Shape = input.ndarray.shape
    if axes > 1 and not isinstance(output_size, int) and len(shape) <= len(output_size):
        raise ValueError(f"Input dimension should be at least {len(output_size) + 1}, got {list(shape)}")
    if len(shape) not in (axes + 1, axes + 2):
        if axes == 1:
            raise RuntimeError(
                f"Expected 2 to 3 dimensions, but got {len(shape)}-dimensional tensor for argument #1 'self' (while "
                f"checking arguments for {name})"
            )
        colon = ":" if "max" in name else ""
        raise RuntimeError(f"{name}(): Expected {axes + 1}D or {axes + 2}D tensor, but got{colon} {list(shape)}")
    if 0 in shape[-axes:]:
        raise RuntimeError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, got {list(shape)}"
        )
    return shape[-axes:]


def _bounds(extent: int, windows: int) -> list[tuple[int, int]]:
    """Windows that cover `extent` places about evenly; neighbours may share a place."""
    return [(o * extent // windows, -(-(o + 1) * extent // windows)) for o in range(windows)]


def uniform(space: Shape, targets: Shape) -> Sliding | None:
    """The windows as one kernel that slides, where each axis is a multiple of its windows."""
    if any(n == 0 or extent % n for extent, n in zip(space, targets, strict=True)):
        return None
    kernel = tuple(extent // n for extent, n in zip(space, targets, strict=True))
    nothing = (0,) * len(space)
    return Sliding(kernel, kernel, nothing, nothing, (1,) * len(space))
