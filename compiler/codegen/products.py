"""Matrix products of a schedule as records of the dot templates."""

from __future__ import annotations

from ..schedule.expressions import Names, statement_text
from ..schedule.literals import ctype
from ..schedule.records import DotKernel, View
from . import dot


def product_record(
    kernel: DotKernel, names: Names, parameters: tuple[str, ...], comment: tuple[str, ...]
) -> dot.DotKernel:
    """The record that `dot.render_dot` prints."""
    epilogue = tuple(line for statement in kernel.epilogue for line in statement_text(statement, names))
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
        epilogue=epilogue,
    )


def scratch_of(kernel: DotKernel) -> int:
    """Bytes of scratch memory that the product wants."""
    return dot.scratch_bytes(product_record(kernel, str, (), ()))


def _operand(view: View, names: Names) -> dot.DotOperand:
    name = names(view.buffer)
    base = f"({name} + {view.offset})" if view.offset else name
    return dot.DotOperand(base, view.batch_strides, view.row_stride, view.column_stride)
