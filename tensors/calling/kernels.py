"""Which dtypes functions do not take, as PyTorch's CPU kernels: one table, asked where public functions are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.array import Array
from ...ops.pointwise import common_dtype
from ...ops.types import ALL_DTYPES, COMPLEX, FLOATING, bfloat16, bool_, float16, int64, uint8

Dtypes = frozenset[np.dtype]


def _numpy(dtypes: Iterable[Any]) -> Dtypes:
    return frozenset(dtype.numpy for dtype in dtypes)


TRUTH = _numpy([bool_])
EXACT = _numpy(d for d in ALL_DTYPES if d.category < FLOATING)
SHORT = _numpy([float16, bfloat16])
COMPLEXES = _numpy(d for d in ALL_DTYPES if d.category == COMPLEX)


@dataclass(frozen=True)
class Kernel:
    """The dtypes that a function does not take; `phrase` is what PyTorch calls its kernel, or a whole message.

    Of several `operands` the dtype is that which they are promoted to.
    """

    refused: Dtypes
    phrase: str
    operands: int = 1

    def check(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """The error for a call with one of the dtypes; what autocast makes float32 of is none of 16 bits."""
        operands = (*args, *kwargs.values())[: self.operands]
        if not any(isinstance(x, Array) for x in operands):
            return
        dtype = common_dtype(operands)
        casts = getattr(function, "casts_to_full", None)
        if dtype.numpy in self.refused and not (casts and dtype.numpy in SHORT and casts()):
            raise self.error(dtype)

    def require(self, x: Any) -> None:
        """The error, if `x` has one of the dtypes: for functions whose kernel depends on more than dtypes."""
        if x.ndarray.dtype in self.refused:
            raise self.error(x.dtype)

    def error(self, dtype: Any) -> RuntimeError:
        if " " in self.phrase:
            return RuntimeError(self.phrase.format(dtype=dtype))
        return _not_implemented(self.phrase, dtype)


def _not_implemented(kernel: str, dtype: Any) -> NotImplementedError:
    text = f"\"{kernel}\" not implemented for '{dtype.title}'"
    return NotImplementedError(f"{text}. Convert it first, e.g. with .float().")


def _rows(refused: Dtypes, kernels: Mapping[str, str], operands: int = 1) -> dict[str, Kernel]:
    return {name: Kernel(refused, phrase, operands) for name, phrase in kernels.items()}


def _called_alike(names: str) -> dict[str, str]:
    return {name: f"{name}_cpu" for name in names.split()}


_NO_HALVES = "quantile() input tensor must be either float or double dtype"
#: By function: its name, behind "linalg." if it is one of those.
KERNELS: dict[str, Kernel] = {
    **_rows(EXACT, {  # others compute integers in the default type
        "gelu": "GeluKernelImpl", "silu": "silu_cpu", "elu": "elu_cpu", "selu": "elu_cpu", "celu": "elu_cpu",
        "leaky_relu": "leaky_relu_cpu", "mish": "mish_cpu", "softplus": "softplus_cpu", "hardswish": "hardswish_cpu",
        "hardsigmoid": "hardsigmoid_cpu", "logsigmoid": "log_sigmoid_cpu", "glu": "glu_cpu", "frac": "frac_cpu",
        "multilabel_soft_margin_loss": "log_sigmoid_cpu",
    }),
    **_rows(SHORT, _called_alike(
        "airy_ai bessel_j0 bessel_j1 bessel_y0 bessel_y1 erfcx log_ndtr modified_bessel_i0 modified_bessel_i1 "
        "modified_bessel_k0 modified_bessel_k1 ndtri scaled_modified_bessel_k0 scaled_modified_bessel_k1 "
        "spherical_bessel_j0 ctc_loss"
    )),
    **_rows(SHORT, _called_alike(
        "zeta chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
        "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
        "shifted_chebyshev_polynomial_w hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l "
        "legendre_polynomial_p"
    ), operands=2),
    **_rows(SHORT, {
        "linalg.solve": "lu_cpu", "linalg.solve_ex": "lu_cpu", "linalg.tensorsolve": "lu_cpu",
        "cdist": "cdist", "pdist": "pdist", "histogram": "histogramdd", "histogramdd": "histogramdd",
        "avg_pool3d": "avg_pool3d_out_frame", "quantile": _NO_HALVES, "nanquantile": _NO_HALVES,
    }),
    **_rows(COMPLEXES, {
        "bincount": "bincount_cpu", "cummax": "cummax_cpu", "cummin": "cummin_cpu", "kthvalue": "kthvalue_cpu",
        "median": "median_cpu", "nanmedian": "median_cpu", "threshold": "threshold_cpu", "unique": "unique",
        "unique_consecutive": "unique", "topk": "topk does not support complex dtypes on CPU",
        "max_pool1d": "max_pool1d_impl", "max_pool2d": "max_pool2d", "max_pool3d": "max_pool3d",
        "max_pool1d_with_indices": "max_pool2d", "max_pool2d_with_indices": "max_pool2d",
        "max_pool3d_with_indices": "max_pool3d", "scaled_dot_product_attention": "softmax_lastdim_kernel_impl",
    }),
    **_rows(TRUTH | COMPLEXES, {"bucketize": "searchsorted_out_cpu"}, operands=2),
    **_rows(EXACT | COMPLEXES, {
        "max_unpool1d": "max_unpool2d", "max_unpool2d": "max_unpool2d", "max_unpool3d": "max_unpool3d",
    }),
    **_rows(EXACT | COMPLEXES, {"grid_sample": "grid_sampler_2d_cpu_kernel_impl"}),
    **_rows(EXACT | SHORT, {
        "multi_margin_loss": "multi_margin_loss_cpu_kernel",
        "multilabel_margin_loss": "multilabel_margin_loss_forward_out_frame",
    }),
    **_rows(EXACT | SHORT, {"cholesky_solve": "cholesky_solve_cpu"}),
    **_rows(EXACT - _numpy([int64]), {
        "conv_transpose1d": "slow_conv_transpose2d_out_cpu", "conv_transpose2d": "slow_conv_transpose2d_out_cpu",
        "conv_transpose3d": "slow_conv_transpose3d_out_cpu",
    }),
    **_rows(TRUTH, {"cross": "cross", "linalg.cross": "cross"}),
    "linalg.vander": Kernel(
        TRUTH | SHORT, "linalg.vander supports floating point, complex, and integer tensors, but got {dtype.title}"
    ),
    "linalg.vecdot": Kernel(
        EXACT, "linalg.vecdot: Expected a floating point or complex tensor as input. Got {dtype.title}"
    ),
    "gradient": Kernel(_numpy([uint8]), "torch.gradient does not support {dtype.name} input."),
}  # fmt: skip
#: Kernels that an option chooses (or the number of axes); their functions ask.
OF_OPTIONS: dict[str, Kernel] = {
    **_rows(TRUTH, {
        f"{mode} {axes}": f"{mode.replace('ect', 'ection').replace('ate', 'ation')}_pad{axes}d"
        for mode in ("reflect", "replicate") for axes in (1, 2, 3)
    }),
    **_rows(COMPLEXES, {f"scatter {fold}": f"scatter_gather_tensor_cpu_reduce_{fold}" for fold in ("amax", "amin")}),
    **_rows(COMPLEXES, {"index amax": "maximum_cpu", "index amin": "minimum_cpu"}),
    "slopes of its own type": Kernel(EXACT, "prelu_cpu"),
    "index of vectors": Kernel(TRUTH | COMPLEXES, "index_func_"),
    "dilated convolutions": Kernel(EXACT - _numpy([int64]), "slow_conv_dilated<>"),
    "drawn slopes": Kernel(EXACT | _numpy([float16]), "rrelu_with_noise_out_cpu"),
    "averages of channels": Kernel(EXACT - _numpy([int64]) | COMPLEXES, "avg_pool2d"),
    "averages of images": Kernel(EXACT - _numpy([int64]) | SHORT | COMPLEXES, "avg_pool3d"),
}  # fmt: skip


def kernel_of(path: str) -> Kernel | None:
    """The row of a public function ("nn.functional.gelu", "Tensor.topk", "linalg.cross"), of its in-place form, too."""
    within, _, name = path.rpartition(".")
    return KERNELS.get(path if within == "linalg" else name.rstrip("_"))


def require_floating(kernel: str, x: Any) -> None:
    """NotImplementedError unless `x` is floating."""
    if not x.dtype.is_floating_point:
        raise _not_implemented(kernel, x.dtype)
