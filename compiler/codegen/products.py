"""Matrix products of a schedule as records of the dot templates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..schedule.expressions import Names, statement_text
from ..schedule.literals import ctype
from ..schedule.records import DotKernel, Let, Load, Operand, Statement, Store, Value, View, variables
from . import dot


def product_record(
    kernel: DotKernel,
    names: Names,
    parameters: tuple[str, ...],
    comment: tuple[str, ...],
    element: Callable[[str], str] = str,
    sizes: tuple[str, ...] = (),
) -> dot.DotKernel:
    """The record that `dot.render_dot` prints; `element` tells the C type of a buffer's elements, `sizes` the
    sizes that its text depends on."""
    fixed, each = parted(kernel.epilogue, element)
    epilogue = tuple(line for statement in each for line in statement_text(statement, names))
    return dot.DotKernel(
        name=kernel.name,
        comment=comment,
        ctype=ctype(kernel.dtype),
        batch=kernel.batch,
        m=kernel.m,
        n=kernel.n,
        k=kernel.k,
        a=_operand(kernel.a, names),
        b=_operand(kernel.b, names),
        parameters=parameters,
        setup=tuple(line for statement in fixed for line in statement_text(statement, names)),
        epilogue=epilogue,
        sizes=sizes,
        split=kernel.split,
    )


def parted(epilogue: Sequence[Statement], element: Callable[[str], str]) -> tuple[list[Statement], list[Statement]]:
    """What of an epilogue is the same for all elements (a learning rate), done once, and what is done for each."""
    stored = {statement.buffer for statement in epilogue if isinstance(statement, Store)}
    fixed: list[Statement] = []
    each: list[Statement] = []
    scalars: dict[Load, Value] = {}

    def read_once(operand: Operand) -> Operand:
        if not isinstance(operand, Load) or operand.ranges or variables(operand) or operand.buffer in stored:
            return operand
        if operand not in scalars:
            scalars[operand] = Value(f"dot_scalar{len(scalars)}")
            form = (("x", operand),)
            fixed.append(Let(scalars[operand].name, element(operand.buffer), "{x}", form, "", ""))
        return scalars[operand]

    for statement in epilogue:
        if isinstance(statement, Let):
            statement = replace(statement, operands=tuple((n, read_once(o)) for n, o in statement.operands))
            known = {done.name for done in fixed if isinstance(done, Let)}  # `acc` never is, nor what comes of it
            once = all(isinstance(o, Value) and o.name in known for _, o in statement.operands)
            (fixed if once and statement.operands else each).append(statement)
        else:
            each.append(statement)
    return fixed, each


def scratch_of(kernel: DotKernel) -> int:
    """Bytes of scratch memory that the product wants."""
    return dot.scratch_bytes(product_record(kernel, str, (), ()))


def axis_to_share(kernel: DotKernel) -> tuple[str, int]:
    """What of the product threads can share best, and its extent."""
    return dot.axis_to_share(product_record(kernel, str, (), ()))


def _operand(view: View, names: Names) -> dot.DotOperand:
    name = names(view.buffer)
    base = f"({name} + {view.offset})" if view.offset else name
    return dot.DotOperand(base, view.batch_strides, view.row_stride, view.column_stride)
