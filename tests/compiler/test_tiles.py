"""Loops that walk through memory in different orders go through it in tiles."""

import numpy as np
import pytest
from c_compilers import COMPILERS
from harness import compile_graphs
from sample_graphs import CASES, sample_inputs

from tracegrad.compiler.codegen.loops import TILE, TILE_OF_PIECES
from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.schedule.plan import make_schedule


def test_pieces_and_numbers_are_turned_in_tiles():
    text = render(make_schedule(CASES["turned_in_tiles"]))
    assert text.count(f"first += {TILE_OF_PIECES})") == 2
    assert text.count(f"first += {TILE})") == 1
    # Only where tiles are left over is the end of one looked for.
    assert "i1 < second + 8; ++" in text and "(second + 8 < 19 ? second + 8 : 19)" in text


def test_short_pieces_and_near_ones_are_not():
    near = ("movement", "transposed_in_place")
    assert not any("first +=" in render(make_schedule(CASES[name])) for name in near)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_tiles_give_no_warning(compiler):
    (made,) = compile_graphs([CASES["turned_in_tiles"]], compiler)
    inputs = sample_inputs(made.graph)
    for name, values in evaluate_graph(made.graph, inputs).items():
        np.testing.assert_array_equal(made.run(inputs)[name], values)
