"""What public signatures say of arguments that may be of several types. Imported below `TYPE_CHECKING`, and last of
all by `tooling/type_names.py`.

Signatures write ``Tensor`` where a tensor belongs, ``Tensor | Number`` where PyTorch takes a number as well,
``DType | None`` for an element type, and these names where the list of types would be long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

from ...ops.types import DType
from ..device import device
from ..layouts.formats import layout
from ..tensor import Tensor

#: Python's numbers; where a float is meant, signatures say ``float``, which takes an int as well.
Number = bool | int | float | complex
#: An element type as PyTorch's signatures take it: ``tg.float32``, or one of Python's types (``float`` is float64).
DTypeLike = DType | type
#: Where a tensor is: an object, or its name.
DeviceLike = device | str | int
#: One axis or several; with ``| None`` where that means all of them.
Axes = int | Sequence[int]
#: One number for all axes, or one for each.
Sizes = int | Sequence[int]
#: What stands between brackets behind a tensor, one of it or a tuple.
Index = int | slice | None | EllipsisType | Tensor | Sequence[Any]
#: Tensors in containers, as control flow and transformations of functions take and return them.
Tree = Tensor | Sequence[Any] | Mapping[Any, Any] | Number | None
#: What functions that make tensors take besides: where, how and whether with gradients.
Option = DeviceLike | layout | bool | None
