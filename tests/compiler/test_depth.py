"""Compile time grows as the model does: what is done for a layer does not depend on how many there are.

Counted, not timed: calls of functions, joins tried, groups looked at, lowerings.
"""

import cProfile
from functools import lru_cache

import numpy as np
import pytest
from sample_steps import adam, classifier_step, cross_entropy, layer_types, linear_layers, relu, training_step

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.passes.simplify import simplify
from tracegrad.compiler.schedule.fusion import joining, lowering
from tracegrad.compiler.schedule.fusion.condensed import Condensed
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.compiler.sizes.pattern import Pattern
from tracegrad.compiler.sizes.planning import plan
from tracegrad.ops.arithmetic import maximum
from tracegrad.ops.elementary import sqrt
from tracegrad.ops.movement import reshape, transpose
from tracegrad.ops.products import dot
from tracegrad.ops.reductions import sum
from tracegrad.ops.types import Type, float32, int64

BATCH, WIDTH, HIDDEN, CLASSES = 4, 6, 10, 3
SHALLOW, DEEP = 16, 64
#: Work for a layer at DEEP over that at SHALLOW. What is done once for the whole model lets it fall below 1.
MOST_GROWTH = 1.2


def layer_norm(x, weight, bias):
    mean = reshape(sum(x, (1,)), (BATCH, 1)) / WIDTH
    centred = x - mean
    variance = reshape(sum(centred * centred, (1,)), (BATCH, 1)) / WIDTH
    return centred / sqrt(variance + 1e-5) * weight + bias


def block_types(number):
    return {
        f"n{number}.weight": Type(float32, (WIDTH,)),
        f"n{number}.bias": Type(float32, (WIDTH,)),
        f"u{number}.weight": Type(float32, (HIDDEN, WIDTH)),
        f"u{number}.bias": Type(float32, (HIDDEN,)),
        f"d{number}.weight": Type(float32, (WIDTH, HIDDEN)),
        f"d{number}.bias": Type(float32, (WIDTH,)),
    }


def block(x, parameters):
    norm, shift, up, up_bias, down, down_bias = parameters
    hidden = relu(dot(layer_norm(x, norm, shift), transpose(up, (1, 0))) + up_bias)
    return x + dot(hidden, transpose(down, (1, 0))) + down_bias


def residual_step(depth):
    """Residual blocks with layer norm, then a classifier; Adam."""
    types = {}
    for number in range(depth):
        types |= block_types(number)
    types |= layer_types(WIDTH, CLASSES)

    def loss(data, weights):
        x, index = data
        for number in range(depth):
            x = block(x, weights[6 * number : 6 * number + 6])
        return cross_entropy(linear_layers(x, weights[-2:]), index)

    inputs = {"x": Type(float32, (BATCH, WIDTH)), "index": Type(int64, (BATCH,))}
    return training_step("residual", inputs, types, loss, adam)


def plain_step(depth):
    """Linear layers with ReLU; Adam."""
    inputs = {"x": Type(float32, (BATCH, WIDTH)), "index": Type(int64, (BATCH,))}
    types = layer_types(*[WIDTH] * depth, CLASSES)
    return training_step(
        "plain", inputs, types, lambda data, ws: cross_entropy(linear_layers(data[0], ws), data[1]), adam
    )


def scaled_step(depth):
    """Linear layers whose weights are all divided by the norm of all of them: one value that every layer reads, and
    that reads every layer."""
    inputs = {"x": Type(float32, (BATCH, WIDTH)), "index": Type(int64, (BATCH,))}

    def loss(data, weights):
        total = sum(weights[0] * weights[0], (0, 1))
        for weight in weights[1:]:
            total = total + sum(weight * weight, tuple(range(weight.type.ndim)))
        scale = 1 / maximum(sqrt(total), 1.0)
        return cross_entropy(linear_layers(data[0], [weight * scale for weight in weights]), data[1])

    return training_step("scaled", inputs, layer_types(*[WIDTH] * depth, CLASSES), loss, adam)


MODELS = {"residual": residual_step, "plain": plain_step, "scaled": scaled_step}
COUNTED = {
    "joins tried": joining.Joiner._parts,
    "groups looked at": Condensed.precedes,
    "sets of ancestors spread": Condensed._spread,
    "lowerings": lowering.lowered,
}


def counted(function, *args):
    """What `function` gives, and how often functions were called meanwhile: those of COUNTED, and all."""
    profile = cProfile.Profile()
    result = profile.runcall(function, *args)
    entries = profile.getstats()
    counts = {"calls": np.sum([entry.callcount for entry in entries])}
    for name, one in COUNTED.items():
        counts[name] = np.sum([entry.callcount for entry in entries if entry.code is one.__code__])
    return result, counts


@lru_cache
def work(model, depth):
    """The counts of each stage for a model of `depth` layers, by stage and name."""
    graph = MODELS[model](depth)
    counts = {}
    graph, counts["simplify"] = counted(simplify, graph)
    schedule, counts["schedule"] = counted(make_schedule, graph)
    _, counts["render"] = counted(render, schedule)
    return {(stage, name): count for stage, found in counts.items() for name, count in found.items()}


@pytest.mark.parametrize(
    "model", ["plain", *(pytest.param(name, marks=pytest.mark.long) for name in ("residual", "scaled"))]
)
def test_the_work_for_a_layer_does_not_grow_with_their_number(model):
    shallow, deep = work(model, SHALLOW), work(model, DEEP)
    growth = {key: deep[key] / DEEP / (shallow[key] / SHALLOW) for key in shallow if shallow[key]}
    assert {stage for stage, _ in growth} == {"simplify", "schedule", "render"}
    assert ("schedule", "joins tried") in growth and ("schedule", "lowerings") in growth
    assert {key: ratio for key, ratio in growth.items() if ratio > MOST_GROWTH} == {}


@pytest.mark.parametrize("model", [pytest.param("residual", marks=pytest.mark.long), "plain"])
def test_equal_layers_are_lowered_once(model):
    assert work(model, DEEP)["schedule", "lowerings"] <= MOST_GROWTH * work(model, SHALLOW)["schedule", "lowerings"]


def test_a_second_batch_size_is_grouped_once():
    """Two sets of stand-ins are scheduled; what shares a kernel is found for the first."""

    def step(batch):
        inputs = {"x": Type(float32, (batch, WIDTH)), "index": Type(int64, (batch,))}
        types = layer_types(WIDTH, WIDTH, WIDTH, CLASSES)
        return training_step(
            "sized", inputs, types, lambda data, ws: cross_entropy(linear_layers(data[0], ws), data[1]), adam
        )

    one, other = step(8), step(9)
    _, once = counted(make_schedule, one)
    _, sized = counted(plan, Pattern(one, other))
    assert 0 < sized["joins tried"] <= MOST_GROWTH * once["joins tried"]


@pytest.mark.parametrize("batch", [0, 1, 2])
def test_loops_of_one_size_have_an_order(batch):
    """Without elements, all loops have one size."""
    assert make_schedule(classifier_step("few", batch, WIDTH, WIDTH, CLASSES)).kernels


def test_ancestors_are_those_of_a_search():
    """Random graphs, random joins: what the kept sets say is what a search finds."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        before = {node: set(np.flatnonzero(rng.random(node) < 0.2).tolist()) for node in range(20)}
        condensed = Condensed(before)
        for joined in range(20, 30):
            if len(condensed.before) < 2:
                break
            a, b = rng.permutation(list(condensed.before))[:2].tolist()
            a, b = (b, a) if condensed.precedes(a, b) else (a, b)
            condensed.join({a, b, *condensed.between(b, a, lambda group: True)}, joined)
            for group in condensed.before:
                found, pending = set(), [group]
                while pending:
                    fresh = condensed.before[pending.pop()] - found
                    found |= fresh
                    pending.extend(fresh)
                assert group not in found
                assert found == {other for other in condensed.before if condensed.precedes(other, group)}
                assert all(group in condensed.after[other] for other in condensed.before[group])
