"""How numbers, names and parameters are written in graph text. Everything reads back to the same value (`text.py`)."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from ..ops.types import DType, Type, bool_, float32, number_in

# Names that need no quotes: inputs such as `x`, `fc1.weight`, `layers.0.bias`.
PLAIN_NAME = re.compile(r"[^\W\d][\w.]*")
# Words that stand for values, so that inputs with such names are quoted.
WORDS: dict[str, Any] = {"true": True, "false": False, "nan": float("nan"), "inf": float("inf"), "None": None}
_NUMBER_WORD = re.compile(r"(nan|inf)(f64|f16|bf16)?")


def name_text(name: str) -> str:
    """`name`, in quotes where it could be taken for something else."""
    plain = PLAIN_NAME.fullmatch(name) and name not in WORDS and not _NUMBER_WORD.fullmatch(name)
    return name if plain else json.dumps(name)


def constant_text(value: Any, dtype: DType) -> str:
    """A number with its type as suffix: ``2.0`` (float32), ``2.0f64``, ``3i64``, ``true``."""
    if dtype is bool_:
        return "true" if value else "false"
    if dtype is float32:
        return str(np.float32(value))  # the shortest digits that give this float32
    return f"{value_text(number_in(value, dtype).item())}{dtype.short}"


def value_text(value: Any) -> str:
    """One parameter: numbers, names in quotes, tuples of them, element types (``f32``) and types (``f32[2]``)."""
    if isinstance(value, tuple):
        return f"({', '.join(map(value_text, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, DType):
        return value.short
    if isinstance(value, str):
        return json.dumps(value)
    if value is None or isinstance(value, (int, float, Type)):
        return str(value)
    raise TypeError(
        f"a parameter of type {type(value).__name__} has no text: {value!r}\n  in a primitive's parameters\n"
        "  parameters are numbers, strings, element types and tuples of them"
    )
