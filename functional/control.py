"""Choices and loops that tensors decide: what to write instead of ``if`` and ``while`` in a compiled function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..ops import movement
from ..ops.array import eager
from ..ops.comparison import ne, where
from ..ops.identity import copy
from ..ops.types import bool_
from ..tensors.tensor import Tensor
from ..tracing.watch import SideEffect, Watcher, watcher
from .branches import Unrecordable, linked, now, sources, tried
from .trees import flatten_tree, unflatten_tree

if TYPE_CHECKING:
    from ..tensors.calling.annotations import Tree


def cond(
    pred: Tensor | float,
    true_fn: Callable[..., Tree],
    false_fn: Callable[..., Tree],
    operands: tuple[Tree, ...] | list[Tree] = (),
) -> Tree:
    """``true_fn(*operands)`` if `pred` is true, else ``false_fn(*operands)``.

    `pred` is a tensor with one element, or a Python bool or number. The branches return tensors (or ints), alone or
    nested in tuples, lists and dicts, of the same shapes and dtypes; results are new tensors. The gradient of an
    operand that the branch does not use is zero, not None. RuntimeError for anything else.

    In eager mode exactly one branch runs. In a compiled function both are part of the program, for any `pred`, and each
    result is picked; so is each gradient, and no NaN of the branch that is not taken comes into it (the sign of a
    gradient that is zero may differ). So branches must do nothing but compute: there, changing a Python object is a
    RuntimeError. A branch that writes to a tensor from outside, draws random numbers, computes gradients or looks at
    numbers makes the compiled function look at `pred`, as ``if`` would; so do branches that reach different tensors
    that require gradients in other ways than through `operands`.

    Differences: PyTorch compares the branches and refuses side effects in eager mode, too, and with a tensor as `pred`
    gives zero gradients to tensors of the other branch that are no operands; here they are None.

    >>> import tracegrad as tg
    >>> x = tg.tensor([0.0, 4.0], requires_grad=True)
    >>> y = tg.cond(x.sum() > 0, lambda x: x * 2, lambda x: x.sqrt(), (x,))
    >>> y.sum().backward()
    >>> y.detach(), x.grad
    (tensor([0., 8.]), tensor([2., 2.]))
    """
    if isinstance(pred, (bool, int, float)):
        return true_fn(*operands) if pred else false_fn(*operands)
    leaves = _checked(pred, true_fn, false_fn, operands)
    listening = watcher()
    why = ""
    if listening is not None:
        try:
            return _both(listening, pred, true_fn, false_fn, operands, leaves)
        except Unrecordable as reason:
            why = f" (a branch of which {reason})"
    taken = true_fn if bool(eager().read(pred.detach(), f"tg.cond{why}").item()) else false_fn
    since = now()
    results, shape = _results(taken(*operands))
    return unflatten_tree(shape, [copy(linked(r, leaves, since)) if isinstance(r, Tensor) else r for r in results])


def _checked(pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> list[Tensor]:
    """The tensors among the operands; RuntimeError in PyTorch's words for arguments that do not fit."""
    if not isinstance(pred, Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}. Compute it from tensors.")
    if pred.ndarray.size != 1:
        raise RuntimeError(
            f"Expected pred to be bool or single-element tensor, but got shape {tuple(pred.ndarray.shape)}. "
            "Use .any() or .all(), or tg.where for a choice in each element."
        )
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable. Pass functions of the operands.")
    leaves = flatten_tree(operands)[0]
    if not isinstance(operands, (tuple, list)) or not all(isinstance(leaf, Tensor) for leaf in leaves):
        raise RuntimeError(
            "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but "
            f"got {operands}. Other values reach the branches as variables around them."
        )
    return leaves


def _results(out: Any) -> tuple[list[Any], Any]:
    """The results of a branch; RuntimeError for what is neither a tensor nor an int."""
    results, shape = flatten_tree(out)
    for result in results:
        if not isinstance(result, (Tensor, int)):
            raise RuntimeError(
                f"tg.cond: unsupported branch return type {type(result).__name__}. Return tensors, or ints."
            )
    return results, shape


def _both(listening: Watcher, pred: Tensor, true_fn: Any, false_fn: Any, operands: Any, leaves: list[Tensor]) -> Any:
    """The picked results of both branches, for a recording."""
    condition = movement.reshape(pred.detach(), ())
    condition = condition if condition.dtype is bool_ else ne(condition, 0)
    holds = bool(eager().peek(condition))  # only to know whose exceptions are the eager ones
    outcomes = []
    for when, function in ((True, true_fn), (False, false_fn)):
        since = now()
        try:
            out = tried(listening, condition, function, operands, when)
        except Exception as error:
            if when is holds or isinstance(error, SideEffect):
                raise
            raise Unrecordable(f"raises {type(error).__name__}") from error
        results, shape = _results(out)
        results = [linked(r, leaves, since) if isinstance(r, Tensor) else r for r in results]
        outcomes.append((results, shape, since))
    (ours, shape, first), (others, other_shape, second) = outcomes
    if shape != other_shape:
        raise RuntimeError(
            "tg.cond: Expected to return same number of outputs, nested in the same way, from both branches but got: "
            f"true branch returns {len(ours)} item(s), false branch returns {len(others)} item(s)"
        )
    pairs = zip(ours, others, strict=True)
    return unflatten_tree(shape, [_picked(condition, a, first, b, second) for a, b in pairs])


def _picked(condition: Tensor, a: Any, since_a: int, b: Any, since_b: int) -> Any:
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        if isinstance(a, Tensor) or isinstance(b, Tensor) or type(a) is not type(b):
            raise RuntimeError(f"tg.cond: one branch returns {type(a).__name__} where the other {type(b).__name__}")
        if a != b:
            raise Unrecordable(f"returns the number {a}, the other {b}")
        return a
    if a.type_ != b.type_:
        raise RuntimeError(
            f"tg.cond: Expected both branches to return tensors with same metadata but found {a.type_} and {b.type_}. "
            "Make them alike, as with .to() and .expand()."
        )
    if sources(a, since_a, strict=True) != sources(b, since_b, strict=True):
        raise Unrecordable("reaches a tensor that requires grad, which is no operand, and the other does not")
    return where(condition, a, b)


def while_loop(
    cond_fn: Callable[..., Tensor | bool], body_fn: Callable[..., Tree], carried_inputs: tuple[Tree, ...] | list[Tree]
) -> Tree:
    """``values = body_fn(*values)`` as long as ``cond_fn(*values)`` is true, from `carried_inputs` on; the last values.

    `cond_fn` returns a bool or a 0-d bool tensor; `body_fn` a tuple like `carried_inputs`: tensors of the same shapes
    and dtypes, and ints, possibly nested in tuples, lists and dicts. Gradients go through all rounds. RuntimeError for
    anything else. Without a round the results are copies.

    In a compiled function a condition that is a tensor is looked at, as ``while`` would. Difference: PyTorch refuses a
    body that returns or changes its inputs; here that is as in a Python loop.

    >>> import tracegrad as tg
    >>> tg.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (tg.tensor(0), tg.ones(2)))
    (tensor(3), tensor([8., 8.]))
    """
    if not callable(cond_fn) or not callable(body_fn):
        raise RuntimeError("Expect cond_fn and body_fn to be callable. Pass functions of the carried values.")
    kinds = _kinds("carried_inputs", carried_inputs)
    values: Any = tuple(carried_inputs)
    rounds = 0
    while _goes_on(cond_fn(*values)):
        values = body_fn(*values)
        rounds += 1
        found = _kinds("the result of body_fn", values)
        if found != kinds:
            raise RuntimeError(
                "tg.while_loop: Expected body_fn_output and carried_inputs to have same metadata but found: "
                f"{found[0]} vs {kinds[0]}. Return what the body was given, in the same order."
            )
    if rounds:
        return tuple(values)
    leaves, shape = flatten_tree(values)
    return unflatten_tree(shape, [copy(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves])


def _goes_on(condition: Any) -> bool:
    if isinstance(condition, bool):
        return condition
    if not isinstance(condition, Tensor) or condition.ndarray.shape != () or condition.dtype is not bool_:
        raise RuntimeError(
            f"cond_fn must return a boolean scalar tensor or a boolean but got {condition}. Compare, or use .all()."
        )
    return bool(eager().read(condition, "tg.while_loop").item())


def _kinds(what: str, values: Any) -> tuple[list[Any], Any]:
    """The types of the leaves, and how they are nested (the outermost tuple may be a list)."""
    if not isinstance(values, (tuple, list)):
        raise RuntimeError(f"tg.while_loop: {what} must be a tuple or list, got {type(values)}")
    leaves, shape = flatten_tree(tuple(values))
    for leaf in leaves:
        if not isinstance(leaf, (Tensor, int)):
            raise RuntimeError(
                f"tg.while_loop: Expect {what} to be a tuple of possibly nested dict/list/tuple that only consists of "
                f"tensor or int leaves, but got {type(leaf).__name__}. Make numbers tensors."
            )
    return [leaf.type_ if isinstance(leaf, Tensor) else int for leaf in leaves], shape
