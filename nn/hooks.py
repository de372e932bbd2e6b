"""Hooks around a module's call: before and after its forward, and, as two borders on the tape, around its backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..tape.nodes import Edge, Node
from ..tensors.tensor import Tensor
from ..tracing.declares import Declares
from ..tracing.watch import watcher

Gradients = tuple[Any, ...]
Hook = Callable[[Gradients], Any]


def _hook_of(value: Any) -> list[Any]:
    return [value.hook]


@dataclass(frozen=True)
class ForwardPreHook:
    """A user's hook that may replace the arguments of a call."""

    _declares: ClassVar = Declares(attributes=True, parts=_hook_of)

    hook: Callable[..., Any]
    with_kwargs: bool

    def __call__(self, module: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
        if not self.with_kwargs:
            return _replaced(self.hook(module, args), args), kwargs
        given = self.hook(module, args, kwargs)
        if given is None:
            return args, kwargs
        if not isinstance(given, tuple) or len(given) != 2:
            raise RuntimeError(
                f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {given}."
            )
        return given


@dataclass(frozen=True)
class ForwardHook:
    """A user's hook that may replace the output of a call, perhaps called also where there is none."""

    _declares: ClassVar = Declares(attributes=True, parts=_hook_of)

    hook: Callable[..., Any]
    with_kwargs: bool
    always: bool = False

    def __call__(self, module: Any, args: Any, kwargs: Any, output: Any) -> Any:
        given = self.hook(module, args, kwargs, output) if self.with_kwargs else self.hook(module, args, output)
        return output if given is None else given


@dataclass(frozen=True)
class BackwardHook:
    """A user's hook of a module's backward pass, or, in PyTorch's old way, of its last operation's."""

    _declares: ClassVar = Declares(attributes=True, parts=_hook_of)

    hook: Callable[..., Any]
    full: bool


class Border(Node):
    """Lets gradients pass; `passed` is told about them and may give others back."""

    user_defined = True  # the engine must not take over gradients that a hook may have kept

    def __init__(self, title: str, edges: tuple[Edge, ...], passed: Hook) -> None:
        super().__init__(title, edges)
        listening = watcher()
        self.origin = None if listening is None else listening.origin()
        self.outputs = len(edges)
        self.passed = passed

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        replaced = self.passed(tuple(cotangents))
        if replaced is None:
            return list(cotangents)
        return list(replaced) if isinstance(replaced, tuple) else [replaced]


class BackwardHooks:
    """One call of a module with backward hooks: remembers the outputs' gradients until the inputs' are known."""

    def __init__(self, module: Any, before: Sequence[Callable[..., Any]], after: Sequence[Callable[..., Any]]) -> None:
        self.module = module
        self.before = before
        self.after = after
        self.grad_output: Gradients = ()
        self.inputs = 0
        self.tracked: list[int] = []

    def around_inputs(self, args: Gradients) -> Gradients:
        """The positional arguments, those that require gradients behind a border."""
        self.inputs = len(args)
        self.tracked = [i for i, a in enumerate(args) if isinstance(a, Tensor) and a.requires_grad]
        return _behind_border(args, self.tracked, self._inputs_reached)

    def around_outputs(self, output: Any) -> Any:
        """A module's output, a tensor or a tuple, with its tensors behind a border."""
        outputs = output if isinstance(output, tuple) else (output,)
        tracked = [i for i, o in enumerate(outputs) if isinstance(o, Tensor) and o.requires_grad]
        bordered = _behind_border(outputs, tracked, self._outputs_reached)
        return bordered if isinstance(output, tuple) else bordered[0]

    def _outputs_reached(self, grad_output: Gradients) -> Gradients:
        for hook in self.before:
            grad_output = _replaced(hook(self.module, grad_output), grad_output)
        self.grad_output = grad_output
        if not self.tracked:
            self._run((None,) * self.inputs)
        return grad_output

    def _inputs_reached(self, gradients: Gradients) -> Gradients:
        by_place = dict(zip(self.tracked, gradients, strict=True))
        grad_input = self._run(tuple(by_place.get(i) for i in range(self.inputs)))
        return tuple(grad_input[i] for i in self.tracked)

    def _run(self, grad_input: Gradients) -> Gradients:
        for hook in self.after:
            grad_input = _replaced(hook(self.module, grad_input, self.grad_output), grad_input)
        return grad_input


def _replaced(given: Any, before: Gradients) -> Gradients:
    if given is None:
        return before
    return given if isinstance(given, tuple) else (given,)


def _behind_border(values: Gradients, tracked: Sequence[int], passed: Hook) -> Gradients:
    if not tracked:
        return values
    border = Border("BackwardHookFunctionBackward", tuple(values[i].gradient_edge() for i in tracked), passed)
    bordered = list(values)
    for output, i in enumerate(tracked):
        alias = values[i].detach()
        alias.attach(border, output)
        bordered[i] = alias
    return tuple(bordered)
