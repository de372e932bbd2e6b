"""`backward` and `grad`: from roots and cotangents to a sweep over the tape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from ..ops.array import eager, quietly, require_writable
from ..ops.core import current, switch
from ..ops.identity import copy, lay
from ..ops.memory import order_of
from ..ops.movement import broadcast, concatenate, reshape
from ..tracing.user_warning import warn_once, warn_user
from ..tracing.watch import A_PASS, serve
from . import anomaly
from .engine import Sweep, added, cotangent_for
from .grad_mode import no_grad
from .nodes import Edge, Node
from .tangents import levels


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` (weighted by `grad_tensors`) to ``.grad`` of the leaves, or of `inputs` only.

    Each cotangent has the shape of its output; for one-element outputs it defaults to 1. The graph is freed unless
    `retain_graph`; `create_graph` makes the gradients differentiable themselves. Tensors among `inputs` (one, several,
    or the values of a dict) that are no leaves retain their gradient from then on, as after ``retain_grad()``.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1., 2.], requires_grad=True)
    >>> tg.autograd.backward([(x * x).sum()])
    >>> x.grad
    tensor([2., 4.])
    """
    plain = grad_tensors is None and grad_variables is None and inputs is None and not (retain_graph or create_graph)
    if plain and type(tensors) is tuple and len(tensors) == 1 and not anomaly.mode.enabled:
        serve(backward, _plain_backward, tensors, {})
        return
    if create_graph:
        warn_once(
            "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
            "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
            "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None "
            "after use to break the cycle and avoid the leak."
        )
    outputs = _tuple(tensors)  # whatever may be iterated over, once
    roots, cotangents = _roots(outputs, grad_tensors if grad_tensors is not None else grad_variables)
    kind = Sweep if inputs is None else InputsSweep
    sweep = kind(create_graph, create_graph if retain_graph is None else retain_graph, accumulate)
    if inputs is not None:
        sweep.captures = dict.fromkeys(_retained(inputs))
        sweep.store_captures = True
    serve(A_PASS, lambda *_: _run(sweep, roots, cotangents), outputs, {})


def _retained(inputs: Any) -> list[Edge]:
    """Where the gradients of `inputs` go; those that are no leaves retain them from now on, so the pass stores them."""
    edges = []
    for tensor in _named(inputs, "backward"):
        if hasattr(tensor, "retain_grad"):  # not so the edges themselves (`graph.GradientEdge`)
            tensor.retain_grad()
        edges.append(_edge_of(tensor))
    return edges


def _plain_backward(tensor: Any) -> None:
    """The gradients of one tensor with one element, added to those of the leaves; the graph is freed."""
    roots, cotangents = _roots((tensor,), None)
    _run(Sweep(create_graph=False, keep_graph=False, accumulate=accumulate), roots, cotangents)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    """The gradients of `outputs` with respect to `inputs`, as a tuple; ``.grad`` stays untouched.

    For a dict of inputs the gradients are in a dict with its keys.

    RuntimeError for an input that the outputs do not depend on, unless `allow_unused` (then None), or, with
    `materialize_grads`, zeros. With `is_grads_batched` the `grad_outputs` have one axis more, the first, and so have
    the gradients: one for each. ``only_inputs=False`` is deprecated and means nothing.

    >>> import tracegrad as tg
    >>> x = tg.tensor(2., requires_grad=True)
    >>> tg.autograd.grad(x ** 3, x)
    (tensor(12.),)
    """
    if not only_inputs:
        warn_user(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    outputs, wanted = _tuple(outputs), _named(inputs, "grad")
    if is_grads_batched:
        options = (create_graph, allow_unused, materialize_grads)
        found = _batched(outputs, wanted, grad_outputs, retain_graph, options)
    else:
        sweep = InputsSweep(create_graph, create_graph if retain_graph is None else retain_graph, accumulate)
        found = _captured(sweep, outputs, wanted, grad_outputs, allow_unused, materialize_grads)
    return dict(zip(inputs, found, strict=True)) if isinstance(inputs, dict) else found


def grad_within(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any,
    create_graph: bool = True,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """`grad` as a step of a derivative that the library makes: it goes through reentrant checkpoints, too."""
    sweep = Sweep(create_graph, create_graph, accumulate)
    return _captured(sweep, outputs, inputs, grad_outputs, allow_unused, materialize_grads)


class InputsSweep(Sweep):
    """A pass for which the program has named the inputs: reentrant checkpoints refuse it."""

    to_inputs = True


def _captured(
    sweep: Sweep, outputs: Any, inputs: Any, grad_outputs: Any, allow_unused: bool | None, materialize_grads: bool
) -> tuple[Any, ...]:
    outputs = _tuple(outputs)
    roots, cotangents = _roots(outputs, grad_outputs)
    wanted = _tuple(inputs)
    edges = [_edge_of(t) for t in wanted]
    sweep.captures = dict.fromkeys(edges)
    if isinstance(sweep, InputsSweep) and not sweep.create_graph:
        serve(A_PASS, lambda *_: _run(sweep, roots, cotangents), outputs, {})
    else:  # a part of what is computed, or differentiated later
        _run(sweep, roots, cotangents)
    return tuple(
        _gradient(sweep, sweep.captures[edge], place, wanted[place], allow_unused, materialize_grads)
        for place, edge in enumerate(edges)
    )


def grad_between(outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any]) -> tuple[Any, ...]:
    """The gradients of `outputs` by `inputs`, None where there is none, without what leads through other inputs: what
    these were computed from is not walked, and may have been freed, or written to. The graph is kept."""
    roots, given = _roots(outputs, cotangents)
    edges = [_edge_of(t) for t in inputs]
    sweep = _Between(create_graph=False, keep_graph=True, accumulate=accumulate, captures=dict.fromkeys(edges))
    _run(sweep, roots, given)
    return tuple(sweep.captures[edge] for edge in edges)


class _Between(Sweep):
    """A pass that ends at each node of which something is captured."""

    def _visit(self, node: Node, useful: Set[Node]) -> None:
        if any(edge.node is node for edge in self.captures):
            self._capture(node, self.pending.pop(node, {}))
        else:
            super()._visit(node, useful)


def _batched(outputs: Any, inputs: Any, cotangents: Any, retain_graph: bool | None, options: Any) -> tuple[Any, ...]:
    """`grad` for each of the cotangents along a first axis; the gradients along such an axis."""
    create_graph, allow_unused, materialize = options
    given = _tuple(cotangents)
    sizes = {g.ndarray.shape[0] for g in given if g is not None}
    if len(sizes) != 1:
        raise RuntimeError("is_grads_batched=True needs cotangents with a first axis of one common size")
    (size,) = sizes
    found = []
    for i in range(size):
        one = tuple(None if g is None else g[i] for g in given)
        keep = retain_graph or create_graph or i < size - 1
        found.append(
            grad(outputs, inputs, one, keep, create_graph, allow_unused=allow_unused, materialize_grads=materialize)
        )
    return tuple(None if gs[0] is None else _stacked(gs) for gs in zip(*found, strict=True))


def _stacked(tensors: Sequence[Any]) -> Any:
    return concatenate([reshape(x, (1, *x.ndarray.shape)) for x in tensors], 0)


def accumulate(leaf: Any, g: Any, create_graph: bool, fresh: bool) -> None:
    """Add `g` to ``leaf.grad``: in the existing memory, unless a graph of the gradients is wanted.

    `fresh` says that nobody else holds g's memory, so that a first gradient may keep it instead of being copied. A leaf
    that requires none any more gets none.
    """
    if not leaf.requires_grad:
        return
    before = leaf.grad
    if g.is_sparse or (before is not None and before.is_sparse):
        leaf.grad = _with_sparse(before, g, create_graph)
    elif before is None:
        g = g if levels.open is None or create_graph else g.detach()  # as PyTorch: the gradient has no tangent
        flags = g.ndarray.flags
        usual = leaf.ndarray.flags.c_contiguous
        owned = usual and fresh and not g.steps and flags.c_contiguous and flags.owndata
        leaf.grad = g if owned and not create_graph else _copied(g, None if usual else leaf, create_graph)
    elif create_graph:
        leaf.grad = before + g
    elif switch.stack or type(before) is not type(g) or before.ndarray.dtype.kind != "f":
        with no_grad():
            eager().write(before, before + g)
    else:
        require_writable(before)
        quietly(np.add, before.ndarray, g.ndarray, before.ndarray)
        before.buffer.version += 1
    for hook in list(leaf.post_accumulate_hooks.values()):
        if hook(leaf) is not None:
            raise RuntimeError(
                "Tensor post accumulate grad hooks should return None. They see the gradient that was added: change "
                "tensor.grad in place."
            )


def _with_sparse(before: Any, g: Any, create_graph: bool) -> Any:
    """The sum of gradients of which one at least is sparse: in the memory of what was there, unless that was sparse
    and is dense now, or a graph is wanted."""
    if create_graph:
        return g if before is None else added(before, g)
    with no_grad():
        if before is None:
            return g.detach()
        total = added(before, g)
        if not before.is_sparse:
            eager().write(before, total)
            return before
        return before.become(total) if total.is_sparse else total


def _copied(g: Any, like: Any, create_graph: bool) -> Any:
    """`g` in memory of its own, in row-major order, or in the order of the leaf `like` if that has no gaps."""
    order = None if like is None else order_of(like.ndarray)
    if order is not None:
        return lay(g, order)
    if create_graph or switch.stack:
        return copy(g)
    return eager().literal(g.ndarray.copy("C"))


def ones_like(tensor: Any) -> Any:
    """1 in the tensor's type and shape."""
    if not switch.stack and tensor.ndarray.size == 1:
        return eager().literal(np.ones(tensor.ndarray.shape, tensor.ndarray.dtype))
    of = current().type_of(tensor)
    one = copy(current().constant(1, of.dtype))
    return broadcast(one, of.shape) if of.shape else one


def _tuple(value: Any) -> tuple[Any, ...]:
    if hasattr(value, "gradient_edge"):
        return (value,)
    return tuple(value) if hasattr(type(value), "__iter__") else (value,)


def _named(inputs: Any, function: str) -> tuple[Any, ...]:
    """The inputs by which `function` is to differentiate: one, several, or the values of a dict."""
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{function}()` must be a dict, not {type(inputs).__name__}. Other Mapping types are "
            "not supported."
        )
    if isinstance(inputs, Mapping):
        inputs = inputs.values()
    wanted = (inputs,) if hasattr(inputs, "gradient_edge") else tuple(inputs)
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `{function}()` cannot be empty. Name what is differentiated by.")
    return wanted


def _roots(tensors: Any, cotangents: Any) -> tuple[list[Edge], list[Any]]:
    roots = _tuple(tensors)
    for root in roots:
        if not hasattr(root, "gradient_edge"):
            raise TypeError(f"{type(root).__name__!r} object is not iterable, and no tensor that backward() takes")
    given: Sequence[Any] = (None,) * len(roots) if cotangents is None else _tuple(cotangents)
    if len(given) != len(roots):
        raise RuntimeError(f"got {len(roots)} tensors and {len(given)} gradients; give one gradient (or None) for each")
    edges = [t.gradient_edge() for t in roots]
    if any(e.node is None for e in edges):
        raise RuntimeError(
            "element 0 of tensors does not require grad and does not have a grad_fn. Nothing that it was computed from "
            "requires gradients: set requires_grad=True on a leaf, and compute outside of no_grad()."
        )
    return edges, [cotangent_for(t, g, ones_like) for t, g in zip(roots, given, strict=True)]


def _run(sweep: Sweep, edges: list[Edge], cotangents: list[Any]) -> None:
    for edge, cotangent in zip(edges, cotangents, strict=True):
        sweep.seed(edge, cotangent)
    sweep.run(edges)


def _edge_of(tensor: Any) -> Edge:
    if not hasattr(tensor, "gradient_edge"):
        raise RuntimeError(f"all inputs have to be Tensors or GradientEdges, but got {type(tensor).__name__}")
    edge: Edge = tensor.gradient_edge()
    if edge.node is None:
        raise RuntimeError(
            "One of the differentiated Tensors does not require grad. Set requires_grad=True on it before computing."
        )
    return edge


def _gradient(sweep: Sweep, g: Any, place: int, tensor: Any, allow_unused: bool | None, materialize: bool) -> Any:
    if g is not None:
        return g
    if materialize:
        zeros = ones_like(tensor) * 0  # what the program differentiates again requires a gradient, as in PyTorch
        return zeros.requires_grad_() if sweep.create_graph and isinstance(sweep, InputsSweep) else zeros
    if not allow_unused:
        raise RuntimeError(
            f"The differentiated Tensor at index {place} appears to not have been used in the graph. Set "
            "allow_unused=True if this is the desired behavior."
        )
    return None
