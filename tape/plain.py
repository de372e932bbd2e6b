"""The tape of plain eager mode: what `Tape` does over an `Evaluator`, in one go for each op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ops.array import quietly, shows
from ..ops.complex_numbers.conjugated import CONJUGATED, conjugated
from ..ops.core import Params, Primitive, Step
from ..ops.types import Type, dtype_of
from .grad_mode import switches
from .tape import Tape


class PlainTape(Tape):
    """Evaluates with numpy at once; operands are tensors and numpy's numbers."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        if not operands:
            return self.make(quietly(primitive.evaluate, **params))
        if primitive.is_view and type(getattr(operands[0], "ndarray", None)) is np.ndarray:
            return self.viewed(primitive, operands[0], params)
        recorded = switches.enabled
        values: list[Any] = []
        requiring: list[int] = []
        for operand in operands:
            if isinstance(operand, np.generic):
                values.append(operand)
                continue
            if (
                recorded
                and (operand._node is not None or operand._requires or operand._base is not None)
                and operand.requires_grad
            ):
                requiring.append(len(values))
            values.append(operand.ndarray)
        try:
            value = quietly(primitive.evaluate, *values, **params)
        except ValueError:
            _explain(primitive, values, params)
            raise
        out = self.make(value if type(value) is np.ndarray else np.asarray(value))
        if requiring:
            self.record(primitive, operands, params, out, requiring)
        return out

    def computes_only(self, *values: Any) -> bool:
        """Whether what is made of these tensors is just numbers, without a history (`ops.core.at_once`)."""
        if switches.enabled:
            for value in values:
                if value.requires_grad:
                    return False
        return True

    def viewed(self, primitive: Primitive, source: Any, params: Params, title: str = "") -> Any:
        """The value of an op that only moves elements: of the operand's memory where numpy finds them in place. Its
        node is called `title`, or as the primitive's are."""
        array = source.ndarray
        conjugate = primitive.lower is CONJUGATED
        try:
            value = conjugated(array, source.buffer) if conjugate else primitive.evaluate_wide(array, **params)
        except ValueError:
            _explain(primitive, [array], params)
            raise
        is_view = conjugate or shows(value, array)
        if is_view:
            out = self.make(value, source.buffer, (*source.steps, Step(primitive, tuple(params.items()))))
        else:
            out = self.make(value)
        if (
            switches.enabled
            and (source._node is not None or source._requires or source._base is not None)
            and source.requires_grad
        ):
            self.record(primitive, (source,), params, out, _ALONE, title)
        if is_view:
            out.note_view_of(source)
        return out


_ALONE = [0]


def _explain(primitive: Primitive, values: Sequence[Any], params: Params) -> None:
    """Raise what the type rule says of operands that numpy refuses."""
    primitive.type_rule(*(Type(dtype_of(value), value.shape) for value in values), **params)
