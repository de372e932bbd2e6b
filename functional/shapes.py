"""The same elements under another shape: views wherever PyTorch makes one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ops import movement
from ..ops.identity import copy, lay
from ..ops.layouts.orders import kept_order
from ..tensors.arguments import Shape, axes_of, axis_of, numbers_called, sizes_of
from ..tensors.composite import composite, relabel, view_called
from ..tensors.layouts.formats import contiguous_format, in_format, is_in_format, preserve_format
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_once
from .checks.shapes import check_expanded

if TYPE_CHECKING:
    from ..tensors.layouts.formats import memory_format


def _filled_in(shape: Shape, size: int) -> Shape:
    """`shape` with its -1 worked out."""
    holes, known = shape.count(-1), abs(math.prod(shape))
    if not holes and known == size and min(shape, default=0) >= 0:
        return shape
    for place, n in enumerate(shape):
        if n < -1:
            raise RuntimeError(f"invalid shape dimension {n} at index {place} of shape {list(shape)}")
    if holes > 1:
        raise RuntimeError("only one dimension can be inferred")
    if (holes and (known == 0 or size % known)) or (not holes and known != size):
        if holes and known == 0 and size == 0:
            raise RuntimeError(
                f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {size}")
    return tuple([size // known if n == -1 else n for n in shape])


@numbers_called("shape")
def reshape(input: Tensor, *shape: int | Sequence[int]) -> Tensor:
    """The elements in row-major order under another shape, given as numbers or as one sequence of them.

    One extent may be -1: it is what is left. A view where strides allow it, otherwise a copy; the same type.
    RuntimeError for a shape of another number of elements.

    >>> import tracegrad as tg
    >>> tg.arange(6).reshape(2, -1)
    tensor([[0, 1, 2],
            [3, 4, 5]])
    """
    out = movement.reshape(input, _filled_in(sizes_of(shape), input.ndarray.size))
    if out.buffer is not input.buffer:
        relabel(out, "UnsafeViewBackward0", (input,))
    return out


def view(input: Tensor, *shape: int | Sequence[int]) -> Tensor:
    """As `reshape`, but never a copy: RuntimeError where strides do not allow a view."""
    out = movement.reshape(input, _filled_in(sizes_of(shape), input.ndarray.size))
    if out.buffer is not input.buffer:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return out


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """A view in the shape of `other`: ``input.view(other.shape)``. RuntimeError where sizes or strides allow none.

    >>> import tracegrad as tg
    >>> tg.arange(4).view_as(tg.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return view(input, other.shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """The elements in the shape of `other`: ``input.reshape(other.shape)``.

    RuntimeError for another number of elements.

    >>> import tracegrad as tg
    >>> tg.arange(4).reshape_as(tg.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return reshape(input, other.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The axes from `start_dim` to `end_dim` as one (all by default); a 0-d tensor as a vector.

    `input` itself or a view of it where strides allow it, otherwise a copy. RuntimeError where `start_dim` comes after
    `end_dim`, IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.flatten(tg.ones(2, 3, 4), start_dim=1).shape
    tracegrad.Size([2, 12])
    """
    shape = input.ndarray.shape
    start, end = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    if start > end:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if start == end and shape:
        return input
    return reshape(input, (*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :]))


def ravel(input: Tensor) -> Tensor:
    """All elements in one row, in row-major order: a view of what lies in order without gaps, otherwise a copy.

    >>> import tracegrad as tg
    >>> tg.ravel(tg.tensor([[1, 2], [3, 4]]).t())
    tensor([1, 3, 2, 4])
    """
    return reshape(contiguous(input), (-1,))


def unflatten(input: Tensor, dim: int, sizes: Sequence[int]) -> Tensor:
    """Axis `dim` as several axes of the given `sizes`, of which one may be -1: it is what is left.

    A view where strides allow it. RuntimeError where the sizes do not multiply up to the axis, IndexError for an axis
    that is not there.

    >>> import tracegrad as tg
    >>> tg.unflatten(tg.ones(2, 12), 1, (3, -1)).shape
    tracegrad.Size([2, 3, 4])
    """
    shape, sizes = input.ndarray.shape, tuple(sizes)
    if not sizes:
        raise RuntimeError("unflatten: sizes must be non-empty")
    axis = axis_of(dim, len(shape))
    if not shape:
        raise RuntimeError("unflatten: Dimension specified as 0 but tensor has no dimensions")
    if -1 not in sizes and math.prod(sizes) != shape[axis]:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {axis} ({shape[axis]}) in "
            "the input tensor"
        )
    return reshape(input, (*shape[:axis], *_filled_in(tuple(sizes), shape[axis]), *shape[axis + 1 :]))


def squeeze(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """A view without the axes of extent 1: all of them, or those that `dim` (a number or several) names.

    A named axis of another extent stays. IndexError for an axis that is not there, RuntimeError for one named twice.

    >>> import tracegrad as tg
    >>> tg.squeeze(tg.ones(1, 2, 1)).shape, tg.squeeze(tg.ones(1, 2, 1), 0).shape
    (tracegrad.Size([2]), tracegrad.Size([2, 1]))
    """
    shape = input.ndarray.shape
    axes = range(len(shape)) if dim is None else () if isinstance(dim, tuple) and not dim else axes_of(dim, len(shape))
    rest = tuple([n for axis, n in enumerate(shape) if n != 1 or axis not in axes])
    title = "SqueezeBackward0" if dim is None else "SqueezeBackward1"
    return view_called(title, movement.reshape_primitive, input, shape=rest)


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a new axis of extent 1 at `dim`, -ndim - 1 ... ndim; negative ones count from the new end.

    IndexError for a place outside.

    >>> import tracegrad as tg
    >>> tg.unsqueeze(tg.ones(2, 3), -1).shape
    tracegrad.Size([2, 3, 1])
    """
    shape = input.ndarray.shape
    axis = axis_of(dim, len(shape) + 1)
    wide = (*shape[:axis], 1, *shape[axis:])
    return view_called("UnsqueezeBackward0", movement.reshape_primitive, input, shape=wide)


# -------------------------------------------------------------------------------------------------- order of axes


@numbers_called("dims")
def permute(input: Tensor, *dims: int | Sequence[int]) -> Tensor:
    """A view whose axis i is the axis ``dims[i]`` of `input`; `dims` are numbers or one sequence of all axes.

    RuntimeError for another number of axes and for one named twice, IndexError for one that is not there.

    >>> import tracegrad as tg
    >>> tg.permute(tg.ones(2, 3, 4), (2, 0, 1)).shape
    tracegrad.Size([4, 2, 3])
    """
    given = sizes_of(dims)
    ndim = input.ndarray.ndim
    if len(given) != ndim:
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(given)}"
        )
    order = tuple(axis_of(d, ndim) for d in given)
    if len(set(order)) != ndim:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return movement.transpose(input, order)


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view with the axes `dim0` and `dim1` swapped. IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.transpose(tg.tensor([[1, 2], [3, 4]]), 0, 1)
    tensor([[1, 3],
            [2, 4]])
    """
    ndim = input.ndarray.ndim
    a, b = axis_of(dim0, ndim), axis_of(dim1, ndim)
    order = list(range(ndim))
    if ndim:
        order[a], order[b] = order[b], order[a]
    return view_called("TransposeBackward0", movement.transpose_primitive, input, permutation=tuple(order))


def t(input: Tensor) -> Tensor:
    """The transpose of a matrix, as a view; vectors and numbers as they are. RuntimeError for more axes.

    >>> import tracegrad as tg
    >>> tg.t(tg.tensor([[1, 2, 3]]))
    tensor([[1],
            [2],
            [3]])
    """
    ndim = input.ndarray.ndim
    if ndim > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return view_called("TBackward0", movement.transpose_primitive, input, permutation=_BACKWARDS[ndim])


_BACKWARDS = ((), (0,), (1, 0))


def numpy_transpose(input: Tensor) -> Tensor:
    """A view with all axes in reverse order, as numpy's ``x.T``; one warning unless there are two axes.

    >>> import tracegrad as tg
    >>> tg.ones(2, 3).T.shape
    tracegrad.Size([3, 2])
    """
    if input.ndarray.ndim == 0:
        warn_once("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
    elif input.ndarray.ndim != 2:
        warn_once(
            "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
            "throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
            "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor."
        )
    return movement.transpose(input, tuple(reversed(range(input.ndarray.ndim))))


def matrix_transpose(input: Tensor) -> Tensor:
    """A view of the matrices ``[..., m, n]`` as ``[..., n, m]``: the last two axes swapped.

    RuntimeError for one axis.

    >>> import tracegrad as tg
    >>> tg.ones(5, 2, 3).mT.shape
    tracegrad.Size([5, 3, 2])
    """
    if input.ndarray.ndim == 0:
        warn_once("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.")
        return input
    if input.ndarray.ndim < 2:
        raise RuntimeError(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {input.ndarray.ndim}-D tensor."
        )
    return transpose(input, -2, -1)


def movedim(input: Tensor, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """A view with the axes `source` moved to the places `destination`; the others keep their order.

    Both are numbers, or both sequences of one length. RuntimeError for an axis that is named twice and for two
    lengths, IndexError for an axis that is not there.

    >>> import tracegrad as tg
    >>> tg.movedim(tg.ones(2, 3, 4), 0, -1).shape
    tracegrad.Size([3, 4, 2])
    """
    ndim = input.ndarray.ndim
    if isinstance(source, (tuple, list)) != isinstance(destination, (tuple, list)):
        raise TypeError("movedim() takes two numbers or two sequences of them as 'source' and 'destination'")
    given, wanted = (list(d) if isinstance(d, (tuple, list)) else [d] for d in (source, destination))
    if len(given) != len(wanted):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({given} dims) should contain the same number of "
            f"dims as destination ({wanted} dims)"
        )
    sources, targets = ([axis_of(d, ndim) for d in dims] for dims in (given, wanted))
    for name, axes, dims in (("source", sources, given), ("destination", targets, wanted)):
        if len(set(axes)) < len(axes):
            raise RuntimeError(f"movedim: repeated dim in `{name}` ({dims})")
    if not ndim:
        return movement.reshape(input, ())
    rest = iter(axis for axis in range(ndim) if axis not in sources)
    placed = dict(zip(targets, sources, strict=True))
    return movement.transpose(input, tuple(placed[i] if i in placed else next(rest) for i in range(ndim)))


# ------------------------------------------------------------------------------------------------------ repetition


@numbers_called("size")
def expand(input: Tensor, *sizes: int | Sequence[int]) -> Tensor:
    """A view with axes of extent 1 repeated, and new leading axes; -1 keeps an extent.

    All repetitions show the same element, so the view is not to be written to. RuntimeError for extents that cannot be
    repeated, for fewer axes than there are, and for -1 in a new axis.

    >>> import tracegrad as tg
    >>> tg.tensor([[1], [2]]).expand(-1, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    wanted = sizes_of(sizes)
    shape = input.ndarray.shape
    added = len(wanted) - len(shape)
    if added < 0:
        raise RuntimeError(
            f"expand(torch.{input.dtype.title}Tensor{{{list(shape)}}}, size={list(wanted)}): the number of sizes "
            f"provided ({len(wanted)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(shape)})"
        )
    target = tuple(n if n != -1 or i < added else shape[i - added] for i, n in enumerate(wanted))
    check_expanded(shape, target, wanted)
    # numpy's broadcast views are read-only; where nothing is repeated the result may be written to.
    return movement.reshape(input, target) if target == shape else movement.broadcast(input, target)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` expanded to the shape of `other`, as a view: ``input.expand(other.shape)``.

    RuntimeError for extents that cannot be repeated.

    >>> import tracegrad as tg
    >>> tg.tensor([1, 2]).expand_as(tg.zeros(2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, other.shape)


def contiguous(input: Tensor, memory_format: memory_format = contiguous_format) -> Tensor:
    """`input` itself if its elements lie in order in memory (or as `memory_format` says), else a copy in which they do.

    RuntimeError for a copy in ``preserve_format``, which is no order, and for a format of another number of axes.

    >>> import tracegrad as tg
    >>> tg.ones(2, 3).t().contiguous().stride()
    (2, 1)
    """
    if memory_format is not contiguous_format:
        if memory_format is preserve_format:
            if input.ndarray.flags.c_contiguous:
                return input
            raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
        return input if is_in_format(input, memory_format) else in_format(input, memory_format)
    return input if input.ndarray.flags.c_contiguous else ordered_copy(input)


def ordered_copy(input: Tensor) -> Tensor:
    """A copy whose elements lie in row-major order."""
    out = copy(movement.reshape(input, (input.ndarray.size,)))
    out = movement.reshape(out, input.ndarray.shape)
    relabel(out, "CloneBackward0", (input,))
    return out


@composite("CloneBackward0")
def clone(input: Tensor, *, memory_format: memory_format | None = None) -> Tensor:
    """A copy with memory of its own, whose gradient goes on to `input`; ``detach().clone()`` gives none.

    Its axes lie in the order of those of `input`, or as `memory_format` says: RuntimeError for a format of another
    number of axes.

    >>> import tracegrad as tg
    >>> x = tg.ones(2)
    >>> y = x.clone().mul_(3)
    >>> x, y
    (tensor([1., 1.]), tensor([3., 3.]))
    """
    if memory_format is None or memory_format is preserve_format:
        return copy(input) if input.ndarray.flags.c_contiguous else lay(input, kept_order(input.ndarray))
    return in_format(copy(input), memory_format)
