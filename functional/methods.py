"""One table: which function is which method of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from ..ops import arithmetic as ops
from ..ops import comparison, division, elementary, logic, rounding, trigonometry
from ..tensors import indexing, shared_memory, typed
from ..tensors.calling.operators import binary_operator, product_operator, reflected_operator
from ..tensors.foreign import dlpack
from ..tensors.layouts.formats import strided
from ..tensors.operands import checked
from ..tensors.tensor import Tensor
from . import (
    activations,
    arithmetic,
    arrays,
    conversions,
    copying,
    creation_methods,
    in_place,
    joining,
    linear_algebra,
    reductions,
    sampling,
    selecting,
    shapes,
    windows,
)
from .complex_numbers import functions as complex_functions
from .elementwise import bessel, bounds, closeness, differences, gamma, normal, real
from .fourier import short_time
from .matrices import torch_names as matrices
from .normalizing import renorm, softmax_along
from .places import distinct, histograms, index_writes, scattering, searching, slice_writes
from .products import vectors
from .rectifiers import shrinkage
from .shaping import assembling, broadcasting, copies, diagonals, memory, repetition, splitting, storage
from .sparse import construction as sparse
from .statistics import extremes, moments, orders, quantiles

if TYPE_CHECKING:
    from ..tensors.calling.annotations import DeviceLike, Number


def is_pinned(self: Tensor, device: DeviceLike | None = None) -> bool:
    """False: no memory is pinned here. `device` is one that would read it.

    >>> import tracegrad as tg
    >>> tg.ones(2).is_pinned()
    False
    """
    return False


def is_distributed(self: Tensor) -> bool:
    """False: no tensor is spread over processes.

    >>> import tracegrad as tg
    >>> tg.ones(2).is_distributed()
    False
    """
    return False


def where(self: Tensor, condition: Tensor, other: Tensor | Number) -> Tensor:
    """``tracegrad.where(condition, self, other)``: this tensor's element where `condition` holds, else that of `other`.

    Shapes are broadcast, types promoted to one. RuntimeError unless `condition` is bool (or uint8, with a warning).

    >>> import tracegrad as tg
    >>> tg.tensor([1, 2]).where(tg.tensor([True, False]), 0)
    tensor([1, 0])
    """
    chosen: Any = selecting.where(condition, self, other)
    return chosen


#: Functions whose names are the methods' names.
SAME_NAME: list[tuple[Any, str]] = [
    (ops, "mul neg abs maximum minimum sign reciprocal"),
    (comparison, "eq ne lt le gt ge isnan isfinite isinf"),
    (division, "floor_divide remainder fmod"),
    (elementary, "exp expm1 log log1p log2 log10 sigmoid erf sqrt rsqrt hypot logaddexp"),
    (trigonometry, "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh atan2"),
    (rounding, "floor ceil trunc"),
    (
        logic,
        "logical_not logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor bitwise_not "
        "bitwise_left_shift bitwise_right_shift",
    ),
    (
        arithmetic,
        "add sub div pow square float_power positive lerp addcmul addcdiv round frac xlogy",
    ),
    (bounds, "clamp clamp_min clamp_max nan_to_num heaviside"),
    (closeness, "isclose allclose equal"),
    (activations, "relu prelu"),
    (softmax_along, "softmax log_softmax"),
    (shrinkage, "hardshrink"),
    (
        reductions,
        "sum prod mean var std all any count_nonzero logsumexp",
    ),
    (extremes, "amax amin max min argmax argmin"),
    (renorm, "renorm"),
    (
        shapes,
        "reshape view_as reshape_as flatten ravel unflatten squeeze unsqueeze permute transpose t movedim expand "
        "expand_as contiguous clone",
    ),
    (
        joining,
        "narrow select split chunk unbind flip fliplr flipud roll",
    ),
    (
        selecting,
        "nonzero gather index_select take take_along_dim "
        "masked_fill masked_select argsort sort topk median cumsum cumprod",
    ),
    (windows, "unfold as_strided"),
    (splitting, "tensor_split hsplit vsplit dsplit split_with_sizes unsafe_split unsafe_split_with_sizes unsafe_chunk"),
    (repetition, "repeat tile repeat_interleave"),
    (diagonals, "triu tril diagonal diag diag_embed"),
    (broadcasting, "broadcast_to sum_to_size"),
    (assembling, "diagflat rot90"),
    (copies, "narrow_copy"),
    (memory, "data_ptr untyped_storage storage"),
    (storage, "view resize_ resize_as_ set_ apply_ map_ to_dense"),
    (scattering, "scatter scatter_add scatter_reduce index_reduce"),
    (index_writes, "index_add index_copy index_fill put index_put index_put_ masked_scatter"),
    (distinct, "unique unique_consecutive bincount"),
    (histograms, "histc histogram"),
    (searching, "isin msort argwhere nonzero_static"),
    (slice_writes, "slice_scatter select_scatter diagonal_scatter as_strided_scatter"),
    (quantiles, "quantile nanquantile"),
    (vectors, "vdot inner cross kron addr addbmm"),
    (linear_algebra, "mm bmm mv dot outer matmul addmm baddbmm addmv trace"),
    (
        matrices,
        "adjoint cholesky cholesky_inverse cholesky_solve det geqrf inverse logdet lu matrix_exp matrix_power orgqr "
        "ormqr pinverse qr slogdet svd triangular_solve matrix_rank solve lstsq symeig eig",
    ),
    (short_time, "stft istft"),
    (complex_functions, "angle conj conj_physical resolve_conj resolve_neg is_conj is_neg isreal sgn"),
    (
        conversions,
        "to type type_as cpu cuda xpu mtia ipu pin_memory record_stream size numel dim stride is_contiguous "
        "element_size storage_offset is_floating_point get_device",
    ),
    (creation_methods, "new new_zeros new_ones new_empty new_empty_strided new_full new_tensor"),
    (sampling, "bernoulli multinomial"),
    (real, "copysign deg2rad rad2deg fmax fmin frexp ldexp lcm gcd nextafter signbit exp2 isposinf isneginf"),
    (real, "is_same_size"),
    (differences, "diff logcumsumexp"),
    (moments, "nansum nanmean dist cov corrcoef"),
    (orders, "aminmax cummax cummin kthvalue mode nanmedian"),
    (gamma, "lgamma digamma mvlgamma igamma igammac"),
    (normal, "erfc erfinv logit logaddexp2 sinc"),
    (bessel, "i0"),
    (
        in_place,
        "copy_ fill_ zero_ detach_ uniform_ normal_ exponential_ bernoulli_ random_ geometric_ cauchy_ log_normal_",
    ),
]

OTHER_NAMES: dict[str, Callable[..., Any]] = {
    "float": conversions.to_float,
    "double": conversions.to_double,
    "byte": conversions.to_byte,
    "char": conversions.to_char,
    "short": conversions.to_short,
    "half": conversions.to_half,
    "bfloat16": conversions.to_bfloat16,
    "cfloat": conversions.to_cfloat,
    "cdouble": conversions.to_cdouble,
    "is_complex": conversions.is_complex,
    "is_nonzero": typed.is_nonzero,
    "is_signed": typed.is_signed,
    "is_pinned": is_pinned,
    "is_shared": shared_memory.is_shared,
    "share_memory_": shared_memory.share_memory_,
    "is_distributed": is_distributed,
    "int": conversions.to_int,
    "long": conversions.to_long,
    "bool": conversions.to_bool,
    "where": where,
    "lu_solve": matrices.torch_lu_solve,
    "norm": matrices.norm,
    "swapaxes": shapes.transpose,  # no mere alias: its arguments have other names
    "broadcast_to": shapes.expand,
    "abs_": in_place.abs_,
    "absolute_": in_place.abs_,
    "float_power_": arithmetic.float_power_,
    "xlogy_": arithmetic.xlogy_,
    "_is_view": lambda self: self.base is not None,
    "polygamma": gamma.polygamma_method,
    "as_strided_": in_place.view_in_place(windows.as_strided),
    "nelement": conversions.numel,
    "ndimension": conversions.dim,
    "fill_diagonal_": in_place.in_place(index_writes.fill_diagonal),
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.setitem,
    "__copy__": copying.shallow,
    "__delitem__": indexing.delitem,
    "__deepcopy__": copying.deepcopy,
    "__reduce_ex__": copying.reduce_ex,
    "__invert__": arrays.inverted,
    "__pos__": arithmetic.positive,
    "to_sparse": sparse.to_sparse,
    "sparse_mask": sparse.sparse_mask,
    "__dlpack__": dlpack.dlpack,
    "__dlpack_device__": dlpack.dlpack_device,
    "__array_wrap__": arrays.array_wrap,
    "__eq__": arrays.equals,
    "__rtruediv__": arrays.quotient_of,
    "__rdiv__": arrays.quotient_of,
    "__sub__": binary_operator(arithmetic.sub),
    "__rsub__": reflected_operator(lambda x, y: arithmetic.rsub(y, x), "__rsub__"),
    "__pow__": binary_operator(arithmetic.pow),
    "__matmul__": product_operator(linear_algebra.matmul),
    "__rmatmul__": product_operator(lambda x, y: linear_algebra.matmul(y, x), "__rmatmul__"),
}

#: Operators with a reflected and an in-place form.
OPERATORS: dict[str, Callable[..., Any]] = {
    "floordiv": division.floor_divide,
    "mod": division.remainder,
    "and": logic.bitwise_and,
    "or": logic.bitwise_or,
    "xor": logic.bitwise_xor,
    "lshift": logic.bitwise_left_shift,
    "rshift": logic.bitwise_right_shift,
}

#: Methods that exist with a trailing underscore too, storing their result in the tensor's memory.
PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "T": shapes.numpy_transpose,
    "mT": shapes.matrix_transpose,
    "H": matrices.conjugate_transpose_of_matrix,
    "mH": matrices.conjugate_transpose,
    "device": conversions.device_of,
    **dict.fromkeys(
        "is_cuda is_ipu is_maia is_meta is_mkldnn is_mps is_mtia is_nested is_quantized is_sparse is_sparse_csr "
        "is_vulkan is_xla is_xpu".split(),
        lambda self: False,
    ),
    "itemsize": conversions.element_size,
    "layout": lambda self: strided,
    "nbytes": lambda self: self.ndarray.nbytes,
    "is_cpu": lambda self: True,
}


def _called(function: Any, name: str) -> Any:
    """The same function under the method's name, by which ``__torch_function__`` hears of it."""
    if not isinstance(function, FunctionType) or function.__name__ == name or hasattr(function, "primitive"):
        return function
    method = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    method.__kwdefaults__, method.__annotations__ = function.__kwdefaults__, function.__annotations__
    method.__dict__.update(function.__dict__)
    method.__doc__ = function.__doc__
    return method


def _written(part: Callable[[Any], Any]) -> Callable[[Any, Any], None]:
    """Writes to what `part` shows of a tensor."""
    return lambda self, value: part(self).copy_(value)


def _attach() -> None:
    for module, names in SAME_NAME:
        for name in names.split():
            setattr(Tensor, name, checked(getattr(module, name), name, skipped=1))
    for name, function in OTHER_NAMES.items():
        setattr(Tensor, name, _called(function if name[:2] == "__" else checked(function, name, skipped=1), name))
    for name, function in OPERATORS.items():
        known_as = "remainder" if name == "mod" else f"__{name}__"
        setattr(Tensor, f"__{name}__", binary_operator(function, known_as, f"__{name}__"))
        setattr(Tensor, f"__r{name}__", reflected_operator(function, f"__r{name}__"))
    for name in ("add", "sub", "mul", "truediv", "pow", *OPERATORS):
        setattr(Tensor, f"__i{name}__", in_place.in_place_operator(getattr(Tensor, f"__{name}__"), f"__i{name}__"))
    for name, function in PROPERTIES.items():
        setattr(Tensor, name, property(function))
    for part in (complex_functions.real, complex_functions.imag):
        setattr(Tensor, part.__name__, property(part, _written(part)))


_attach()
