"""Tensors that show their memory otherwise without a history of it: ``x.t_()`` in ``no_grad()``.

Such a tensor keeps its node, whose rule wants the gradient in the shape that it gave its result. Each contribution is
summed to that shape where broadcasting could have made it of this, and refused otherwise, as by PyTorch's engine.
"""

from __future__ import annotations

from typing import Any

from ..ops.types import broadcast_shapes
from ..ops.vjp import unbroadcast
from ..tracing.watch import watcher


class _Known:
    #: Whether there has been such a tensor: most programs have none, and their passes need not look.
    any = False


known = _Known()


def require_followed(x: Any) -> None:
    """RuntimeError where the tape could not follow another way to show the memory of `x`, which requires gradients."""
    if x.base is not None and x.viewed_without_grad:
        raise RuntimeError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
            "Make the view outside of no_grad(), or write to it inside."
        )
    if x.is_leaf:
        what = "a leaf Variable that requires grad is being used in an in-place operation. Use the form without _."
        raise RuntimeError(what)


def keep_first_shape(x: Any, shape: tuple[int, ...]) -> None:
    """`x`, which its node gave this shape, has another one now.

    A hook makes the node one that the passes that compiled calls do by themselves leave to the engine.
    """
    if x._base is not None and x._base.requires_grad:
        return  # the node of such a view is made anew when it is asked for
    node = x._node
    if node is None:  # of a leaf that has not been used nothing is asked yet
        node = None if x._accumulator is None else x._accumulator()
    if node is None or shape == x.ndarray.shape:
        return
    known.any = True
    node.first_shapes = {x._output: shape, **node.first_shapes}
    node.pre_hooks = node.pre_hooks or {_MARK: _unchanged}


def in_first_shape(edge: Any, g: Any, whose: str, place: int) -> Any:
    """The gradient `g` that `whose` rule gives its operand number `place`, as the node behind `edge` wants it."""
    node, output = edge
    shape = None if node is None else node.first_shapes.get(output)
    if shape is None or g is None or tuple(g.shape) == shape:
        return g
    if not may_be_summed(tuple(g.shape), shape):
        raise RuntimeError(
            f"{whose}invalid gradient at index {place} - got {list(g.shape)} but expected shape compatible with "
            f"{list(shape)}"
        )
    listening = watcher()
    if listening is None:
        return unbroadcast(g, shape)
    return listening.deriving(node.origin, unbroadcast, g, shape)


def may_be_summed(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Whether broadcasting makes `shape` of `target`.

    >>> may_be_summed((1, 2, 3), (2, 3)), may_be_summed((3, 2), (2, 3))
    (True, False)
    """
    try:
        return broadcast_shapes(shape, target) == shape
    except RuntimeError:
        return False


#: No number of a handle.
_MARK = -1


def _unchanged(cotangents: Any) -> None:
    """A hook before a node that changes nothing."""
