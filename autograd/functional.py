"""``autograd.functional``: Jacobians, Hessians and their products with vectors, of functions of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.comparison import eq
from ..ops.identity import copy
from ..ops.movement import concatenate, reshape, slice
from ..ops.pointwise import cast
from ..ops.sources import iota, zeros
from ..ops.types import Type, int64
from ..tape.grad_mode import enable_grad
from ..tape.reverse import grad, ones_like
from ..tensors.tensor import Tensor
from .forward_ad import dual_level, make_dual, unpack_dual

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _tensors(values: Any, what: str, function: str) -> tuple[Any, ...]:
    """`values` as a tuple; TypeError for anything but a tensor or a tuple of them."""
    found = _tuple(values)
    for i, x in enumerate(found):
        if not isinstance(x, Tensor):
            where = f"is {type(x)}" if not isinstance(values, tuple) else f"at index {i} is {type(x)}"
            raise TypeError(
                f"The {what} {function} must be either a Tensor or a tuple of Tensors but the value {where}"
            )
    return found


def _fresh(inputs: tuple[Any, ...], create_graph: bool) -> tuple[Any, ...]:
    """Tensors of the same numbers to differentiate by: in the graph of the given ones, or cut off from it."""
    if create_graph:
        return tuple(copy(x) if x.requires_grad else x.detach().requires_grad_() for x in inputs)
    return tuple(x.detach().requires_grad_() for x in inputs)


def _called(
    func: Callable[..., Any], inputs: Tensor | tuple[Tensor, ...], function: str, create_graph: bool, strict: bool
) -> tuple[tuple[Any, ...], Any]:
    """Inputs to differentiate by, and what the function makes of them."""
    given = _fresh(_tensors(inputs, "inputs given to", function), create_graph)
    outputs = func(*given)
    for i, out in enumerate(_tensors(outputs, "outputs of the user-provided function given to", function)):
        if strict and not out.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradient. The outputs must be computed in "
                "a differentiable manner from the input when running in strict mode."
            )
    return given, outputs


def _derived(
    outputs: Sequence[Any],
    inputs: tuple[Any, ...],
    cotangents: Any,
    create_graph: bool,
    strict: bool,
    what: str = "Output",
) -> tuple[Any, ...]:
    """The gradients by each input, zeros where there are none; these are RuntimeErrors with `strict`."""
    tracked = [(out, g) for out, g in zip(outputs, cotangents, strict=True) if out.requires_grad]
    if tracked:
        outs, gs = zip(*tracked, strict=True)
        found = grad(outs, inputs, gs, retain_graph=True, create_graph=create_graph, allow_unused=True)
    else:
        found = (None,) * len(inputs)
    if strict:
        _check_dependence(found, what, create_graph)
    return tuple(zeros(x.type_) if g is None else g for g, x in zip(found, inputs, strict=True))


def _check_dependence(found: Sequence[Any], what: str, create_graph: bool) -> None:
    for i, g in enumerate(found):
        if g is None:
            raise RuntimeError(
                f"{what} of the user-provided function is independent of input {i}. This is not allowed in strict mode."
            )
        if create_graph and not g.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. This is not allowed in "
                "strict mode when create_graph=True."
            )


def _unit_rows(output: Any) -> list[Any]:
    """For each element of `output` a cotangent that is 1 there and 0 elsewhere."""
    n = output.ndarray.size
    identity = cast(eq(iota((n, n), 0, int64), iota((n, n), 1, int64)), output.dtype)
    return [reshape(slice(identity, (i, 0), (i + 1, n), (1, 1)), output.ndarray.shape) for i in range(n)]


def _rows(output: Any, place: int, inputs: tuple[Any, ...], create_graph: bool, strict: bool) -> tuple[Any, ...]:
    """The Jacobian of one output with respect to each input."""
    what = f"Output {place}"
    if output.dtype.is_complex:
        raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {output.dtype!r}")
    found = [_derived((output,), inputs, (unit,), create_graph, strict, what) for unit in _unit_rows(output)]
    shape = output.ndarray.shape
    if not found:
        return tuple(zeros(Type(output.dtype, (*shape, *x.ndarray.shape))) for x in inputs)
    return tuple(
        reshape(concatenate([reshape(row[i], (1, x.ndarray.size)) for row in found], 0), (*shape, *x.ndarray.shape))
        for i, x in enumerate(inputs)
    )


def _check_ways(function: str, strict: bool, vectorize: bool, strategy: str, name: str = "strategy") -> None:
    """Errors of PyTorch's for choices that contradict each other."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            f'Expected {name} to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            f'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode". Got '
            f"{strategy!r}."
        )
    if strict and vectorize:
        raise RuntimeError(
            f"torch.autograd.functional.{function}: `strict=True` and `vectorized=True` are not supported together. "
            "Please either set `strict=False` or `vectorize=False`."
        )
    if strict and strategy == "forward-mode":
        raise NotImplementedError(
            f'torch.autograd.functional.{function}: `strict=True` and `{name}="forward-mode"` are not supported '
            f'together (yet). Please either set `strict=False` or `{name}="reverse-mode"`.'
        )
    if strategy == "forward-mode" and not vectorize:
        raise NotImplementedError(
            f"Computing {function} using forward-AD or forward-over-reverse Hessian is only implemented for "
            "`vectorize=True`."
        )


def jacobian(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """The derivative of each element of ``func(*inputs)`` by each element of the inputs.

    A tensor of shape ``output.shape + input.shape``; tuples of them where there are several inputs or outputs. With
    `strict` an output that does not depend on an input is a RuntimeError. It is computed row by row, with
    ``strategy="forward-mode"``, which wants `vectorize`, column by column by dual tensors (``forward_ad``).

    >>> import tracegrad as tg
    >>> tg.autograd.functional.jacobian(lambda x: x * x, tg.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    _check_ways("jacobian", strict, vectorize, strategy)
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(
                'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not '
                'supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
            )
        return _by_columns(func, inputs)
    with enable_grad():
        given, outputs = _called(func, inputs, "jacobian", create_graph, strict)
        table = tuple(_rows(out, i, given, create_graph, strict) for i, out in enumerate(_tuple(outputs)))
    rows = tuple(row if isinstance(inputs, tuple) else row[0] for row in table)
    return rows if isinstance(outputs, tuple) else rows[0]


def _by_columns(func: Callable[..., Any], inputs: Tensor | tuple[Tensor, ...]) -> Any:
    """The `jacobian` by tangents: one call of `func` for each element of the inputs."""
    given = _tensors(inputs, "inputs given to", "jacobian")
    columns: list[list[tuple[Any, ...]]] = []
    outputs = None
    for place, x in enumerate(given):
        columns.append([])
        for unit in _unit_rows(x):
            along = [unit if i == place else zeros(y.type_) for i, y in enumerate(given)]
            with dual_level():
                outputs = func(*(make_dual(y, t) for y, t in zip(given, along, strict=True)))
                found = _tensors(outputs, "outputs of the user-provided function given to", "jacobian")
                columns[-1].append(tuple(_tangent(out) for out in found))
    outputs = func(*given) if outputs is None else outputs
    table = tuple(
        tuple(_joined([column[i] for column in of_one], out, x) for of_one, x in zip(columns, given, strict=True))
        for i, out in enumerate(_tuple(outputs))
    )
    rows = tuple(row if isinstance(inputs, tuple) else row[0] for row in table)
    return rows if isinstance(outputs, tuple) else rows[0]


def _tangent(output: Any) -> Any:
    tangent = unpack_dual(output).tangent
    return zeros(output.type_) if tangent is None else tangent


def _joined(columns: Sequence[Any], output: Any, x: Any) -> Any:
    """The Jacobian, of which `columns` are the derivatives of `output` by each element of `x`."""
    shape = (*output.ndarray.shape, *x.ndarray.shape)
    if not columns:
        return zeros(Type(output.dtype, shape))
    return reshape(concatenate([reshape(column, (output.ndarray.size, 1)) for column in columns], 1), shape)


def hessian(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """The second derivatives of a function with one element; shaped as the `jacobian` of its gradient.

    The options are those of `jacobian`. RuntimeError for a result with several elements.

    >>> import tracegrad as tg
    >>> tg.autograd.functional.hessian(lambda x: (x ** 3).sum(), tg.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    _check_ways("hessian", strict, vectorize, outer_jacobian_strategy, "outer_jacobian_strategy")

    forward = outer_jacobian_strategy == "forward-mode"

    def gradient(*xs: Any) -> Any:
        xs = tuple(x.requires_grad_() for x in xs) if forward else xs  # dual tensors do not
        out = _single(func(*xs), "hessian")
        if strict and not out.requires_grad:
            raise RuntimeError(
                "Output 0 of the user-provided function does not require gradient. The outputs must be computed in a "
                "differentiable manner from the input when running in strict mode."
            )
        found = _derived((out,), xs, (ones_like(out),), True, strict)
        return found if isinstance(inputs, tuple) else found[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def _single(output: Any, function: str) -> Any:
    _tensors(output, "outputs of the user-provided function given to", function)
    if isinstance(output, tuple) or output.ndarray.size != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {function} should contain a single element, got shape "
            f"{list(output.shape) if isinstance(output, Tensor) else 'of several tensors'}. Reduce it first, e.g. with "
            "sum()."
        )
    return output


def _vectors(v: Any, like: tuple[Any, ...], function: str) -> tuple[Any, ...]:
    """The vector `v`, of the shapes of `like`; for one element it may be left out."""
    if v is None:
        if len(like) != 1 or like[0].ndarray.size != 1:
            raise RuntimeError(
                "The vector v can only be None if the user-provided function returns a single Tensor with a single "
                f"element (or, for {function}, has such an input). Give one of its shape."
            )
        return (ones_like(like[0]),)
    found = _tensors(v, "v of", function)
    if len(found) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(found)}.")
    for i, (one, x) in enumerate(zip(found, like, strict=True)):
        if one.shape != x.shape:
            raise RuntimeError(f"Entry {i} in v has invalid size: should be {x.shape} but got {one.shape}.")
    return found


def vjp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)`` and the vector `v` (of the output's shape) times its Jacobian, of the inputs' shape.

    Inputs and `v` are tensors or tuples of them. `v` may be left out for an output with one element. With
    `create_graph` both results can be differentiated again. With `strict` outputs that do not depend on an input are
    RuntimeErrors; without, zeros. TypeError for what is no tensor.

    >>> import tracegrad as tg
    >>> tg.autograd.functional.vjp(lambda x: x * x, tg.tensor([1.0, 2.0]), tg.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        given, outputs = _called(func, inputs, "vjp", create_graph, strict)
        cotangents = _vectors(v, _tuple(outputs), "vjp")
        found = _derived(_tuple(outputs), given, cotangents, create_graph, strict)
    return _cut(outputs, create_graph), found if isinstance(inputs, tuple) else found[0]


def jvp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)`` and its Jacobian times the vector `v` (of the inputs' shapes), of the output's shape.

    By differentiating twice: the product of a cotangent with the Jacobian is linear in the cotangent. `v` may be left
    out for an input with one element. `create_graph`, `strict` and the errors are those of ``vjp``.

    >>> import tracegrad as tg
    >>> tg.autograd.functional.jvp(lambda x: x * x, tg.tensor([1.0, 2.0]), tg.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    with enable_grad():
        given, outputs = _called(func, inputs, "jvp", create_graph, strict)
        vectors = _vectors(v, given, "jvp")
        dummies = tuple(zeros(out.type_).requires_grad_() for out in _tuple(outputs))
        first = _derived(_tuple(outputs), given, dummies, True, strict)
        found = _along(first, vectors, dummies, create_graph)
    return _cut(outputs, create_graph), found if isinstance(outputs, tuple) else found[0]


def _along(gradients: Sequence[Any], vectors: Sequence[Any], by: tuple[Any, ...], create_graph: bool) -> Any:
    """The derivative by `by` of gradients, which have the cotangents `vectors`."""
    return _derived(gradients, by, vectors, create_graph, strict=False)


def vhp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and the vector `v` (of the inputs' shapes) times its Hessian.

    >>> import tracegrad as tg
    >>> tg.autograd.functional.vhp(lambda x: (x ** 3).sum(), tg.tensor([1.0, 2.0]), tg.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: Callable[..., Any],
    inputs: Tensor | tuple[Tensor, ...],
    v: Tensor | tuple[Tensor, ...] | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """``func(*inputs)``, one number, and its Hessian times the vector `v`, of the inputs' shapes: as ``vhp``, since
    Hessians are symmetric.

    `create_graph`, `strict` and the errors are those of ``vjp``.

    >>> import tracegrad as tg
    >>> tg.autograd.functional.hvp(lambda x: (x ** 3).sum(), tg.tensor([1.0, 2.0]), tg.ones(2))
    (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def _hessian_product(
    name: str, func: Callable[..., Any], inputs: Tensor | tuple[Tensor, ...], v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    with enable_grad():
        given, output = _called(func, inputs, name, create_graph, strict)
        _single(output, name)
        vectors = _vectors(v, given, name)
        first = _derived((output,), given, (ones_like(output),), True, strict)
        found = _along(first, vectors, given, create_graph)
    return _cut(output, create_graph), found if isinstance(inputs, tuple) else found[0]


def _cut(outputs: Any, create_graph: bool) -> Any:
    if create_graph:
        return outputs
    return tuple(out.detach() for out in outputs) if isinstance(outputs, tuple) else outputs.detach()
