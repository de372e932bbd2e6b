"""What of PyTorch's operator database is left out, with a reason each: patterns of entries' names."""

from __future__ import annotations

from fnmatch import fnmatchcase

JITERATOR = "kernels written in CUDA"
INTERNAL = "an internal function of PyTorch, which its public ones call"
COPY = "a form without views that PyTorch's compiler calls; not in its documentation"
SPARSE = "sparse formats beyond the small COO form of graph networks"

OUT_OF_SCOPE: dict[str, str] = {
    "jiterator_*": JITERATOR,
    "torch.ops.aten.*": INTERNAL,
    "torch._scaled_mm*": INTERNAL,
    "_softmax_backward_data": INTERNAL,
    "_unsafe_masked_index*": INTERNAL,
    "_upsample_bilinear2d_aa": INTERNAL,
    "_chunk_cat": INTERNAL,
    "_segment_reduce": "a function that PyTorch calls private and unstable",
    "_native_batch_norm_legit": INTERNAL,
    "_batch_norm_with_update": INTERNAL,
    "native_*": INTERNAL,
    "max_pool2d_with_indices_backward": INTERNAL,
    "grid_sampler_*": INTERNAL,
    "constant_pad_nd": INTERNAL,
    "nonzero_static": "for graph compilers with static shapes",
    "hash_tensor": "a checksum of memory, new and unstable",
    "nn.functional.linear_cross_entropy": "new in 2.13 and marked as a prototype",
    "unsafe_chunk": INTERNAL,
    "unsafe_split": INTERNAL,
    "slice": INTERNAL,
    "*_copy": COPY,
    "sparse.*": SPARSE,
    "to_sparse": SPARSE,
    "chalf": "complex32, which numpy does not have",
    "masked.*": "the prototype module torch.masked",
    "empty_permuted": "a memory layout for PyTorch's compiler",
}
#: Variants of entries that are in scope.
VARIANTS_OUT: dict[str, str] = {
    "bmm_triton_optimized": "a kernel written in Triton",
    "addmm_decomposed": "addmm once more, decomposed by PyTorch's compiler",
    "nn_functional_batch_norm_without_cudnn": "batch_norm once more, for CUDA",
}
#: Dtypes of results: samples with them are passed over, in operators that are in scope.
DTYPES_OUT: dict[str, str] = {"complex32": "numpy has no such type; PyTorch's own CPU kernels for it are few"}


def reason_left_out(name: str, formatted_name: str) -> str:
    """Why an entry is out of scope; "" if it is not."""
    if formatted_name in VARIANTS_OUT:
        return VARIANTS_OUT[formatted_name]
    return next((reason for pattern, reason in OUT_OF_SCOPE.items() if fnmatchcase(name, pattern)), "")
