"""The tangents of what a ``Function`` returns: by its `jvp`, or from its `backward`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops.core import interpreted
from ..ops.sources import zeros
from ..ops.types import DIFFERENTIABLE_KINDS
from ..tape.tangents import Region, without_tangents
from ..tensors.tensor import Tensor
from .forward_mode import ForwardTape, Tangents


def applied_forward(tape: ForwardTape, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``function.apply(*args, **kwargs)`` within a level of forward mode.

    `forward` and `jvp` compute with numbers alone: what they do has no tangents of its own.
    """
    returned, ctx = without_tangents(interpreted, tape.around, function.applied, args, kwargs)
    outputs = returned if isinstance(returned, tuple) else (returned,)
    tangents = tape.tangents_of(args)
    if tangents and function.jvp is None:
        _from_backward(tape, function, ctx, args, outputs, tangents)
    elif tangents:
        found = without_tangents(interpreted, tape.around, function.jvp, ctx, *_given(ctx, args, tangents))
        _take(tape, function, ctx, args, outputs, found, tangents)
    ctx.for_forward = None
    return returned


def _given(ctx: Any, args: Sequence[Any], tangents: Tangents) -> list[Any]:
    """What `jvp` gets for each argument: zeros, or None, for tensors without a tangent, None for anything else."""
    materialised = ctx.materialize_grads
    return [
        tangents[i] if i in tangents else zeros(x.type_) if materialised and _is_differentiable(x) else None
        for i, x in enumerate(args)
    ]


def _is_differentiable(x: Any) -> bool:
    return isinstance(x, Tensor) and x.ndarray.dtype.kind in DIFFERENTIABLE_KINDS


def _from_backward(
    tape: ForwardTape, function: Any, ctx: Any, args: Sequence[Any], outputs: Sequence[Any], tangents: Tangents
) -> None:
    def pull_back(cotangents: list[Any]) -> list[Any]:
        before, ctx.needs_input_grad = ctx.needs_input_grad, tuple(i in tangents for i in range(len(args)))
        given = [zeros(x.type_) if g is None else g for g, x in zip(cotangents, outputs, strict=True)]
        found = function.backward(ctx, *given)
        ctx.needs_input_grad = before
        return list(found) if isinstance(found, tuple) else [found]

    constant = [i for i, x in enumerate(outputs) if any(x is other for other in ctx.non_differentiable)]
    tape.give(outputs, constant, tangents, args, pull_back)


def _take(
    tape: ForwardTape,
    function: Any,
    ctx: Any,
    args: Sequence[Any],
    outputs: Sequence[Any],
    found: Any,
    tangents: Tangents,
) -> None:
    """Give its tangent to each output. RuntimeError for tangents that do not fit to what `forward` has done."""
    changes = found if isinstance(found, tuple) else (found,)
    if len(changes) != len(outputs):
        raise RuntimeError(
            f"Function's jvp returned an invalid number of forward gradients (expected {len(outputs)} but got "
            f"{len(changes)}): {function.__name__}.jvp returns one for each output of forward, None where there is none"
        )
    for place, (out, change) in enumerate(zip(outputs, changes, strict=True)):
        if change is None:
            continue
        if not isinstance(change, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(change).__name__}) for grad output {place}. "
                f"{function.__name__}.jvp returned it."
            )
        if not _is_differentiable(out) or any(out is other for other in ctx.non_differentiable):
            raise RuntimeError(
                f"Function's jvp returned a gradient at position {place}, but the corresponding forward output is not "
                "a differentiable Tensor. You should return None at that position instead."
            )
        _require_size(out, change)
        _check_memory(ctx, args, out, change, tangents)
        region = Region(out)
        region.tangent = change
        tape.level.place(out, region)


def _require_size(out: Any, change: Any) -> None:
    if out.shape != change.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not "
            f"supported. Tensor is of size {list(out.shape)} while the given forward gradient is of size "
            f"{list(change.shape)}."
        )


def _check_memory(ctx: Any, args: Sequence[Any], out: Any, change: Any, tangents: Tangents) -> None:
    """RuntimeError unless the tangent shares memory with that of an input as the output does with the input."""
    source = next((i for i in tangents if args[i].buffer is out.buffer), None)
    if source is None or change.buffer is tangents[source].buffer:
        return
    if any(out is other for other in ctx.dirty):
        raise RuntimeError(
            "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
            "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
        )
    raise RuntimeError(
        "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
    )
