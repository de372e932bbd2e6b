"""Hooks around a module's call: before and after its forward, and, as two borders on the tape, around its backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.sources import zeros
from ..ops.types import Type
from ..tape.grad_mode import is_recording
from ..tape.hook_results import all_checked
from ..tape.nodes import Edge, Node
from ..tape.tangents import alias_of
from ..tensors.tensor import Tensor
from ..tensors.written.unfollowed import by_custom_function
from ..tracing.user_warning import warn_user
from ..tracing.watch import watcher

Gradients = tuple[Any, ...]
Hook = Callable[[Gradients], Any]


class Border(Node):
    """Lets gradients pass; `passed` is told about them and may give others back. Where one is missing, zeros pass.

    With `fills_first`, `passed` sees the zeros, too: hooks of a module see None for an output without gradient, but
    zeros for an input.
    """

    user_defined = True  # the engine must not take over gradients that a hook may have kept

    def __init__(self, edges: tuple[Edge, ...], types: Sequence[Type], passed: Hook, fills_first: bool) -> None:
        super().__init__(f"{_TITLE}Backward", edges)
        self.rename(self.title)
        listening = watcher()
        self.origin = None if listening is None else listening.origin()
        self.outputs = len(edges)
        self.types = types
        self.passed = passed
        self.fills_first = fills_first

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        given = tuple(cotangents)
        return list(self._without_holes(self.passed(self._without_holes(given) if self.fills_first else given)))

    def _without_holes(self, gradients: Gradients) -> Gradients:
        return tuple(zeros(of) if g is None else g for g, of in zip(gradients, self.types, strict=True))


class BackwardHooks:
    """One call of a module with backward hooks: remembers the outputs' gradients until the inputs' are known."""

    def __init__(self, module: Any, before: Sequence[Callable[..., Any]], after: Sequence[Callable[..., Any]]) -> None:
        self.module = module
        self.before = before
        self.after = after
        self.grad_output: Gradients | None = None
        self.inputs = self.outputs = 0
        self.tracked: list[int] = []
        self.tracked_outputs: list[int] = []

    def around_inputs(self, args: Gradients) -> Gradients:
        """The positional arguments, those that require gradients behind a border."""
        self.inputs = len(args)
        self.tracked = _requiring(args)
        return _behind_border(args, self.tracked, self._inputs_reached, fills_first=True)

    def around_outputs(self, output: Any) -> Any:
        """A module's output, a tensor or a tuple, with its tensors behind a border; anything else gets a warning."""
        if not isinstance(output, (Tensor, tuple)):
            warn_user(
                "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but received "
                f"{type(output)}"
            )
            return output
        outputs = output if isinstance(output, tuple) else (output,)
        self.outputs = len(outputs)
        self.tracked_outputs = _requiring(outputs)
        bordered = _behind_border(outputs, self.tracked_outputs, self._outputs_reached, fills_first=False)
        if not isinstance(output, tuple):
            return bordered[0]
        return bordered if type(output) is tuple else type(output)(*bordered)

    def _outputs_reached(self, gradients: Gradients) -> Gradients:
        grad_output = _spread(gradients, self.tracked_outputs, self.outputs)
        for hook in self.before:
            grad_output = _replaced(hook(self.module, grad_output), grad_output, "pre hook", "grad_output")
        self.grad_output = grad_output
        if not self.tracked:
            self._run_without_inputs()
        return tuple(all_checked(tuple(grad_output[i] for i in self.tracked_outputs), gradients, "hook"))

    def _run_without_inputs(self) -> None:
        if self.after:
            warn_user(
                "Full backward hook is firing when gradients are computed with respect to module outputs since no "
                "inputs require gradients. See Module.register_full_backward_hook."
            )
        for hook in self.after:
            given = hook(self.module, (None,) * self.inputs, self.grad_output)
            if given is not None and not (isinstance(given, tuple) and all(g is None for g in given)):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.grad_output = None

    def _inputs_reached(self, gradients: Gradients) -> Gradients:
        if self.grad_output is None:  # the gradients came past the module's output, e.g. in a second derivative
            return gradients
        grad_input = _spread(gradients, self.tracked, self.inputs)
        for hook in self.after:
            given = hook(self.module, grad_input, self.grad_output)
            grad_input = _replaced(given, grad_input, "hook", "grad_input")
        self.grad_output = None
        return tuple(all_checked(tuple(grad_input[i] for i in self.tracked), gradients, "hook"))


#: What PyTorch calls the operation between a module and what is around it.
_TITLE = "BackwardHookFunction"


def _requiring(values: Gradients) -> list[int]:
    if not is_recording():
        return []
    return [i for i, x in enumerate(values) if isinstance(x, Tensor) and x.requires_grad]


def _spread(values: Sequence[Any], places: Sequence[int], count: int) -> Gradients:
    """`values` at their places among `count`, None at the others."""
    by_place = dict(zip(places, values, strict=True))
    return tuple(by_place.get(i) for i in range(count))


def _replaced(given: Any, before: Gradients, kind: str, of: str) -> Gradients:
    """What a hook returned in the place of `before`. RuntimeError where there are more or fewer."""
    if given is None:
        return before
    if len(given) != len(before):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {of}, got {len(given)}, but expected {len(before)}"
        )
    return tuple(given)


def _behind_border(values: Gradients, tracked: Sequence[int], passed: Hook, fills_first: bool) -> Gradients:
    if not tracked:
        return values
    edges = tuple(values[i].gradient_edge() for i in tracked)
    border = Border(edges, [values[i].type_ for i in tracked], passed, fills_first)
    bordered = list(values)
    for output, i in enumerate(tracked):
        alias = alias_of(values[i])
        alias.attach(border, output)
        alias.view_of_several = by_custom_function(output, _TITLE)
        bordered[i] = alias
    return tuple(bordered)
