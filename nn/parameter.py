"""Parameter, a tensor that a module registers and an optimizer updates; Buffer, one that is state only; and both before
their shapes are known: nothing can be computed with them until they get memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..ops.array import Array, eager
from ..ops.types import DType, dtype_of, get_default_dtype
from ..serialization.saved import restorable
from ..tensors.blank import blank
from ..tensors.creation import empty
from ..tensors.device import require_cpu
from ..tensors.operands import add_plain
from ..tensors.overriding import disabled_torch_function
from ..tensors.size import Size
from ..tensors.tensor import Tensor, make
from ..tracing.watch import declare_transient

if TYPE_CHECKING:
    from ..tensors.calling.annotations import DeviceLike


P = TypeVar("P", bound=Tensor)


class _ParameterMeta(type):
    """Counts tensors of other classes that ``Parameter(tensor)`` has made parameters."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and instance.is_parameter


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf over the memory of `data` (nothing is copied); assigned to a module, it is one of its parameters.

    Without `data` it is empty. A tensor of a subclass gives a parameter of its own class, which counts as one.
    RuntimeError if `data` is not floating and `requires_grad` is left on.

    >>> import tracegrad as tg
    >>> tg.nn.Parameter(tg.ones(2))
    Parameter containing:
    tensor([1., 1.], requires_grad=True)
    """

    is_parameter = True
    __torch_function__: Any = disabled_torch_function

    def __new__(cls: type[P], data: Tensor | None = None, requires_grad: bool = True) -> P:
        own = isinstance(data, Tensor) and type(data) is not Tensor and not issubclass(type(data), Parameter)
        made: P = _of_its_own_class(data, requires_grad) if own else blank(cls)
        return made

    def __init__(self, data: Tensor | None = None, requires_grad: bool = True) -> None:
        if data is None:
            data = make(np.empty(0, np.float32))
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Parameter takes a Tensor, got {type(data).__name__}; make one with tracegrad.tensor(data)"
            )
        Array.__init__(self, data.ndarray, data.buffer, data.steps)
        if requires_grad:
            self._begin_as_leaf()

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        copied = type(self)(make(eager().peek(self).copy(order="K")), self.requires_grad)
        memo[id(self)] = copied
        return copied


def _of_its_own_class(data: Any, requires_grad: bool) -> Any:
    """A parameter of the subclass that `data` is of."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an "
            f"instance of the same type, but return type {type(made).__name__} was found instead. To use the type as a "
            "Parameter, let its __torch_function__ give what detach() returns its class."
        )
    made.is_parameter = made._is_param = True
    return made


add_plain(Parameter)
restorable(Parameter)


# Pickles of earlier versions hold this name.
def _restored(kind: type[Parameter], values: np.ndarray, requires_grad: bool) -> Parameter:
    return kind(make(values), requires_grad)


# ---------------------------------------------------------------------------------------------------------- buffers


class _BufferMeta(type):
    """Counts the tensors that ``Buffer(tensor)`` has made, whatever their class is."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and bool(vars(instance).get("_is_buffer", False))


class Buffer(metaclass=_BufferMeta):
    """``Buffer(data)`` is a tensor over the memory of `data` that modules register as a buffer when it is assigned to
    an attribute; with ``persistent=False`` it is left out of ``state_dict()``. Without `data` it is empty.

    >>> import tracegrad as tg
    >>> model = tg.nn.Module()
    >>> model.mean = tg.nn.Buffer(tg.zeros(2))
    >>> list(model.state_dict())
    ['mean']
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:  # type: ignore[misc]
        of = empty(0) if data is None else data
        made = of.detach().requires_grad_(of.requires_grad)
        vars(made).update(persistent=persistent, _is_buffer=True)
        return made


# ---------------------------------------------------------------------------------------------------- uninitialised

#: Where a tensor keeps its numpy array, below the property that refuses it.
_memory = vars(Array)["ndarray"]


class UninitializedTensorMixin:
    """What both kinds share: an element type, a flag, and an error for whatever asks for numbers or a shape."""

    __slots__ = ()
    cls_to_become: type[Tensor]

    @property
    def ndarray(self) -> Any:
        raise ValueError(
            "Attempted to use an uninitialized parameter in an operation. This error happens when you are using a "
            f"`LazyModule` or explicitly manipulating `torch.nn.parameter.{type(self).__name__}` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )

    @ndarray.setter
    def ndarray(self, values: np.ndarray) -> None:
        _memory.__set__(self, values)

    @property
    def shape(self) -> Any:
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    @property
    def dtype(self) -> DType:
        return dtype_of(_memory.__get__(self))

    @property
    def data(self) -> Tensor:
        """An empty tensor."""
        return make(_memory.__get__(self))

    @data.setter
    def data(self, new: Tensor) -> None:
        Tensor.data.__set__(self, new)

    def size(self, dim: int | None = None) -> Any:
        """That of an empty vector, as in PyTorch."""
        return Size((0,)) if dim is None else 0

    def is_floating_point(self) -> bool:
        return self.dtype.is_floating_point

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`."
        )

    def materialize(self, shape: Sequence[int], device: DeviceLike | None = None, dtype: DType | None = None) -> None:
        """Get memory of that shape, which is uninitialised, and become a tensor like all others."""
        require_cpu(device)
        declare_transient("a parameter or buffer gets its shape")
        made: Any = self
        label = made.label
        Array.__init__(made, np.empty(tuple(shape), (dtype or self.dtype).numpy))
        made.label = label
        self.__class__ = self.cls_to_become  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def _made(self, requires_grad: bool, device: Any, dtype: DType | None) -> None:
        require_cpu(device)
        Array.__init__(self, np.empty(0, (dtype or get_default_dtype()).numpy))  # type: ignore[arg-type]
        if requires_grad:
            self.requires_grad_()  # type: ignore[attr-defined]

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, None, self.dtype)  # type: ignore[attr-defined, call-arg]
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, None, self.dtype)  # type: ignore[attr-defined]


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A parameter whose shape is not known yet; ``materialize(shape)`` gives it memory, and it is one like all others.

    Lazy layers have them before their first call. Whatever computes with it raises ValueError, its shape RuntimeError.

    >>> import tracegrad as tg
    >>> weight = tg.nn.UninitializedParameter()
    >>> weight.materialize((2, 3))
    >>> type(weight).__name__, weight.shape
    ('Parameter', tracegrad.Size([2, 3]))
    """

    cls_to_become = Parameter

    def __new__(
        cls: type[P], requires_grad: bool = True, device: DeviceLike | None = None, dtype: DType | None = None
    ) -> P:
        made: P = blank(cls)
        return made

    def __init__(
        self, requires_grad: bool = True, device: DeviceLike | None = None, dtype: DType | None = None
    ) -> None:
        self._made(requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer whose shape is not known yet; ``materialize(shape)`` gives it memory, and it is a tensor like all
    others.

    Whatever computes with it raises ValueError, its shape RuntimeError. With ``persistent=False`` it is left out of
    ``state_dict()``.

    >>> import tracegrad as tg
    >>> mean = tg.nn.UninitializedBuffer()
    >>> mean.materialize((3,))
    >>> mean.shape, mean.requires_grad
    (tracegrad.Size([3]), False)
    """

    cls_to_become = Tensor
    __torch_function__: Any = disabled_torch_function

    def __new__(
        cls: type[P],
        requires_grad: bool = False,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> P:
        made: Any = blank(cls)
        made.persistent, made._is_buffer = persistent, True
        return made

    def __init__(
        self,
        requires_grad: bool = False,
        device: DeviceLike | None = None,
        dtype: DType | None = None,
        persistent: bool = True,
    ) -> None:
        self._made(requires_grad, device, dtype)


def is_lazy(tensor: object) -> bool:
    """Whether a parameter or buffer has no shape yet.

    >>> import tracegrad as tg
    >>> from tracegrad.nn.parameter import is_lazy
    >>> is_lazy(tg.nn.LazyLinear(2).weight), is_lazy(tg.ones(1))
    (True, False)
    """
    return isinstance(tensor, UninitializedTensorMixin)
