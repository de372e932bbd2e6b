"""jax: the whole step (loss, gradients, optimizer) in one jax.jit with donated parameters and state."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..off_list import INFERENCE
from . import Peer, jax_layers
from .jax_models import LOSSES


def sgd(hyper, p, g, state):
    if "momentum" in hyper:
        g = {k: hyper["momentum"] * state["m"][k] + g[k] for k in p}
        state = {"m": g}
    return {k: p[k] - hyper["lr"] * g[k] for k in p}, state


def adam(hyper, p, g, state):
    b1, b2 = hyper["betas"]
    t = state["t"] + 1
    tf = t.astype(jnp.float32)
    c1, c2 = 1 - b1**tf, 1 - b2**tf
    m = {k: b1 * state["m"][k] + (1 - b1) * g[k] for k in p}
    v = {k: b2 * state["v"][k] + (1 - b2) * g[k] * g[k] for k in p}
    decay = hyper.get("weight_decay", 0.0)
    new = {}
    for k in p:
        q = p[k] * (1 - hyper["lr"] * decay) if decay and p[k].ndim >= 2 else p[k]
        new[k] = q - hyper["lr"] / c1 * m[k] / (jnp.sqrt(v[k] / c2) + hyper["eps"])
    return new, {"m": m, "v": v, "t": t}


def initial_state(work, p):
    kind, hyper = work.opt
    state = {}
    if kind != "sgd":
        state = {"m": zeros_like(p), "v": zeros_like(p), "t": jnp.zeros((), jnp.int32)}
    elif "momentum" in hyper:
        state = {"m": zeros_like(p)}
    if work.name == "T6":
        norms = {k.removesuffix(".bias"): v for k, v in p.items() if k.endswith(".bias") and k != "fc.bias"}
        state["running"] = {k: (jnp.zeros_like(v), jnp.ones_like(v)) for k, v in norms.items()}
    return state


def zeros_like(p):
    return {k: jnp.zeros_like(v) for k, v in p.items()}


def whole_step(work, loss_fn):
    """`step(params, state, *batch)` -> new params, new state, the loss and whatever else must be computed."""
    kind, hyper = work.opt
    update = functools.partial(sgd if kind == "sgd" else adam, hyper)

    def step(p, state, x, y):
        loss, g = jax.value_and_grad(loss_fn)(p, x, y)
        return *update(p, g, state), loss, ()

    def step_with_running_statistics(p, state, x, y):
        (loss, running), g = jax.value_and_grad(loss_fn, has_aux=True)(p, x, y, state["running"])
        p, state = update(p, g, state)
        return p, {**state, "running": lax.stop_gradient(running)}, loss, ()

    def step_with_input_gradient(p, state, x):
        loss, (g, gx) = jax.value_and_grad(loss_fn, argnums=(0, 1))(p, x)
        return *update(p, g, state), loss, gx

    def step_of_layers(p, state, x, y):
        (loss, statistics), g = jax.value_and_grad(loss_fn, has_aux=True)(p, x, y)
        return *update(p, g, state), loss, statistics

    special = {"T6": step_with_running_statistics, "T10": step_with_input_gradient}
    if "layers" in work.dims:
        return jax.jit(step_of_layers, donate_argnums=(0, 1))
    return jax.jit(special.get(work.name, step), donate_argnums=(0, 1))


def inference(work, params):
    """The model's results alone."""
    jitted = jax.jit(lambda p, x: jax_layers.loss(work.dims)(p, x, None)[0])
    return lambda x, y: jitted(params, x).block_until_ready()


def build(work, variant, threads):
    if work.dims.get("dtype") == "float64":
        jax.config.update("jax_enable_x64", True)
    layered = "layers" in work.dims
    loss_fn = jax_layers.loss(work.dims) if layered else LOSSES[work.name](work.dims, nhwc=variant == "nhwc")
    jitted = whole_step(work, loss_fn)
    params = {k: jnp.asarray(v) for k, v in work.params.items()}
    state = initial_state(work, params)

    def step(*batch):
        nonlocal params, state
        params, state, loss, extra = jitted(params, state, *batch)
        jax.block_until_ready((params, state, loss, extra))
        return loss

    def device(v):
        return jnp.asarray(v if v.dtype != np.int64 else v.astype(np.int32))

    batches = [tuple(device(v) for v in batch) for batch in work.batches]
    if work.dims.get("mode") == INFERENCE:
        step = inference(work, params)
    return Peer(step, batches, lambda result: float(result.mean()))
