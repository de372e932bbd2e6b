"""``autograd.Function``: operations whose derivative the user writes."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..ops.core import current
from ..ops.pointwise import cast
from ..ops.sources import zeros
from ..ops.types import FLOATING, Type, broadcast_shapes
from ..ops.vjp import unbroadcast
from ..tape.grad_mode import is_grad_enabled, no_grad
from ..tape.nodes import NO_EDGE, SECOND_BACKWARD, Node
from ..tape.saved import SavedTensor, saved
from ..tensors.in_place import by_custom_function
from ..tensors.overriding import overrides
from ..tensors.subclass import in_class
from ..tensors.tensor import Tensor
from ..tracing.watch import watcher


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
        self.non_differentiable: tuple[Any, ...] = ()
        self.dirty: tuple[Any, ...] = ()
        self.node: FunctionNode | None = None

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep inputs or outputs (tensors or None) for `backward`; later writes to them are noticed there."""
        self.to_save = tensors

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What was saved; RuntimeError once it is freed, or where its memory has been written to since."""
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


class FunctionNode(Node):
    """A user's operation on the tape."""

    user_defined = True

    def __init__(self, function: type[Function], ctx: FunctionCtx, inputs: Sequence[Any]) -> None:
        tensors = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor)]
        edges = tuple(x.gradient_edge() if ctx.needs_input_grad[i] else NO_EDGE for i, x in tensors)
        super().__init__(f"{function.__name__}Backward", edges)
        self.rename(self.title)
        self.function = function
        self.ctx = ctx
        self.positions = [i for i, _ in tensors]
        self.input_types = [x.type_ for _, x in tensors]
        self.input_count = len(inputs)
        self.output_types: list[Type | None] = []
        self.saved: list[tuple[Any, int]] | None = None

    def save(self, outputs: Sequence[Any]) -> None:
        """Take over what `forward` wanted to keep, now that the outputs are known."""
        self.saved = []
        for i, tensor in enumerate(self.ctx.to_save):
            if tensor is not None and not isinstance(tensor, Tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(tensor).__name__}. "
                    "Set what is no tensor as an attribute of ctx."
                )
            place = next((i for i, out in enumerate(outputs) if out is tensor), -1)
            self.saved.append((saved(tensor, is_output=place >= 0) if isinstance(tensor, Tensor) else tensor, place))
        self.ctx.to_save = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `forward` saved. RuntimeError once it is freed, or where its memory has been written to since."""
        if self.saved is None:
            raise RuntimeError(SECOND_BACKWARD)
        return tuple(self._unpacked(kept, place) for kept, place in self.saved)

    def _unpacked(self, kept: Any, place: int) -> Any:
        if not isinstance(kept, SavedTensor):
            return kept
        tensor = kept.unpack(self)
        if place >= 0:
            tensor.attach(self, place)
        return tensor

    def __getattr__(self, name: str) -> Any:
        """In PyTorch ctx is the node: what `forward` has set on it is seen at ``tensor.grad_fn``, too."""
        if name == "ctx" or name.startswith("__"):
            raise AttributeError(name)
        try:
            return getattr(self.ctx, name)
        except AttributeError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    def release(self) -> None:
        if self.saved:
            self.saved = None

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.ctx.materialize_grads:
            cotangents = [
                zeros(of) if g is None and of is not None else g
                for g, of in zip(cotangents, self.output_types, strict=True)
            ]
        returned = self.function.backward(self.ctx, *cotangents)
        gradients = returned if isinstance(returned, tuple) else (returned,)
        expected = self.input_count
        if len(gradients) < expected or any(g is not None for g in gradients[expected:]):
            raise RuntimeError(
                f"function {self.title} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(gradients)}): return one for each argument of forward, None where none"
            )
        for i, g in enumerate(gradients[:expected]):
            if g is not None and i not in self.positions:
                raise RuntimeError(
                    f"function {self.title} returned a gradient different than None at position {i + 1}, but the "
                    "corresponding forward input was not a Variable. Return None there."
                )
        return [self._fitting(gradients[i], of, i) for i, of in zip(self.positions, self.input_types, strict=True)]

    def _fitting(self, g: Any, of: Type, place: int) -> Any:
        """`g` in its input's shape and type."""
        if g is None:
            return None
        if not isinstance(g, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(g).__name__}) at index {place} of what {self.title} returned"
            )
        shape = g.type_.shape
        if shape != of.shape:
            if not _reducible(shape, of.shape):
                raise RuntimeError(
                    f"Function {self.title} returned an invalid gradient at index {place} - got {list(shape)} but "
                    f"expected shape compatible with {list(of.shape)}"
                )
            g = unbroadcast(g, of.shape)
        return g if g.dtype is of.dtype else cast(g, of.dtype)


def _reducible(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    try:
        return broadcast_shapes(shape, target) == shape
    except RuntimeError:
        return False


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
        level = getattr(getattr(current(), "below", None), "custom_function", None)
        mapped = None if level is None else level(cls if has_setup and cls.vmap is not Function.vmap else None, args)
        needs = tuple(isinstance(x, Tensor) and x.requires_grad for x in args)
        ctx = FunctionCtx(needs)
        with no_grad():
            returned = cls._computed(ctx, args, kwargs) if mapped is None else mapped[0]
            if mapped is not None:
                cls.setup_context(ctx, args, returned)
        if not (is_grad_enabled() and any(needs)):
            return returned
        node = FunctionNode(cls, ctx, args)
        outputs = returned if isinstance(returned, tuple) else (returned,)
        _check_dirty(ctx.dirty, outputs)
        tracked = tuple(_tracked(out, node, i, args) for i, out in enumerate(outputs))
        _note_outputs(node, tracked)
        # What was saved is found among the outputs as forward made them; an alias has the same memory.
        node.save(outputs)
        ctx.node = node
        return tracked if isinstance(returned, tuple) else tracked[0]

    @classmethod
    def _computed(cls, ctx: FunctionCtx, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if cls.setup_context is Function.setup_context:
            return cls.forward(ctx, *args, **kwargs)
        output = cls.forward(*args, **kwargs)
        cls.setup_context(ctx, args, output)
        return output


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


def _contains(tensors: Sequence[Any], tensor: Any) -> bool:
    return any(t is tensor for t in tensors)


def _tracked(out: Any, node: FunctionNode, place: int, inputs: Sequence[Any]) -> Any:
    """`out` as output number `place` of `node`."""
    if not isinstance(out, Tensor) or out.dtype.category < FLOATING or _contains(node.ctx.non_differentiable, out):
        return out
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
            if not is_grad_enabled():
                return returned
            of = (*cotangents, *ctx.saved_tensors)
            edges = tuple(x.gradient_edge() for x in of if isinstance(x, Tensor) and x.requires_grad)
            return tuple(_refusing(g, edges, f"derivative for {operator} is not implemented") for g in returned)

        return wrapped

    return decorate


def _refusing(g: Any, edges: tuple[Any, ...], message: str = _Refusal.message) -> Any:
    if g is None:
        return None
    alias, node = g.detach(), _Refusal("ErrorBackward", edges)
    node.message = message
    alias.attach(node, 0)
    return alias
