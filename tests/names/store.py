"""Store PyTorch's public names (needs PyTorch):  python -m tests.names --store"""

from __future__ import annotations

import importlib
import json
import types
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

NAMES = Path(__file__).with_name("pytorch_names.json")
#: The places whose public names are listed.
PLACES = (
    "torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.nn.utils.rnn",
    "torch.optim", "torch.optim.lr_scheduler", "torch.linalg", "torch.fft", "torch.special", "torch.func",
    "torch.distributions", "torch.utils.data", "torch.autograd", "torch.autograd.functional",
    "torch.autograd.forward_ad",
)  # fmt: skip
#: What is public by its name only: parts of PyTorch's compilers, kernels of libraries, other devices, quantised types.
NOT_MEANT = (
    "sym_*", "cudnn_*", "miopen_*", "mkldnn_*", "fbgemm_*", "quantize*", "q_*", "quantized_*", "is_quantized",
    "native_*", "*_copy", "batch_norm_*", "fake_quantize*", "fused_*", "choose_qparams*", "dequantize*", "qscheme",
    "int_repr",
    "qint*", "quint*", "bits*", "bit", "float8*", "float4*", "int[1-7]", "uint[1-7]", "import_ir*", "parse_*",
    "merge_type*", "*_backward", "unsafe_*", "slice_inverse", "mtia", "ipu", "xpu", "is_mtia", "is_ipu", "is_xpu",
    "is_maia", "is_vulkan*", "is_xla", "is_mps", "is_mkldnn", "to_mkldnn", "*_sparse_c*", "*_bs[rc]", "*_cs[rc]",
    "ccol_*", "col_ind*", "crow_*", "row_ind*", "fork", "wait", "vitals_*", "read_vitals", "set_vital", "is_nested",
    "to_padded_tensor", "conv_tbc", "*jit*", "obj", "constant_pad_nd", "grid_sampler*", "affine_grid_generator",
    "embedding_renorm_", "hash_tensor", "sparse_bs*", "sparse_cs*", "sparse_compressed*", "unify_type_list", "has_*",
    "thread_safe_generator", "init_num_threads", "nonzero_static", "set_flush_denormal", "norm_except_dim",
)  # fmt: skip
#: Names that the patterns take by mistake, and the classes of the namespace ``torch`` that programs use.
MEANT = frozenset("index_copy Size Generator GradScaler".split())


def store() -> None:
    """Write PyTorch's names, by place."""
    found = {place: _names(place) for place in PLACES}
    NAMES.write_text(json.dumps(found, indent=0) + "\n")


def _names(place: str) -> list[str]:
    try:
        of: Any = importlib.import_module(place)
    except ImportError:
        of = getattr(importlib.import_module(place.rpartition(".")[0]), place.rpartition(".")[2])
    names = [n for n in (getattr(of, "__all__", None) or dir(of)) if n[:1] != "_" and hasattr(of, n)]
    return sorted(n for n in set(names) if _is_meant(place, n, getattr(of, n)))


def _is_meant(place: str, name: str, value: Any) -> bool:
    if name in MEANT:
        return True
    if isinstance(value, types.ModuleType) or any(fnmatchcase(name, pattern) for pattern in NOT_MEANT):
        return False
    if place == "torch" and name[:1].isupper():  # PyTorch's compilers
        return name.endswith("Tensor")
    module = getattr(value, "__module__", None) or "torch"
    return module.partition(".")[0] == "torch" and not module.startswith(("torch.testing", "torch._dynamo"))
