"""``tracegrad.backends``: switches of the libraries that PyTorch computes with. They can be set, and change nothing."""

# ruff: noqa: F401 (what is imported is offered)

from __future__ import annotations

from contextlib import nullcontext

from ..answers import answering
from . import (
    cpu,
    cuda,
    cudnn,
    cusparselt,
    kleidiai,
    mha,
    miopen,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
)
from .flags import functions_for as _functions_for

fp32_precision = "none"
set_flags, flags = _functions_for(globals(), fp32_precision="none")
flags_frozen = answering("flags_frozen", False, "False: the switches can be set.")
disable_global_flags = answering("disable_global_flags", None, "Nothing: the switches can be set still.")


def __allow_nonbracketed_mutation() -> nullcontext[None]:
    """A block in which switches may be set, as they may anywhere."""
    return nullcontext()
