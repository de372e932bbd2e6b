"""Largest and smallest numbers of rows: the same from both compilers, NaN wherever there is one, and in vectors."""

import subprocess
from itertools import product

import numpy as np
import pytest
from c_compilers import COMPILERS
from harness import compile_graphs
from row_graphs import graph_of

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.pipeline import FLAGS
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.ops.reductions import amax, amin, argmax, argmin
from tracegrad.runtime.build import INCLUDE

SPECIAL = (0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, np.nan, 1e-42, -1e-42, 3e38, -3e38)
LENGTHS = (1, 2, 7, 16, 33, 130)


def best(x):
    return {"largest": amax(x, (1,)), "smallest": amin(x, (1,)), "place": argmax(x, 1), "other": argmin(x, 1)}


def rows_of(length, dtype):
    """Rows of ordinary numbers with each special one at the first, a middle and the last place, alone and in pairs."""
    rng = np.random.default_rng(length)
    pairs = [*product(SPECIAL, SPECIAL), *((one, None) for one in SPECIAL)]
    x = rng.standard_normal((len(pairs), length)).astype(dtype)
    for row, (one, other) in zip(x, pairs, strict=True):
        row[rng.integers(length)] = one
        if other is not None:
            row[rng.integers(length)] = other
    return np.concatenate([x, np.full((1, length), -np.inf, dtype), np.full((1, length), np.nan, dtype)])


def graphs():
    cases = product(LENGTHS, (np.float32, np.float64))
    return [graph_of(best, f"best_{n}_{np.dtype(dtype)}", x=rows_of(n, dtype)) for n, dtype in cases]


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_best_of_rows_are_numpys(compiler):
    made = graphs()
    for (graph, values), compiled in zip(made, compile_graphs([graph for graph, _ in made], compiler), strict=True):
        found = compiled.run(values)
        np.testing.assert_array_equal(found["largest"], values["x"].max(1), err_msg=graph.name)
        np.testing.assert_array_equal(found["smallest"], values["x"].min(1), err_msg=graph.name)
        np.testing.assert_array_equal(found["place"], values["x"].argmax(1), err_msg=graph.name)
        np.testing.assert_array_equal(found["other"], values["x"].argmin(1), err_msg=graph.name)


@pytest.mark.skipif("clang" not in COMPILERS, reason="asks clang")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clang_folds_them_in_vectors(dtype, tmp_path):
    """It says so of each loop that is to be one of vectors and is none."""
    graph, _ = graph_of(best, "best", x=rows_of(130, dtype))
    (tmp_path / "best.c").write_text(render(make_schedule(graph)))
    command = ["clang", *FLAGS, "-Werror=pass-failed", f"-I{INCLUDE}", "-c", "best.c"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
