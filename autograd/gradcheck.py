"""``gradcheck``: the derivatives of a function against differences of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ops.types import complex128, float64
from ..tape.reverse import grad
from ..tensors.creation import from_numpy
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user
from .function import FunctionNode
from .jacobians import (
    Function,
    Numerical,
    as_tuple,
    batched_jacobian,
    differentiable,
    forward_jacobians,
    numbers_of,
    parts,
    pulled,
    pushed,
    reverse_jacobian,
    tensor_of,
    tracked,
)

_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different "
    "values, although analytical gradient matches numerical gradient. The tolerance for nondeterminism was {}. Give a "
    "larger nondet_tol if the function is meant to be so."
)


class GradcheckError(RuntimeError):
    """The analytical and the numerical Jacobian differ: what ``gradcheck`` raises, a RuntimeError.

    >>> import tracegrad as tg
    >>> class Wrong(tg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g
    >>> try:
    ...     tg.autograd.gradcheck(Wrong.apply, (tg.ones(1, dtype=tg.float64, requires_grad=True),))
    ... except RuntimeError as error:
    ...     print(type(error).__name__)
    GradcheckError
    """


@dataclass(frozen=True)
class _Options:
    """What `gradcheck` was asked for."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    undefined: bool
    dtypes: bool
    batched: bool
    forward: bool
    backward: bool
    fast: bool

    def agree(self, analytical: Any, numerical: Any, atol: float | None = None) -> bool:
        return np.allclose(analytical, numerical, self.rtol, self.atol if atol is None else atol)


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func` at `inputs` (float64 or complex128 tensors) with central differences of the step
    `eps` (default 1e-6).

    Inputs that require gradients count. Real and imaginary parts of complex numbers count as numbers of their own.
    Numbers agree within ``atol + rtol * |numerical|`` (defaults 1e-5 and 1e-3). `fast_mode` compares both Jacobians
    between two random vectors instead of all their elements. True if they agree; GradcheckError otherwise, or False
    with ``raise_exception=False``.

    What is looked at besides: whether two backward passes differ by more than `nondet_tol`; whether gradients are zero
    where those of the outputs are zero, and with `check_undefined_grad` where ``autograd.Function``\\ s get None; with
    `check_grad_dtypes` the gradients' types; with `check_batched_grad` ``grad(is_grads_batched=True)``. With
    `check_forward_ad`, tangents of dual tensors are compared as well (``check_backward_ad=False``: alone); batches of
    them are computed one by one, so that `check_batched_forward_grad` has nothing to find.
    `masked` is about sparse inputs, which do not occur here: it changes nothing for others, as in PyTorch.
    ValueError if no input requires gradients, AssertionError for options that contradict each other.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0, 2.0], dtype=tg.float64, requires_grad=True)
    >>> tg.autograd.gradcheck(lambda x: x.sin(), (x,)), tg.autograd.gradcheck(lambda x: x.sin(), (x,), fast_mode=True)
    (True, True)
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    options = _Options(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad, check_forward_ad,
        check_backward_ad, fast_mode,
    )  # fmt: skip
    given = as_tuple(inputs)
    try:
        _check(func, given, options)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check(func: Function, inputs: tuple[Any, ...], options: _Options) -> None:
    _check_inputs(inputs)
    outputs = as_tuple(func(*inputs))
    if not differentiable(outputs):
        _check_constant(func, inputs, options)
        return
    kept = tuple(i for i, out in enumerate(outputs) if out.requires_grad)

    def differentiated(*args: Any) -> Any:
        results = as_tuple(func(*args))
        return tuple(results[i] for i in kept)

    outputs = tuple(outputs[i] for i in kept)
    if options.forward:
        _check_forward(differentiated, inputs, options)
    if not options.backward:
        return
    compare = _compare_fast if options.fast else _compare
    compare(differentiated, inputs, outputs, options)
    if options.batched:
        _check_batched(inputs, outputs)
    _check_zero(inputs, outputs)
    if options.undefined:
        _check_undefined(outputs)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    places = tracked(inputs)
    if not places:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for place in places:
        x = inputs[place]
        if x.dtype not in (float64, complex128):
            warn_user(
                f"Input #{place} requires gradient and is not a double precision floating point or complex. This check "
                "will likely fail if all the inputs are not of double precision floating point or complex. "
            )
        if any(n > 1 and step == 0 for n, step in zip(x.ndarray.shape, x.ndarray.strides, strict=True)):
            raise RuntimeError(
                f"The {place}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )


def _check_constant(func: Function, inputs: tuple[Any, ...], options: _Options) -> None:
    """A function none of whose results requires gradients has none."""
    differences = Numerical(func, inputs, options.eps)
    for place in tracked(inputs):
        for numerical in differences.jacobians(place):
            if not options.agree(0, numerical):
                raise GradcheckError("Numerical gradient for function expected to be zero")


def _mismatch(output: int, place: int, numerical: Any, analytical: Any, how: str = "") -> GradcheckError:
    computed = "Jacobian computed with forward mode mismatch" if how == "forward" else "Jacobian mismatch"
    numbers = [f"{x:.17g}" if np.ndim(x) == 0 else str(from_numpy(np.array(x))) for x in (numerical, analytical)]
    return GradcheckError(
        f"{computed} for output {output} with respect to input {place},\nnumerical:{numbers[0]}\n"
        f"analytical:{numbers[1]}\n"
    )


def _compare(func: Function, inputs: tuple[Any, ...], outputs: tuple[Any, ...], options: _Options) -> None:
    """All elements of the Jacobians."""
    differences = Numerical(func, inputs, options.eps)
    for place in tracked(inputs):
        for i, (out, numerical) in enumerate(zip(outputs, differences.jacobians(place), strict=True)):
            analytical = reverse_jacobian(out, inputs[place])
            if not options.agree(analytical, numerical):
                raise _mismatch(i, place, numerical, analytical)
            _check_again(analytical, reverse_jacobian(out, inputs[place]), options)
            if options.dtypes:
                _check_type(out, inputs[place])


def _check_again(first: Any, second: Any, options: _Options) -> None:
    if np.size(first) and np.abs(first - second).max() > options.nondet_tol:
        raise GradcheckError(_REENTRANT.format(options.nondet_tol))


def _check_type(output: Any, x: Any) -> None:
    ones = np.ones(numbers_of(output).size)
    (g,) = grad(output, x, tensor_of(ones, output), retain_graph=True, allow_unused=True)
    if g is not None and g.dtype is not x.dtype:
        raise GradcheckError(f"Gradient has dtype mismatch: {g.dtype} for an input of {x.dtype}")


def _between(size: int, draw: np.random.Generator) -> np.ndarray:
    """A random direction."""
    vector = draw.uniform(0.1, 1, size)
    return vector / np.linalg.norm(vector) if size else vector


def _compare_fast(func: Function, inputs: tuple[Any, ...], outputs: tuple[Any, ...], options: _Options) -> None:
    """The Jacobians between two vectors, which are drawn the same way each time."""
    differences, draw = Numerical(func, inputs, options.eps), np.random.default_rng(0)
    for place in tracked(inputs):
        along = _between(numbers_of(inputs[place]).size, draw)
        for i, (out, change) in enumerate(zip(outputs, differences.along(place, along), strict=True)):
            across = _between(change.size, draw)
            numerical = float(across @ change)
            analytical = float(pulled(out, inputs[place], across) @ along)
            if not options.agree(analytical, numerical, options.atol * across.sum() * along.sum()):
                raise _in_full(_mismatch(i, place, numerical, analytical), differences, out, inputs, place, i)
            _check_again(analytical, float(pulled(out, inputs[place], across) @ along), options)
            if options.dtypes:
                _check_type(out, inputs[place])


def _in_full(
    error: GradcheckError, differences: Numerical, output: Any, inputs: tuple[Any, ...], place: int, number: int
) -> GradcheckError:
    """What fast mode has found, with the whole Jacobians."""
    numerical, analytical = differences.jacobians(place)[number], reverse_jacobian(output, inputs[place])
    return GradcheckError(
        f"{error}\nThe above quantities relating the numerical and analytical jacobians are computed in fast mode. All "
        f"elements, in slow mode:\n\nNumerical:\n {from_numpy(numerical)}\nAnalytical:\n{from_numpy(analytical)}\n\n"
        f"The max per-element difference (slow mode) is: {np.abs(numerical - analytical).max()}.\n"
    )


def _check_forward(func: Function, inputs: tuple[Any, ...], options: _Options) -> None:
    """`jvp` against differences, in full or along one random direction."""
    differences, draw = Numerical(func, inputs, options.eps), np.random.default_rng(0)
    for place in tracked(inputs):
        if options.fast:
            along = _between(numbers_of(inputs[place]).size, draw)
            pairs = zip(pushed(func, inputs, place, along), differences.along(place, along), strict=True)
        else:
            pairs = zip(forward_jacobians(func, inputs, place), differences.jacobians(place), strict=True)
        for i, (analytical, numerical) in enumerate(pairs):
            if not options.agree(analytical, numerical):
                raise _mismatch(i, place, numerical, analytical, "forward")


def _check_batched(inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    for i, out in enumerate(outputs):
        for place in tracked(inputs):
            expected, found = reverse_jacobian(out, inputs[place]), batched_jacobian(out, inputs[place])
            if not np.allclose(expected, found):
                raise GradcheckError(
                    f"For output {i} and input {place}:\n\ngradcheck or gradgradcheck failed while testing batched "
                    f"gradient computation.\n\nGot:\n{found}\n\nExpected:\n{expected}\n"
                )


def _check_zero(inputs: tuple[Any, ...], outputs: tuple[Any, ...]) -> None:
    """Gradients are linear in those of the outputs."""
    zeros = [tensor_of(np.zeros(numbers_of(out).size), out) for out in outputs]
    wanted = [inputs[place] for place in tracked(inputs)]
    for g in grad(outputs, wanted, zeros, retain_graph=True, allow_unused=True):
        if g is not None and np.any(numbers_of(g)):
            raise GradcheckError("backward not multiplied by grad_output")


def _check_undefined(outputs: tuple[Any, ...]) -> None:
    """Functions of the program are asked for the gradients of outputs without any."""
    for node in _functions_behind(outputs):
        wanted = [edge.node is not None for edge in node.edges]
        for g in node.backward([None] * node.outputs, wanted):
            if g is not None and np.any(numbers_of(g)):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are undefined or zero."
                )


def _functions_behind(outputs: tuple[Any, ...]) -> Iterator[FunctionNode]:
    """The nodes of ``autograd.Function``\\ s that outputs were computed by."""
    stack = [out.gradient_edge().node for out in outputs]
    seen = set()
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if isinstance(node, FunctionNode):
            yield node
        stack += [edge.node for edge in node.edges]


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """``gradcheck`` of the gradients of `func`: its second derivatives.

    `grad_outputs` are the cotangents of the outputs that require gradients (default: random numbers, which require
    gradients themselves; with `gen_non_contig_grad_outputs` every second element of twice as many).
    `check_rev_over_rev` and `check_fwd_over_rev` are what ``gradcheck`` calls `check_backward_ad` and
    `check_forward_ad`; the other options are the same. AssertionError for options that contradict each other.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0, 2.0], dtype=tg.float64, requires_grad=True)
    >>> tg.autograd.gradgradcheck(lambda x: (x ** 3).sum(), (x,))
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if not check_rev_over_rev and (check_undefined_grad or check_batched_grad):
        name = "check_undefined_grad" if check_undefined_grad else "check_batched_grad"
        raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    given = as_tuple(inputs)
    places = tracked(given)
    if grad_outputs is None:
        cotangents = _drawn(differentiable(func(*given)), gen_non_contig_grad_outputs)
    else:
        cotangents = as_tuple(grad_outputs)

    def gradients(*args: Any) -> Any:
        own, of_outputs = args[: len(given)], args[len(given) :]
        wanted = [own[place].requires_grad_() for place in places]  # dual tensors do not require gradients
        outputs = differentiable(func(*own))
        found = grad(outputs, wanted, of_outputs, create_graph=True, allow_unused=True)
        return tuple(g for g in found if g is not None)

    return gradcheck(
        gradients, (*given, *cotangents), eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
        nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad, check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev, fast_mode=fast_mode, masked=masked,
    )  # fmt: skip


def _drawn(outputs: Sequence[Any], with_gaps: bool) -> tuple[Any, ...]:
    """Cotangents between -1 and 1 that require gradients."""
    draw, found = np.random.default_rng(0), []
    for out in outputs:
        dtype, shape = out.ndarray.dtype, tuple(out.shape)
        wide = (*shape[:-1], 2 * shape[-1]) if with_gaps and shape else shape
        numbers = np.zeros(wide, dtype)
        parts(numbers.reshape(-1))[:] = draw.uniform(-1, 1, parts(numbers.reshape(-1)).size)
        found.append(from_numpy(numbers[..., ::2] if wide != shape else numbers).requires_grad_())
    return tuple(found)
