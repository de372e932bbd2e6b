"""C types and numbers as C text."""

from __future__ import annotations

import math

import numpy as np

from ...ops.core import Number
from ...ops.types import DType, bfloat16, bool_, float16, float32, float64, int8, int16, int32, int64, number_in, uint8

#: 16-bit floating-point numbers are their bits.
C_TYPES = {
    bool_: "int", uint8: "uint8_t", int8: "int8_t", int16: "int16_t", int32: "int32_t", int64: "int64_t",
    float16: "uint16_t", bfloat16: "uint16_t", float32: "float", float64: "double",
}  # fmt: skip
SUFFIXES = {bool_: "b", int32: "i", int64: "l", float32: "f", float64: ""}
#: Beyond this many digits a decimal is no easier to read than a hexadecimal float.
SHORT_DECIMAL = 8
_LOWEST = {bool_: "0", int32: "INT32_MIN", int64: "INT64_MIN", float32: "-INFINITY", float64: "-INFINITY"}
_HIGHEST = {bool_: "1", int32: "INT32_MAX", int64: "INT64_MAX", float32: "INFINITY", float64: "INFINITY"}


def memory_type(dtype: DType) -> str:
    """The C type of an element in memory."""
    return "uint8_t" if dtype is bool_ else C_TYPES[dtype]


def ctype(dtype: DType) -> str:
    """The C type of a value. Truth values are 0 or 1 in an int: of bool gcc makes no vectors."""
    return C_TYPES[dtype]


def literal(value: Number, dtype: DType) -> str:
    """`value` as a C expression of `dtype` that keeps every bit; negative numbers in parentheses."""
    if isinstance(value, complex):
        raise TypeError(f"complex numbers have no C literal, got {value}")
    if dtype is float16 or dtype is bfloat16:
        text = hex(int(number_in(value, dtype).view(np.uint16)))
    elif dtype.is_floating_point:
        text = _floating(float(value), "f" if dtype is float32 else "")
    else:
        text = _integer(int(value), dtype)
    return f"({text})" if text.startswith("-") else text


def initial(init: str, dtype: DType) -> str:
    """The start of a fold, which may be LOWEST or HIGHEST."""
    if init == "LOWEST":
        return _LOWEST[dtype]
    return _HIGHEST[dtype] if init == "HIGHEST" else literal(float(init), dtype).strip("()")


def _integer(value: int, dtype: DType) -> str:
    if dtype is bool_:
        return "1" if value else "0"
    if value == -(2**63):
        return "INT64_MIN"
    return f"INT64_C({value})" if dtype is int64 and abs(value) > 2**31 - 1 else str(value)


def _floating(value: float, suffix: str) -> str:
    if math.isnan(value):
        return "-NAN" if math.copysign(1, value) < 0 else "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    short = repr(value)
    # A decimal is exact when its binary fraction is short: 0.5, 3.0, 0.0625.
    exact = "e" not in short and len(short) <= SHORT_DECIMAL and (value * 2**10).is_integer()
    return (short if exact else _hexadecimal(value)) + suffix


def _hexadecimal(value: float) -> str:
    mantissa, exponent = value.hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}"
