"""Formulas as C: a function ``tg_special_<name>`` of doubles for each, and one of floats that rounds its result."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from .language import MANY, Formula, Step

_HEAD = """\
/* Special functions. Made of the formulas in ops/formulas, with which numpy evaluates them too:
 * python -m tracegrad.ops.formulas.write_header */
#ifndef TG_SPECIAL_H
#define TG_SPECIAL_H

#include <math.h>

#include "tg_inline.h"
#include "tg_math_double.h"

#define TG_SPECIAL __attribute__((unused, noinline)) static

/* The highest coefficient first. */
TG_INLINE double tg_special_sum_powers(const double *c, int n, double x)
{
    double value = x * c[0] + c[1];
    for (int i = 2; i < n; ++i)
    {
        value = value * x + c[i];
    }
    return value;
}

/* A sum of Chebyshev polynomials by Clenshaw's recurrence, the highest degree first. */
TG_INLINE double tg_special_sum_chebyshev(const double *c, int n, double x)
{
    const double twice = x + x;
    double before = 0.0;
    double last = c[0];
    for (int i = 1; i < n - 1; ++i)
    {
        const double next = twice * last - before + c[i];
        before = last;
        last = next;
    }
    return x * last - before + c[n - 1];
}
"""


class Value:
    """A number, or a truth value, that the C function has a name for."""

    def __init__(self, text: Text, name: str, is_truth: bool = False) -> None:
        self._text, self.name, self.is_truth = text, name, is_truth

    def _new(self, expression: str, is_truth: bool = False) -> Value:
        return self._text.new(expression, is_truth)

    def __add__(self, other: Any) -> Value:
        return self._new(f"{self.name} + {_c(other)}")

    def __radd__(self, other: Any) -> Value:
        return self._new(f"{_c(other)} + {self.name}")

    def __sub__(self, other: Any) -> Value:
        return self._new(f"{self.name} - {_c(other)}")

    def __rsub__(self, other: Any) -> Value:
        return self._new(f"{_c(other)} - {self.name}")

    def __mul__(self, other: Any) -> Value:
        return self._new(f"{self.name} * {_c(other)}")

    def __rmul__(self, other: Any) -> Value:
        return self._new(f"{_c(other)} * {self.name}")

    def __truediv__(self, other: Any) -> Value:
        return self._new(f"{self.name} / {_c(other)}")

    def __rtruediv__(self, other: Any) -> Value:
        return self._new(f"{_c(other)} / {self.name}")

    def __neg__(self) -> Value:
        return self._new(f"-{self.name}")

    def __lt__(self, other: Any) -> Value:
        return self._new(f"{self.name} < {_c(other)}", True)

    def __le__(self, other: Any) -> Value:
        return self._new(f"{self.name} <= {_c(other)}", True)

    def __gt__(self, other: Any) -> Value:
        return self._new(f"{self.name} > {_c(other)}", True)

    def __ge__(self, other: Any) -> Value:
        return self._new(f"{self.name} >= {_c(other)}", True)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return self._new(f"{self.name} == {_c(other)}", True)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return self._new(f"{self.name} != {_c(other)}", True)

    def __and__(self, other: Value) -> Value:
        return self._new(f"{self.name} & {_c(other)}", True)

    def __or__(self, other: Value) -> Value:
        return self._new(f"{self.name} | {_c(other)}", True)

    def __invert__(self) -> Value:
        return self._new(f"!{self.name}", True)

    __hash__ = None  # type: ignore[assignment]


def _c(x: Any) -> str:
    if isinstance(x, Value):
        return x.name
    if isinstance(x, bool):
        return str(int(x))
    number = float(x)
    if math.isnan(number):
        return "NAN"
    text = "INFINITY" if math.isinf(number) else repr(abs(number))
    return f"(-{text})" if math.copysign(1, number) < 0 else text


def _function(name: str) -> Any:
    def call(self: Text, *operands: Any) -> Value:
        return self.new(f"{name}({', '.join(map(_c, operands))})")

    return call


class Text:
    """The mathematics that writes the lines of a C function."""

    def __init__(self, name: str, is_straight: bool) -> None:
        self.name = name
        self.is_straight = is_straight  # sums are written out
        self.lines: list[str] = []
        self.tables: list[str] = []
        self._count = 0
        self._indent = "    "

    exp, log, log1p, expm1 = map(_function, ("tg_exp", "tg_log", "tg_log1p", "expm1"))
    sin, cos, tan, acos, sqrt = map(_function, ("sin", "cos", "tan", "acos", "sqrt"))
    floor, round, trunc, abs = map(_function, ("floor", "rint", "trunc", "fabs"))
    pow, copysign = map(_function, ("pow", "copysign"))

    def write(self, line: str) -> None:
        """One more line."""
        self.lines.append(self._indent + line if line else line)

    def new(self, expression: str, is_truth: bool = False) -> Value:
        """A name for the value of `expression`."""
        self._count += 1
        name = f"{'is' if is_truth else 'v'}{self._count}"
        self.write(f"const {'int' if is_truth else 'double'} {name} = {expression};")
        return Value(self, name, is_truth)

    def where(self, condition: Any, x: Any, y: Any) -> Value:
        """x where the condition holds, else y."""
        is_truth = isinstance(x, Value) and x.is_truth
        return self.new(f"{_c(condition)} ? {_c(x)} : {_c(y)}", is_truth)

    def call(self, formula: Formula, operands: Sequence[Any]) -> Value:
        """Another formula's function of `operands`."""
        return self.new(f"tg_special_{formula.name}({', '.join(map(_c, operands))})")

    def polynomial(self, coefficients: Sequence[float], x: Any) -> Value:
        """A polynomial, see `Arrays`."""
        if self.is_straight:
            value = self.new(f"{_c(x)} * {_c(coefficients[0])} + {_c(coefficients[1])}")
            for coefficient in coefficients[2:]:
                value = self.new(f"{value.name} * {_c(x)} + {_c(coefficient)}")
            return value
        return self._sum("tg_special_sum_powers", coefficients, x)

    def chebyshev(self, coefficients: Sequence[float], x: Any) -> Value:
        """A sum of Chebyshev polynomials, see `Arrays`."""
        if self.is_straight:
            twice = self.new(f"{_c(x)} + {_c(x)}")
            before, last = _c(0), _c(coefficients[0])
            for coefficient in coefficients[1:-1]:
                before, last = last, self.new(f"{twice.name} * {last} - {before} + {_c(coefficient)}").name
            return self.new(f"{_c(x)} * {last} - {before} + {_c(coefficients[-1])}")
        return self._sum("tg_special_sum_chebyshev", coefficients, x)

    def _sum(self, function: str, coefficients: Sequence[float], x: Any) -> Value:
        table = f"tg_special_table_{self.name}_{len(self.tables)}"
        rows = [", ".join(map(_c, coefficients[i : i + 4])) for i in range(0, len(coefficients), 4)]
        numbers = ",\n    ".join(rows)
        self.tables.append(
            f"__attribute__((unused)) static const double {table}[{len(coefficients)}] = {{\n    {numbers}}};"
        )
        return self.new(f"{function}({table}, {len(coefficients)}, {_c(x)})")

    def repeat(self, step: Step, state: Sequence[Any], given: Sequence[Any] = ()) -> tuple[Value, ...]:
        """A loop, see `Arrays`."""
        self._count += 1
        number = self._count
        variables = [Value(self, f"s{number}_{i}") for i in range(len(state))]
        for variable, initial in zip(variables, state, strict=True):
            self.write(f"double {variable.name} = {_c(initial)};")
        self.write(f"for (int k{number} = 0; k{number} < {MANY}; ++k{number})")
        self.write("{")
        outside, self._indent = self._indent, self._indent + "    "
        go_on, *new = step(self, Value(self, f"(double)k{number}"), *variables, *given)
        named = {variable.name for variable in variables}
        pairs = list(zip(variables, new, strict=True))
        kept = [self.new(_c(x)) if _c(x) in named - {variable.name} else x for variable, x in pairs]
        for variable, value in zip(variables, kept, strict=True):
            if _c(value) != variable.name:
                self.write(f"{variable.name} = {_c(value)};")
        if go_on is not True:
            self.write(f"if (!{_c(go_on)})")
            self.write("    break;")
        self._indent = outside
        self.write("}")
        return tuple(variables)


def _without_unread(lines: Sequence[str]) -> list[str]:
    """The lines without those that name what nobody reads."""
    kept, read = list[str](), set[str]()
    for line in reversed(lines):
        names = re.findall(r"\w+", line)
        if names[:1] != ["const"] or names[2] in read:
            kept.append(line)
            read.update(names[3:] if names[:1] == ["const"] else names)
    return kept[::-1]


#: Of a straight function, so many lines are copied into each loop that calls it.
MOST_LINES = 240
#: Calls that a vector loop can hold: of what is one instruction, and of functions without a branch.
_IN_VECTORS = {"tg_exp", "tg_log", "tg_log1p", "sqrt", "floor", "rint", "trunc", "fabs", "copysign"}


def c_functions(formulas: Iterable[Formula]) -> list[str]:
    """The C of formulas, those that are called first: their tables, functions of doubles, and those of floats. Where a
    function is short, has no loop and calls its like alone, loops of calls become vector code."""
    inside = dict.fromkeys(_IN_VECTORS, 1)  # the lines of functions that may be copied
    made = []
    for formula in formulas:
        text, lines = _written(formula, is_straight=True)
        called = [name for line in lines for name in re.findall(r"(\w+)\(", line)]
        length = len(lines) + sum(inside.get(name, MOST_LINES) for name in called)
        is_short = length <= MOST_LINES and not any(line.lstrip().startswith("for ") for line in lines)
        if is_short:
            inside[f"tg_special_{formula.name}"] = length
        else:
            text, lines = _written(formula, is_straight=False)
        made.append(_function_of(formula, text, lines, "TG_INLINE" if is_short else "TG_SPECIAL"))
    return made


def _written(formula: Formula, is_straight: bool) -> tuple[Text, list[str]]:
    text = Text(formula.name, is_straight)
    operands = [Value(text, name) for name in formula.inputs]
    result = _c(formula.body(text, *operands))
    return text, _without_unread([*text.lines, f"    return {result};"])


def _function_of(formula: Formula, text: Text, lines: Sequence[str], kind: str) -> str:
    head = f"tg_special_{formula.name}"
    doubles, floats = (", ".join(f"{type} {name}" for name in formula.inputs) for type in ("double", "float"))
    wide = ", ".join(f"(double){name}" for name in formula.inputs)
    body = "\n".join(lines)
    return "\n".join(
        [
            *text.tables,
            f"{kind} double {head}({doubles})\n{{\n{body}\n}}",
            f"TG_INLINE float {head}f({floats}) {{ return (float){head}({wide}); }}\n",
        ]
    )


def header(formulas: Iterable[Formula]) -> str:
    """The text of ``tg_special.h``."""
    return "\n".join([_HEAD, *c_functions(formulas), "#endif\n"])
