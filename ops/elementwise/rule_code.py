"""What the code of derivative rules tells of them."""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable
from typing import Any

from ..core import Pointwise, Primitive

_HARMLESS: tuple[str, ...] = (
    *("LOAD_FAST", "LOAD_CONST", "LOAD_SMALL_INT", "RESUME", "UNARY_NEGATIVE", "RETURN_"),
    *("BINARY_ADD", "BINARY_SUBTRACT", "BINARY_MULTIPLY", "BINARY_TRUE_DIVIDE"),  # of Python 3.10
)


@functools.cache
def has_arithmetic_rules(primitive: Primitive) -> bool:
    """Whether the rules of an elementwise op are nothing but + - * / of what they name, and of numbers: of arrays they
    give the numbers that they give of tensors."""
    rules = [rule.rule for rule in primitive.rules if rule is not None]
    return isinstance(primitive.lower, Pointwise) and bool(rules) and all(map(_is_arithmetic, rules))


def _is_arithmetic(rule: Callable[..., Any]) -> bool:
    code = getattr(rule, "__code__", None)
    if code is None or code.co_names or code.co_freevars:
        return False
    return all(map(_computes_or_moves, dis.get_instructions(code)))


def _computes_or_moves(instruction: dis.Instruction) -> bool:
    if instruction.opname == "BINARY_OP":
        return instruction.argrepr in ("+", "-", "*", "/")
    return instruction.opname.startswith(_HARMLESS)
