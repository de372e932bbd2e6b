"""Packages that are compiled against PyTorch's C++ library, which is not here."""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from typing import Any

#: Their import would end in a message about a missing shared library.
COMPILED = frozenset(
    "torchaudio torchtext torch_scatter torch_sparse torch_cluster torch_spline_conv pyg_lib torch_xla "
    "xformers triton flash_attn bitsandbytes apex torchao torchrec fbgemm_gpu deepspeed transformer_engine "
    "torchcodec detectron2 mmcv".split()
)


def refuse_if_installed(name: str, finder: Any) -> None:
    """ImportError for one of these packages that is installed; where it is not, Python says so itself."""
    if name in COMPILED and name not in sys.modules and PathFinder.find_spec(name) is not None:
        raise ImportError(
            f"{name} is compiled against PyTorch's C++ library, and torch is tracegrad in this process: leave {name} "
            "out, or run the program under PyTorch.",
            name=name,
        )
