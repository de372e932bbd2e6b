"""Activation checkpointing: intermediate values are computed again for the backward pass instead of being kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..tape.engine import Sweep
from ..tape.grad_mode import enable_grad, is_grad_enabled, no_grad, switches
from ..tape.nodes import SECOND_BACKWARD, AccumulateGrad, Edge, Node, count_now
from ..tape.reverse import accumulate
from ..tape.saved import Saved
from ..tape.tangents import alias_of
from ..tensors import autocasting
from ..tensors.generator import default_generator
from ..tensors.tensor import Tensor
from ..tracing.user_warning import warn_user
from ..tracing.watch import watcher

__all__ = [
    "CheckpointError",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]


class CheckpointError(RuntimeError):
    """What was computed again is not what was computed first: other shapes or types. A RuntimeError, raised in the
    backward pass.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import CheckpointError
    >>> issubclass(CheckpointError, RuntimeError)
    True
    """


def noop_context_fn() -> tuple[AbstractContextManager[Any], AbstractContextManager[Any]]:
    """Two contexts that do nothing: the default of `context_fn`.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import noop_context_fn
    >>> len(noop_context_fn())
    2
    """
    return nullcontext(), nullcontext()


class _InnerSweep(Sweep):
    """The backward pass of what was computed again: it ends where that begins, and leaves hooks there to the outer."""

    def _visit(self, node: Node, useful: Set[Node]) -> None:
        if not any(edge.node is node for edge in self.captures):
            super()._visit(node, useful)
            return
        for output, gradient in self.pending.pop(node, {}).items():
            if Edge(node, output) in self.captures:
                self.captures[Edge(node, output)] = gradient


class _Checkpoint(Node):
    """A call on the tape of which only the arguments are kept."""

    user_defined = True

    def __init__(self, call: _Call, edges: Sequence[Edge]) -> None:
        super().__init__("CheckpointFunctionBackward", tuple(edges))
        self.rename(self.title)
        self.call: _Call | None = call
        listening = watcher()
        self.origin = None if listening is None else listening.origin()

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.call is None:
            raise RuntimeError(SECOND_BACKWARD)
        outputs = self.call.again(self)
        roots = [(out.gradient_edge(), g) for out, g in zip(outputs, cotangents, strict=True) if g is not None]
        create_graph = bool(switches.enabled)
        captures = dict.fromkeys(edge for edge, want in zip(self.edges, wanted, strict=True) if want)
        sweep = _InnerSweep(create_graph, create_graph, accumulate, captures)
        for edge, g in roots:
            sweep.seed(edge, g)
        sweep.run([edge for edge, _ in roots])
        return [sweep.captures.get(edge) for edge in self.edges]

    def release(self) -> None:
        self.call = None


class _Call:
    """A function and its arguments, to be called twice."""

    def __init__(self, function: Any, args: Any, kwargs: Any, preserve: bool, context: Any, check: bool) -> None:
        self.function, self.kwargs, self.context, self.check = function, kwargs, context, check
        self.args = [Saved(x, is_output=False) if isinstance(x, Tensor) else x for x in args]
        self.state = default_generator.snapshot() if preserve else None
        self.autocast = autocasting.state.modes
        self.outputs: list[tuple[Any, Any]] = []  # shapes and types of those with gradients

    def again(self, node: Node) -> list[Any]:
        """The outputs that have gradients, with their history."""
        args = [x.unpack(node) if isinstance(x, Saved) else x for x in self.args]
        with enable_grad(), autocasting.using(self.autocast), _Randomness(self.state), self.context:
            outputs = _tracked(_tuple(self.function(*args, **self.kwargs)))
        found = [(out.shape, out.dtype) for out in outputs]
        if found != self.outputs and (self.check or len(found) != len(self.outputs)):
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than "
                f"during the forward pass: outputs were {self.outputs}, now {found}. The function must compute the "
                "same each time."
            )
        return outputs


class _Randomness:
    """The generator's state of the first call, while the region is computed again; nothing for None."""

    def __init__(self, state: Any) -> None:
        self._state = state

    def __enter__(self) -> None:
        if self._state is not None:
            self._now = default_generator.snapshot()
            default_generator._restore(*self._state)

    def __exit__(self, *exc_info: object) -> None:
        if self._state is not None:
            default_generator._restore(*self._now)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def _tracked(outputs: Sequence[Any]) -> list[Any]:
    return [out for out in outputs if isinstance(out, Tensor) and out.requires_grad]


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)`` without keeping what its derivative needs: the backward pass calls it again.

    The random state is put back for the second call unless ``preserve_rng_state=False``. With ``use_reentrant=True``
    one of the tensors in `args` must require gradients (a warning, and no gradients, if none does), and keyword
    arguments are refused (ValueError). `context_fn` gives one context for each of the two calls. CheckpointError if
    the second call gives other shapes or dtypes, unless ``determinism_check="none"``.

    Difference: a call with ``use_reentrant=True`` also works with ``autograd.grad`` and ``backward(inputs=...)``; the
    second call always runs to its end (`early_stop`), and a CheckpointError has no traces (`debug`). In a compiled
    function both calls are recorded: whether values are kept is the compiler's decision there (``memory_limit``).

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import checkpoint
    >>> x = tg.tensor([1.0, 2.0], requires_grad=True)
    >>> checkpoint(lambda x: (x * x).exp().log(), x, use_reentrant=False).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    """
    if use_reentrant is None:
        warn_user(
            "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch "
            "2.9, calling checkpoint without use_reentrant will raise an exception. use_reentrant=False is "
            "recommended, but if you need to preserve the current default behavior, you can pass use_reentrant=True.",
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant and kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if use_reentrant and (context_fn is not noop_context_fn or debug):
        raise ValueError("Passing `context_fn` or `debug` is only supported when use_reentrant=False.")
    if determinism_check not in ("default", "none"):
        raise ValueError(f"determinism_check should be one of {['default', 'none']}, but got {determinism_check}")
    first, second = context_fn()
    if use_reentrant and is_grad_enabled() and not _tracked(args):
        check_backward_validity(args)
        with no_grad():
            return function(*args)
    call = _Call(function, args, kwargs, preserve, second, determinism_check == "default")
    begun = count_now()
    with first:
        returned = function(*args, **kwargs)
    return _remembered(call, returned, begun) if is_grad_enabled() else returned


def _remembered(call: _Call, returned: Any, begun: int) -> Any:
    """The outputs, with the call as their history; what was recorded since `begun` is let go."""
    outputs = _tuple(returned)
    tracked = _tracked(outputs)
    if not tracked:
        return returned
    node = _Checkpoint(call, _edges_before([out.gradient_edge() for out in tracked], begun))
    node.outputs = len(tracked)
    call.outputs = [(out.shape, out.dtype) for out in tracked]
    aliases = {id(out): _alias(out, node, place) for place, out in enumerate(tracked)}
    found = [aliases.get(id(out), out) for out in outputs]
    return found[0] if not isinstance(returned, (tuple, list)) else type(returned)(found)


def _alias(out: Any, node: Node, place: int) -> Any:
    alias = alias_of(out)
    alias.attach(node, place)
    return alias


def _edges_before(roots: Sequence[Edge], begun: int) -> list[Edge]:
    """Where the history of `roots` leaves what was recorded since `begun`: at leaves, and at older operations."""
    found: dict[Edge, None] = {}
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        edge = stack.pop()
        node = edge.node
        if node is None:
            continue
        if isinstance(node, AccumulateGrad) or node.sequence < begun:
            found[edge] = None
        elif node not in seen:
            seen.add(node)
            stack.extend(node.edges)
    return list(found)


def checkpoint_sequential(
    functions: Iterable[Callable[..., Any]], segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Apply modules or functions (a Sequential, or a list) one after another, in `segments` checkpointed parts.

    The last part is not checkpointed. ValueError for keyword arguments other than `preserve_rng_state`.

    >>> import tracegrad as tg
    >>> model = tg.nn.Sequential(*[tg.nn.Tanh() for _ in range(4)])
    >>> x = tg.ones(2, requires_grad=True)
    >>> y = tg.utils.checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False)
    >>> bool((y == model(x)).all())
    True
    """
    if use_reentrant is None:
        warn_user(
            "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly.",
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers = list(functions)
    size = len(layers) // segments
    for start in range(0, size * (segments - 1), size) if size else ():
        part = _one_after_another(layers[start : start + size])
        input = checkpoint(part, input, use_reentrant=use_reentrant, preserve_rng_state=preserve)
    return _one_after_another(layers[size * (segments - 1) :])(input)


def _one_after_another(layers: Sequence[Any]) -> Callable[[Any], Any]:
    def run(value: Any) -> Any:
        for layer in layers:
            value = layer(value)
        return value

    return run


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn where no tensor among `inputs` requires gradients.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import check_backward_validity
    >>> check_backward_validity([tg.ones(1, requires_grad=True), 2])
    """
    if not _tracked(tuple(inputs)):
        warn_user("None of the inputs have requires_grad=True. Gradients will be None")


def detach_variable(inputs: Any) -> tuple[Any, ...]:
    """The arguments, a tuple, tensors detached with the flags that they had; RuntimeError for what is no tuple.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import detach_variable
    >>> detach_variable((tg.ones(1, requires_grad=True), 2))
    (tensor([1.], requires_grad=True), 2)
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError("Only tuple of tensors is supported. Got Unsupported input type: ", type(inputs).__name__)
    return tuple(x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs)


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """The devices of the arguments besides the CPU, and the states of their generators: none.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import get_device_states
    >>> get_device_states(tg.ones(1))
    ([], [])
    """
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None) -> None:
    """Nothing is done: there are no devices besides the CPU.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import set_device_states
    >>> set_device_states([], [])
    """


def set_checkpoint_early_stop(enable: bool) -> nullcontext[None]:
    """A context that is accepted and changes nothing: the second call always runs to its end here.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import set_checkpoint_early_stop
    >>> with set_checkpoint_early_stop(False):
    ...     pass
    """
    return nullcontext()


def set_checkpoint_debug_enabled(enabled: bool | None) -> nullcontext[None]:
    """A context that is accepted and changes nothing: no traces are kept here.

    >>> import tracegrad as tg
    >>> from tracegrad.utils.checkpoint import set_checkpoint_debug_enabled
    >>> with set_checkpoint_debug_enabled(True):
    ...     pass
    """
    return nullcontext()
