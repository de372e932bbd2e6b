"""Whole training steps as graphs, with the ops that the library records: forward, backward and optimizer."""

import numpy as np

from tracegrad.compiler.differentiate import differentiate
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.passes.simplify import simplify
from tracegrad.ops.arithmetic import maximum
from tracegrad.ops.comparison import ne, where
from tracegrad.ops.core import bind, interpreting
from tracegrad.ops.elementary import exp, log, sqrt
from tracegrad.ops.identity import detach_primitive
from tracegrad.ops.indexing import gather
from tracegrad.ops.movement import reshape, transpose
from tracegrad.ops.pointwise import cast
from tracegrad.ops.products import dot
from tracegrad.ops.reductions import amax, sum
from tracegrad.ops.types import Type, float32, int64


def detached(x):
    return bind(detach_primitive, x)


def relu(x):
    return where(x > 0, x, 0)


def linear_layers(x, parameters):
    """Linear layers with ReLU between them; weights as [out, in]."""
    pairs = list(zip(parameters[::2], parameters[1::2], strict=True))
    for layer, (weight, bias) in enumerate(pairs):
        x = dot(x, transpose(weight, (1, 0))) + bias
        x = relu(x) if layer + 1 < len(pairs) else x
    return x


def cross_entropy(scores, labels):
    """The mean over the batch, labels of -100 left out."""
    n = labels.type.size
    counted = ne(labels, -100)
    safe = where(counted, labels, 0)
    shifted = scores - detached(reshape(amax(scores, (1,)), (n, 1)))
    logs = shifted - log(reshape(sum(exp(shifted), (1,)), (n, 1)))
    picked = where(counted, -reshape(gather(logs, reshape(safe, (n, 1)), 1), (n,)), 0)
    return sum(picked, (0,)) / sum(cast(counted, float32), (0,))


def adam(builder, p, gradient):
    """New values of p, its moments and its step counter, as results."""
    label = p.label
    mean, square = builder.input(f"{label}.exp_avg", p.type), builder.input(f"{label}.exp_avg_sq", p.type)
    step = builder.input(f"{label}.step", Type(float32, ()))
    lr, beta1, beta2, eps = 1e-3, 0.9, 0.999, 1e-8
    counted = step + 1
    new_mean = mean + (gradient - mean) * (1 - beta1)
    new_square = square * beta2 + (gradient * (1 - beta2)) * gradient
    root = sqrt(new_square) / (1 - beta2**counted) ** 0.5 + eps
    new = p - (new_mean * (lr / (1 - beta1**counted))) / root
    updates = {p: new, mean: new_mean, square: new_square, step: counted}
    return [Result(node.label, value, node.label) for node, value in updates.items()]


def sgd(builder, p, gradient):
    return [Result(p.label, p - gradient * 0.1, p.label)]


def training_step(name, inputs, parameters, loss_of, optimizer):
    """A graph of one step. `inputs` and `parameters` map names to types; `loss_of` takes their nodes."""
    builder = Builder()
    nodes = [builder.input(key, of) for key, of in inputs.items()]
    weights = [builder.input(key, of) for key, of in parameters.items()]
    with interpreting(builder):
        forward = Graph(name, (*nodes, *weights), (Result("loss", loss_of(nodes, weights)),))
        backward = differentiate(forward, ["loss"], list(parameters))
        seed = backward.inputs[-1]
        one = builder.constant(1.0, float32)
        backward = backward.rewritten({seed: one})
        results = [forward.results[0]]
        for weight in weights:
            results += optimizer(builder, weight, backward.result(f"grad_{weight.label}"))
    updated = {r.into for r in results if r.into}
    states = [n for n in Graph(name, (), tuple(results)).nodes() if n.is_input and n not in (*nodes, *weights)]
    assert updated >= set(parameters)
    return simplify(Graph(name, (*nodes, *weights, *states), tuple(results)))


def layer_types(*sizes):
    types = {}
    for layer, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:], strict=False)):
        types[f"l{layer}.weight"] = Type(float32, (fan_out, fan_in))
        types[f"l{layer}.bias"] = Type(float32, (fan_out,))
    return types


def classifier_step(name, batch, *sizes):
    """A multi-layer perceptron with cross entropy and Adam."""
    inputs = {"x": Type(float32, (batch, sizes[0])), "index": Type(int64, (batch,))}
    return training_step(
        name, inputs, layer_types(*sizes), lambda data, ws: cross_entropy(linear_layers(data[0], ws), data[1]), adam
    )


def hinge_loss(data, weights):
    """Hinge loss of a single score, and an L2 penalty on every parameter."""
    x, y = data
    score = reshape(linear_layers(x, weights), (x.type.shape[0],))
    penalty = sum(weights[0] * weights[0], (0, 1))
    for weight in weights[1:]:
        penalty = penalty + sum(weight * weight, tuple(range(weight.type.ndim)))
    margin = maximum(1 - y * score, 0)
    return sum(margin, (0,)) / x.type.shape[0] + 1e-4 * penalty


def moons_step(name="moons_step", batch=32):
    """A small binary classifier with hinge loss and gradient descent."""
    inputs = {"x": Type(float32, (batch, 2)), "y": Type(float32, (batch,))}
    return training_step(name, inputs, layer_types(2, 16, 16, 1), hinge_loss, sgd)


def step_inputs(graph, seed=0):
    """Data and parameters near zero, moments that Adam could have, step counters at 3."""
    rng = np.random.default_rng(seed)
    return {node.label: _value(node.label, node.type, rng) for node in graph.inputs}


def _value(label, of, rng):
    if label == "index":
        return rng.integers(0, 10, of.shape)
    if label.endswith(".step"):
        return np.asarray(3, of.dtype.numpy)
    values = rng.standard_normal(of.shape) * (0.1 if "." in label else 1)
    return np.asarray(values * values if label.endswith("_sq") else values, of.dtype.numpy)
