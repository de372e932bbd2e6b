"""tracegrad: the whole step under `tracegrad.compile`, or eager."""

import tracegrad

from .. import programs
from . import Peer


def build(work, variant, threads):
    tracegrad.set_num_threads(threads)
    step = programs.train_step(programs.build(tracegrad, work), work)
    if variant != "eager":
        step = tracegrad.compile(step)
    return Peer(step, programs.batches(tracegrad, work), lambda loss: loss.item())
