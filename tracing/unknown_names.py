"""What is answered to a name that there is not: that it is not in tracegrad, and what is near or to be used instead."""

from __future__ import annotations

from typing import Any

from ..ops.lazy import late

difflib = late("difflib")

#: What to use for names of PyTorch's that are left out for good.
INSTEAD = {
    "script": "tracegrad.compile compiles functions, modules and training steps",
    "fx": "step.graph of a compiled function is its graph",
    "export": "step.source of a compiled function is C without Python",
    "quantization": "there are no quantised types",
    **dict.fromkeys(
        "qint8 quint8 qint32 quint4x2 quint2x4 quantize_per_tensor quantize_per_channel quantize_per_tensor_dynamic "
        "dequantize fake_quantize_per_tensor_affine".split(),
        "there are no quantised types",
    ),
    "nested_tensor": "pad sequences, by nn.utils.rnn.pad_sequence()",
    "to_sparse_csr": "sparse tensors have the coordinate form only: to_sparse()",
    "sparse_csr_tensor": "sparse tensors have the coordinate form only: sparse_coo_tensor()",
    "to_mkldnn": "tensors are dense",
    "jiterator": "tracegrad.compile makes one kernel of several functions",
    **dict.fromkeys(
        "dsmm hsmm hspmm saddmm smm sspaddmm resize_as_sparse_ sparse_resize_ sparse_resize_and_clear_".split(),
        "use sparse.mm(), sparse.addmm(), and sparse_coo_tensor() for another size",
    ),
    **dict.fromkeys(
        "coalesce dense_dim indices is_coalesced sparse_dim values".split(),
        "call to_sparse() before: sparse tensors alone have it",
    ),
    **dict.fromkeys("chalf complex32".split(), "use complex64: numpy has no complex numbers of half precision"),
    **dict.fromkeys(
        "uint16 uint32 uint64".split(), "use int32 or int64: as in PyTorch these would have conversions alone"
    ),
    **dict.fromkeys(
        "get_autocast_ipu_dtype get_autocast_xla_dtype is_autocast_ipu_enabled is_autocast_xla_enabled "
        "set_autocast_ipu_dtype set_autocast_ipu_enabled set_autocast_xla_dtype set_autocast_xla_enabled".split(),
        "use autocast('cpu'): there are no such devices",
    ),
    "convolution": "use nn.functional.conv1d(), conv_transpose1d() and those of two and three dimensions",
    "embedding_bag": "use nn.functional.embedding_bag(), which gives the first of its four results",
    "from_file": "use from_numpy(numpy.memmap(...))",
    "lobpcg": "use linalg.eigh()",
    "empty_quantized": "there are no quantised types",
    **dict.fromkeys(
        "grouped_mm scaled_grouped_mm scaled_mm ScalingType SwizzleType".split(),
        "use matmul(): there are no types of eight bits with scales",
    ),
    **dict.fromkeys(
        "IterDataPipe MapDataPipe DFIterDataPipe functional_datapipe".split(),
        "use utils.data.Dataset or IterableDataset: data pipes are not here",
    ),
    "NestedIOFunction": "use autograd.Function",
    "symeig": "use linalg.eigh()",
    "set_default_tensor_type": "use set_default_dtype()",
}


class UnknownName(AttributeError):
    """AttributeError that looks for what is near only when it is shown: ``hasattr`` asks often."""

    def __init__(self, message: str, name: str, obj: Any) -> None:
        super().__init__(message, name=name, obj=obj)

    def __str__(self) -> str:
        return f"{self.args[0]}: it is not in tracegrad. {self._advice()}".rstrip()

    def _advice(self) -> str:
        name = str(self.name)
        if name in INSTEAD:
            return f"Instead, {INSTEAD[name]}."
        known = [other for other in dir(self.obj) if other[:1] != "_"]
        near = difflib.get_close_matches(name, known, 1) or [k for k in known if k.lower() == name.lower()]
        return f"The nearest name is {near[0]!r}." if near else ""


UnknownName.__name__ = UnknownName.__qualname__ = "AttributeError"  # programs print the names of exceptions' classes
