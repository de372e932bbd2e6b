"""Cases of the primitives on complex numbers, which compiled code does not have."""

from __future__ import annotations

from cases import Case, Operand

from tracegrad.ops.types import complex64, complex128, float32, float64

_LAYOUTS = [
    ((), "contiguous"), ((0,), "contiguous"), ((3, 4), "contiguous"), ((4, 3), "strided"), ((3, 4), "transposed"),
]  # fmt: skip
_COMPLEX = (complex64, complex128)

COMPLEX: dict[str, list[Case]] = {
    "conj": [Case((Operand(shape, layout=layout),), {}, _COMPLEX) for shape, layout in _LAYOUTS],
    "conj_view": [Case((Operand(shape, layout=layout),), {}, _COMPLEX) for shape, layout in _LAYOUTS],
    "view_as_real": [Case((Operand(shape, layout=layout),), {}, _COMPLEX) for shape, layout in _LAYOUTS],
    "view_as_complex": [
        Case((Operand((*shape, 2)),), {}, (float32, float64)) for shape in ((), (0,), (3, 4), (2, 1, 3))
    ],
}
