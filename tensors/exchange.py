"""Tensors meeting Python and numpy: everything here looks at the numbers, so a recording refuses it or makes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.exposure import expose
from ..tracing.watch import watcher
from .formatting import format_tensor
from .overriding import PLAIN


class Exchange:
    """The part of Tensor that hands numbers to Python."""

    __slots__ = ()
    ndarray: np.ndarray
    requires_grad: bool

    def _read(self, purpose: str) -> np.ndarray:
        return eager().read(self, purpose)

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
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def item(self) -> bool | int | float:
        """The one element as a Python number; RuntimeError if there are several."""
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
        return self._read(purpose).item()

    def tolist(self) -> Any:
        """Nested lists of Python numbers; a plain number for a 0-d tensor."""
        return self._read("tolist()").tolist()

    def numpy(self, *, force: bool = False) -> np.ndarray:
        """The numpy array that shares this tensor's memory; RuntimeError if it requires grad (unless `force`)."""
        if self.requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        values = self._read("numpy()")
        expose(values)
        return values.view()  # an object of its own: reshaping it in place must not reshape the tensor

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self.numpy()
        return np.array(values, dtype=dtype) if copy or (dtype is not None and values.dtype != dtype) else values

    def __bool__(self) -> bool:
        if self.ndarray.size != 1:
            what = "no values" if self.ndarray.size == 0 else "more than one value"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous. Use .any() or .all().")
        return bool(self._read("bool(tensor) (an if, while, and, or, not on it)").item())

    def __float__(self) -> float:
        return float(self._number("float(tensor)"))

    def __int__(self) -> int:
        return int(self._number("int(tensor)"))

    def __complex__(self) -> complex:
        return complex(self._number("complex(tensor)"))

    def __index__(self) -> int:
        if self.ndarray.dtype.kind not in "bi" or self.ndarray.size != 1:
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return int(self._number("a tensor as an index"))

    def __len__(self) -> int:
        if self.ndarray.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return int(self.ndarray.shape[0])

    def __iter__(self) -> Iterator[Any]:
        if self.ndarray.ndim == 0:
            raise TypeError("iteration over a 0-d tensor")
        return (self[i] for i in range(len(self)))  # type: ignore[index]

    def __reversed__(self) -> Any:
        """The tensor with its first axis in reverse, as a copy; a 0-d tensor itself."""
        return self.flip(0) if self.ndarray.ndim else self

    def __contains__(self, element: Any) -> bool:
        return bool((self == element).any())

    def __repr__(self) -> str:
        return format_tensor(self, self._read("print(tensor)"))

    def __format__(self, spec: str) -> str:
        if self.ndarray.ndim == 0 and type(self) in PLAIN:
            return format(self._number("format(tensor)"), spec)
        return object.__format__(self, spec)  # TypeError for any format
