"""``autograd.functional``: Jacobians, Hessians and their products with vectors, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.arithmetic import mul
from ..ops.comparison import eq
from ..ops.identity import copy
from ..ops.movement import concatenate, reshape, slice
from ..ops.pointwise import cast
from ..ops.reductions import sum
from ..ops.sources import iota, zeros
from ..ops.types import int64
from ..tape.grad_mode import enable_grad
from ..tape.reverse import grad, ones_like


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _fresh(inputs: Any, create_graph: bool) -> tuple[Any, ...]:
    """Tensors of the same numbers to differentiate by: in the graph of the given ones, or cut off from it."""
    if create_graph:
        return tuple(copy(x) if x.requires_grad else x.detach().requires_grad_() for x in _tuple(inputs))
    return tuple(x.detach().requires_grad_() for x in _tuple(inputs))


def _unit_rows(output: Any) -> list[Any]:
    """For each element of `output` a cotangent that is 1 there and 0 elsewhere."""
    n = output.ndarray.size
    identity = cast(eq(iota((n, n), 0, int64), iota((n, n), 1, int64)), output.dtype)
    return [reshape(slice(identity, (i, 0), (i + 1, n), (1, 1)), output.ndarray.shape) for i in range(n)]


def _rows(output: Any, inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """The Jacobian of one output with respect to each input."""
    found = [
        grad(output, inputs, unit, retain_graph=True, create_graph=create_graph, materialize_grads=True)
        if output.requires_grad
        else tuple(zeros(x.type_) for x in inputs)
        for unit in _unit_rows(output)
    ]
    shape = output.ndarray.shape
    return tuple(
        reshape(concatenate([reshape(row[i], (1, x.ndarray.size)) for row in found], 0), (*shape, *x.ndarray.shape))
        for i, x in enumerate(inputs)
    )


def jacobian(func: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The derivative of each element of ``func(*inputs)`` by each element of the inputs.

    A tensor of shape ``output.shape + input.shape``; tuples of them where there are several inputs or outputs.
    """
    with enable_grad():
        given = _fresh(inputs, create_graph)
        outputs = func(*given)
        table = tuple(_rows(out, given, create_graph) for out in _tuple(outputs))
    rows = tuple(row if isinstance(inputs, tuple) else row[0] for row in table)
    return rows if isinstance(outputs, tuple) else rows[0]


def hessian(func: Callable[..., Any], inputs: Any, create_graph: bool = False) -> Any:
    """The second derivatives of a function with one element; shaped as the `jacobian` of its gradient."""

    def gradient(*xs: Any) -> Any:
        found = grad(_single(func(*xs)), xs, create_graph=True, materialize_grads=True)
        return found if isinstance(inputs, tuple) else found[0]

    return jacobian(gradient, inputs, create_graph)


def _single(output: Any) -> Any:
    if output.ndarray.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to hessian should contain a single element, got shape "
            f"{list(output.shape)}. Reduce it first, e.g. with sum()."
        )
    return output


def vjp(func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and the vector `v` (of the output's shape) times its Jacobian."""
    with enable_grad():
        given = _fresh(inputs, create_graph)
        outputs = func(*given)
        cotangents = tuple(ones_like(out) for out in _tuple(outputs)) if v is None else _tuple(v)
        found = grad(_tuple(outputs), given, cotangents, create_graph=create_graph, materialize_grads=True)
    return _cut(outputs, create_graph), found if isinstance(inputs, tuple) else found[0]


def jvp(func: Callable[..., Any], inputs: Any, v: Any, create_graph: bool = False) -> tuple[Any, Any]:
    """``func(*inputs)`` and its Jacobian times the vector `v` (of the inputs' shapes).

    By differentiating twice: the product of a cotangent with the Jacobian is linear in the cotangent.
    """
    with enable_grad():
        given = _fresh(inputs, create_graph)
        outputs = func(*given)
        dummies = tuple(zeros(out.type_).requires_grad_() for out in _tuple(outputs))
        first = grad(_tuple(outputs), given, dummies, create_graph=True, materialize_grads=True)
        weighted = [sum(mul(g, w), tuple(range(g.ndarray.ndim))) for g, w in zip(first, _tuple(v), strict=True)]
        tracked = [w for w in weighted if w.requires_grad]
        found = grad(tracked, dummies, create_graph=create_graph, materialize_grads=True)
    return _cut(outputs, create_graph), found if isinstance(outputs, tuple) else found[0]


def _cut(outputs: Any, create_graph: bool) -> Any:
    if create_graph:
        return outputs
    return tuple(out.detach() for out in outputs) if isinstance(outputs, tuple) else outputs.detach()
