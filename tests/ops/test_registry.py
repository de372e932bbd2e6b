"""Every primitive of the registry: its type, its types, its memory, its first and second derivative."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cases import DTYPES, Case
from complex_samples import COMPLEX
from random_samples import RANDOM
from samples import SAMPLES
from sweep import Function, directional, names, vector_jacobian

from tracegrad.autograd import forward_ad
from tracegrad.ops.array import Array, Evaluator
from tracegrad.ops.core import REGISTRY, NotImplementedRule, Pointwise, Primitive, bind
from tracegrad.ops.types import DType, Type, dtype_of, float32, float64
from tracegrad.ops.vjp import pull_back_all
from tracegrad.tensors.tensor import make

# A graph's input has a type and no value.
EVALUATED = sorted(set(REGISTRY) - {"input"})
DERIVABLE = [
    name
    for name in EVALUATED
    if any(rule and not isinstance(rule.rule, NotImplementedRule) for rule in REGISTRY[name].derivatives.values())
    and name not in COMPLEX  # those: tests/autograd/test_complex.py
]

# Central differences of functions of size one: the step's error is 1e-12, rounding's 1e-10; the derivatives of a
# derivative reach a few hundred near the ends of the sampled ranges.
STEP = 1e-6
DERIVATIVE_TOLERANCE = {"rtol": 2e-6, "atol": 2e-7}


def evaluated(primitive: Primitive, arrays: Sequence[np.ndarray], params: Any) -> np.ndarray:
    return Evaluator().apply(primitive, [Array(a) for a in arrays], params).ndarray


def inferred(primitive: Primitive, arrays: Sequence[np.ndarray], params: Any) -> Type:
    return primitive.type_rule(*(Type(dtype_of(a), a.shape) for a in arrays), **params)


def test_every_primitive_has_samples():
    assert sorted(SAMPLES) == EVALUATED


@pytest.mark.parametrize("name", EVALUATED)
def test_type_rule_is_what_evaluation_gives(name):
    primitive = REGISTRY[name]
    for case in SAMPLES[name]:
        for dtype in case.dtypes:
            arrays = case.arrays(dtype)
            out = evaluated(primitive, arrays, case.params)
            assert Type(dtype_of(out), out.shape) == inferred(primitive, arrays, case.params), f"{case} {dtype}"


@pytest.mark.parametrize("name", EVALUATED)
def test_operands_keep_their_numbers_and_only_views_share_memory(name):
    primitive = REGISTRY[name]
    for case in SAMPLES[name]:
        arrays = case.arrays(case.dtypes[0])
        before = [a.copy() for a in arrays]
        out = evaluated(primitive, arrays, case.params)
        for array, copy in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(array, copy)
            assert primitive.is_view or name == "detach" or not np.may_share_memory(out, array), str(case)


@pytest.mark.parametrize("name", EVALUATED)
def test_layout_of_operands_does_not_matter(name):
    """Strided loops and vector loops of numpy round differently in the last place."""
    primitive = REGISTRY[name]
    for case in SAMPLES[name]:
        for dtype in case.dtypes:
            arrays = case.arrays(dtype)
            out = evaluated(primitive, arrays, case.params)
            expected = evaluated(primitive, [np.ascontiguousarray(a).reshape(a.shape) for a in arrays], case.params)
            np.testing.assert_allclose(out, expected, rtol=4 * resolution(dtype), atol=4 * resolution(dtype))


def resolution(dtype: DType) -> float:
    return float(ml_dtypes.finfo(dtype.numpy).eps) if dtype.is_floating_point else 0.0


@pytest.mark.parametrize("name", EVALUATED)
def test_float32_agrees_with_float64(name):
    """From equal operands. Results are sums of up to 70 numbers or well conditioned: 50 roundings cover both."""
    primitive = REGISTRY[name]
    for case in SAMPLES[name]:
        if {float32, float64} <= set(case.dtypes):
            narrow = evaluated(primitive, case.arrays(float32), case.params)
            wide = evaluated(primitive, case.arrays(float64), case.params)
            tolerance = 50 * resolution(float32)
            np.testing.assert_allclose(narrow, wide.astype(narrow.dtype), rtol=tolerance, atol=tolerance)


# Those that promote their operands; what makes random numbers binds its own words only.
PROMOTING = [n for n in EVALUATED if isinstance(REGISTRY[n].lower, Pointwise) and n not in {"cast", *RANDOM}]


@pytest.mark.parametrize("name", PROMOTING)
def test_types_that_are_not_claimed_are_refused(name):
    primitive = REGISTRY[name]
    case = SAMPLES[name][0]
    for dtype in set(DTYPES) - set(case.dtypes):
        with pytest.raises((TypeError, RuntimeError)):
            inferred(primitive, case.arrays(dtype), case.params)


# ---------------------------------------------------------------------------------------------------- derivatives


def differentiable_positions(primitive: Primitive, case: Case, arrays: Sequence[np.ndarray]) -> list[int]:
    """The operands that have a derivative in this case."""
    return [
        position
        for position, array in enumerate(arrays)
        if position not in case.held and primitive.derivative(position) is not None and array.dtype == np.float64
    ]


def operands_with(arrays: Sequence[np.ndarray], positions: Sequence[int], xs: Sequence[Array]) -> list[Array]:
    """The case's operands with those at `positions` replaced by `xs`."""
    replaced = dict(zip(positions, xs, strict=True))
    return [replaced.get(position, Array(array)) for position, array in enumerate(arrays)]


def forward(primitive: Primitive, case: Case, arrays: Sequence[np.ndarray], positions: Sequence[int]) -> Function:
    """The primitive as a function of the operands at `positions`."""
    return lambda xs: [bind(primitive, *operands_with(arrays, positions, xs), **case.params)]


def backward(primitive: Primitive, case: Case, arrays: Sequence[np.ndarray], positions: Sequence[int]) -> Function:
    """The derivative rules as a function of those operands and, last, of the cotangent."""

    def function(inputs: Sequence[Array]) -> list[Array]:
        *xs, g = inputs
        operands = operands_with(arrays, positions, xs)
        known = names(primitive, operands, bind(primitive, *operands, **case.params))
        return pull_back_all(primitive, positions, g, known, case.params, [arrays[p].shape for p in positions])

    return function


def assert_derivative(function: Function, xs: Sequence[np.ndarray], random: np.random.Generator, where: str) -> None:
    """<cotangents, derivative along v> by differences equals <pulled-back cotangents, v>, for a random v."""
    along = [random.uniform(-1, 1, x.shape) for x in xs]
    by_differences = directional(function, xs, along, STEP)
    cotangents = [random.uniform(-1, 1, d.shape) for d in by_differences]
    by_rules = vector_jacobian(function, xs, cotangents)
    actual = sum(np.sum(r * v) for r, v in zip(by_rules, along, strict=True))
    expected = sum(np.sum(g * d) for g, d in zip(cotangents, by_differences, strict=True))
    np.testing.assert_allclose(actual, expected, **DERIVATIVE_TOLERANCE, err_msg=where)


def derivable_samples(name):
    """Each sample with a derivative in float64: its arrays, the operands that have one, copies of these, its type."""
    for case in SAMPLES[name]:
        arrays = case.arrays(float64) if float64 in case.dtypes else []
        positions = differentiable_positions(REGISTRY[name], case, arrays)
        out = inferred(REGISTRY[name], arrays, case.params) if positions else None
        if out is not None and out.dtype is float64:
            yield case, arrays, positions, [np.array(arrays[p]) for p in positions], out


@pytest.mark.parametrize("name", DERIVABLE)
def test_first_and_second_derivative(name):
    primitive, random, tried = REGISTRY[name], np.random.default_rng(1), 0
    for case, arrays, positions, xs, out in derivable_samples(name):
        g = random.uniform(-1, 1, out.shape)
        assert_derivative(forward(primitive, case, arrays, positions), xs, random, f"{name} {case}")
        assert_derivative(backward(primitive, case, arrays, positions), [*xs, g], random, f"{name} {case}, second")
        tried += xs[0].size > 0
    assert tried, f"{name} has derivative rules and no sample that tries them"


@pytest.mark.parametrize("name", DERIVABLE)
def test_tangents_are_derivatives_along_a_direction(name):
    primitive, random = REGISTRY[name], np.random.default_rng(2)
    for case, arrays, positions, xs, _ in derivable_samples(name):
        along = [random.uniform(-1, 1, x.shape) for x in xs]
        expected = directional(forward(primitive, case, arrays, positions), xs, along, STEP)
        with forward_ad.dual_level():
            operands = [make(np.array(a)) for a in arrays]
            for place, tangent in zip(positions, along, strict=True):
                operands[place] = forward_ad.make_dual(operands[place], make(tangent))
            tangent = forward_ad.unpack_dual(bind(primitive, *operands, **case.params)).tangent
        np.testing.assert_allclose(tangent.numpy(), expected[0], **DERIVATIVE_TOLERANCE, err_msg=f"{name} {case}")
