"""What all nodes of the tape have: edges, a number that tells their order, hooks, names."""

from __future__ import annotations

import itertools
import types
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ..tracing.watch import declare_hook
from .handles import RemovableHandle, add_hook
from .saved_names import saved_properties


class _Numbering:
    numbers: Any = itertools.count()


numbering = _Numbering()


class Edge(NamedTuple):
    """Where a gradient goes next: a node, and which of its outputs the gradient is of."""

    node: Node | None
    output: int = 0


NO_EDGE = Edge(None)
new_edge = tuple.__new__  # which a NamedTuple's own constructor calls, too
#: Operations whose name in PyTorch tells where they are.
_WRITTEN_IN_CPP = frozenset({"AccumulateGrad", "CopyBackwards", "CopySlices"})


def count_by(wrap: Callable[[Any], Any]) -> None:
    """Let what numbers the nodes be ``wrap`` of what does it now."""
    numbering.numbers = wrap(numbering.numbers)


def count_now() -> int:
    """Nodes made from now on have this sequence number or a larger one."""
    return next(numbering.numbers)


class Node:
    """One operation of the tape; what a user sees as ``tensor.grad_fn``."""

    title: str
    edges: tuple[Edge, ...]
    shown_edges: tuple[Edge, ...]
    sequence: int
    user_defined = False
    outputs = 1
    origin: Any = None
    # Most nodes have none of these, ever; `own_hooks` gives a node its own.
    tensor_hooks: Mapping[int, dict[int, Callable[[Any], Any]]] = types.MappingProxyType({})  # output -> handle -> hook
    retained: Mapping[int, Any] = types.MappingProxyType({})
    pre_hooks: Mapping[int, Callable[..., Any]] = types.MappingProxyType({})
    post_hooks: Mapping[int, Callable[..., Any]] = types.MappingProxyType({})
    #: Shapes of outputs whose tensors show them in another shape now, without a history of that.
    first_shapes: Mapping[int, tuple[int, ...]] = types.MappingProxyType({})
    #: True for a node that stands for primitives, which are in a recorded graph and have the same derivative.
    of_primitives = False

    def __init__(self, title: str, edges: tuple[Edge, ...]) -> None:
        self.title = title
        self.edges = edges
        self.shown_edges = edges  # a composite shows its own operands here, not those of its last step
        self.sequence = next(numbering.numbers)

    def shown_past_versions(self, buffer: Any) -> None:
        """A result's memory has been given out under other versions, those of `buffer` (``.data``)."""

    def handed_out(self, buffer: Any) -> None:
        """Code outside is given a result's memory, whose `buffer` has this node as its reader (``numpy()``)."""

    def own_hooks(self, output: int) -> dict[int, Callable[[Any], Any]]:
        """The hooks on the tensor that is output number `output`, to add one to."""
        if output not in self.tensor_hooks:
            self.set_hooks(output, OrderedDict())
        return self.tensor_hooks[output]

    def set_hooks(self, output: int, hooks: dict[int, Callable[[Any], Any]] | None) -> None:
        """Let these be the hooks on the tensor that is output number `output`."""
        others = {place: kept for place, kept in self.tensor_hooks.items() if place != output}
        self.tensor_hooks = others if hooks is None else {**others, output: hooks}

    def retain(self, output: int, tensor: Any) -> None:
        """Let the gradient of output number `output` be kept in `tensor`, which is that output."""
        self.retained = {**self.retained, output: weakref.ref(tensor)}

    def release_retained(self, output: int) -> None:
        """Keep the gradient of that output no more."""
        self.retained = {place: keeper for place, keeper in self.retained.items() if place != output}

    def rename(self, title: str) -> None:
        """Call the node `title`; ``type(node).__name__`` says it as well, as in PyTorch."""
        self.title = title
        self.__class__ = class_called(type(self), title)

    def keep(self, tensors: Mapping[str, Any], out: Any) -> None:
        """Keep what PyTorch's derivative reads: nothing where there are no rules, as in a program's own function."""

    def name(self) -> str:
        """PyTorch's name of the operation, e.g. ``MulBackward0``."""
        return f"torch::autograd::{self.title}" if self.title in _WRITTEN_IN_CPP else self.title

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes of the operands, ``(None, 0)`` for operands without gradient."""
        return tuple((edge.node, edge.output) for edge in self.shown_edges)

    def register_prehook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(grad_outputs)` runs before the node; what it returns replaces the gradients."""
        declare_hook(self)
        if not self.pre_hooks:
            self.pre_hooks = {}
        return add_hook(self.pre_hooks, hook)

    def register_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """`hook(grad_inputs, grad_outputs)` runs after the node; what it returns replaces ``grad_inputs``."""
        declare_hook(self)
        if not self.post_hooks:
            self.post_hooks = {}
        return add_hook(self.post_hooks, hook)

    def is_of_view(self) -> bool:
        """Whether its results are views of its operand, and so gradients of them go where those of that go."""
        return False

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        """One cotangent per edge (None where there is none); `wanted` tells which are of use."""
        raise NotImplementedError

    def release(self) -> None:
        """Free what was saved; later use of it is an error."""

    @property
    def is_hooked(self) -> bool:
        """True if somebody wants to see the gradients that arrive."""
        return bool(self.tensor_hooks or self.retained)

    def require_whole(self, asked: Sequence[int], arrived: Collection[int]) -> None:
        """RuntimeError if the gradient of an output in `asked` also goes through one in `arrived`, at which it came."""

    def on_the_way(self, wanted: Sequence[bool]) -> Collection[int]:
        """The outputs from which gradients go on to the edges `wanted`."""
        return range(self.outputs)

    def beside(self, outputs: Collection[int]) -> Collection[int]:
        """The outputs of the operations whose outputs are `outputs`."""
        return range(self.outputs)

    def hooks_of(self, output: int) -> list[Callable[[Any], Any]]:
        """The hooks on the tensor that is output number `output`, in the order of registration."""
        return list(self.tensor_hooks.get(output, {}).values())

    def __repr__(self) -> str:
        return f"<{self.title} object at {id(self):#x}>"


_classes: dict[tuple[type[Node], str], type[Node]] = {}


def class_called(kind: type[Node], title: str) -> type[Node]:
    """The class of nodes of this kind that are called `title`."""
    known = _classes.get((kind, title))
    if known is not None:
        return known
    base = next(c for c in kind.__mro__ if "title" not in c.__dict__)
    if (base, title) not in _classes:
        # A subclass marks itself by having the title, so that renaming it goes back to the class it came from.
        members = {"title": title, "__module__": base.__module__, **saved_properties(title)}
        _classes[base, title] = type(title, (base,), members)
    _classes[kind, title] = _classes[base, title]
    return _classes[kind, title]
