"""The usual call in one function: tensors by position, nothing rebound, gradients and results that nobody keeps.

`Specialisation.matches` and `call` say what a call means. This says the same for the call that is made a million
times, without a walk over structures: what is not as usual gives `UNUSUAL`, with nothing done, and the general way
decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..autograd.grad_mode import is_grad_enabled
from ..autograd.tensor import Tensor, make
from ..autograd.watch import changes
from ..ops.memory import CACHE_LINE
from ..ops.types import get_default_dtype
from ..runtime.program import address_of
from .binding import CheckFailed
from .memory import memory_of
from .steady import Steady

if TYPE_CHECKING:
    from .specialisation import Specialisation

UNUSUAL = object()


def usual_call(of: Specialisation) -> Callable[[tuple[Any, ...]], Any] | None:
    """The function for `of`, or None if its calls are never usual: arguments that are no tensors or that are written,
    results that are joined to the tape, captured tensors that have to be copied."""
    if not _can_be_usual(of):
        return None
    steady, looked_at = Steady(of.recording.surroundings), -1
    arguments_point, fresh_result = _arguments(of), _fresh_result(of)
    modes, result, lock, binding, grads = of.recording.modes, of.results.fresh[0], of.lock, of.binding, of.grads
    written_buffers, codes, run, gradients_free = of.captured.written_buffers, binding.codes, binding.run, grads.are_free
    grad_enabled, default_dtype = modes.grad_enabled, modes.default_dtype

    def call(args: tuple[Any, ...]) -> Any:
        nonlocal steady, looked_at
        if is_grad_enabled() is not grad_enabled or get_default_dtype() is not default_dtype:
            return UNUSUAL
        with lock:
            if changes.count != looked_at:
                if changes.count != of.seen:
                    return UNUSUAL
                steady, looked_at = Steady(of.recording.surroundings), of.seen
                grads.look_again()
            if not (arguments_point(args) and steady.holds() and gradients_free()):
                return UNUSUAL
            fresh, written = fresh_result(), iter(written_buffers)
            codes.clear()
            try:
                run()
                for buffer in written:
                    buffer.version += 1
            except CheckFailed:
                return UNUSUAL  # nothing was written; the general way gives the eager error
            except BaseException:  # an interrupt: the call has its whole effect, if C has run
                if binding.has_run:
                    for buffer in written:
                        buffer.version += 1
                raise
        if result.spent is not None:
            fresh.attach(result.spent, 0)
        elif result.leaf:
            fresh.requires_grad_()
        return fresh

    return call


def _can_be_usual(of: Specialisation) -> bool:
    if of.arguments.simple is None or of.backward is not None or of.written_arguments or of.grads.to_none:
        return False
    captured = of.captured
    if captured.copied or captured.vary or captured.writes_normals or not of.results.is_one_tensor:
        return False
    if any(spec.only is not None or spec.requires_grad for spec in of.arguments.simple):
        return False
    return not any(output.path is not None or output.always_new for output in of.grads.outputs)


def _arguments(of: Specialisation) -> Callable[[tuple[Any, ...]], bool]:
    """Check the arguments and point the table to them: plain tensors without a history."""
    specs = [(spec.layout, spec.slot) for spec in of.arguments.simple or ()]
    count, contiguous = len(specs), all(layout.contiguous for layout, _ in specs)
    captured, alias_free = of.arguments.captured, of.arguments.alias_free
    set_address = of.binding.slots.set_address

    def point(args: tuple[Any, ...]) -> bool:
        if len(args) != count or not contiguous:
            return False
        owners = []
        for tensor, (layout, slot) in zip(args, specs):  # noqa: B905  the lengths were compared
            if type(tensor) is not Tensor:
                return False
            memory = tensor.memory
            if memory is None or memory[0] is not tensor.ndarray:
                memory = memory_of(tensor)
            if memory[1] is not layout:
                return False
            if tensor._requires or tensor._node is not None or tensor._base is not None:
                return False
            owners.append(memory[3])
            if slot is not None:
                set_address(slot, memory[2])
        return alias_free or (len(set(owners)) == count and captured.isdisjoint(owners))

    return point


def _fresh_result(of: Specialisation) -> Callable[[], Tensor]:
    """`Binding.fresh_result` of the one result; small memory needs no care for cache lines."""
    binding, type_ = of.binding, of.binding.result_types[0]
    shape, dtype, slot, set_address = type_.shape, type_.dtype.numpy, binding.first_result, binding.slots.set_address
    if type_.size * dtype.itemsize >= CACHE_LINE:
        return lambda: binding.fresh_result(0)

    def fresh() -> Tensor:
        array = np.empty(shape, dtype)
        set_address(slot, address_of(array))
        return make(array)

    return fresh
