"""The pointwise family's machinery: promotion to one type, broadcasting, and how a member is declared.

Members live in `arithmetic`, `elementary`, `comparison`. Each is one call of `pointwise(...)`; the function that comes
back promotes its operands as PyTorch does (a cast appears where a type changes, nothing is implied later) and binds the
primitive. Gradients have the output's shape; summing them back over broadcast axes is done once, in `vjp.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .complex_numbers.refusals import refuse_complex
from .core import Interpreter, NoGradient, Pointwise, Primitive, Rule, bind, current, define, plain, switch
from .elementwise.descriptions import Doc, describe, types_told
from .types import (
    DIMENSIONED,
    FLOATING,
    NUMBER,
    NUMBERS,
    SCALAR,
    DType,
    Type,
    array_in,
    bfloat16,
    bool_,
    broadcast_shapes,
    dtype_of,
    float16,
    float32,
    float64,
    get_default_dtype,
    int64,
    number_dtype,
    result_dtype,
)

Op = Callable[..., Any]


def common_dtype(operands: Sequence[Any]) -> DType:
    """PyTorch's promoted type of values and Python numbers."""
    interpreter = current()
    return _promoted(operands, [_type_of(operand, interpreter) for operand in operands], interpreter)


def _type_of(operand: Any, interpreter: Interpreter) -> Type | None:
    """None for Python's numbers."""
    return None if isinstance(operand, NUMBERS) else interpreter.type_of(operand)


def _promoted(operands: Sequence[Any], types: Sequence[Type | None], interpreter: Interpreter) -> DType:
    ranked = []
    for operand, of in zip(operands, types, strict=True):
        if of is None:
            ranked.append((number_dtype(operand), NUMBER))
        else:
            number = interpreter.is_number(operand)
            ranked.append((of.dtype, NUMBER if number else SCALAR if of.ndim == 0 else DIMENSIONED))
    if not any(rank for _, rank in ranked):  # constants of an op, within its derivative
        ranked = [*map(_of_constant, operands, types, ranked)]
    return _result_dtype(tuple(ranked))


def _of_constant(operand: Any, of: Type | None, ranked: tuple[DType, int]) -> tuple[DType, int]:
    """Among numbers those of a floating-point type keep it: Python's give way, whatever the default type is."""
    dtype = dtype_of(operand) if isinstance(operand, np.generic) else None if of is None else of.dtype
    return ranked if dtype is None or dtype.category < FLOATING else (dtype, SCALAR)


_SHORT = (float16, bfloat16)
_result_dtype = functools.lru_cache(maxsize=1024)(result_dtype)


def _in_one_type(operands: Sequence[Any], domain: Callable[[DType], DType]) -> tuple[DType, list[Any]]:
    """The type that the operands are computed in, and they in it."""
    interpreter = current()
    types = [_type_of(operand, interpreter) for operand in operands]
    first = types[0]
    if first is not None and all(of is not None and of.dtype is first.dtype for of in types):
        dtype = domain(first.dtype)  # the common case, without the ranks
    else:
        dtype = domain(_promoted(operands, types, interpreter))
    return dtype, [
        operand if of is not None and of.dtype is dtype else converted(operand, dtype)
        for operand, of in zip(operands, types, strict=True)
    ]


def converted(operand: Any, dtype: DType) -> Any:
    """`operand` in `dtype`: numbers become constants, values of another type are cast."""
    interpreter = current()
    if isinstance(operand, NUMBERS):
        return interpreter.constant(operand, dtype)
    return operand if interpreter.type_of(operand).dtype is dtype else cast(operand, dtype)


def _without_complex(name: str, domain: Callable[[DType], DType]) -> Callable[[DType], DType]:
    def of_real(dtype: DType) -> DType:
        refuse_complex(name, dtype)
        return domain(dtype)

    return of_real


def _same(dtype: DType) -> DType:
    return dtype


def _floating(dtype: DType) -> DType:
    return dtype if dtype.category >= FLOATING else get_default_dtype()


def pointwise(
    name: str,
    *,
    c: str,
    eval: Callable[..., Any],
    vjp: Mapping[str, Rule | NoGradient] | NoGradient,
    inputs: Sequence[str] = ("x",),
    domain: Callable[[DType], DType] = _same,
    result: Callable[[DType], DType] = _same,
    unpromoted: int = 0,
    on_bool: Op | None = None,
    backward_name: str | None = None,
    check: Rule | None = None,
    takes_complex: bool = False,
    numbers: Sequence[str] = (),
    wide_scalars: Sequence[int] = (),
    doc: Doc | None = None,
) -> Op:
    """Declare a pointwise primitive; returns the function that promotes and binds it.

    `domain` maps the promoted type to the one computed in (floating_domain for exp and division); `result` maps that to
    the result's type (bool for comparisons). The first `unpromoted` operands keep their type (the condition of where).
    Truth values are no numbers in C: where PyTorch computes with them, `on_bool` is the op of logic that this means.
    Beside 16-bit floating-point values a number or a 0-d tensor of another type keeps the digits and the range of
    float32 if it is one of the operands `wide_scalars`. Complex numbers are refused unless the op `takes_complex`.
    Public ops have a `doc` and say which operands may be Python's `numbers`.
    """
    domain = domain if takes_complex else _without_complex(name, domain)

    def type_rule(*types: Type) -> Type:
        dtype = types[-1].dtype
        one_type = all(t.dtype is dtype for t in types[unpromoted:])
        if not one_type or domain(dtype) is not dtype or (dtype is bool_ and on_bool is not None):
            raise TypeError(f"{name} has operands of one type that it computes in, got {', '.join(map(str, types))}")
        return Type(result(dtype), broadcast_shapes(*(t.shape for t in types)))

    primitive = define(
        name, inputs, type=type_rule, eval=eval, lower=Pointwise(c), vjp=vjp, backward_name=backward_name, check=check,
        keeps=_kept(domain, on_bool),
    )  # fmt: skip

    def general(*operands: Any) -> Any:
        dtype, mixed = _in_one_type(operands[unpromoted:], domain)
        if dtype is bool_ and on_bool is not None:
            return on_bool(*mixed)
        if wide_scalars and dtype in _SHORT and any(_is_scalar(operands[i], dtype) for i in wide_scalars):
            out = cast(bind(primitive, *(converted(operand, float32) for operand in operands)), dtype)
            plain.named(out, primitive.backward_name, operands)
            return out
        return bind(primitive, *operands[:unpromoted], *mixed)

    op = _chosen_directly(primitive, general) if unpromoted else _directly(primitive, general)
    op.__name__ = op.__qualname__ = name
    op.primitive = primitive  # type: ignore[attr-defined]
    describe(op, inputs, numbers, doc, _types_of(domain, result, on_bool) if doc else "")
    return op


def _is_scalar(operand: Any, dtype: DType) -> bool:
    """Whether an operand is a number, or a 0-d tensor, that is converted to the type computed in."""
    if isinstance(operand, NUMBERS):
        return True
    of = current().type_of(operand)
    return not of.shape and of.dtype is not dtype


def _types_of(domain: Callable[[DType], DType], result: Callable[[DType], DType], on_bool: Op | None) -> str:
    """What becomes of the operands' types, in words."""
    return types_told(lambda dtype: dtype if on_bool is not None and dtype is bool_ else result(domain(dtype)))


def _kept(domain: Callable[[DType], DType], on_bool: Op | None) -> frozenset[np.dtype]:
    """The usual types whose numbers the op computes in their own type."""
    usual = (float32, float64, int64) if on_bool else (float32, float64, int64, bool_)
    return frozenset([dtype.numpy for dtype in usual if _keeps(domain, dtype)])


def _keeps(domain: Callable[[DType], DType], dtype: DType) -> bool:
    try:
        return domain(dtype) is dtype
    except (RuntimeError, TypeError):  # which it refuses
        return False


def _directly(primitive: Primitive, general: Op) -> Op:
    """`general`, but first asking what plain eager mode has for the operands, and what puts off ops whether it expects
    this one of floating-point numbers."""
    is_expected = {float32.numpy, float64.numpy} <= primitive.keeps

    def unary(x: Any) -> Any:
        stack = switch.stack
        if not stack:
            out = plain.direct.unary(primitive, x)
            if out is not NotImplemented:
                return out
        elif is_expected:
            expected = getattr(stack[-1][0], "expected", None)
            if expected is not None:
                return expected(primitive, general, x)
        return general(x)

    def binary(x: Any, y: Any) -> Any:
        stack = switch.stack
        if not stack:
            out = plain.direct.binary(primitive, x, y)
            if out is not NotImplemented:
                return out
        elif is_expected:
            expected = getattr(stack[-1][0], "expected", None)
            if expected is not None:
                return expected(primitive, general, x, y)
        return general(x, y)

    ways: dict[int, Callable[..., Any]] = {1: unary, 2: binary}
    return ways.get(len(primitive.inputs), general)


def _chosen_directly(primitive: Primitive, general: Op) -> Op:
    """`_directly` for a condition and two operands."""

    def choice(condition: Any, x: Any, y: Any) -> Any:
        if not switch.stack:
            out = plain.direct.choice(primitive, condition, x, y)
            if out is not NotImplemented:
                return out
        return general(condition, x, y)

    return choice


floating_domain = _floating


def without_bool(message: str, error: type[Exception] = NotImplementedError) -> Callable[[DType], DType]:
    """The domain of ops that bool does not have; `message` is PyTorch's."""

    def domain(dtype: DType) -> DType:
        if dtype is bool_:
            raise error(message)
        return dtype

    return domain


def without_floating(message: str) -> Callable[[DType], DType]:
    """The domain of ops on bits: bool and integers; `message` is PyTorch's."""

    def domain(dtype: DType) -> DType:
        if dtype.is_floating_point:
            raise NotImplementedError(message)
        return dtype

    return domain


def bool_result(_: DType) -> DType:
    """The result type of comparisons."""
    return bool_


def _cast_type(x: Type, dtype: DType) -> Type:
    return Type(dtype, x.shape)


cast_primitive: Primitive = define(
    "cast",
    ("x",),
    type=_cast_type,
    eval=array_in,
    lower=Pointwise("({type}){x}"),
    vjp={"x": lambda g, x_type: cast(g, x_type.dtype)},
    backward_name="ToCopyBackward0",
)


def cast(x: Any, dtype: DType) -> Any:
    """`x` in another element type; floats become integers by truncation, anything becomes bool by ``!= 0``."""
    return bind(cast_primitive, x, dtype=dtype)
