"""Who is measured, and how a peer's training step is made.

Each module of this package has `build(work, variant, threads)`, which returns a `Peer`. The modules import their
library at the top; they are imported by name, when they run, because every library is optional.
"""

import importlib
import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

DESCRIPTIONS = {
    "torch": "eager, optimizer as by default (single tensor on CPU)",
    "torch-fused": "eager, optimizer with fused=True",
    "torch-nhwc": "as torch-fused, model and images in channels_last (T5, T6)",
    "torch-compile": "torch.compile of the loss function (forward and backward), eager fused optimizer",
    "torch-compile-opt": "torch.compile of the loss function and of optimizer.step",
    "torch-compile-cpp": "as torch-compile-opt, with inductor's cpp_wrapper",
    "torch-autotune": "as torch-compile-opt, mode max-autotune",
    "torch-compile-step": "torch.compile of the whole step function",
    "jax": "jax.jit of the whole step, donated buffers",
    "jax-nhwc": "the same with NHWC convolutions (T5, T6)",
    "tinygrad": "TinyJit over the whole step, CPU backend",
    "tinygrad-beam": "the same with BEAM=2",
    "pytensor": "one function with updates, default mode",
    "pytensor-c": "the same with the C/VM linker",
    "numpy": "hand-written forward and backward",
    "tracegrad": "tracegrad.compile of the whole step",
    "tracegrad-clang": "the same, with clang as the C compiler",
    "tracegrad-eager": "the same step, eager",
}


@dataclass
class Peer:
    """A training step that is ready to run, its batches, and how its loss becomes a Python float."""

    step: Callable
    batches: list
    to_float: Callable[[Any], float] = float


def library(name):
    """The importable library behind a peer: the part before the first dash."""
    return name.split("-")[0]


def missing(name):
    """The first library that peer `name` needs and that is not installed, or None."""
    needed = {"numpy": ["numpy", "scipy"]}.get(library(name), [library(name)])
    if name == "tracegrad-clang" and shutil.which("clang") is None:
        return "clang"
    return next((n for n in needed if importlib.util.find_spec(n) is None), None)


def build(name, work, threads):
    module = importlib.import_module(f"{__name__}.{library(name)}_peer")
    variant = name.partition("-")[2]
    return module.build(work, variant, threads)
