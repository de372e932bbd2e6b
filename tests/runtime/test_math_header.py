"""The C mathematics in runtime/include/tg_math.h: accuracy, special values, vectorisation, defined behaviour."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compilers import WARNINGS

INCLUDE = Path(__file__).resolve().parents[2] / "runtime" / "include"
FLAGS = "-std=gnu17 -O3 -march=native -fopenmp-simd -ffp-contract=off -fno-math-errno -fno-trapping-math".split()

#: Documented beside each function in tg_math_float.h, for those computed in double at the top of tg_math_wide.h.
MAX_ULP = {
    "exp": 1.0,
    "expm1": 1.7,
    "tanh": 2.6,
    "sigmoid": 2.4,
    "log": 0.9,
    "log1p": 1.5,
    "erf": 1.4,
    "sin": 1.6,
    "cos": 1.6,
    "sqrt": 0.5,
    "rsqrt": 1.5,
    **dict.fromkeys(("atan", "asin", "acos", "log2", "log10", "exp2", "sinh", "cosh", "asinh", "acosh", "atanh"), 0.6),
}
UNARY = (*MAX_ULP, "abs", "sign", "floor", "ceil", "trunc", "round")
BINARY = ("pow", "max", "min", "copysign", "atan2", "hypot")
LIBM_BINARY = ("fmod", "remainder", "floordiv")
INTEGER = ("floordiv", "mod")
INF, NAN = np.inf, np.nan

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="these tests compile C with gcc")
pytestmark = needs_gcc


def _loop(name: str, ctype: str, call: str, operands: int) -> str:
    pointers = ", ".join(f"const {ctype} *{operand}" for operand in "xy"[:operands])
    return (
        f"void loop_{name}(long n, {ctype} *out, {pointers})\n{{\n    #pragma omp simd\n"
        f"    for (long i = 0; i < n; ++i) out[i] = {call};\n}}\n"
    )


def _source() -> str:
    loops = ['#include "tg_math.h"\n']
    for ctype, suffix in (("float", "f"), ("double", "")):
        loops += [_loop(f"{name}_{ctype}", ctype, f"tg_{name}{suffix}(x[i])", 1) for name in UNARY]
        loops += [_loop(f"{name}_{ctype}", ctype, f"tg_{name}{suffix}(x[i], y[i])", 2) for name in BINARY + LIBM_BINARY]
    for ctype in ("int32_t", "int64_t"):
        loops += [_loop(f"{name}_{ctype}", ctype, f"tg_{name}_{ctype}(x[i], y[i])", 2) for name in INTEGER]
    return "".join(loops)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[ctypes.CDLL, str]:
    """The loops as a library, and what gcc said about vectorising them."""
    folder = tmp_path_factory.mktemp("math")
    (folder / "loops.c").write_text(_source())
    command = [
        "gcc",
        *FLAGS,
        *WARNINGS,
        "-fopt-info-vec",
        "-shared",
        "-fPIC",
        f"-I{INCLUDE}",
        "loops.c",
        "-o",
        "loops.so",
        "-lm",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return ctypes.CDLL(str(folder / "loops.so")), done.stderr


@pytest.fixture(scope="module")
def call(built):
    """call("exp", x) runs the loop of that function for the dtype of x."""

    def run(name: str, *operands: np.ndarray) -> np.ndarray:
        ctype = {"float32": "float", "float64": "double", "int32": "int32_t", "int64": "int64_t"}[
            operands[0].dtype.name
        ]
        operands = tuple(np.ascontiguousarray(operand) for operand in operands)
        out = np.empty_like(operands[0])
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (out, *operands)]
        getattr(built[0], f"loop_{name}_{ctype}")(ctypes.c_long(out.size), *pointers)
        return out

    return run


def _ulps(got: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """|got - exact| in units of float32's spacing at the exact value (2^-149 for subnormal numbers)."""
    with np.errstate(all="ignore"):
        rounded = exact.astype(np.float32)
        _, exponent = np.frexp(exact)
        distance = np.abs(got.astype(np.float64) - exact) / np.ldexp(1.0, np.maximum(exponent, -125) - 24)
    same = (got == rounded) & (np.signbit(got) == np.signbit(rounded)) | (np.isnan(got) & np.isnan(exact))
    regular = np.isfinite(got) & np.isfinite(rounded) & (exact != 0)
    return np.where(same & ~regular, 0.0, np.where(regular, distance, INF))


def _float32_grid() -> np.ndarray:
    """Every 4999th float32 of all signs and exponents, and the places where functions change their ways."""
    grid = np.arange(0, 2**32, 4999, dtype=np.uint64).astype(np.uint32).view(np.float32)
    marks = [
        0.0,
        INF,
        NAN,
        1.0,
        2.0**-149,
        2.0**-126,
        3.4028234663852886e38,
        88.72283,
        87.33654,
        87.5,
        103.97,
        103.98,
        16777216.0,
    ]
    turns = [
        np.pi / 2,
        np.pi,
        1e5 * np.pi,
        1048576.0,
        1048575.9,
        0.22,  # where erf is worst
        3.92,
        3.9200003,
        5.0,
        0.5,
        2.0,
        1e30,
        1e38,
        0.70710677,
        1.4142135,
    ]
    special = np.array(marks + turns, dtype=np.float32)
    return np.concatenate([grid, special, -special])


@pytest.mark.parametrize("name", MAX_ULP)
def test_error_is_within_the_documented_ulps(call, name):
    x = _float32_grid()
    with np.errstate(invalid="ignore"):  # numpy warns when it widens a signalling NaN
        exact = call(name, x.astype(np.float64))
    assert _ulps(call(name, x), exact).max() <= MAX_ULP[name]


def test_float64_agrees_with_numpy(call):
    x = np.concatenate([np.linspace(-30, 30, 1001), [0.0, -0.0, INF, -INF, NAN]])
    with np.errstate(all="ignore"):
        for name in ("exp", "expm1", "tanh", "log", "log1p", "sin", "cos", "sqrt", "abs", "floor", "ceil", "trunc"):
            # Two libraries, each right to about one unit in the last place.
            np.testing.assert_allclose(call(name, x), getattr(np, name)(x), rtol=5e-16, atol=0, err_msg=name)
        np.testing.assert_allclose(call("sigmoid", x), 1 / (1 + np.exp(-x)), rtol=1e-15)


@pytest.mark.parametrize("name", ["log", "log1p"])
def test_logarithms_of_float64_are_within_an_ulp(call, name):
    """Over all of their range, subnormal numbers included, and near 1; what is no finite number where it belongs."""
    random = np.random.default_rng(0)
    x = np.concatenate([np.exp(random.uniform(-744, 709, 50_000)), random.uniform(0.3, 3, 50_000)])
    x = np.concatenate([x, 1 + random.uniform(-1e-3, 1e-3, 50_000), 1 + np.ldexp(random.uniform(-1, 1, 9_000), -45)])
    if name == "log1p":
        x = np.concatenate([x, x[(x < 1) & (x > 1e-9)] - 1, -x[x < 0.99]])
    exact = getattr(np, name)(x.astype(np.longdouble))
    regular = exact != 0
    error = np.abs(call(name, x) - exact)[regular] / np.spacing(np.abs(exact[regular]).astype(np.float64))
    assert error.max() <= 1.0
    ends = np.array([0.0, -0.0, INF, -INF, NAN, -1.0, -2.0, -1e308, 1e308, 5e-324, -5e-324, 1.0])
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(call(name, ends), getattr(np, name)(ends), rtol=5e-16, atol=0)
        if name == "log1p":
            np.testing.assert_array_equal(np.signbit(call(name, np.array([-0.0]))), [True])


@pytest.mark.parametrize(("name", "reference"), [("atan2", np.arctan2), ("hypot", np.hypot)])
def test_functions_of_two_sides_are_within_the_documented_ulps(call, name, reference):
    random = np.random.default_rng(0)
    grid = _float32_grid()
    special = np.float32([0.0, -0.0, 1, -1, INF, -INF, NAN, 1e-40, -1e-40, 3e38])
    x, y = (each.ravel() for each in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        x, y = np.concatenate([grid, grid, x]), np.concatenate([random.permutation(grid), grid * np.float32(1.5), y])
        exact = reference(x.astype(np.float64), y.astype(np.float64))
    assert _ulps(call(name, x, y), exact).max() <= 0.6


def test_exp_of_float64_is_within_an_ulp(call):
    """Over all of its range, subnormal results included; 0, infinity and NaN where they belong."""
    x = np.concatenate([np.linspace(-746, 710, 200_001), np.linspace(-1, 1, 50_001), np.ldexp(1.0, np.arange(-60, 9))])
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(np.longdouble))
    finite = exact < np.finfo(np.float64).max
    error = np.abs(call("exp", x)[finite] - exact[finite]) / np.spacing(exact[finite].astype(np.float64))
    assert error.max() <= 1.0
    limits = call("exp", np.array([710.0, INF, 1e308, -746.0, -INF, -1e308, NAN, 0.0, -0.0]))
    np.testing.assert_array_equal(limits, [INF, INF, INF, 0, 0, 0, NAN, 1, 1])


def test_cosine_near_its_zero(call):
    assert call("cos", np.float32([np.pi / 2]))[0] == np.float32(-4.371139e-08)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("sign", [-2.5, -0.0, 0.0, 3.0, INF, -INF, NAN], [-1, 0, 0, 1, 1, -1, 0]),
        ("round", [0.5, 1.5, 2.5, -0.5, -1.5, INF, 8388609.0], [0, 2, 2, -0.0, -2, INF, 8388609]),
        ("rsqrt", [0.0, -0.0, -1.0, INF, 4.0], [INF, -INF, NAN, 0, 0.5]),
        ("abs", [-0.0, -INF, NAN], [0.0, INF, NAN]),
        ("floor", [-0.5, 2.5, -0.0], [-1, 2, -0.0]),
        ("ceil", [-0.5, 2.5, -0.0], [-0.0, 3, -0.0]),
        ("trunc", [-1.5, 2.5, -0.5], [-1, 2, -0.0]),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_functions(call, name, x, expected, dtype):
    got, expected = call(name, np.array(x, dtype)), np.array(expected, dtype)
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got[numbers]), np.signbit(expected[numbers]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_maximum_and_minimum_pass_nan_on(call, dtype):
    a, b = np.array([[1, NAN, 2, NAN, -INF, 3], [2, 1, NAN, NAN, 0, 3]], dtype)
    np.testing.assert_array_equal(call("max", a, b), [2, NAN, NAN, NAN, 0, 3])
    np.testing.assert_array_equal(call("min", a, b), [1, NAN, NAN, NAN, -INF, 3])


def test_power_of_special_numbers_is_that_of_c(call):
    special = [0.0, 1, 2, 0.5, 3, 2.5, INF, 2.0**-149, 3.4028234663852886e38, 16777216.0, 16777218.0, 1e10]
    values = np.float32([*special, *(-value for value in special), NAN])
    x, y = (grid.ravel() for grid in np.meshgrid(values, values))
    exact = call("pow", x.astype(np.float64), y.astype(np.float64))
    assert _ulps(call("pow", x, y), exact).max() <= 0.51


def test_power_is_within_the_documented_ulps(call):
    random = np.random.default_rng(0)
    x = np.exp(random.uniform(-85, 85, 200_000)).astype(np.float32)
    y = (random.uniform(-100, 100, x.size) / np.log(x)).astype(np.float32)
    assert _ulps(call("pow", x, y), call("pow", x.astype(np.float64), y.astype(np.float64))).max() <= 0.51


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "reference"), [("fmod", np.fmod), ("remainder", np.remainder), ("floordiv", np.floor_divide)]
)
def test_division_of_floats_is_pythons(call, name, reference, dtype):
    values = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, 3, -3, 1e-30, 1e30, -1e30, 7, 0.1, INF, -INF, NAN], dtype)
    a, b = (grid.ravel() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(call(name, a, b), reference(a, b))


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_division_of_integers_is_pythons(call, dtype):
    limits = np.iinfo(dtype)
    values = np.array([limits.min, limits.min + 1, -7, -2, -1, 0, 1, 2, 7, limits.max], dtype)
    a, b = (grid.ravel() for grid in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(call("floordiv", a, b), np.floor_divide(a, b))
        np.testing.assert_array_equal(call("mod", a, b), np.remainder(a, b))


def test_every_float_loop_becomes_vector_code(built):
    lines = _source().splitlines()
    vectorised = {int(line.split(":")[1]) for line in built[1].splitlines() if "loop vectorized" in line}
    expected = {f"loop_{name}_float" for name in UNARY + BINARY}
    loops = {
        number + 4: line.split("(")[0].removeprefix("void ")
        for number, line in enumerate(lines)
        if line.startswith("void")
    }
    # gcc names either the line of the loop or that of the pragma above it.
    found = {name for number, name in loops.items() if {number, number - 1} & vectorised}
    assert expected - found == set()


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("part", range(5))
def test_special_functions_without_loops_become_vector_code(tmp_path, part):
    """Those that a loop of calls holds as a whole; of the others, each is a function that is called."""
    header = (INCLUDE / "tg_special.h").read_text()
    names = re.findall(r"^TG_INLINE double tg_special_(\w+)\(double \w+\)", header, re.M)
    assert {"lgamma", "digamma", "logit", "erfc", "erfinv", "i0"} <= set(names)
    names = names[part::5]
    loops = "".join(_loop(name, "float", f"tg_special_{name}f(x[i])", 1) for name in names)
    (tmp_path / "special.c").write_text(f'#include "tg_special.h"\n{loops}')
    command = ["gcc", *FLAGS, *WARNINGS, "-fopt-info-vec", "-c", f"-I{INCLUDE}", "special.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    vectorised = {line.split(":")[1] for line in done.stderr.splitlines() if "loop vectorized" in line}
    assert len(vectorised) == len(names)


def test_no_input_is_undefined_behaviour(tmp_path):
    body = "".join(f"sum += tg_{name}f(v[i]);\n" for name in UNARY)
    body += "".join(f"sum += tg_{name}f(v[i], v[j]);\n" for name in BINARY + LIBM_BINARY)
    body += "".join(f"sum += (float)tg_{name}_{t}(w[i], w[j]);\n" for name in INTEGER for t in ("int32_t", "int64_t"))
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "tg_math.h"\nint main(void)\n{\n'
        "const float v[] = {0.0f, -0.0f, 1.0f, -1.0f, 0x1p-149f, 0x1p127f, -1e38f, 150.0f, INFINITY, -INFINITY, NAN};\n"
        "const int32_t w[] = {0, 1, -1, 7, -7, INT32_MAX, INT32_MIN, 2, 3, 4, 5};\nvolatile float sum = 0;\n"
        f'for (int i = 0; i < 11; ++i)\nfor (int j = 0; j < 11; ++j)\n{{\n{body}}}\nputs("done");\n}}\n'
    )
    flags = ["-std=gnu17", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", *WARNINGS]
    subprocess.run(["gcc", *flags, f"-I{INCLUDE}", "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("done\n", "")
