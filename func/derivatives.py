"""Derivatives of functions of tensors, as functions that can be differentiated again."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from ..autograd.random_state import RandomState
from ..functional.joining import cat, stack
from ..functional.trees import flatten_tree, unflatten_tree
from ..ops.sources import zeros
from ..tape import reverse
from ..tape.grad_mode import within_transform
from ..tensors.creation import eye
from ..tensors.tensor import Tensor
from ..tracing.watch import watcher
from .batching import CannotBatchError, batched_call, can_batch, refuse_draws, require_randomness
from .tracking import Tracked

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


def _chosen(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """The arguments to differentiate by. RuntimeError where there are not so many."""
    for place in (argnums,) if isinstance(argnums, int) else argnums:
        if not -len(args) <= place < len(args):
            raise RuntimeError(f"Got argnum={place}, but only {len(args)} positional inputs")
    return args[argnums] if isinstance(argnums, int) else tuple(args[place] for place in argnums)


def _with_chosen(args: tuple[Any, ...], argnums: Argnums, values: Any) -> tuple[Any, ...]:
    """The arguments with those chosen replaced."""
    replaced = list(args)
    for place, value in [(argnums, values)] if isinstance(argnums, int) else zip(argnums, values, strict=True):
        replaced[place] = value
    return tuple(replaced)


def _parted(result: Any, has_aux: bool, what: str) -> tuple[Any, Any]:
    """What a function gave, and what it gave beside. RuntimeError unless that are two, if something was promised."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{what}: output of function f should be a tuple: (output, aux) if has_aux is True, got "
            f"{type(result).__name__}"
        )
    return result


def _require_scalar(output: Any, what: str) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{what}: Expected f(*args) to return a Tensor, got {type(output).__name__}")
    if output.dim() != 0:
        raise RuntimeError(
            f"{what}: Expected f(*args) to return a scalar tensor, got tensor with {output.dim()} dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?"
        )


def _gradients(outputs: list[Any], leaves: list[Any], cotangents: list[Any]) -> tuple[Any, ...]:
    """``vjp`` of tensors, in a graph; zeros where nothing depends on a leaf."""
    pairs = [(out, ct) for out, ct in zip(outputs, cotangents, strict=True) if out.requires_grad]
    if not pairs:
        return tuple(zeros(x.type_) for x in leaves)
    tracked, weights = zip(*pairs, strict=True)
    return reverse.grad_within(tracked, leaves, weights, materialize_grads=True)


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of `func`, which returns one number, and the number itself.

    `argnums` are the places of the arguments (tensors, or nests of them) to differentiate by. With `has_aux`, `func`
    returns ``(number, anything)``, and the result is ``(gradient, (number, anything))``. RuntimeError for others.

    >>> import tracegrad as tg
    >>> tg.func.grad_and_value(lambda x: (x * x).sum())(tg.tensor([1.0, 2.0]))
    (tensor([2., 4.]), tensor(5.))
    """
    what = "grad_and_value(f)(*args)"

    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        with within_transform():
            tracked = Tracked(_chosen(args, argnums), what)
            output, aux = _parted(func(*_with_chosen(args, argnums, tracked.tree), **kwargs), has_aux, what)
            _require_scalar(output, what)
            if output.dtype.is_complex:
                raise RuntimeError(
                    f"grad can be implicitly created only for real scalar outputs but got {output.dtype!r}. Take the "
                    ".real or .abs() of it."
                )
            slopes = tracked.nest(_gradients([output], tracked.leaves, [output.detach() * 0 + 1]))
        value = tracked.released(output)
        return tracked.released(slopes), (value, tracked.released(aux)) if has_aux else value

    return differentiated


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    """A function that gives the gradient of `func`, which returns one number; see `grad_and_value`.

    >>> import tracegrad as tg
    >>> cube = lambda x: x**3
    >>> tg.func.grad(tg.func.grad(cube))(tg.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        slopes, value = both(*args, **kwargs)
        return (slopes, value[1]) if has_aux else slopes

    return differentiated


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    """``func(*primals)`` and a function from cotangents (nested as the result) to one for each of `primals`, a tuple.

    With `has_aux`, `func` returns ``(result, anything)``, and anything comes third. RuntimeError where cotangents are
    nested otherwise than the result.

    >>> import tracegrad as tg
    >>> value, pull = tg.func.vjp(lambda x: x * x, tg.tensor([1.0, 3.0]))
    >>> pull(tg.tensor([1.0, 10.0]))
    (tensor([ 2., 60.]),)
    """
    what = "vjp(f, *primals)"
    with within_transform():
        tracked = Tracked(primals, what)
        output, aux = _parted(func(*tracked.tree), has_aux, what)
    outputs, shape = flatten_tree(output)
    for each in outputs:
        _require_tensor(each)

    def pulled(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_shape = flatten_tree(cotangents)
        if given_shape != shape:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function."
            )
        with within_transform():
            found = tracked.nest(_gradients(outputs, tracked.leaves, given))
        beyond = any(ct.requires_grad for ct in given)
        return found if beyond else tracked.released(found)

    value = tracked.released(output)
    return (value, pulled, tracked.released(aux)) if has_aux else (value, pulled)


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    """``func(*primals)`` and how it changes when `primals`, a tuple, change by `tangents`.

    Computed by differentiating twice: the product of cotangents with the Jacobian is linear in them. RuntimeError where
    the two are no tuples of one length; with `strict`, where the result does not depend on the primals.

    >>> import tracegrad as tg
    >>> tg.func.jvp(lambda x: x * x, (tg.tensor([1.0, 3.0]),), (tg.tensor([1.0, 10.0]),))
    (tensor([1., 9.]), tensor([ 2., 60.]))
    """
    what = "jvp(f, primals, tangents)"
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{what}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    given, shape = flatten_tree(tangents)
    with within_transform():
        tracked = Tracked(primals, what)
        if shape != tracked.shape:
            raise RuntimeError(
                f"{what}: Expected primals and tangents to have the same python structure. For example, if primals is "
                "a tuple of 3 tensors, tangents also must be."
            )
        output, aux = _parted(func(*tracked.tree), has_aux, what)
        outputs, output_shape = flatten_tree(output)
        pushed = [_pushed(out, tracked.leaves, given, strict) for out in outputs]
    keep = any(t.requires_grad for t in given)
    change = unflatten_tree(output_shape, pushed)
    parts = (tracked.released(output), change if keep else tracked.released(change))
    return (*parts, tracked.released(aux)) if has_aux else parts


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    """``func(*primals)`` and a function from tangents, one for each of `primals`, to how that changes, as `jvp` says.

    >>> import tracegrad as tg
    >>> value, push = tg.func.linearize(lambda x: x * x, tg.tensor(3.0))
    >>> push(tg.tensor(2.0))
    tensor(12.)
    """

    def pushed(*tangents: Any) -> Any:
        return jvp(func, primals, tangents)[1]

    tracked = Tracked(primals, "jvp(f, primals, tangents)")
    return tracked.released(func(*tracked.tree)), pushed


def _pushed(output: Any, leaves: list[Any], tangents: list[Any], strict: bool) -> Any:
    """The Jacobian of one output times the tangents."""
    if not output.requires_grad:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        return zeros(output.type_)
    dummy = (output.detach() * 0).requires_grad_()
    first = reverse.grad_within(output, leaves, dummy, materialize_grads=True)
    pairs = [(g, t) for g, t in zip(first, tangents, strict=True) if g.requires_grad]
    if not pairs:
        return zeros(output.type_)
    linear, along = zip(*pairs, strict=True)
    return reverse.grad_within(linear, dummy, along, materialize_grads=True)[0]


def _jacobian(func: Function, argnums: Argnums, has_aux: bool, what: str, chunk_size: int | None = None) -> Function:
    @functools.wraps(func)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        with within_transform():
            tracked = Tracked(_chosen(args, argnums), what)
            _require_real(tracked.leaves, what, "inputs", "input")
            output, aux = _parted(func(*_with_chosen(args, argnums, tracked.tree), **kwargs), has_aux, what)
            outputs, shape = flatten_tree(output)
            _require_real(outputs, what, "outputs", "output")
            table = [tracked.nest(_rows(out, tracked.leaves, chunk_size)) for out in outputs]
        found = tracked.released(unflatten_tree(shape, table))
        return (found, tracked.released(aux)) if has_aux else found

    return differentiated


def _require_real(tensors: Sequence[Any], what: str, several: str, one: str) -> None:
    for i, x in enumerate(tensors):
        if isinstance(x, Tensor) and x.dtype.is_complex:
            raise RuntimeError(
                f"{what.partition('(')[0]}: Expected all {several} to be real but received complex tensor at flattened "
                f"{one} idx: {i}"
            )


def _require_tensor(output: Any) -> None:
    if not isinstance(output, Tensor):
        raise RuntimeError(
            f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(output)}"
        )


def _rows(output: Any, leaves: list[Any], chunk_size: int | None) -> list[Any]:
    """The Jacobian of one output by each leaf: ``[*output.shape, *leaf.shape]``."""
    _require_tensor(output)
    flat, count = output.reshape(-1), output.numel()
    if count > 1 and watcher() is None and can_batch():
        try:
            return _rows_at_once(flat, leaves, output.shape, chunk_size or count)
        except CannotBatchError:
            pass  # a rule that looks at numbers: row by row
    rows = [_gradients([flat[i]], leaves, [flat[i].detach() * 0 + 1]) for i in range(count)]
    found = []
    for place, leaf in enumerate(leaves):
        shape = (*output.shape, *leaf.shape)
        found.append(stack([row[place] for row in rows]).reshape(shape) if count else output.new_zeros(shape))
    return found


def _rows_at_once(flat: Any, leaves: list[Any], shape: Any, chunk_size: int) -> list[Any]:
    """The same by one backward pass for each `chunk_size` rows."""
    units: Any
    units, parts = eye(flat.numel(), dtype=flat.dtype), []
    for first in range(0, flat.numel(), chunk_size):
        chunk = units[first : first + chunk_size]
        found, batcher = batched_call(lambda own: _gradients([flat], leaves, own), len(chunk), [(chunk, 0)])
        parts.append([batcher.result_of(row, 0) for row in found])
    return [
        cat(list(xs)).reshape(*shape, *leaf.shape) for xs, leaf in zip(zip(*parts, strict=True), leaves, strict=True)
    ]


def jacrev(
    func: Function,
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    """A function that gives the Jacobian of `func` by the arguments at `argnums`, row by row.

    For each tensor of the result, nested as the arguments: ``[*result.shape, *argument.shape]``. With `has_aux` as in
    `grad`. `chunk_size` is how many rows are computed at once, all of them unless it is given; in compiled functions
    it changes nothing. ValueError unless it is positive.

    >>> import tracegrad as tg
    >>> tg.func.jacrev(lambda x: x * x)(tg.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")
    return _jacobian(func, argnums, has_aux, "jacrev(f)(*args)", chunk_size)


def jacfwd(func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    """The same Jacobian as `jacrev`; it is computed the same way, since there is no forward mode.

    RuntimeError where `func` draws random numbers, unless `randomness` is "same" or "different": it runs once here.

    >>> import tracegrad as tg
    >>> tg.func.jacfwd(lambda x: x.sum())(tg.tensor([1.0, 3.0]))
    tensor([1., 1.])
    """

    @functools.wraps(func)
    def called(*args: Any, **kwargs: Any) -> Any:
        require_randomness(randomness)
        start = RandomState()
        found = func(*args, **kwargs)
        if randomness == "error":
            refuse_draws(start)
        return found

    return _jacobian(called, argnums, has_aux, "jacfwd(f)(*args)")


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    """A function that gives the second derivatives of `func`: the Jacobian of its Jacobian.

    >>> import tracegrad as tg
    >>> tg.func.hessian(lambda x: (x**3).sum())(tg.tensor([1.0, 3.0]))
    tensor([[ 6.,  0.],
            [ 0., 18.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)
