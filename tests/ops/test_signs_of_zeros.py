"""Zeros that C computes have the signs of those that numpy computes: 1 / x and atan2 tell them apart."""

from __future__ import annotations

import numpy as np
import pytest
from complex_samples import COMPLEX
from harness import compile_and_run
from samples import SAMPLES
from test_registry_compiled import add_use, contiguous

from tracegrad.compiler.graph import Builder, Graph
from tracegrad.ops.array import Array, Evaluator
from tracegrad.ops.core import REGISTRY, Pointwise, interpreting
from tracegrad.ops.types import DType, bfloat16, float32, float64

# Of sums and extremes over an axis the order is another; those of a running sum follow from the first.
FOLDS = ["cumsum", "cumsum_rounded"]
NAMES = sorted(
    [name for name, op in REGISTRY.items() if isinstance(op.lower, Pointwise) and name not in COMPLEX] + FOLDS
)
PARTS = 4  # of all primitives: those of one are compiled as one program


def with_zeros(array: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Floating numbers of which about two thirds are zeros, of both signs."""
    if array.dtype.kind not in "fV":
        return array
    zeros = np.where(random.random(array.shape) < 0.5, -0.0, 0.0).astype(array.dtype)
    return np.where(random.random(array.shape) < 0.7, zeros, array)


@pytest.mark.long(fast="first", every=5)
@pytest.mark.parametrize("dtype", [float32, float64, bfloat16], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_zeros_have_the_signs_of_evaluated_ones(dtype: DType, part: int):
    builder, inputs, results, expected = Builder(), {}, [], {}
    random = np.random.default_rng(0)
    for name in NAMES[part::PARTS]:
        for number, case in enumerate(map(contiguous, SAMPLES[name])):
            if dtype not in case.dtypes:
                continue
            label, arrays = f"case_{name}_{number}", [with_zeros(a, random) for a in case.arrays(dtype)]
            results.append(add_use(builder, name, label, case, arrays))
            inputs |= {node.label: array for node, array in zip(results[-1].node.args, arrays, strict=True)}
            with interpreting(Evaluator()) as evaluator:
                value = evaluator.apply(REGISTRY[name], [Array(a) for a in arrays], case.params).ndarray
            expected[label] = name, value
    operands = tuple(node for result in results for node in result.node.args)
    actual = compile_and_run(Graph("signs_of_zeros", operands, tuple(results)), inputs)
    wrong = set()
    for label, (name, value) in expected.items():
        mine = actual[label]
        if value.dtype.kind in "fV":
            both = (value == 0) & (mine == 0)
            if (np.signbit(mine) != np.signbit(value))[both].any():
                wrong.add(name)
    assert len(expected) > 500 / PARTS
    assert not wrong
