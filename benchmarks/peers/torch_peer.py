"""PyTorch: eager, or with parts of the step under torch.compile."""

import torch

from .. import programs
from . import Peer


def build(work, variant, threads):
    torch.set_num_threads(threads)
    program = programs.build(torch, work, **({"fused": True} if variant in ("fused", "nhwc", "compile") else {}))
    batches = programs.batches(torch, work)
    if variant == "nhwc":
        program.model.to(memory_format=torch.channels_last)
        batches = [(x.to(memory_format=torch.channels_last), y) for x, y in batches]
    elif variant == "compile":
        program.loss_fn = torch.compile(program.loss_fn)
    elif variant in ("compile-opt", "compile-cpp", "autotune"):
        mode = "max-autotune" if variant == "autotune" else None
        program.loss_fn = torch.compile(program.loss_fn, mode=mode)
        program.optimizer_step = torch.compile(program.optimizer_step, mode=mode)
    step = programs.train_step(torch, program, work)
    if variant == "compile-step":
        step = torch.compile(step)
    return Peer(step, batches, lambda result: result.mean().item())
