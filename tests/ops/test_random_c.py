"""The C that makes random numbers, compiled alone, against the numpy evaluation of the same primitives."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from c_compilers import WARNINGS

from tracegrad.compiler.codegen.specials import special_text
from tracegrad.compiler.schedule.records import SpecialKernel
from tracegrad.ops.array import Array, Evaluator
from tracegrad.ops.core import REGISTRY

INCLUDE = Path(__file__).parents[2] / "runtime" / "include"
FLAGS = "-O3 -march=native -std=gnu17 -fopenmp-simd -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv"

COUNTS = [0, 1, 623, 624, 625, 2000]
POSITIONS = [0, 1, 300, 623, 624]
SIZES = [1, 2, 3, 1000]
WORDS = np.concatenate(
    [np.array([0, 1, -1, 2**31 - 1, -(2**31)], np.int32), np.arange(995, dtype=np.int32) * np.int32(1103515)]
)
CUMULATIVE = np.array([[0.1, 0.1, 0.4, 1.0], [0.0, 0.5, 0.5, 1.0]])
SEARCH_SIZES = {"rows": 2, "count": 6, "extent": 4}
VALUES = np.array([[0.0, 0.1, 0.25, 0.4, 0.999, 1.0], [0.0, 0.5, 0.1, 0.50001, 1.0, 2.0]])

UNIFORM = np.concatenate([np.linspace(2.0**-24, 1, 500), 2.0 ** np.linspace(-24, 0, 500)]).astype(np.float32)

POINTWISE = """
void cephes_log(float *restrict out, const float *restrict x)
{
    for (long i = 0; i < 1000; ++i) out[i] = tg_cephes_log(x[i]);
}
void cephes_sin(float *restrict out, const float *restrict x)
{
    for (long i = 0; i < 1000; ++i) out[i] = tg_cephes_sin(x[i]);
}
void cephes_cos(float *restrict out, const float *restrict x)
{
    for (long i = 0; i < 1000; ++i) out[i] = tg_cephes_cos(x[i]);
}
void uniform24(float *restrict out, const int32_t *restrict x)
{
    for (long i = 0; i < 1000; ++i) out[i] = tg_uniform24(x[i]);
}
void uniform53(double *restrict out, const int32_t *restrict x, const int32_t *restrict y)
{
    for (long i = 0; i < 1000; ++i) out[i] = tg_uniform53(x[i], y[i]);
}
void join_words(int64_t *restrict out, const int32_t *restrict x, const int32_t *restrict y)
{
    for (long i = 0; i < 1000; ++i) out[i] = tg_join_words(x[i], y[i]);
}
void unsigned_modulo_i(int32_t *restrict out, const int32_t *restrict x, const int32_t *restrict y)
{
    for (long i = 0; i < 1000; ++i) out[i] = tg_unsigned_moduloi(x[i], y[i]);
}
void unsigned_modulo_l(int64_t *restrict out, const int64_t *restrict x, const int64_t *restrict y)
{
    for (long i = 0; i < 1000; ++i) out[i] = tg_unsigned_modulol(x[i], y[i]);
}
"""


def kernel(template, name, out, /, numbers=(), **operands):
    """One special kernel as the compiler prints it, but visible from outside."""
    types = {"out": out, **operands}
    parameters = [f"{ctype} *restrict {role}" for role, ctype in types.items()]
    constant = [f"const {parameter}" for parameter in parameters[1:]]
    roles = tuple((role, role) for role in operands)
    special = SpecialKernel(name, template, roles, (("out", "out"),), tuple(dict(numbers).items()), template, "")
    text = special_text(special, ", ".join([parameters[0], *constant]), types.__getitem__)
    return text.replace("static void", "void")


def source():
    kernels = [
        *(kernel("random_words", f"words_{n}", "int32_t", {"count": n}, state="int32_t") for n in COUNTS),
        *(kernel("permutation", f"permutation_{n}", "int64_t", {"n": n}, words="int32_t") for n in SIZES),
        kernel("random_seed", "seed", "int32_t", seed="int64_t"),
        kernel("search", "search", "int64_t", SEARCH_SIZES, cumulative="double", wanted="double"),
    ]
    return "\n".join(['#include "tg_random.h"', *kernels, POINTWISE])


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    compiler = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("random")
    (folder / "random.c").write_text(source())
    options = [*FLAGS.split(), *WARNINGS, f"-I{INCLUDE}", "-shared", "-fPIC", "-o", "random.so", "random.c"]
    subprocess.run([compiler, *options], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "random.so"))


def evaluated(name, *operands, **params):
    return Evaluator().apply(REGISTRY[name], [Array(o) for o in operands], params).ndarray


def assert_same(function, expected, *operands):
    """Equal bits, and nothing written behind the result."""
    out = np.full(expected.size + 1, 77, expected.dtype)
    arrays = [np.ascontiguousarray(o) for o in operands]
    function(*(a.ctypes.data_as(ctypes.c_void_p) for a in (out, *arrays)))
    np.testing.assert_array_equal(out[:-1], expected.ravel())
    assert out[-1] == 77


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("count", COUNTS)
def test_words(library, count, position):
    seeded = evaluated("random_seed", np.array(42))
    state = evaluated("random_words", seeded, count=position)[: seeded.size]
    assert_same(library[f"words_{count}"], evaluated("random_words", state, count=count), state)


@pytest.mark.parametrize("seed", [0, 42, -1, 2**33 + 7])
def test_seed(library, seed):
    assert_same(library["seed"], evaluated("random_seed", np.array(seed)), np.array(seed))


@pytest.mark.parametrize("n", SIZES)
def test_permutation(library, n):
    words = WORDS[: n - 1]
    assert_same(library[f"permutation_{n}"], evaluated("permutation", words, n=n), words)


def test_search(library):
    expected = evaluated("search", CUMULATIVE, VALUES)
    # The last value lies above its whole row; a tie is found at its first place.
    assert expected.tolist() == [[0, 0, 2, 2, 3, 3], [0, 1, 1, 3, 3, 4]]
    assert_same(library["search"], expected, CUMULATIVE, VALUES)


@pytest.mark.parametrize("name", ["uniform24"])
def test_numbers_from_one_word(library, name):
    assert_same(library[name], evaluated(name, WORDS), WORDS)


@pytest.mark.parametrize("name, scale", [("log", 1), ("sin", 2 * np.pi), ("cos", 2 * np.pi)])
def test_functions_for_normal_numbers(library, name, scale):
    x = UNIFORM * np.float32(scale)
    out = evaluated(f"cephes_{name}", x)
    # Their authors' bound: two units in the last place of the largest result, 16 or 1.
    np.testing.assert_allclose(out, getattr(np, name)(x.astype(np.float64)), rtol=2.4e-7, atol=1.2e-7)
    assert_same(library[f"cephes_{name}"], out, x)


@pytest.mark.parametrize("name", ["uniform53", "join_words"])
def test_numbers_from_two_words(library, name):
    assert_same(library[name], evaluated(name, WORDS, WORDS[::-1]), WORDS, WORDS[::-1])


@pytest.mark.parametrize("dtype, suffix", [(np.int32, "i"), (np.int64, "l")])
def test_modulo_is_unsigned(library, dtype, suffix):
    x = WORDS.astype(dtype) * dtype(3)
    divisors = np.where(WORDS == 0, 1, WORDS).astype(dtype)
    assert_same(library[f"unsigned_modulo_{suffix}"], evaluated("unsigned_modulo", x, divisors), x, divisors)
