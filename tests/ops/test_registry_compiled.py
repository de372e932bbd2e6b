"""Every primitive's C against its evaluation with numpy, many primitives to one program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from cases import Case
from complex_samples import COMPLEX
from harness import compile_and_run
from samples import SAMPLES

from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.ops.array import Array, Evaluator
from tracegrad.ops.core import REGISTRY, Pointwise, interpreting
from tracegrad.ops.types import FLOATING_KINDS, DType, Type, dtype_of, float32

# So many that gcc is started a few times only, and so few that a failure does not take everything with it.
PRIMITIVES_PER_PROGRAM = 12
# numpy's elementary functions and ours each stay within a few units in the last place.
ROUNDINGS_OF_A_FUNCTION = 8
# Sums of up to 70 numbers of size 3, added in another order.
ROUNDINGS_OF_A_FOLD = 200


def contiguous(case: Case) -> Case:
    """The case with operands as a graph takes them: how they lay in memory is no question any more."""
    return replace(case, operands=tuple(replace(o, layout="contiguous") for o in case.operands))


def uses(name: str) -> Iterator[tuple[Case, DType]]:
    """Every different case in one type, float32 where it can be, and the case with most elements in the others."""
    cases = list({str(case): case for case in map(contiguous, SAMPLES[name])}.values())
    for case in cases:
        yield case, float32 if float32 in case.dtypes else case.dtypes[0]
    largest = max(cases, key=lambda case: sum(int(np.prod(o.shape)) for o in case.operands))
    main = float32 if float32 in largest.dtypes else largest.dtypes[0]
    yield from ((largest, dtype) for dtype in largest.dtypes if dtype is not main)


def add_use(builder: Builder, name: str, label: str, case: Case, arrays: list[np.ndarray]) -> Result:
    inputs = [builder.input(f"{label}_{i}", Type(dtype_of(a), a.shape)) for i, a in enumerate(arrays)]
    return Result(label, builder.apply(REGISTRY[name], inputs, case.params))


def tolerance(name: str, dtype: np.dtype) -> float:
    if dtype.kind not in FLOATING_KINDS:
        return 0.0
    if dtype.itemsize == 2:  # one rounding of two float32 that are close
        return float(ml_dtypes.finfo(dtype).eps)
    pointwise = isinstance(REGISTRY[name].lower, Pointwise)
    return (ROUNDINGS_OF_A_FUNCTION if pointwise else ROUNDINGS_OF_A_FOLD) * float(np.finfo(dtype).eps)


def plain(values: np.ndarray) -> np.ndarray:
    """Values of numpy's own types: bfloat16 as float32."""
    return values.astype(np.float32) if values.dtype.kind == "V" else values


EVALUATED = sorted(set(REGISTRY) - {"input"} - set(COMPLEX))
PROGRAMS = [EVALUATED[i : i + PRIMITIVES_PER_PROGRAM] for i in range(0, len(EVALUATED), PRIMITIVES_PER_PROGRAM)]


@pytest.mark.long(fast="first", every=3)
@pytest.mark.parametrize("primitives", PROGRAMS, ids=lambda names: f"{names[0]}-{names[-1]}")
def test_compiled_equals_evaluated(primitives):
    builder, inputs, results, expected = Builder(), {}, [], {}
    for name in primitives:
        for number, (case, dtype) in enumerate(uses(name)):
            label, arrays = f"case_{name}_{number}", case.arrays(dtype)
            result = add_use(builder, name, label, case, arrays)
            results.append(result)
            inputs |= {node.label: array for node, array in zip(result.node.args, arrays, strict=True)}
            with interpreting(Evaluator()) as evaluator:
                value = evaluator.apply(REGISTRY[name], [Array(a) for a in arrays], case.params).ndarray
            expected[label] = (name, f"{name} {case} {dtype.name}", value)
    operands = tuple(node for result in results for node in result.node.args)
    actual = compile_and_run(Graph(f"{primitives[0]}_to_{primitives[-1]}", operands, tuple(results)), inputs)
    for label, (name, use, value) in expected.items():
        assert actual[label].dtype == value.dtype and actual[label].shape == value.shape, use
        allowed = tolerance(name, value.dtype)
        np.testing.assert_allclose(plain(actual[label]), plain(value), rtol=allowed, atol=allowed, err_msg=use)
