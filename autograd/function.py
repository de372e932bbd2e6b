"""``autograd.Function``: operations whose derivative the user writes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..ops.core import current
from ..ops.types import FLOATING
from ..tape.grad_mode import is_grad_enabled, is_recording, no_grad
from ..tape.nodes import Node
from ..tape.tangents import alias_of
from ..tensors.overriding import overrides
from ..tensors.subclass import in_class
from ..tensors.tensor import Tensor
from ..tensors.written.unfollowed import by_custom_function
from ..tracing.watch import watcher
from .forward_mode import forward_tape
from .function_node import FunctionNode
from .function_tangents import applied_forward


class FunctionCtx:
    """What `forward` of a ``Function`` leaves for `backward`; any attribute may be set on it as well.

    `needs_input_grad` tells for each argument of `forward` whether its gradient is wanted.

    >>> import tracegrad as tg
    >>> class Power(tg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x, n):
    ...         ctx.n = n
    ...         ctx.save_for_backward(x)
    ...         return x ** n
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         (x,) = ctx.saved_tensors
    ...         return g * ctx.n * x ** (ctx.n - 1), None
    >>> x = tg.tensor(2.0, requires_grad=True)
    >>> Power.apply(x, 3).backward()
    >>> x.grad
    tensor(12.)
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.materialize_grads = True
        self.to_save: tuple[Any, ...] = ()
        self.for_forward: tuple[Any, ...] | None = None
        self.non_differentiable: tuple[Any, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self.node: FunctionNode | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs or outputs (tensors or None) for `backward`; later writes to them are noticed there."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep inputs or outputs (tensors or None) for `jvp`, as its `saved_tensors`. AssertionError for others."""
        if not all(x is None or isinstance(x, Tensor) for x in tensors):
            raise AssertionError(
                "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes on "
                "ctx."
            )
        self.for_forward = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved; RuntimeError once it is freed, or where its memory has been written to since."""
        if self.for_forward is not None:
            return self.for_forward
        return self.to_save if self.node is None else self.node.saved_tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """These outputs get no gradient."""
        self.non_differentiable = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """These inputs were written to, and are outputs as well."""
        self.dirty = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether `backward` gets zeros (True, the default) or None for outputs without gradient."""
        self.materialize_grads = value


class Function:
    """An operation with a derivative of its own: subclass it, write two static methods, call ``apply``.

    >>> import tracegrad as tg
    >>> class Double(tg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> x = tg.ones(2, requires_grad=True)
    >>> Double.apply(x)
    tensor([2., 2.], grad_fn=<DoubleBackward>)
    """

    _is_recorded = staticmethod(is_grad_enabled)  # in inference mode, too, unlike operations: as in PyTorch

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The result for ``(ctx, *inputs)``, computed without being recorded."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep what `backward` needs; if it is there, `forward` is called without ctx."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """One gradient for each input of `forward` (None where there is none), from one for each output."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
            "backward mode AD."
        )

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """One tangent for each output of `forward` (None where there is none), from one for each input.

        Tangents of outputs that share memory with inputs share it with those of the inputs.
        """
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: VmapInfo, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """How `func.vmap` computes all slices at once: the outputs, and where their batch axis is (None: no such).

        `info` tells the number of slices (``batch_size``) and `randomness`; `in_dims` the axis of each argument. A
        Function without one is computed by its operations, or slice by slice where a gradient is asked for.
        """
        raise NotImplementedError("vmap is not implemented.")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Compute `forward`, and record that `backward` is its derivative.

        Arguments by keyword, and, with `setup_context`, those with defaults, are put in the order of `forward`.
        """
        has_setup = cls.setup_context is not Function.setup_context
        if has_setup or kwargs:
            args, kwargs = _bound(cls.forward, args, kwargs, has_setup)
        tape = forward_tape()
        return cls.applied(args, kwargs)[0] if tape is None else applied_forward(tape, cls, args, kwargs)

    @classmethod
    def applied(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, FunctionCtx]:
        """What `apply` returns for arguments in the order of `forward`, and the context."""
        has_setup = cls.setup_context is not Function.setup_context
        level = getattr(getattr(current(), "below", None), "custom_function", None)
        mapped = None if level is None else level(cls if has_setup and cls.vmap is not Function.vmap else None, args)
        needs = tuple(isinstance(x, Tensor) and x.requires_grad for x in args)
        ctx = FunctionCtx(needs)
        with no_grad():
            returned = cls._computed(ctx, args, kwargs) if mapped is None else mapped[0]
            if mapped is not None:
                cls.setup_context(ctx, args, returned)
        _count_writes(ctx.dirty)
        outputs = tuple(returned) if isinstance(returned, tuple) else (returned,)  # of a class of tuples, too
        if not (cls._is_recorded() and any(needs)):
            return outputs if isinstance(returned, tuple) else returned, ctx
        node = FunctionNode(cls, ctx, args)
        _check_dirty(ctx.dirty, outputs)
        tracked = tuple(_tracked(out, node, i, args) for i, out in enumerate(outputs))
        _note_outputs(node, tracked)
        # What was saved is found among the outputs as forward made them; an alias has the same memory. An input that is
        # returned as it was is saved as the input, with its own history.
        inputs = [x for x in args if isinstance(x, Tensor) and not _contains(ctx.dirty, x)]
        node.save([None if _contains(inputs, out) else out for out in outputs])
        ctx.node = node
        return tracked if isinstance(returned, tuple) else tracked[0], ctx

    @classmethod
    def _computed(cls, ctx: FunctionCtx, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args, **kwargs)
        output = cls.forward(*args, **kwargs)
        cls.setup_context(ctx, args, output)
        return output


class Operation(Function):
    """A Function of the library's own: its tangents follow from `backward`."""

    jvp: Any = None
    _is_recorded = staticmethod(is_recording)


class VmapInfo(NamedTuple):
    """What a Function's `vmap` is told of the batch."""

    batch_size: int
    randomness: str


def _bound(
    forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], has_setup: bool
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments in the order of `forward`; with `has_setup` it has no ctx, and defaults are arguments, too."""
    given = inspect.signature(forward).bind(*(() if has_setup else (None,)), *args, **kwargs)
    if has_setup:
        given.apply_defaults()
    return (given.args if has_setup else given.args[1:]), given.kwargs


def _check_dirty(dirty: Sequence[Any], outputs: Sequence[Any]) -> None:
    """RuntimeError for leaves that were overwritten, and for overwritten inputs that are no outputs."""
    for x in dirty:
        if not _contains(outputs, x):
            raise RuntimeError(
                "Some elements marked as dirty during the forward method were not returned as output. The inputs that "
                "are modified inplace must all be outputs of the Function."
            )
        if x.requires_grad and x.is_leaf:
            raise RuntimeError(
                "a leaf Variable that requires grad has been used in an in-place operation. Write to a clone() of it."
            )


def _count_writes(dirty: Sequence[Any]) -> None:
    """Count what was marked as written to, beside the writes that `forward` did through operations, as PyTorch does: it
    may have written through numpy."""
    for x in dirty:
        if isinstance(x, Tensor) and x.buffer.version >= 0:  # inference tensors do not count
            x.buffer.version += 1


def _contains(tensors: Sequence[Any], tensor: Any) -> bool:
    return any(t is tensor for t in tensors)


def _tracked(out: Any, node: FunctionNode, place: int, inputs: Sequence[Any]) -> Any:
    """`out` as output number `place` of `node`."""
    if not isinstance(out, Tensor) or out.dtype.category < FLOATING:
        return out
    if _contains(node.ctx.non_differentiable, out):
        return Tensor.detach(out) if out.requires_grad and _contains(inputs, out) else out  # the input stays as it is
    if not _contains(node.ctx.dirty, out) and (_contains(inputs, out) or out.base is not None):
        # The input itself, or a view: as an output it is another tensor.
        out = in_class(Tensor.detach(out), type(out) if overrides(type(out)) else Tensor)
        out.view_of_several = by_custom_function(place, node.function.__name__)
    out.attach(node, place)
    return out


def _note_outputs(node: FunctionNode, outputs: Sequence[Any]) -> None:
    node.outputs = len(outputs)
    node.output_types = [out.type_ if isinstance(out, Tensor) else None for out in outputs]
    listening = watcher()
    if listening is not None:
        node.origin = listening.origin()


class _Refusal(Node):
    """The history of a gradient that must not be differentiated again."""

    message = "trying to differentiate twice a function that was marked with @once_differentiable"

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        raise RuntimeError(self.message)


def once_differentiable(backward: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that does not consist of differentiable operations; differentiating it is a RuntimeError.

    >>> import tracegrad as tg
    >>> class Double(tg.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @tg.autograd.function.once_differentiable
    ...     def backward(ctx, g):
    ...         return g * 2
    >>> x = tg.tensor(1.0, requires_grad=True)
    >>> tg.autograd.grad(Double.apply(x), x)
    (tensor(2.),)
    """

    @functools.wraps(backward)
    def wrapped(ctx: Any, *cotangents: Any) -> Any:
        with no_grad():
            returned = backward(ctx, *cotangents)
        requiring = [g.gradient_edge() for g in cotangents if isinstance(g, Tensor) and g.requires_grad]
        if not (is_grad_enabled() and requiring):
            return returned
        gradients = returned if isinstance(returned, tuple) else (returned,)
        refused = tuple(_refusing(g, tuple(requiring)) for g in gradients)
        return refused if isinstance(returned, tuple) else refused[0]

    return wrapped


def without_derivative(operator: str) -> Callable[[Any], Any]:
    """Decorate a `backward`, returning a tuple, that is PyTorch's `operator`, which has no derivative there.

    Unlike `once_differentiable`, its gradients refuse to be differentiated by what was saved, too: they depend on it.
    """

    def decorate(backward: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(backward)
        def wrapped(ctx: Any, *cotangents: Any) -> Any:
            with no_grad():
                returned = backward(ctx, *cotangents)
            if not is_recording():
                return returned
            of = (*cotangents, *ctx.saved_tensors)
            edges = tuple(x.gradient_edge() for x in of if isinstance(x, Tensor) and x.requires_grad)
            return tuple(_refusing(g, edges, f"derivative for {operator} is not implemented") for g in returned)

        return wrapped

    return decorate


def _refusing(g: Any, edges: tuple[Any, ...], message: str = _Refusal.message) -> Any:
    if g is None:
        return None
    alias, node = alias_of(g), _Refusal("ErrorBackward", edges)
    node.message = message
    alias.attach(node, 0)
    return alias
