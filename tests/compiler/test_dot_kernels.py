"""Generated matrix products against numpy: all forms, layouts, edges and types, at every vector width."""

from __future__ import annotations

import ctypes
import math
import platform
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from c_compilers import WARNINGS
from harness import asked_for

from tracegrad.compiler.codegen.dot import DotKernel, DotOperand, render_dot, scratch_bytes

INCLUDE = Path(__file__).resolve().parents[2] / "runtime" / "include"
FLAGS = ["-std=gnu17", "-fopenmp-simd", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
WIDTHS = {"native": ["-march=native"], "avx2": ["-mavx2", "-mfma"], "sse": []}
#: What else every processor of this kind can run.
OTHER_WIDTHS = ("avx2", "sse") if platform.machine() in ("x86_64", "AMD64") else ()
DTYPES = {"float": np.float32, "double": np.float64, "int32_t": np.int32, "int64_t": np.int64}
CANARY = 0xA5

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="these tests compile C with gcc")


@dataclass(frozen=True)
class Case:
    """One product. An operand is N (as in numpy), T (transposed) or S (every second element of a larger array)."""

    m: int
    n: int
    k: int
    layout: str = "NN"
    ctype: str = "float"
    batch: tuple[int, ...] = ()
    shared: str = ""

    @property
    def name(self) -> str:
        words = [
            "dot",
            self.ctype,
            *map(str, (self.m, self.n, self.k)),
            self.layout,
            *map(str, self.batch),
            self.shared,
        ]
        return "_".join(filter(None, words))


def _cases() -> list[Case]:
    odd = [
        Case(m, n, k, layout)
        for m, n, k in [(13, 17, 19), (29, 50, 7), (3, 101, 37)]
        for layout in ("NN", "NT", "TN", "TT")
    ]
    empty = [Case(0, 5, 3), Case(5, 0, 3), Case(5, 3, 0), Case(40, 33, 0, "NT"), Case(0, 0, 0)]
    whole = [Case(12, 32, 64), Case(28, 64, 48, "TN"), Case(16, 16, 32, "TN"), Case(32, 16, 2, "NT"), Case(15, 48, 20)]
    vectors = [Case(1, 1500, 9), Case(1, 16, 32, "NN", batch=(2,))]
    vectors += [Case(1, 70, 90, layout) for layout in ("NN", "NT", "TN")]
    vectors += [Case(70, 1, 90, layout) for layout in ("NN", "TN")]
    # Matrices of more than 2 MiB, asked for before they are needed: rows longer and shorter than a piece, whole ones.
    streams = [Case(1001, 1, 530), Case(1, 1100, 512, "NT"), Case(2500, 1, 211), Case(530, 1, 501, "NN", "double")]
    streams += [Case(1, 9001, 33, "NT", batch=(2,)), Case(1001, 1, 530, "SN")]
    narrow = [Case(130, 2, 33, layout) for layout in ("NN", "NT", "TN", "TT")] + [Case(1, 1, 200), Case(2, 3, 1)]
    packed = [Case(70, 150, 40, layout) for layout in ("NN", "NT", "TN", "TT")]
    long = [Case(20, 40, 2100, layout) for layout in ("NN", "TN", "NT")] + [
        Case(30, 140, 1100, "TT"),
        Case(40, 3, 1300),
    ]
    long += [Case(20, 140, 1024), Case(15, 130, 2048, "NT")]  # rows of A that fall into one cache set
    # Results of more than 256 KiB, finished row by row; rows and columns that make no whole tiles among them.
    large = [Case(270, 260, 9, layout) for layout in ("NN", "NT", "TN", "TT")] + [Case(261, 277, 20, "TN")]
    large += [Case(200, 190, 17, "NT", "double"), Case(290, 250, 11, "TN", batch=(2,))]
    # The same with a packed B of more than half a second cache: a stretch of columns at a time.
    stretches = [Case(270, 290, 601, layout) for layout in ("NN", "NT", "TN", "TT")] + [Case(15, 4500, 40, "NT")]
    stretches += [Case(261, 277, 700, "TN"), Case(131, 263, 333, "NN", "double"), Case(300, 250, 540, batch=(2,))]
    stretches += [Case(261, 515, 512, "SS")]
    strided = [Case(21, 35, 18, layout) for layout in ("SN", "NS", "SS")] + [Case(70, 140, 30, "SS")]
    batched = [Case(9, 33, 12, "NT", batch=(2, 3), shared=shared) for shared in ("", "a", "b")]
    batched += [
        Case(70, 130, 20, "TN", batch=(2,)),
        Case(17, 20, 1030, "NN", batch=(2,)),
        Case(1, 8, 40, "NT", batch=(3,)),
    ]
    doubles = [Case(13, 17, 19, "NT", "double"), Case(70, 140, 21, "TN", "double"), Case(20, 40, 1100, "NN", "double")]
    doubles += [Case(130, 2, 33, "NN", "double"), Case(8, 16, 8, "NN", "double")]
    integers = [Case(7, 9, 11, "NT", ctype, (2,)) for ctype in ("int32_t", "int64_t")] + [
        Case(4, 4, 0, "NN", "int32_t")
    ]
    vectors += streams
    large += stretches
    return odd + empty + whole + vectors + narrow + packed + large + long + strided + batched + doubles + integers


CASES = {case.name: case for case in _cases()}
#: Some of each form, for the checks that cost more.
SOME = [
    case
    for case in CASES.values()
    if case.m * case.n * case.k < 3_000 or case.k > 2_000 or case.m in (70, 261, 530, 1001)
]


def _stored_shape(kind: str, shape: tuple[int, int]) -> tuple[int, int]:
    rows, columns = shape
    return {"N": (rows, columns), "T": (columns, rows), "S": (2 * rows, 2 * columns)}[kind]


def _view(kind: str, stored: np.ndarray) -> np.ndarray:
    return {"N": stored, "T": np.swapaxes(stored, -1, -2), "S": stored[..., ::2, ::2]}[kind]


def _operand(case: Case, name: str, kind: str, shape: tuple[int, int]) -> DotOperand:
    rows, columns = _stored_shape(kind, shape)
    strides = {"N": (columns, 1), "T": (1, columns), "S": (2 * columns, 2)}[kind]
    steps = [rows * columns * math.prod(case.batch[axis + 1 :]) for axis in range(len(case.batch))]
    return DotOperand(name, tuple(0 if name == case.shared else step for step in steps), *strides)


def _kernel(case: Case) -> DotKernel:
    item = case.m * case.n
    place = [f"z{axis} * {item * math.prod(case.batch[axis + 1 :])}" for axis in range(len(case.batch))]
    kernel = DotKernel(
        name=case.name,
        comment=("h = a @ b + bias",),
        ctype=case.ctype,
        batch=case.batch,
        m=case.m,
        n=case.n,
        k=case.k,
        a=_operand(case, "a", case.layout[0], (case.m, case.k)),
        b=_operand(case, "b", case.layout[1], (case.k, case.n)),
        parameters=(
            f"{case.ctype} *restrict h",
            *(f"const {case.ctype} *restrict {name}" for name in ("a", "b", "bias")),
        ),
        epilogue=(
            f"const {case.ctype} v1 = acc + bias[j];",
            f"h[{' + '.join([*place, f'i * {case.n}', 'j'])}] = v1;",
        ),
    )
    if not scratch_bytes(kernel):
        return kernel
    return DotKernel(**{**vars(kernel), "parameters": (*kernel.parameters, "char *restrict scratch")})


def _entry(case: Case) -> str:
    """An exported function that always takes scratch."""
    scratch = ", scratch" if scratch_bytes(_kernel(case)) else ""
    values = ", ".join(f"const {case.ctype} *{name}" for name in ("a", "b", "bias"))
    return (
        f"void run_{case.name}({case.ctype} *h, {values}, char *scratch)\n"
        f"{{\n    (void)scratch;\n    {case.name}(h, a, b, bias{scratch});\n}}\n"
    )


def _source(cases) -> str:
    texts = [render_dot(_kernel(case)) + _entry(case) for case in cases]
    return '#include <stdint.h>\n#include "tg_vector.h"\n' + "\n".join(texts)


def _arrays(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(len(case.name))

    def draw(*shape: int) -> np.ndarray:
        if case.ctype.startswith("int"):
            limits = np.iinfo(DTYPES[case.ctype])
            return random.integers(limits.min, limits.max, shape, DTYPES[case.ctype], endpoint=True)
        return random.standard_normal(shape).astype(DTYPES[case.ctype])

    batches = {name: () if name == case.shared else case.batch for name in "ab"}
    a = draw(*batches["a"], *_stored_shape(case.layout[0], (case.m, case.k)))
    b = draw(*batches["b"], *_stored_shape(case.layout[1], (case.k, case.n)))
    return a, b, draw(case.n)


def _run(library: ctypes.CDLL, case: Case, operands: tuple[np.ndarray, ...]) -> np.ndarray:
    h = np.zeros((*case.batch, case.m, case.n), DTYPES[case.ctype])
    size = scratch_bytes(_kernel(case))
    memory = np.full(size + 128, CANARY, np.uint8)
    start = -memory.ctypes.data % 64
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (h, *operands, memory[start:])]
    getattr(library, f"run_{case.name}")(*pointers)
    assert (memory[start + size :] == CANARY).all(), "the kernel wrote behind its scratch"
    return h


@pytest.fixture(scope="module")
def build(request, tmp_path_factory) -> Callable[[str], ctypes.CDLL]:
    """The library of the cases that are asked for by `name`, for a width, compiled at the first request."""
    asked = asked_for(request, "name")

    @lru_cache
    def compiled(width: str) -> ctypes.CDLL:
        folder = tmp_path_factory.mktemp("dot")
        cases = CASES.values() if width == "native" else SOME
        (folder / "dot.c").write_text(_source([case for case in cases if case.name in asked]))
        level = "-O3" if width == "native" else "-O1"
        command = [
            "gcc",
            *FLAGS,
            level,
            *WIDTHS[width],
            *WARNINGS,
            "-shared",
            "-fPIC",
            f"-I{INCLUDE}",
            "dot.c",
            "-o",
            "dot.so",
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return ctypes.CDLL(str(folder / "dot.so"))

    return compiled


RUNS = [("native", name) for name in CASES] + [(width, case.name) for width in OTHER_WIDTHS for case in SOME]


@pytest.mark.long(fast=79, every=13)
@pytest.mark.parametrize(("width", "name"), RUNS)
def test_product_equals_numpys(build, width, name):
    library = build(width)
    case = CASES[name]
    a, b, bias = _arrays(case)
    got = _run(library, case, (a, b, bias))
    a, b = _view(case.layout[0], a), _view(case.layout[1], b)
    if case.ctype.startswith("int"):
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(got, a @ b + bias)
        return
    wide = np.longdouble
    exact = a.astype(wide) @ b.astype(wide) + bias
    # k products, k sums and the bias in any order: an error of at most (k + 2) eps / 2 of the sum of absolute values.
    bound = (case.k + 2) * np.finfo(got.dtype).eps / 2 * (abs(a).astype(wide) @ abs(b).astype(wide) + abs(bias))
    assert (abs(got - exact) <= bound).all()


def test_matrices_beyond_l2_are_asked_for_before_they_are_needed():
    asked = {name for name, case in CASES.items() if "prefetch(&" in render_dot(_kernel(case))}
    assert asked == {
        "dot_float_1001_1_530_NN", "dot_float_1_1100_512_NT", "dot_float_2500_1_211_NN", "dot_double_530_1_501_NN"
    }  # fmt: skip


@pytest.mark.parametrize("name", [next(case.name for case in SOME if case.m == 70 and case.layout == "NN")])
def test_one_nan_reaches_its_row_only(build, name):
    case = CASES[name]
    a, b, bias = _arrays(case)
    a[3, 5] = np.nan
    expected = np.zeros((case.m, case.n), bool)
    expected[3] = True
    np.testing.assert_array_equal(np.isnan(_run(build("native"), case, (a, b, bias))), expected)


@pytest.mark.long(fast=13)
@pytest.mark.parametrize("name", [case.name for case in SOME])
def test_same_call_gives_the_same_bits(build, name):
    library, case = build("native"), CASES[name]
    operands = _arrays(case)
    np.testing.assert_array_equal(_run(library, case, operands), _run(library, case, operands))


def _main(cases) -> str:
    """A program that runs each case on heap blocks of exactly the size that the operands need."""
    blocks = []
    for case in cases:
        sizes = [math.prod(case.batch) * case.m * case.n, *(array.size for array in _arrays(case))]
        names = [f"calloc({size + (size == 0)}, sizeof({case.ctype}))" for size in sizes]
        scratch = -(-scratch_bytes(_kernel(case)) // 64) * 64
        blocks.append(
            f"    {{\n        {case.ctype} *h = {names[0]}, *a = {names[1]}, *b = {names[2]}, *bias = {names[3]};\n"
            f"        char *scratch = aligned_alloc(64, {scratch + 64 * (scratch == 0)});\n"
            f"        run_{case.name}(h, a, b, bias, scratch);\n"
            "        free(h);\n        free(a);\n        free(b);\n        free(bias);\n        free(scratch);\n    }\n"
        )
    return "#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{\n" + "".join(blocks) + '    puts("done");\n}\n'


@pytest.mark.long
def test_kernels_stay_inside_their_operands(tmp_path):
    cases = [case for i, case in enumerate(SOME) if i % 3 == 0 or case.m == 261]
    (tmp_path / "main.c").write_text(_source(cases) + _main(cases))
    flags = [
        *FLAGS,
        "-O1",
        "-march=native",
        "-g",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        *WARNINGS,
    ]
    subprocess.run(["gcc", *flags, f"-I{INCLUDE}", "main.c", "-o", "main"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("done\n", "")
