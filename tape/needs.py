"""What the derivative rules of a primitive name, and the values of it that a node keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..ops.array import by_columns
from ..ops.core import Primitive
from ..ops.types import Type, dtype_of
from ..ops.vjp import names_needed
from .saved import Saved, packing, saved

Needs = Sequence[tuple[str, int, int]]  # what rules name: its name, its kind, the place of the operand
OUT, OUT_TYPE, OPERAND, OPERAND_TYPE, OPERAND_TYPES, OPERANDS, OPERAND_LAYOUT = range(7)

_KEPT = frozenset({OUT, OPERAND, OPERANDS})


def needs_of(primitive: Primitive, on: tuple[int, ...]) -> tuple[tuple[str, int, int], ...]:
    """What the derivative rules of the operands `on` name: name, kind, position of the operand."""
    names = names_needed(primitive, on)
    needs = [("out", OUT, 0)] if "out" in names else []
    needs += [("out_type", OUT_TYPE, 0)] if "out_type" in names else []
    if primitive.variadic:
        name = primitive.inputs[0][1:]
        needs += [(f"{name}_types", OPERAND_TYPES, 0)] if f"{name}_types" in names else []
        return (*needs, (name, OPERANDS, 0)) if name in names else tuple(needs)
    for i, name in enumerate(primitive.inputs):
        needs += [(name, OPERAND, i)] if name in names else []
        needs += [(f"{name}_type", OPERAND_TYPE, i)] if f"{name}_type" in names else []
        needs += [(f"{name}_by_columns", OPERAND_LAYOUT, i)] if f"{name}_by_columns" in names else []
    return tuple(needs)


def known_of(operands: Sequence[Any], out: Any, needs: Sequence[tuple[str, int, int]]) -> Mapping[str, Any]:
    """What the rules need: values are saved with their versions, types are just types."""
    known: dict[str, Any] = {}
    keep = saved if packing.hooks else Saved
    for name, kind, i in needs:
        if kind == OPERAND:
            x = operands[i]
            known[name] = x if isinstance(x, np.generic) else keep(x, False)
        elif kind == OUT:
            known[name] = keep(out, True)
        elif kind == OUT_TYPE:
            known[name] = out.type_
        elif kind == OPERAND_TYPES:
            known[name] = tuple(o.type_ for o in operands)
        elif kind == OPERANDS:
            each = [o if isinstance(o, np.generic) else keep(o, False) for o in operands]
            known.update({f"{name}{place}": one for place, one in enumerate(each)})
        elif kind == OPERAND_LAYOUT:
            known[name] = by_columns(operands[i].ndarray)
        else:
            x = operands[i]
            known[name] = Type(dtype_of(x), ()) if isinstance(x, np.generic) else x.type_
    return known


def saves_some(needs: Needs) -> bool:
    """Whether values are kept. A constant operand counts as saved, too: PyTorch frees it like a tensor."""
    for _, kind, _ in needs:
        if kind in _KEPT:
            return True
    return False
