"""Tensors meeting Python and numpy: everything here looks at the numbers, so a recording refuses it or makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.array import eager
from ..ops.complex_numbers.conjugated import bit_of
from ..ops.exposure import expose, tell_reader
from ..ops.types import NUMBERS, bfloat16
from ..tape.grad_mode import switches
from ..tracing.unknown_names import UnknownName
from ..tracing.user_warning import warn_once
from ..tracing.watch import watcher
from .formatting import format_tensor
from .overriding import PLAIN
from .written.unfollowed import UNBOUND

if TYPE_CHECKING:
    from .calling.annotations import Index, Number
    from .tensor import Tensor
_CONVERTED_WITH_HISTORY = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)


class Exchange:
    """The part of Tensor that hands numbers to Python."""

    __slots__ = ()
    ndarray: np.ndarray
    requires_grad: bool

    if TYPE_CHECKING:  # attached with the other methods, `functional/methods.py`

        def __getitem__(self, index: Index) -> Tensor: ...

        def __setitem__(self, index: Index, value: Tensor | Number) -> None: ...

        def __matmul__(self, other: Any) -> Tensor: ...

        def __rmatmul__(self, other: Any) -> Tensor: ...

        def __floordiv__(self, other: Any) -> Tensor: ...

        def __rfloordiv__(self, other: Any) -> Tensor: ...

        def __mod__(self, other: Any) -> Tensor: ...

        def __rmod__(self, other: Any) -> Tensor: ...

        def __and__(self, other: Any) -> Tensor: ...

        def __or__(self, other: Any) -> Tensor: ...

        def __xor__(self, other: Any) -> Tensor: ...

        def __lshift__(self, other: Any) -> Tensor: ...

        def __rshift__(self, other: Any) -> Tensor: ...

        def __invert__(self) -> Tensor: ...

    def _read(self, purpose: str) -> np.ndarray:
        return eager().read(self, purpose)

    def _look(self, purpose: str) -> np.ndarray:
        """`_read` for whoever keeps no array: a look at what is there is no end of what is put off."""
        interpreter = eager()
        is_there = getattr(interpreter, "is_there", None)
        return self.ndarray if is_there is not None and is_there(self) else interpreter.read(self, purpose)

    def __hash__(self) -> int:
        listening = watcher()
        if listening is not None:
            listening.hashed(self)
        return id(self)

    def __getattr__(self, name: str) -> Any:
        """Asked for what is not there."""
        listening = watcher()
        if listening is not None and name[:2] != "__":
            listening.attribute_missing(self, name)
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        if name[:1] == "_":
            raise AttributeError(message, name=name, obj=self)
        raise UnknownName(message, name, self)

    def item(self) -> bool | int | float:
        """The one element as a Python number, without a history; RuntimeError if there are none or several.

        A compiled function has to wait for it, unless the number is only returned or kept in a list.

        >>> import tracegrad as tg
        >>> tg.tensor([2.5]).item()
        2.5
        """
        self._require_one()
        return eager().item(self)

    def _require_one(self) -> None:
        if self.ndarray.size != 1:
            raise RuntimeError(
                f"a Tensor with {self.ndarray.size} elements cannot be converted to Scalar. "
                "Use tolist(), or reduce it to one element first."
            )

    def _number(self, purpose: str) -> Any:
        if self.ndarray.size != 1:
            raise ValueError(
                "only one element tensors can be converted to Python scalars. Use tolist(), or reduce it to one "
                "element first."
            )
        return self._look(purpose).item()

    def _real(self, purpose: str, name: str) -> Any:
        """The one element, for a type (`name` in C) that has no imaginary part."""
        number = self._number(purpose)
        if not isinstance(number, complex):
            return number
        if number.imag != 0:
            raise RuntimeError(
                f"value cannot be converted to type {name} without overflow: {number!r} has an imaginary part. "
                "Use its .real."
            )
        return number.real

    def tolist(self) -> Any:
        """Nested lists of Python numbers, one level for each axis; a plain number for a 0-d tensor.

        >>> import tracegrad as tg
        >>> tg.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return self._look("tolist()").tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The numpy array that shares this tensor's memory: of its shape and type, writes to either are seen by both.

        RuntimeError if the tensor requires grad, or is a conjugate in the memory of another tensor (with `force` a copy
        is made), TypeError for bfloat16, which numpy does not have.

        >>> import tracegrad as tg
        >>> tg.tensor([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        if not force and switches.grad and self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if bit := bit_of(self.ndarray, self.buffer):
            if force:
                return np.array(self._read("numpy()"))
            resolve = f"resolve_{bit[:4] if bit == 'conjugate' else bit[:3]}"
            raise RuntimeError(
                f"Can't call numpy() on Tensor that has {bit} bit set. Use tensor.{resolve}().numpy() instead."
            )
        if self.ndarray.dtype == bfloat16.numpy:
            raise TypeError("Got unsupported ScalarType BFloat16: numpy has no such type. Use tensor.float().numpy().")
        values = self._read("numpy()")
        expose(values)
        tell_reader(self.buffer)
        return values.view()  # an object of its own: reshaping it in place must not reshape the tensor

    def to_numpy(self) -> np.ndarray:
        """`numpy`, under the name by which matplotlib asks columns of tables for their numbers.

        >>> import tracegrad as tg
        >>> tg.tensor([1, 2]).to_numpy()
        array([1, 2])
        """
        return self.numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """What ``np.asarray(tensor)`` calls: `numpy`, converted to `dtype`; a copy if `copy` is True.

        ValueError if `copy` is False and the types differ.
        """
        values = self.numpy()
        converts = dtype is not None and values.dtype != dtype
        if converts and copy is False:
            raise ValueError(
                f"Unable to avoid copy while creating an array of {np.dtype(dtype)} from a tensor of {values.dtype}. "
                "Leave out copy=False."
            )
        return np.array(values, dtype=dtype) if copy or converts else values

    def __bool__(self) -> bool:
        if self.ndarray.size != 1:
            what = "no values" if self.ndarray.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous. Use .any() or .all().")
        return bool(self._look("bool(tensor) (an if, while, and, or, not on it)").item())

    def __float__(self) -> float:
        self._warn_of_history()
        return float(self._real("float(tensor)", "double"))

    def __int__(self) -> int:
        return int(self._real("int(tensor)", "int64_t"))

    def __complex__(self) -> complex:
        self._warn_of_history()
        return complex(self._number("complex(tensor)"))

    def _warn_of_history(self) -> None:
        if switches.grad and self.requires_grad:
            warn_once(_CONVERTED_WITH_HISTORY)

    def __index__(self) -> int:
        if self.ndarray.dtype.kind not in "biu" or self.ndarray.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._number("a tensor as an index"))

    def __len__(self) -> int:
        if self.ndarray.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self.ndarray.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if self.ndarray.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        itself: Any = self
        if type(self) in PLAIN and not (switches.enabled and itself.requires_grad):
            return self._rows()
        return iter(itself.unbind())

    def _rows(self) -> Iterator[Tensor]:
        """What `unbind` returns where there is no history, each when it is asked for."""
        for i in range(len(self)):
            row: Any = self[i]
            row.view_of_several = UNBOUND
            yield row

    def __reversed__(self) -> Tensor:
        """The tensor with its first axis in reverse, as a copy; a 0-d tensor itself."""
        itself: Any = self
        return itself.flip(0) if self.ndarray.ndim else itself

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (Exchange, *NUMBERS, np.generic)):
            raise RuntimeError(
                f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}. "
                "Make a tensor of it, or compare with ==."
            )
        return bool((self == element).any())  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return format_tensor(self, self._look("print(tensor)"))

    def __format__(self, spec: str) -> str:
        if self.ndarray.ndim == 0 and type(self) in PLAIN:
            return format(self._number("format(tensor)"), spec)
        return object.__format__(self, spec)  # TypeError for any format
