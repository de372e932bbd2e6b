"""``vmap``: a function of one example mapped over a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..autograd.random_state import RandomState
from ..functional.joining import cat, stack
from ..functional.trees import flatten_tree, unflatten_tree
from ..ops.array import eager
from ..ops.requirements import Requirement, require
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user
from ..tracing.watch import watcher
from . import slices as slicing
from .batch_rules import turned
from .batching import Batcher, CannotBatchError, batched_call, can_batch, refuse_draws, require_randomness

#: An axis, or a nest of axes as the arguments or results are nested; None where there is none.
Dims = int | Sequence[Any] | Mapping[str, Any] | None

_OF = {"in_dims": "inputs", "out_dims": "`outputs`"}


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that calls `func` with each slice of its arguments and stacks what that returns.

    `in_dims` is the axis to map over, or a nest of axes as the positional arguments are nested, None where an argument
    goes into each call whole, as keyword arguments do. `out_dims` is the new axis of the results, for
    all or for each. `randomness` says what draws of random numbers do: "error" refuses them, with "same" all slices
    draw the same numbers, with "different" each its own. In eager code `func` is called once for all slices, or once
    for `chunk_size` of them; it is called for each slice in compiled functions, and where it draws random numbers,
    has a checkpoint with gradients, or looks at numbers of its slice (with a warning; PyTorch refuses that). A write in
    place to a tensor from outside is done once, and a compiled function with one is re-recorded, as is one where `func`
    returns a view of its slice.

    ValueError for axes and sizes that do not fit, RuntimeError for random numbers that are refused, and for a write to
    a tensor from outside of what differs between slices.

    >>> import tracegrad as tg
    >>> tg.func.vmap(tg.dot)(tg.ones(3, 2), tg.ones(3, 2))
    tensor([2., 2., 2.])
    """
    require_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    called = getattr(func, "__name__", repr(func))
    title = f"vmap({called}, in_dims={in_dims}, ...)(<inputs>)"

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, shape = flatten_tree((args, kwargs))
        if not args:
            raise ValueError(
                f"vmap({called})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap "
                "over a function with no inputs. The latter is unsupported."
            )
        axes = _axes(in_dims, args, kwargs, title)
        size = _size(leaves, axes, title)
        call = _Call(func, called, leaves, axes, shape, size, randomness)
        is_plain = watcher() is None and can_batch()
        if size and not is_plain and (found := _recorded(call)):
            return _joined(found, out_dims, call)
        if size:
            try:
                return _batched(call, out_dims, chunk_size)
            except CannotBatchError as error:
                if error.is_worth_saying:
                    warn_user(f"vmap({called}): {error}: it is called for each slice")
        return _joined(_results(call), out_dims, call)

    return mapped


@dataclass(frozen=True)
class _Call:
    """A call of a mapped function: `leaves` of its arguments and the axis of each (None: it goes in whole)."""

    func: Callable[..., Any]
    name: str
    leaves: list[Any]
    axes: list[int | None]
    shape: Any  # how the arguments are nested
    size: int  # how many slices there are
    randomness: str

    def slices(self) -> list[Any]:
        """The leaves that are mapped over."""
        return [x for x, axis in zip(self.leaves, self.axes, strict=True) if axis is not None]

    def of(self, leaves: Sequence[Any]) -> Any:
        """What `func` returns for other leaves."""
        args, kwargs = unflatten_tree(self.shape, list(leaves))
        return self.func(*args, **kwargs)

    def title(self, out_dims: Any) -> str:
        """The call, for messages about its results."""
        return f"vmap({self.name}, ..., out_dims={out_dims})(<inputs>)"


def _recorded(call: _Call) -> list[Any] | None:
    """What `func` returns for each slice while its ops are recorded; None where that must be one call for all of them.

    Those are calls that write to what all slices share, or return a view of it or of a slice; they are not recorded.
    """
    start, slices = RandomState(), call.slices()
    try:
        return slicing.called(_results, slices, call)
    except slicing.Outside as refusal:
        start.put_back()
        eager().read(slices[0].detach(), f"vmap() of a function that {refusal.what}")
        return None


def _batched(call: _Call, out_dims: Any, chunk_size: int | None) -> Any:
    """The results of one call for all slices, or of one for each `chunk_size` of them."""
    start = RandomState()
    parts: list[list[Any]] = []
    done: list[Batcher] = []
    count = chunk_size or call.size
    for first in range(0, call.size, count):
        extent = min(count, call.size - first)
        arguments = [
            (x if axis is None or chunk_size is None else x.narrow(axis, first, extent), axis)
            for x, axis in zip(call.leaves, call.axes, strict=True)
        ]
        try:
            result, batcher = batched_call(call.of, extent, arguments, call.randomness)
            done.append(batcher)
            if start.has_moved:
                start.put_back()
                raise CannotBatchError("random numbers", is_worth_saying=False)
        except CannotBatchError:
            for each in reversed(done):
                each.take_back()
            raise
        found, nest = flatten_tree(result)
        places = _spread(out_dims, result, out_dims, call.title(out_dims), "out_dims")
        parts.append([_checked_result(batcher, x, at, call.name) for x, at in zip(found, places, strict=True)])
    columns = zip(zip(*parts, strict=True), places, strict=True)
    return unflatten_tree(nest, [xs[0] if at is None or len(xs) == 1 else cat(list(xs), at) for xs, at in columns])


def _checked_result(batcher: Batcher, x: Any, axis: Any, called: str) -> Any:
    """A result with the batch at `axis`. ValueError for what is no tensor, and for None where slices have their own."""
    _require_result(x, called)
    if axis is not None:
        return batcher.result_of(x, axis)
    held = batcher.held(x)
    if held.batched:
        raise ValueError(f"vmap({called}, ...): `{called}` can not return a BatchedTensor when out_dim is None")
    return held.tensor


# ------------------------------------------------------------------------------------------------------------- inputs


def _axes(in_dims: Any, args: tuple[Any, ...], kwargs: dict[str, Any], title: str) -> list[int | None]:
    """The axis of each leaf of the arguments."""
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{title}: expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    found = _spread(in_dims, args, in_dims, title)
    found += [None] * len(flatten_tree(kwargs)[0])
    leaves = flatten_tree((args, kwargs))[0]
    return [_checked_axis(axis, leaf, title) for axis, leaf in zip(found, leaves, strict=True)]


def _spread(axes: Any, tree: Any, whole: Any, title: str, name: str = "in_dims") -> list[Any]:
    """`axes` for each leaf of `tree`: one axis holds for all that is below it."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(flatten_tree(tree)[0])
    if isinstance(axes, dict) and isinstance(tree, dict) and axes.keys() == tree.keys():
        return [axis for key in tree for axis in _spread(axes[key], tree[key], whole, title, name)]
    if isinstance(axes, (tuple, list)) and isinstance(tree, (tuple, list)) and len(axes) == len(tree):
        return [axis for each, part in zip(axes, tree, strict=True) for axis in _spread(each, part, whole, title, name)]
    raise ValueError(
        f"{title}: {name} is not compatible with the structure of {_OF[name]}. {name} has structure {whole} but what "
        "it is for is nested otherwise: give an int, None, or a nest of them of the same structure."
    )


def _checked_axis(axis: Any, leaf: Any, title: str) -> int | None:
    if axis is None:
        return None
    if not isinstance(axis, int):
        raise ValueError(
            f"{title}: Got in_dim={axis} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{title}: Got in_dim={axis} for an input but the input is of type {type(leaf)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim"
        )
    if not -leaf.dim() <= axis < leaf.dim():
        raise ValueError(
            f"{title}: Got in_dim={axis} for some input, but that input is a Tensor of dimensionality {leaf.dim()} so "
            f"expected in_dim to satisfy -{leaf.dim()} <= in_dim < {leaf.dim()}."
        )
    return axis


def _size(leaves: list[Any], axes: list[int | None], title: str) -> int:
    """How many slices there are."""
    sizes = [leaf.size(axis) for leaf, axis in zip(leaves, axes, strict=True) if axis is not None]
    if not sizes:
        raise ValueError(f"{title}: at least one Tensor must be mapped over, but all in_dims are None")
    if len(set(sizes)) > 1:
        raise ValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the "
            "mapped dimension"
        )
    return sizes[0]


# -------------------------------------------------------------------------------------------------------------- calls


def _results(call: _Call) -> list[Any]:
    """What `func` returns for each slice; for none of them, what it returns for zeros."""
    leaves, start = call.leaves, RandomState()
    if not call.size:
        leaves = [x if axis is None else _one_of_zeros(x, axis) for x, axis in zip(leaves, call.axes, strict=True)]
    found = []
    for place in range(max(call.size, 1)):
        if call.randomness == "same":
            start.put_back()
        pairs = zip(leaves, call.axes, strict=True)
        slices = [x if axis is None else x.select(axis, place) for x, axis in pairs]
        found.append(call.of(slices))
        if call.randomness == "error":
            refuse_draws(start)
    return found


def _one_of_zeros(x: Any, axis: int) -> Any:
    shape = list(x.shape)
    shape[axis] = 1
    return x.new_zeros(shape)


# ------------------------------------------------------------------------------------------------------------ results


def _joined(results: list[Any], out_dims: Any, call: _Call) -> Any:
    """The results of all calls, stacked along `out_dims`."""
    parts = [flatten_tree(result) for result in results]
    shape = parts[0][1]
    axes = _spread(out_dims, results[0], out_dims, call.title(out_dims), "out_dims")
    columns = zip(*(leaves for leaves, _ in parts), strict=True)
    return unflatten_tree(shape, [_stacked(xs, axis, call) for xs, axis in zip(columns, axes, strict=True)])


def _stacked(tensors: Any, axis: Any, call: _Call) -> Any:
    for x in tensors:
        _require_result(x, call.name)
    if axis is None:
        return _only_one(tensors, call.name)
    ndim = tensors[0].ndarray.ndim + 1
    if not -ndim <= axis < ndim:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-ndim}, {ndim - 1}], but got {axis})")
    whole = stack(list(tensors))  # slices lie one behind the other, as those of one call for all of them
    whole = whole if call.size else whole.narrow(0, 0, 0)
    return turned(whole, 0, axis % ndim) if axis % ndim else whole


def _require_result(x: Any, called: str) -> None:
    if not isinstance(x, Tensor):
        raise ValueError(
            f"vmap({called}, ...): `{called}` must only return Tensors, got type {type(x)}. Did you mean to set "
            "out_dims= to None for output? Return a tensor instead."
        )


def _only_one(tensors: Any, called: str) -> Any:
    """The result that all calls have. ValueError where it differs."""
    differs = Requirement(
        lambda same: (same,),
        ValueError,
        f"vmap({called}, ...): `{called}` can not return a BatchedTensor when out_dim is None",
    )
    for other in tensors[1:]:
        require(tensors[0].detach() == other.detach(), differs)
    return tensors[0]
