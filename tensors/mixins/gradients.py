"""Gradients of a tensor: where they go, `grad`, `backward`, and hooks."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.types import FLOATING
from ...tape.handles import RemovableHandle, add_hook
from ...tape.nodes import NO_EDGE, AccumulateGrad, Edge, Node, new_edge
from ...tape.reverse import backward
from ...tracing.tracebacks import boundary, fold
from ...tracing.user_warning import warn_user
from ...tracing.watch import changes, declare_hook, forbid, watcher
from ..blank import NO_HOOKS

if TYPE_CHECKING:
    from ...ops.memory import Buffer
    from ...ops.types import DType
    from ..size import Size
    from ..tensor import Tensor


#: The fields are Tensor's slots. (Of a class whose slots are written out, type checkers allow no other attributes.)
NO_SLOTS: tuple[str, ...] = ()


class Differentiable:
    """The part of Tensor that has to do with gradients."""

    __slots__ = NO_SLOTS
    ndarray: np.ndarray
    requires_grad: bool
    leaf_hooks: dict[int, Callable[..., Any]]
    post_accumulate_hooks: dict[int, Callable[..., Any]]
    _requires: bool
    _grad: Tensor | None
    _node: Node | None
    _output: int
    _base: Tensor | None
    _accumulator: weakref.ref[AccumulateGrad] | None
    _seen_version: float
    buffer: Buffer
    view_of_several: str
    viewed_without_grad: bool
    memory: Any
    _refresh: Callable[[], None]

    if TYPE_CHECKING:

        @property
        def dtype(self) -> DType: ...

        @property
        def shape(self) -> Size: ...

        @property
        def grad_fn(self) -> Node | None: ...

    def is_tracked(self) -> bool:
        """Whether a gradient of this tensor goes on: it asks for one itself, or has a node. Not so for a view that only
        its base makes require gradients.

        >>> import tracegrad as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> with tg.no_grad():
        ...     y = x[:1]
        >>> x.is_tracked(), y.requires_grad, y.is_tracked()
        (True, True, False)
        """
        if self._base is not None and not self.is_ambiguous():
            self._refresh()
        return self._requires or self._node is not None

    def is_ambiguous(self) -> bool:
        """Whether this view was taken in ``no_grad()`` of what requires gradients, or together with others (`split`,
        `unbind`), and that was written to since: its `grad_fn` is an error, and so are recorded operations on it.

        >>> import tracegrad as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> with tg.no_grad():
        ...     y = x[:1]
        ...     _ = x.add_(1)
        >>> y.is_ambiguous()
        True
        """
        if self.buffer.version == self._seen_version or not (self.viewed_without_grad or self.view_of_several):
            return False
        if self.viewed_without_grad and self._node is not None:
            return False
        return self._base is not None and self._base.requires_grad

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operation has made this tensor: `backward` fills the ``.grad`` of leaves.

        >>> import tracegrad as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> x.is_leaf, (x * 2).is_leaf
        (True, False)

        A view takes notice of what was recorded on its base. Of one whose `grad_fn` is an error since that was written
        to (`is_ambiguous`) it says what held before, where PyTorch raises.
        """
        if self._base is not None and not self.is_ambiguous():
            self._refresh()
        return self._node is None

    def _check_kind(self, these: str) -> None:
        """RuntimeError for an element type without gradients; `these` is what PyTorch says there."""
        if self.dtype.category < FLOATING:
            raise RuntimeError(
                f"{these} can require gradients, this one is {self.dtype!r}. Convert it first, e.g. with .float()."
            )

    def attach(self, node: Node, output: int) -> None:
        """Told by the tape: this tensor is output number `output` of `node`.

        >>> import tracegrad as tg
        >>> x, y = tg.ones(2), tg.ones(2, requires_grad=True) * 2
        >>> x.attach(y.grad_fn, 0)
        >>> x.grad_fn is y.grad_fn
        True
        """
        if self._node is None and self.memory is not None:
            changes.count += 1  # compiled calls know it without a history
        self._node, self._output = node, output

    def forget_history(self) -> None:
        """Become a leaf that requires no gradient; the memory stays.

        >>> import tracegrad as tg
        >>> y = tg.ones(2, requires_grad=True) * 2
        >>> y.forget_history()
        >>> y.is_leaf, y.requires_grad
        (True, False)
        """
        if self.memory is not None:
            changes.count += 1
        self._node, self._output, self._requires = None, 0, False

    def gradient_edge(self) -> Edge:
        """Where a gradient of this tensor goes: a node, and which of its outputs this is.

        >>> import tracegrad as tg
        >>> (tg.ones(2, requires_grad=True) * 2).gradient_edge().node.name()
        'MulBackward0'
        """
        if self._base is not None:
            self._refresh()
        if self._node is not None:
            return new_edge(Edge, (self._node, self._output))
        if not self._requires:
            return NO_EDGE
        node = self._accumulator() if self._accumulator is not None else None
        if node is None:
            node = AccumulateGrad(self)
            self._accumulator = weakref.ref(node)
        return new_edge(Edge, (node, 0))

    @property
    def grad(self) -> Tensor | None:
        """The gradient of a leaf that `backward` has added up, of the leaf's shape and type; None before the first.

        It may be assigned and deleted. RuntimeError for one of another shape or type, TypeError for what is no tensor.
        A tensor that is no leaf has one after `retain_grad` only, and warns otherwise.

        >>> import tracegrad as tg
        >>> w = tg.tensor([1.0, 2.0], requires_grad=True)
        >>> (w * w).sum().backward()
        >>> w.grad
        tensor([2., 4.])
        """
        listening = watcher()
        if listening is not None:
            listening.grad_read(self)
        if self._grad is None and self._node is not None and not self._retains:
            warn_user(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you want the gradient of a non-leaf Tensor, call "
                ".retain_grad() on it before backward().",
            )
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None:
            self._check_grad(value)
        listening = watcher()
        if listening is not None:
            listening.grad_written(self)
        changes.grads += 1
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def _check_grad(self, value: Any) -> None:
        if not (isinstance(value, Differentiable) or getattr(value, "is_sparse", False) is True):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__!r}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad; assign a clone()")
        if (value.ndarray.shape if isinstance(value, Differentiable) else tuple(value.shape)) != self.ndarray.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if value.dtype is not self.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{value.dtype!r}' to a tensor with dtype "
                f"'{self.dtype!r}'. Please ensure that the gradient and the tensor have the same dtype"
            )

    @property
    def output_nr(self) -> int:
        """Which of its node's results this tensor is, 0 for a leaf.

        >>> import tracegrad as tg
        >>> tg.ones(2, requires_grad=True).output_nr
        0
        """
        return self._output if self._node is not None else 0

    @property
    def _retains(self) -> bool:
        return self._node is not None and self._output in self._node.retained

    @property
    def retains_grad(self) -> bool:
        """Whether this is no leaf and keeps its gradient, see `retain_grad`.

        >>> import tracegrad as tg
        >>> tg.ones(2, requires_grad=True).retains_grad
        False
        """
        return self._retains

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor, which is no leaf, in ``.grad`` at each backward pass. Nothing for a leaf.

        RuntimeError for a tensor that requires no gradient.

        >>> import tracegrad as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> y = x * 3
        >>> y.retain_grad()
        >>> y.sum().backward()
        >>> y.grad
        tensor([1., 1.])
        """
        if not self.requires_grad:
            raise RuntimeError(
                "can't retain_grad on Tensor that has requires_grad=False. Set requires_grad=True on its leaves."
            )
        node = self.grad_fn  # of a view that of what its base is now
        if node is not None:
            declare_hook(node)
            node.retain(self._output, self)

    @boundary
    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Tensor | Sequence[Tensor] | None = None,
    ) -> None:
        """Add the gradients of this tensor by the leaves of its graph to their ``.grad``, or by `inputs` alone.

        Inputs that are no leaves retain their gradient then, see `retain_grad`.

        `gradient`, of this tensor's shape, is that of the result by it; a tensor of one element needs none (1).
        `create_graph` records the pass itself, for derivatives of higher order, and `retain_graph` (the default is
        `create_graph`) keeps what it needs for another one. RuntimeError where nothing requires a gradient, for a
        second pass through a graph that is gone, and where numbers it needs have been overwritten. See
        `autograd.backward`.

        >>> import tracegrad as tg
        >>> x = tg.tensor(3.0, requires_grad=True)
        >>> (x**2).backward()
        >>> x.grad
        tensor(6.)
        """
        try:
            backward((self,), None if gradient is None else (gradient,), retain_graph, create_graph, inputs=inputs)
        except Exception as error:
            fold(error)
            raise

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Have ``hook(grad)`` called whenever the gradient of this tensor is computed; what it returns replaces it.

        Hooks are called in their order. The handle that is returned removes this one (``handle.remove()``).
        RuntimeError for a tensor that requires no gradient.

        >>> import tracegrad as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: grad * 10)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        node = self.grad_fn  # of a view that of what its base is now
        if node is None:
            return add_hook(self._own_hooks("leaf_hooks"), hook)
        declare_hook(node)
        return add_hook(node.own_hooks(self._output), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Have ``hook(tensor)`` called after the ``.grad`` of this leaf has been added up; the handle removes it.

        An optimizer's step may be taken there. RuntimeError for a tensor that is no leaf.

        >>> import tracegrad as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda tensor: print(tensor.grad))
        >>> x.sum().backward()
        tensor([1., 1.])
        """
        if self._node is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return add_hook(self._own_hooks("post_accumulate_hooks"), hook)

    @property
    def _backward_hooks(self) -> dict[int, Callable[..., Any]] | None:
        """The hooks of `register_hook` by the numbers of their handles; None before the first."""
        forbid("reading a tensor's hooks", "Read them outside.")
        hooks = self.leaf_hooks if self._node is None else self._node.tensor_hooks.get(self._output, NO_HOOKS)
        return None if hooks is NO_HOOKS else hooks

    @_backward_hooks.setter
    def _backward_hooks(self, hooks: dict[int, Callable[..., Any]] | None) -> None:
        forbid("setting a tensor's hooks", "Set them outside.")
        if self._node is None:
            self.leaf_hooks = NO_HOOKS if hooks is None else hooks
        else:
            self._node.set_hooks(self._output, hooks)
        changes.count += 1

    @property
    def _post_accumulate_grad_hooks(self) -> dict[int, Callable[..., Any]] | None:
        """The hooks of `register_post_accumulate_grad_hook` by the numbers of their handles; None before the first."""
        forbid("reading a tensor's hooks", "Read them outside.")
        return None if self.post_accumulate_hooks is NO_HOOKS else self.post_accumulate_hooks

    @_post_accumulate_grad_hooks.setter
    def _post_accumulate_grad_hooks(self, hooks: dict[int, Callable[..., Any]] | None) -> None:
        forbid("setting a tensor's hooks", "Set them outside.")
        self.post_accumulate_hooks = NO_HOOKS if hooks is None else hooks
        changes.count += 1

    def _own_hooks(self, name: str) -> dict[int, Callable[..., Any]]:
        if getattr(self, name) is NO_HOOKS:  # those of all tensors without any
            setattr(self, name, OrderedDict())
        return getattr(self, name)
