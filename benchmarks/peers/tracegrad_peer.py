"""tracegrad: the whole step under `tracegrad.compile`, or the model alone in an eager loop, or eager."""

import tracegrad

from .. import layers, programs
from ..off_list import EAGER_LOOP
from . import Peer


def build(work, variant, threads):
    tracegrad.set_num_threads(threads)
    program = programs.build(tracegrad, work)
    batches = programs.batches(tracegrad, work)
    if work.dims.get("mode") == EAGER_LOOP and variant != "eager":
        program.loss_fn = layers.program(tracegrad, work.dims, tracegrad.compile(program.model))[1]
    step = programs.train_step(tracegrad, program, work)
    if variant != "eager" and work.dims.get("mode") != EAGER_LOOP:
        step = tracegrad.compile(step)
    return Peer(step, batches, lambda result: result.mean().item())
