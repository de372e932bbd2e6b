"""Tensor: an array with a tape. Names and rules are PyTorch's.

Most methods are functions of `functional/`, attached there by one table; here is what makes a tensor a tensor: memory
and views, `requires_grad`, `grad`, `backward`, hooks.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..ops import arithmetic, comparison, elementary
from ..ops.array import UNTRACKED, Array, Buffer, Evaluator, eager
from ..ops.core import Step, interpreted, set_default_interpreter, set_direct
from ..ops.types import DType, dtype_of
from ..ops.views import replay
from ..tape.direct import DirectOps
from ..tape.grad_mode import enable_grad, is_grad_enabled, switches
from ..tape.handles import RemovableHandle
from ..tape.nodes import NO_EDGE, AccumulateGrad, Edge, Node
from ..tape.reverse import backward
from ..tape.tape import Tape
from ..tracing.watch import changes, declare_alias, declare_flag, declare_hook, forbid, watched, watcher
from .blank import FIELDS, NO_HOOKS, blank
from .constructor import constructed
from .exchange import Exchange
from .operands import PLAIN_TENSORS, add_plain, binary_operator, reflected_operator
from .size import Size
from .subclass import Subclassing


class Tensor(Subclassing, Exchange, Array):
    """A multi-dimensional array that can be differentiated through.

    ``tg.tensor(data)`` makes one from data; calling the class is PyTorch's legacy constructor: ``Tensor(2, 3)`` is
    uninitialised memory of that shape, ``Tensor([1, 2])`` copies data as float32.
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

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return constructed(cls, args, kwargs)

    __init__ = object.__init__  # what a subclass's own __init__ calls

    # ------------------------------------------------------------------------------------------------- description

    @property
    def dtype(self) -> DType:
        return dtype_of(self.ndarray)

    @property
    def shape(self) -> Any:
        return Size(self.ndarray.shape)

    @property
    def ndim(self) -> int:
        return self.ndarray.ndim

    @property
    def requires_grad(self) -> bool:
        if self._base is not None:
            self._refresh()
        return self._requires or self._node is not None

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Start (or stop) tracking this leaf, in place. The argument defaults to True."""
        if not self.is_leaf and not requires_grad:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if requires_grad and not self.dtype.is_floating_point:
            raise RuntimeError(
                f"only Tensors of floating point dtype can require gradients, this one is {self.dtype!r}. "
                "Convert it first, e.g. with .float()."
            )
        if requires_grad and self.buffer.version < 0 and not switches.inference:
            raise RuntimeError(
                "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed. clone() it first."
            )
        if self.is_leaf and self._requires != bool(requires_grad):
            declare_flag(self)
            self._requires = bool(requires_grad)
            changes.count += 1
        return self

    @property
    def is_leaf(self) -> bool:
        return not self.requires_grad or self._node is None

    @property
    def grad_fn(self) -> Node | None:
        if self._base is not None:
            self._refresh()
        return self._node

    @property
    def _version(self) -> int:
        forbid("reading _version", "Read it outside.")
        if self.buffer.version < 0:
            raise RuntimeError("Inference tensors do not track version counter.")
        return int(self.buffer.version)

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
        """The tensor that this one is a view of, None if it is not a view."""
        return self._base

    def steps_from_base(self) -> tuple[Step, ...]:
        assert self._base is not None
        return self.steps[len(self._base.steps) :]

    def note_view_of(self, source: Tensor) -> None:
        """Told by the tape: this tensor is a view of `source`."""
        self._base = source if source._base is None else source._base
        self._seen_version = self.buffer.version
        self.viewed_without_grad = source.viewed_without_grad or not is_grad_enabled()
        if source.view_of_several:
            self.view_of_several = source.view_of_several

    def _refresh(self) -> None:
        """After a write to the memory that this view shares, its node is the view of what the base is now."""
        base = self._base
        assert base is not None
        if self.buffer.version == self._seen_version:
            return
        self._seen_version = self.buffer.version
        if base.requires_grad and not self.viewed_without_grad:
            with enable_grad():
                fresh = replay(base, self.steps_from_base())
            self._continue_from(fresh)

    def _continue_from(self, value: Tensor) -> None:
        """Have `value`'s node; where the gradient is retained, it is that of the new value (hooks stay behind)."""
        node, output = self._node, self._output
        self._node, self._output = value._node, value._output
        if node is not None and output in node.retained:
            node.release_retained(output)
            if value._node is not None:
                value._node.retain(value._output, self)

    def rebase(self, value: Tensor) -> None:
        """Go on from `value`'s node: the memory now holds its numbers."""
        self._continue_from(value)
        self._seen_version = self.buffer.version
        self._accumulator = None

    def become(self, view: Tensor) -> None:
        """Show the memory as `view`, a view of this tensor, does."""
        if self.requires_grad and self.is_leaf:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation. Use the form without _."
            )
        changes.count += 1
        self.ndarray, self.steps, self.place = view.ndarray, view.steps, view.place
        self._continue_from(view)

    def forget_history(self) -> None:
        """Become a leaf that requires no gradient; the memory stays."""
        self._node, self._output, self._requires = None, 0, False

    def detach(self) -> Tensor:
        """The same memory without a history; writes to either are seen, and counted, by both."""
        return self._alias(self.buffer)

    def _alias(self, buffer: Buffer) -> Tensor:
        declare_alias(self)
        alias = make(self.ndarray, buffer, self.steps)
        alias.label, alias.place = self.label, self.place
        if self.requires_grad:
            eager().cut(alias)
        return alias

    @property
    def data(self) -> Tensor:
        """The same memory without a history and without the version check: writes through it are not noticed."""
        alias = self._alias(Buffer(self.buffer.whole))
        alias.buffer.version = min(self.buffer.version, 0)
        return alias

    @data.setter
    def data(self, new: Tensor) -> None:
        declare_alias(self)
        self.ndarray, self.steps, self.place = new.ndarray, new.steps, new.place
        version = self.buffer.version
        self.buffer = Buffer(new.buffer.whole)
        self.buffer.version = version
        changes.count += 1

    # ---------------------------------------------------------------------------------------------------- gradients

    def attach(self, node: Node, output: int) -> None:
        """Told by the tape: this tensor is output number `output` of `node`."""
        self._node, self._output = node, output

    def gradient_edge(self) -> Edge:
        """Where a gradient of this tensor goes."""
        if self._base is not None:
            self._refresh()
        if self._node is not None:
            return Edge(self._node, self._output)
        if not self._requires:
            return NO_EDGE
        node = self._accumulator() if self._accumulator is not None else None
        if node is None:
            node = AccumulateGrad(self)
            self._accumulator = weakref.ref(node)
        return Edge(node)

    @property
    def grad(self) -> Tensor | None:
        """The accumulated gradient of a leaf, None before any ``backward()``."""
        listening = watcher()
        if listening is not None:
            listening.grad_read(self)
        if self._grad is None and self._node is not None and not self._retains:
            warnings.warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you want the gradient of a non-leaf Tensor, call "
                ".retain_grad() on it before backward().",
                UserWarning,
                stacklevel=2,
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
        if not isinstance(value, Tensor):
            raise TypeError(
                f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__!r}"
            )
        if value is self:
            raise RuntimeError("can't assign Variable as its own grad; assign a clone()")
        if value.ndarray.shape != self.ndarray.shape:
            raise RuntimeError(
                f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size "
                f"'{list(self.shape)}'. Please ensure that the gradient and the tensor are the same size"
            )
        if value.ndarray.dtype != self.ndarray.dtype:
            raise RuntimeError(
                f"attempting to assign a gradient with dtype '{value.dtype!r}' to a tensor with dtype "
                f"'{self.dtype!r}'. Please ensure that the gradient and the tensor have the same dtype"
            )

    @property
    def _retains(self) -> bool:
        return self._node is not None and self._output in self._node.retained

    @property
    def retains_grad(self) -> bool:
        return self._retains

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in ``.grad`` at each backward."""
        if not self.requires_grad:
            raise RuntimeError(
                "can't retain_grad on Tensor that has requires_grad=False. Set requires_grad=True on its leaves."
            )
        if self._node is not None:
            self._node.retain(self._output, self)

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
    ) -> None:
        """Accumulate the gradients of this tensor into ``.grad`` of the leaves; see :func:`autograd.backward`."""
        backward((self,), None if gradient is None else (gradient,), retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> RemovableHandle:
        """Call ``hook(grad)`` when this tensor's gradient is computed; a tensor it returns replaces the gradient."""
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._node is None:
            return RemovableHandle(self._own_hooks("leaf_hooks"), hook)
        declare_hook(self._node)
        return RemovableHandle(self._node.own_hooks(self._output), hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(tensor)`` after this leaf's ``.grad`` has been accumulated."""
        if self._node is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return RemovableHandle(self._own_hooks("post_accumulate_hooks"), hook)

    def _own_hooks(self, name: str) -> dict[int, Callable[..., Any]]:
        """The hooks of that name, in a dict of this tensor's own."""
        if getattr(self, name) is NO_HOOKS:
            setattr(self, name, {})
        return getattr(self, name)

    # ---------------------------------------------------------------------------------------------------- operators

    __add__ = binary_operator(arithmetic.add)
    __radd__ = reflected_operator(arithmetic.add)
    __sub__ = binary_operator(arithmetic.sub)
    __rsub__ = reflected_operator(arithmetic.sub, "__rsub__")
    __mul__ = binary_operator(arithmetic.mul)
    __rmul__ = reflected_operator(arithmetic.mul)
    __truediv__ = binary_operator(arithmetic.div)
    __rtruediv__ = reflected_operator(arithmetic.div, "__rtruediv__")
    __pow__ = binary_operator(elementary.pow)
    __rpow__ = reflected_operator(elementary.pow, "__rpow__")
    __lt__ = binary_operator(comparison.lt)
    __le__ = binary_operator(comparison.le)
    __gt__ = binary_operator(comparison.gt)
    __ge__ = binary_operator(comparison.ge)
    __eq__ = binary_operator(comparison.eq)
    __ne__ = binary_operator(comparison.ne)
    __hash__ = Exchange.__hash__


def make(ndarray: np.ndarray, buffer: Buffer | None = None, steps: tuple[Step, ...] = ()) -> Tensor:
    """A tensor over existing memory; how ops wrap their results."""
    tensor: Tensor = blank(Tensor)  # then what Array.__init__ does, without another call
    tensor.ndarray, tensor.steps, tensor.label, tensor.place = ndarray, steps, None, None
    if buffer is None:
        buffer = Buffer(ndarray)
        if switches.inference:
            buffer.version = UNTRACKED
    tensor.buffer = buffer
    listening = watcher()
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
EAGER = Tape(Evaluator(), make)
set_default_interpreter(EAGER)
set_direct(DirectOps(EAGER, PLAIN_TENSORS))


def unrecorded(function: Callable[..., Any], *args: Any) -> Any:
    """``function(*args)`` in plain eager mode, also while a function is recorded: the library's own set-up work."""
    return watched(None, interpreted, EAGER, function, *args)
