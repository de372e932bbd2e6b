"""The interpreter of eager mode: evaluates each op on tensors and, where a gradient is wanted, records it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..ops.array import Evaluator
from ..ops.core import Number, Params, Primitive
from ..ops.types import DIFFERENTIABLE_KINDS, DType, Type
from ..tracing.watch import local
from .grad_mode import switches
from .nodes import PrimitiveNode
from .selected import declare_write_to_picked


class Tape:
    """Hands values to `below` (numpy, or a recorder of values) and keeps the graph for the backward pass."""

    #: Who does pointwise ops, given the primitive, the general way, and the operands; None: the general way.
    expected: Any = None

    def __init__(self, below: Evaluator, make: Callable[..., Any]) -> None:
        self.below = below
        self.make = make

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        out = self.below.evaluate(primitive, operands, params, self.make)
        requiring = [i for i, o in enumerate(operands) if not isinstance(o, np.generic) and o.requires_grad]
        if requiring:
            self.record(primitive, operands, params, out, requiring)
        if primitive.is_view and out.buffer is operands[0].buffer:
            out.note_view_of(operands[0])
        return out

    def record(
        self,
        primitive: Primitive,
        operands: Sequence[Any],
        params: Params,
        out: Any,
        requiring: Sequence[int],
        title: str = "",
    ) -> None:
        """Let `out` remember how it was computed, for the operands `requiring` gradients: in a node that is called
        `title`, or as the primitive's are."""
        if not switches.enabled:
            self.below.cut(out)
            return
        on = primitive.differentiable(requiring)
        if on and out.ndarray.dtype.kind in DIFFERENTIABLE_KINDS:
            out._node = node = PrimitiveNode.of(primitive, operands, params, out, on, title)
            if local.watcher is not None:
                node.origin = local.watcher.origin()

    def stacked(self, tensors: Sequence[Any], axis: int) -> Any:
        """Tensors of one type along a new axis, in one go; None where one has a history, or ops are wanted."""
        for tensor in tensors:
            if tensor._requires or tensor._node is not None:
                return None
            if tensor._base is not None and tensor.requires_grad:
                return None
        return self.below.stacked(tensors, axis, self.make)

    def literal(self, values: np.ndarray) -> Any:
        """A tensor of numbers from the program itself (``tensor([1, 2])``)."""
        return self.below.literal(values, self.make)

    def write(self, target: Any, value: Any) -> None:
        """Store `value` in `target`'s memory, without any record for differentiation."""
        declare_write_to_picked(target.buffer)
        self.below.write(target, value)

    def read(self, array: Any, purpose: str) -> np.ndarray:
        """The numbers of a tensor, for Python to look at."""
        return self.below.read(array, purpose)

    def item(self, array: Any) -> bool | int | float:
        """The one number of a tensor, for Python."""
        return self.below.item(array)

    def peek(self, array: Any) -> np.ndarray:
        """The numbers of a tensor, for the library's own decisions."""
        return self.below.peek(array)

    def require(self, array: Any, requirement: Any, facts: tuple[int, ...]) -> None:
        """Raise unless `requirement` holds for the numbers of a tensor."""
        self.below.require(array, requirement, facts)

    def cut(self, array: Any) -> None:
        """Derivatives stop at `array` (a detached alias)."""
        self.below.cut(array)

    def type_of(self, operand: Any) -> Type:
        return self.below.type_of(operand)

    def is_number(self, operand: Any) -> bool:
        return self.below.is_number(operand)

    def constant(self, number: Number | np.generic, dtype: DType) -> Any:
        return self.below.constant(number, dtype)
