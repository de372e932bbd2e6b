"""The usual call in one function: tensors by position, nothing rebound, gradients and results that nobody keeps.

`Specialisation.matches` and `call` say what a call means. This says the same for the call that is made a million
times, without a walk over structures: what is not as usual gives `UNUSUAL`, with nothing done, and the general way
decides.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from sys import getrefcount
from typing import TYPE_CHECKING, Any

from ..autograd.grad_mode import is_grad_enabled
from ..autograd.tensor import Tensor
from ..autograd.watch import changes
from ..ops.types import get_default_dtype
from .arguments import TensorArgument
from .binding import CheckFailed
from .grads import GRADIENT_REFERENCES
from .memory import memory_of

if TYPE_CHECKING:
    from .specialisation import Specialisation

UNUSUAL = object()


def usual_call(of: Specialisation) -> Callable[[tuple[Any, ...]], Any] | None:
    """The function for `of`, or None if its calls are never usual: arguments that are no tensors or that are written,
    results that are joined to the tape, captured tensors that have to be copied."""
    if of.arguments.simple is None or of.backward is not None or of.written_arguments or of.grads.to_none:
        return None
    captured = of.captured
    if captured.copied or captured.vary or captured.writes_normals or not of.results.is_one_tensor:
        return None
    if any(isinstance(s, TensorArgument) and (s.only is not None or s.requires_grad) for s in of.arguments.simple):
        return None
    if any(output.path is not None or output.always_new for output in of.grads.outputs):
        return None
    surroundings_hold, arguments_point = _surroundings(of), _arguments(of)
    gradients_free, modes, result = _gradients(of), of.recording.modes, of.results.fresh[0]
    run, lock = of.binding.run, of.lock
    numbers_hold = of.inputs.reader()
    outputs, grad_enabled, default_dtype = of.grads.outputs, modes.grad_enabled, modes.default_dtype

    def call(args: tuple[Any, ...]) -> Any:
        if changes.count != of.seen or is_grad_enabled() is not grad_enabled:
            return UNUSUAL
        if get_default_dtype() is not default_dtype:
            return UNUSUAL
        with lock:
            if not (arguments_point(args) and surroundings_hold() and gradients_free() and numbers_hold(args)):
                return UNUSUAL
            fresh = of.binding.fresh_result(0)
            try:
                run()
            except CheckFailed:
                return UNUSUAL  # nothing was written; the general way gives the eager error
            for buffer in captured.written_buffers:
                buffer.version += 1
        for output in outputs:
            output.bound.buffer.version += 1  # type: ignore[union-attr]
        if result.spent is not None:
            fresh.attach(result.spent, 0)
        elif result.leaf:
            fresh.requires_grad_()
        return fresh

    return call


def _arguments(of: Specialisation) -> Callable[[tuple[Any, ...]], bool]:
    """Check the arguments and point the table to them: plain tensors without a history. Numbers come later."""
    expected = of.arguments.simple or ()
    places = [i for i, spec in enumerate(expected) if isinstance(spec, TensorArgument)]
    specs = [(spec.layout, spec.slot) for spec in expected if isinstance(spec, TensorArgument)]
    length, count, contiguous = len(expected), len(specs), all(layout.contiguous for layout, _ in specs)
    pick = None if count == length else places
    captured, alias_free = of.arguments.captured, of.arguments.alias_free
    set_address = of.binding.slots.set_address

    def point(args: tuple[Any, ...]) -> bool:
        if len(args) != length or not contiguous:
            return False
        if pick is not None:
            args = tuple([args[i] for i in pick])
        owners = set()
        for tensor, (layout, slot) in zip(args, specs):  # noqa: B905  the lengths were compared
            if type(tensor) is not Tensor:
                return False
            memory = memory_of(tensor)
            if memory[1] is not layout:
                return False
            if tensor._requires or tensor._node is not None or tensor._base is not None:
                return False
            owners.add(memory[3])
            if slot is not None:
                set_address(slot, memory[2])
        return alias_free or (len(owners) == count and captured.isdisjoint(owners))

    return point


def _surroundings(of: Specialisation) -> Callable[[], bool]:
    """True while variables are bound to the same objects and containers hold the same items."""
    surroundings = of.recording.surroundings
    bindings = [(get, value) for get, value, _ in surroundings.bindings]
    contents = [(fact.get, items) for fact, items in surroundings.contents]
    opened = surroundings.opened

    def hold() -> bool:
        for get, value in bindings:
            if get() is not value:
                return False
        for get, items in contents:
            now = get()
            found = (*now, *now.values()) if isinstance(now, dict) else now
            if items is None or len(found) != len(items) or not all(map(is_, found, items)):
                return False
        for same, fact in opened:
            if not same() and not fact.holds():
                return False
        return True

    return hold


def _gradients(of: Specialisation) -> Callable[[], bool]:
    """True if each gradient of the last call is in place and nobody else holds it: it may be overwritten."""
    outputs = of.grads.outputs

    def free() -> bool:
        for output in outputs:
            grad = output.tensor._grad
            if grad is None or getrefcount(grad) != GRADIENT_REFERENCES or not output.is_free(grad):
                return False
        return True

    return free
