"""The graph of autograd: its nodes and edges, and what they keep."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..ops.callers.entrances import entrance
from ..ops.locks import new_lock
from ..tape.engine import running
from ..tape.handles import RemovableHandle
from ..tape.nodes import Edge, Node
from ..tape.saved import packing
from ..tensors.autocasting import state, switch
from ..tensors.tensor import Tensor
from ..tracing.blocks import Block
from ..tracing.watch import local, set_server

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class GradientEdge(NamedTuple):
    """Where a gradient goes: the output `output_nr` of a node. ``autograd.grad`` takes it in the place of a tensor.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0, 2.0], requires_grad=True)
    >>> y = x * 2
    >>> edge = tg.autograd.graph.get_gradient_edge(y)
    >>> tg.autograd.grad(y.sum(), edge)
    (tensor([1., 1.]),)
    """

    node: Node
    output_nr: int

    def gradient_edge(self) -> Edge:
        """The same for the engine."""
        return Edge(self.node, self.output_nr)


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Where gradients of `tensor` go, a `GradientEdge`; RuntimeError if it requires none.

    >>> import tracegrad as tg
    >>> y = tg.ones(2, requires_grad=True) * 2
    >>> edge = tg.autograd.graph.get_gradient_edge(y)
    >>> edge.node is y.grad_fn, edge.output_nr
    (True, 0)
    """
    edge = tensor.gradient_edge()
    if edge.node is None:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(edge.node, edge.output)


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count the memory of a tensor, or of each of an iterable of them, as written to; RuntimeError for inference
    tensors.

    >>> import tracegrad as tg
    >>> x = tg.ones(2)
    >>> tg.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if each.buffer.version < 0:
            raise RuntimeError("increment_version: Inference tensors do not track version counter.")
        each.buffer.version += 1


# ------------------------------------------------------------------------------------------------ what nodes keep


class _Disabled(threading.local):
    message: str | None = None


_disabled = _Disabled()


Hooks = tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...]


class _Block(NamedTuple):
    """The hooks within a block, and what its thread had before."""

    hooks: Hooks
    server: Any
    within: Hooks

    def put_back(self) -> None:
        """End the block; done twice, it is the same."""
        set_server(self.server)
        switch(state.modes._replace(packs_saved=bool(self.hooks)))
        packing.hooks = self.hooks


class saved_tensors_hooks:
    """Keep ``pack_hook(tensor)`` in the place of each tensor that is saved for a derivative within the context.

    ``unpack_hook`` of that gives a tensor of the same numbers, when the derivative is computed. Contexts nest: the
    innermost counts. Within it compiled functions run eagerly: there is nothing that a program would let a hook keep.

    >>> import tracegrad as tg
    >>> x = tg.tensor([1.0, 2.0], requires_grad=True)
    >>> with tg.autograd.graph.saved_tensors_hooks(lambda x: x.tolist(), lambda kept: tg.tensor(kept)):
    ...     y = (x * x).sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    #: The blocks that are open, the outermost first; an interrupt may leave one that nobody closes.
    _open: tuple[_Block, ...] = ()

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        if _disabled.message is not None:
            raise RuntimeError(_disabled.message)
        within = (*packing.hooks, (self.pack_hook, self.unpack_hook))
        self._entrance = entrance()
        self._open = (*self._open, _Block(packing.hooks, local.server, within))
        packing.hooks = within
        switch(state.modes._replace(packs_saved=True))
        set_server(None)

    def __exit__(self, *exc_info: Any) -> None:
        if self._open:
            block = self._open[-1]
            try:  # twice, as in `ops.core.interpreted`
                block.put_back()
            finally:
                block.put_back()
                self._open = self._open[:-1]

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._open and not is_ending() and packing.hooks is self._open[-1].within and self._entrance.is_with:
            self._open[0].put_back()


class save_on_cpu(saved_tensors_hooks):
    """The context, and nothing besides: PyTorch moves what is saved for the backward pass to the CPU, where all tensors
    are.

    >>> import tracegrad as tg
    >>> x = tg.tensor([2.0], requires_grad=True)
    >>> with tg.autograd.graph.save_on_cpu():
    ...     y = x * x
    >>> tg.autograd.grad(y, x)
    (tensor([4.]),)
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda tensor: tensor, lambda tensor: tensor)


class disable_saved_tensors_hooks(Block):
    """A context within which ``saved_tensors_hooks`` is a RuntimeError with the message `error_message`.

    >>> import tracegrad as tg
    >>> with tg.autograd.graph.disable_saved_tensors_hooks("no hooks here"):
    ...     try:
    ...         with tg.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
    ...             pass
    ...     except RuntimeError as error:
    ...         print(error)
    no hooks here
    """

    def __init__(self, error_message: str) -> None:
        self.wanted = error_message

    def now(self) -> str | None:
        return _disabled.message

    def put(self, state: str | None) -> None:
        _disabled.message = state


class _Copies:
    """What `allow_mutation_on_saved_tensors` gives."""

    def clear(self) -> None:
        """Nothing: copies live as long as the nodes that keep them."""


class allow_mutation_on_saved_tensors(saved_tensors_hooks):
    """A context within which copies of what is saved are kept, so that later writes to the tensors are no errors.

    Difference: PyTorch copies when a tensor is written to; here each is copied when it is saved.

    >>> import tracegrad as tg
    >>> x = tg.tensor([2.0], requires_grad=True)
    >>> with tg.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x.clone()
    ...     z = y * y
    ...     _ = y.zero_()
    ...     z.backward()
    >>> x.grad
    tensor([4.])
    """

    def __init__(self) -> None:
        super().__init__(lambda tensor: tensor.clone(), lambda tensor: tensor)

    def __enter__(self) -> _Copies:  # type: ignore[override]
        super().__enter__()
        return _Copies()


# --------------------------------------------------------------------------------------------------------- hooks


class _Handles(RemovableHandle):
    """The hooks of several tensors as one."""

    def __init__(self, handles: Sequence[RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()


class _Arrivals:
    """The gradients of several tensors that one backward pass has brought so far."""

    def __init__(self, tensors: Sequence[Tensor], function: Callable[[Any], None], every: bool) -> None:
        self.function, self.every = function, every
        self.nodes = [t.gradient_edge().node for t in tensors]
        self.sweep: Any = None
        self.found: dict[int, Any] = {}
        self.lock = new_lock()

    def take(self, place: int, gradient: Any) -> None:
        with self.lock:
            if running.sweep is not self.sweep:
                self.sweep, self.found = running.sweep, {}
            self.found[place] = gradient
            count = len(self.found)
            expected = sum(node in self.sweep.useful for node in self.nodes) if self.every else 1
        if count != expected:
            return
        if self.every:
            self.function([self.found.get(i) for i in range(len(self.nodes))])
        else:
            self.function(gradient)


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all"
) -> RemovableHandle:
    """Call `fn` once in each backward pass: with the gradients of all tensors that it reaches (None for others), when
    the last of them is known, or, with ``mode="any"``, with the first that is.

    ValueError for another mode.

    >>> import tracegrad as tg
    >>> a, b = (tg.tensor(x, requires_grad=True) for x in (2.0, 3.0))
    >>> handle = tg.autograd.graph.register_multi_grad_hook([a, b], print)
    >>> (a * b).backward()
    [tensor(3.), tensor(2.)]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = list(tensors)
    arrivals = _Arrivals(tensors, fn, mode == "all")

    def at(place: int) -> Callable[[Any], None]:
        return lambda gradient: arrivals.take(place, gradient)

    return _Handles([tensor.register_hook(at(place)) for place, tensor in enumerate(tensors)])
