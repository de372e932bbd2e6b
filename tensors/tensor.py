"""Tensor: an array with a tape. Names and rules are PyTorch's.

Most methods are functions of `functional/`, attached there by one table; here is what makes a tensor a tensor: memory
and views, `requires_grad`, `grad`, `backward`, hooks.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..ops import arithmetic, comparison, elementary
from ..ops.array import DETACHED, UNTRACKED, Array, Buffer, Evaluator, alias_of, eager
from ..ops.core import Step, interpreted, set_default_interpreter, set_direct
from ..ops.types import BY_NUMPY, DType, dtype_of
from ..ops.views import steps_between
from ..tape.direct import DirectOps
from ..tape.first_shapes import keep_first_shape
from ..tape.grad_mode import is_recording, switches
from ..tape.nodes import AccumulateGrad, Node
from ..tape.plain import PlainTape
from ..tape.through import seen_again
from ..tracing.watch import changes, declare_alias, declare_flag, forbid, local, watched
from .blank import FIELDS, NO_HOOKS
from .calling.operators import binary_operator, reflected_operator
from .constructor import S, constructed
from .exchange import Exchange
from .mixins.gradients import Differentiable
from .operands import PLAIN_TENSORS, add_plain
from .size import Size
from .subclass import Subclassing
from .written.unfollowed import written_behind


class Tensor(Subclassing, Differentiable, Exchange, Array):
    """A multi-dimensional array that can be differentiated through.

    ``tg.tensor(data)`` makes one from data; calling the class is PyTorch's legacy constructor: ``Tensor(2, 3)`` is
    uninitialised memory of that shape (zeros here), ``Tensor([1, 2])`` copies data as float32.

    >>> import tracegrad as tg
    >>> tg.Tensor([1, 2]), tg.Tensor(2, 3).shape
    (tensor([1., 2.]), tracegrad.Size([2, 3]))
    """

    # All that the library keeps in a tensor: its __dict__ is the program's own, and empty for most.
    __slots__ = ("__dict__", *FIELDS)

    is_parameter = False
    _requires: bool
    _grad: Tensor | None
    _node: Node | None
    _output: int
    _base: Tensor | None
    _seen_version: float
    _accumulator: weakref.ref[AccumulateGrad] | None
    leaf_hooks: dict[int, Callable[..., Any]]
    post_accumulate_hooks: dict[int, Callable[..., Any]]
    memory: Any  # what compiled calls remember of this tensor's array
    view_of_several: str  # the name of the function that returned this view together with others
    viewed_without_grad: bool
    is_of_program: bool  # a gradient that a compiled program has made: optimizers ask

    def __new__(cls: type[S], *args: Any, **kwargs: Any) -> S:
        return constructed(cls, args, kwargs)

    __init__: Any = object.__init__  # what a subclass's own __init__ calls

    # ------------------------------------------------------------------------------------------------- description

    @property
    def dtype(self) -> DType:
        """The element type, one for all: ``tg.float32``, ``tg.int64``, ... Others are made by ``tensor.to(dtype)``.

        >>> import tracegrad as tg
        >>> tg.tensor([1, 2]).dtype
        tracegrad.int64
        """
        return BY_NUMPY.get(self.ndarray.dtype) or dtype_of(self.ndarray)

    @property
    def shape(self) -> Size:
        """The extents of the axes, a tuple of ints; ``size()`` is the same.

        >>> import tracegrad as tg
        >>> tg.ones(2, 3).shape
        tracegrad.Size([2, 3])
        """
        return Size(self.ndarray.shape)

    @property
    def ndim(self) -> int:
        """The number of axes, 0 for a single number.

        >>> import tracegrad as tg
        >>> tg.ones(2, 3).ndim
        2
        """
        return self.ndarray.ndim

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded: it is a leaf that asks for it, or was computed of one.

        True of a view whose `base` asks, too. It may be set for leaves, as by `requires_grad_`.

        >>> import tracegrad as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> x.requires_grad, (x * 2).requires_grad, x.detach().requires_grad
        (True, True, False)
        """
        if self._requires or self._node is not None:
            return True
        return self._base is not None and self._base.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value:
            self._check_kind("only Tensors of floating point and complex dtype")
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start (or stop) tracking this leaf, in place; returns it.

        RuntimeError for types that are not floating or complex, for a tensor that was computed of others, which cannot
        stop (`detach` it), and for an inference tensor outside of ``inference_mode()``.

        >>> import tracegrad as tg
        >>> tg.ones(2).requires_grad_()
        tensor([1., 1.], requires_grad=True)
        """
        self._check_flag(requires_grad)
        if self.is_leaf and self._requires != bool(requires_grad):
            declare_flag(self)
            self._requires = bool(requires_grad)
            changes.count += 1
        return self

    def _begin_as_leaf(self) -> Tensor:
        """`requires_grad_` of a tensor that was just made: no guard knows it, so that nothing has changed for any."""
        self._check_kind("Only Tensors of floating point and complex dtype")
        self._check_flag(True)
        if not self._requires:
            declare_flag(self)
            self._requires = True
        return self

    def _check_flag(self, requires_grad: bool) -> None:
        if not self.is_leaf and not requires_grad:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad:
            self._check_kind("only Tensors of floating point dtype")
        if requires_grad and self.buffer.version < 0 and not switches.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. clone() it first."
            )

    @property
    def grad_fn(self) -> Node | None:
        """The node of the graph that has made this tensor, None for a leaf; it has PyTorch's name.

        RuntimeError for a view that was taken in ``no_grad()`` of what requires gradients, or together with others
        (`split`, `unbind`), once that was written to.

        >>> import tracegrad as tg
        >>> (tg.ones(2, requires_grad=True) * 2).grad_fn.name()
        'MulBackward0'
        """
        if self._base is not None:
            self._refresh()
        return self._node

    @property
    def _version(self) -> int:
        forbid("reading _version", "Read it outside.")
        version = self.buffer.version
        if version == UNTRACKED or (version < 0 and self._base is not None):
            raise RuntimeError("Inference tensors do not track version counter.")
        return int(version if version >= 0 else version - DETACHED)

    def is_inference(self) -> bool:
        """Whether this tensor's memory was made in ``inference_mode()``: then autograd saves it for no backward pass.

        >>> import tracegrad as tg
        >>> with tg.inference_mode():
        ...     x = tg.ones(2)
        >>> x.is_inference(), x.clone().is_inference()
        (True, False)
        """
        return self.buffer.version < 0

    # --------------------------------------------------------------------------------------------- memory and views

    @property
    def base(self) -> Tensor | None:
        """The tensor that this one is a view of, None if it is not a view; PyTorch calls it ``_base``.

        >>> import tracegrad as tg
        >>> x = tg.ones(4)
        >>> x[1:].base is x
        True
        """
        return self._base

    def steps_from_base(self) -> tuple[Step, ...]:
        """How this view is made of what its base is now, step by step; RuntimeError where that has other elements.

        >>> import tracegrad as tg
        >>> [step.primitive.name for step in tg.ones(4)[1:].steps_from_base()]
        ['slice']
        """
        assert self._base is not None
        return steps_between(self.buffer.whole, self._base.steps, self.steps) if self._base.steps else self.steps

    def note_view_of(self, source: Tensor) -> None:
        """Told by the tape: this tensor is a view of `source`.

        >>> import tracegrad as tg
        >>> x = tg.ones(2)
        >>> y = x.detach()
        >>> y.note_view_of(x)
        >>> y.base is x
        True
        """
        self._base = source if source._base is None else source._base
        self._seen_version = self.buffer.version
        self.viewed_without_grad = source.viewed_without_grad or not switches.enabled
        if source.view_of_several:
            self.view_of_several = source.view_of_several

    def _refresh(self) -> None:
        """After a write to the memory that this view shares, its node is the view of what the base is now."""
        base = self._base
        assert base is not None
        if self.buffer.version == self._seen_version:
            return
        if not base.requires_grad:
            self._seen_version = self.buffer.version
            return
        if self.is_ambiguous():
            raise written_behind(self)
        self._seen_version = self.buffer.version
        if not self.viewed_without_grad:
            self._continue_from(seen_again(self, base, make))

    def _continue_from(self, value: Tensor) -> None:
        """Have `value`'s node; where the gradient is retained, it is that of the new value (hooks stay behind)."""
        node, output = self._node, self._output
        self._node, self._output = value._node, value._output
        if node is not None and output in node.retained:
            node.release_retained(output)
            if value._node is not None:
                value._node.retain(value._output, self)

    def rebase(self, value: Tensor) -> None:
        """Go on from `value`'s node: the memory now holds its numbers.

        >>> import tracegrad as tg
        >>> x = tg.ones(2)
        >>> x.rebase(tg.ones(2, requires_grad=True) * 1)
        >>> x.grad_fn.name()
        'MulBackward0'
        """
        if self._node is None and self.memory is not None:
            changes.count += 1  # compiled calls know it without a history
        self._continue_from(value)
        self._seen_version = self.buffer.version
        self._accumulator = None

    def become(self, view: Tensor) -> None:
        """Show the memory as `view`, a view of this tensor, does, which is a write; in ``no_grad()`` history stays.

        >>> import tracegrad as tg
        >>> x = tg.arange(4)
        >>> x.become(x[None]), x.ndim
        (None, 2)
        """
        changes.count += 1
        shape, self.ndarray, self.steps, self.place = self.ndarray.shape, view.ndarray, view.steps, view.place
        self.buffer.version += 1
        if self.requires_grad and not is_recording():
            keep_first_shape(self, shape)
        else:
            self.rebase(view)

    def detach(self) -> Tensor:
        """The same memory without a history: no gradient goes on from it.

        Writes to either are seen, and counted, by both.

        >>> import tracegrad as tg
        >>> x = tg.ones(2, requires_grad=True)
        >>> y = (x * 2).detach()
        >>> y, y.data_ptr() == y.detach().data_ptr()
        (tensor([2., 2.]), True)
        """
        return self._alias(self.buffer if self.buffer.version >= 0 else alias_of(self.buffer, switches.inference))

    def _alias(self, buffer: Buffer) -> Tensor:
        declare_alias(self)
        alias = make(self.ndarray, buffer, self.steps)
        alias.label, alias.place = self.label, self.place
        if self.requires_grad:
            eager().cut(alias)
        return alias

    @property
    def data(self) -> Tensor:
        """The same memory without a history or a check of writes (`detach` has it); set: that of another tensor.

        >>> import tracegrad as tg
        >>> w = tg.ones(2, requires_grad=True)
        >>> w.data.mul_(3)
        tensor([3., 3.])
        >>> w
        tensor([3., 3.], requires_grad=True)
        """
        alias = self._alias(alias_of(self.buffer, switches.inference))
        if (behind := (self if self._base is None else self._base)._node) is not None:
            behind.shown_past_versions(alias.buffer)
        return alias

    @data.setter
    def data(self, new: Tensor) -> None:
        declare_alias(self)
        before = None if self.steps or new.steps else _ARRAY.__get__(self)
        self.ndarray, self.steps, self.place = new.ndarray, new.steps, new.place
        self.buffer, version = new.buffer.alias(), max(self.buffer.version, 0)
        self.buffer.version = version if new.buffer.version >= 0 else UNTRACKED
        changes.count_memory(before, new.ndarray)

    # ---------------------------------------------------------------------------------------------------- operators

    __add__ = binary_operator(arithmetic.add)
    __radd__ = reflected_operator(arithmetic.add)
    __sub__ = binary_operator(arithmetic.sub)
    __rsub__ = reflected_operator(arithmetic.sub, "__rsub__")
    __mul__ = binary_operator(arithmetic.mul)
    __rmul__ = reflected_operator(arithmetic.mul)
    __truediv__ = binary_operator(arithmetic.div, method="__truediv__")
    __rtruediv__ = reflected_operator(arithmetic.div, "__rtruediv__")
    __pow__ = binary_operator(elementary.pow)
    __rpow__ = reflected_operator(elementary.pow, "__rpow__")
    __lt__ = binary_operator(comparison.lt)
    __le__ = binary_operator(comparison.le)
    __gt__ = binary_operator(comparison.gt)
    __ge__ = binary_operator(comparison.ge)
    __eq__ = binary_operator(comparison.eq)  # type: ignore[assignment]
    __ne__ = binary_operator(comparison.ne)  # type: ignore[assignment]
    __hash__ = Exchange.__hash__


def make(ndarray: np.ndarray, buffer: Buffer | None = None, steps: tuple[Step, ...] = ()) -> Tensor:
    """A tensor over existing memory; how ops wrap their results."""
    tensor = object.__new__(Tensor)  # then what `blank` and `Array.__init__` do, without two more calls for each op
    tensor._requires = tensor.viewed_without_grad = tensor.is_of_program = False
    tensor._grad = tensor._node = tensor._base = tensor._accumulator = tensor.memory = None
    tensor._output = tensor._seen_version = 0
    tensor.leaf_hooks = tensor.post_accumulate_hooks = NO_HOOKS
    tensor.view_of_several = ""
    tensor.ndarray, tensor.steps, tensor.label, tensor.place = ndarray, steps, None, None
    if buffer is None:
        buffer = Buffer(ndarray)
        if switches.inference:
            buffer.version = UNTRACKED
    tensor.buffer = buffer
    listening = local.watcher
    if listening is not None:
        listening.made(tensor)
    return tensor


def forget_gradients(tensors: Iterable[Tensor]) -> None:
    """``tensor.grad = None`` for each, while nothing is recorded."""
    for tensor in tensors:
        if type(tensor).grad is _GRAD:
            tensor._grad = None
        else:  # a subclass, or somebody who has patched the class, has another property
            tensor.grad = None
    changes.grads += 1


add_plain(Tensor)
_GRAD = Tensor.grad
_ARRAY = vars(Array)["ndarray"]  # also of tensors that refuse to show it
EAGER = PlainTape(Evaluator(), make)
set_default_interpreter(EAGER)
set_direct(DirectOps(EAGER, PLAIN_TENSORS))


def unrecorded(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)`` in plain eager mode, also while a function is recorded: the library's own set-up work."""
    return watched(None, interpreted, EAGER, function, *args)
