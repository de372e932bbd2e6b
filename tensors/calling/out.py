"""``out=`` of all functions: the result is computed as ever, then stored in the tensors given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ...ops.array import Array, repeated_axes
from ...ops.places.overlaps import refuse_overlap
from ...ops.types import uint8
from ...tape.grad_mode import no_grad
from ...tape.selected import declare_write_to_picked
from ...tape.tangents import levels
from ...tracing.user_warning import warn_user

#: The functions that take ``out``, by their paths below ``tracegrad``.
TAKES_OUT = frozenset(
    """
    alias_copy as_strided_copy diagonal_copy expand_copy median nanmedian narrow_copy permute_copy select_copy
    squeeze_copy t_copy transpose_copy unfold_copy unsqueeze_copy view_copy
    abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr all amax amin aminmax angle any arange arccos
    arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin asin asinh atan atan2 atanh baddbmm bartlett_window
    bernoulli binomial bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor bmm
    bucketize cat ceil cholesky cholesky_inverse cholesky_solve clamp clamp_max clamp_min clip column_stack complex
    concat concatenate conj_physical copysign cos cosh cross cummax cummin cumprod cumsum deg2rad diag diff digamma
    div divide dot dstack empty eq erf erfc erfinv exp exp2 expm1 eye fix float_power floor floor_divide fmax fmin
    fmod frac frexp full gather gcd ge geqrf ger greater greater_equal gt heaviside histc histogram hstack hypot i0
    igamma igammac index_add index_copy index_reduce index_select inner inverse isin isneginf isposinf kron kthvalue
    lcm ldexp le lerp less less_equal lgamma linspace log log10 log1p log2 log_softmax logaddexp logaddexp2
    logcumsumexp logical_and logical_not logical_or logical_xor logit logspace logsumexp lt lu lu_solve lu_unpack
    masked_select matmul matrix_power max maximum mean min minimum mm mode msort mul multinomial multiply mv mvlgamma
    nan_to_num nanmean nanquantile nansum ne neg negative nextafter nonzero norm normal not_equal ones orgqr ormqr
    outer polar polygamma pow prod qr quantile rad2deg rand randint randn randperm range reciprocal remainder renorm
    round row_stack rsqrt scatter scatter_add scatter_reduce searchsorted sgn sigmoid sign signbit sin sinc sinh
    slice_scatter slogdet softmax sort sqrt square stack std sub subtract sum svd take take_along_dim tan tanh
    tensordot topk triangular_solve tril triu true_divide trunc var vdot vstack where xlogy zeros
    nn.functional.avg_pool2d nn.functional.avg_pool3d nn.functional.gelu nn.functional.hardshrink nn.functional.linear
    nn.functional.logsigmoid nn.functional.normalize nn.functional.softplus nn.functional.softshrink linalg.cholesky
    linalg.cholesky_ex linalg.cond linalg.cross linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh
    linalg.householder_product linalg.inv linalg.inv_ex linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve
    linalg.lstsq linalg.lu linalg.lu_factor linalg.lu_factor_ex linalg.lu_solve linalg.matmul linalg.matrix_norm
    linalg.matrix_power linalg.matrix_rank linalg.multi_dot linalg.norm linalg.pinv linalg.qr linalg.slogdet
    linalg.solve linalg.solve_ex linalg.solve_triangular linalg.svd linalg.svdvals linalg.tensorinv linalg.tensorsolve
    linalg.vecdot linalg.vector_norm
    """.split()
)
#: Those whose results have one type: they are stored in tensors of no other.
EXACT = frozenset(
    """
    abs absolute addbmm addmm addmv alias_copy all amax amin aminmax any argmax argmin as_strided_copy baddbmm
    bitwise_not bmm bucketize ceil complex conj_physical cross cummax cummin diag diagonal_copy dot expand_copy
    float_power floor frac frexp gather heaviside histc histogram index_add index_copy index_reduce index_select
    inner inverse isin isneginf isposinf kthvalue log_softmax logcumsumexp lu_solve lu_unpack masked_select matmul
    max min mm mode msort multinomial mv nan_to_num nanquantile narrow_copy neg negative nonzero norm orgqr ormqr
    permute_copy polar qr quantile renorm round scatter scatter_add scatter_reduce searchsorted select_copy sgn sign
    signbit slice_scatter slogdet softmax sort squeeze_copy svd t_copy take take_along_dim tensordot topk
    transpose_copy triangular_solve tril triu trunc unfold_copy unsqueeze_copy vdot view_copy where fft.ifft
    fft.ihfft linalg.cholesky linalg.cholesky_ex linalg.cross linalg.det linalg.eigh linalg.eigvalsh linalg.inv
    linalg.inv_ex linalg.ldl_factor linalg.ldl_factor_ex linalg.ldl_solve linalg.lu linalg.lu_factor
    linalg.lu_factor_ex linalg.lu_solve linalg.matrix_norm linalg.multi_dot linalg.norm linalg.qr linalg.slogdet
    linalg.solve linalg.solve_ex linalg.solve_triangular linalg.svd linalg.svdvals linalg.vecdot linalg.vector_norm
    nn.functional.avg_pool2d nn.functional.avg_pool3d nn.functional.gelu nn.functional.hardshrink
    nn.functional.linear nn.functional.logsigmoid nn.functional.softplus nn.functional.softshrink
    """.split()
)
#: Of these, those whose truth values may be bytes.
_BYTES_TOO = frozenset({"all", "any"})
_JOINING = "cat concat concatenate stack hstack vstack dstack row_stack column_stack".split()
#: Those that read operands while they write: a result may not be stored in the memory of one of these, not even where
#: it is the same view. The others may.
READ_MEANWHILE = {
    **dict.fromkeys(_JOINING, "all"),
    **dict.fromkeys("cross linalg.cross index_select kthvalue masked_select take".split(), "all"),
    **dict.fromkeys("gather take_along_dim".split(), "the first"),
    **dict.fromkeys("index_add index_copy index_reduce".split(), "all but the first"),
    **dict.fromkeys("scatter scatter_add scatter_reduce".split(), "all but the first"),
}
_RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the required output "
    "shape {}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized unless they "
    "have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero elements with "
    "t.resize_(0)."
)

#: What makes tensors of nothing but sizes: PyTorch gives a result its shape there, and says nothing.
_FACTORIES = frozenset(
    "arange empty eye full linspace logspace normal ones rand randint randn randperm range zeros".split()
)
#: Those of a tensor that are silent as well.
_FILLED = frozenset({"bernoulli"})
_RANGE_RESIZED = (
    "The number of elements in the out tensor of shape {} is {} which does not match the computed number of elements "
    "{}. Note that this may occur as a result of rounding error. The out tensor will be resized to a tensor of shape "
    "{}."
)


def takes_out(path: str) -> bool:
    """Whether the function of that path below ``tracegrad`` takes ``out``."""
    return path in TAKES_OUT or path.startswith(("fft.", "special."))


def into(out: Any, path: str, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``function(*args, **kwargs)``, stored in `out`: a tensor, or a tuple or list of them. Returns what was given.

    TypeError for what is no tensor. RuntimeError where a gradient would be lost, where the result's type or the given
    memory does not allow it; nothing is written then. A tensor of another shape is resized, with a warning if it has
    elements.
    """
    places = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    name = path.rpartition(".")[2]
    for place in places:
        if not isinstance(place, Array):
            raise TypeError(f"{name}(): argument 'out' must be Tensor, not {type(place).__name__}")
    _refuse_overlap(places, (*args, *kwargs.values()), READ_MEANWHILE.get(path, "none"))
    of_tensors = any(isinstance(x, Array) for x in (*args, *kwargs.values()))
    if path == "normal" and of_tensors:
        args, kwargs = _drawn_in(places[0].dtype, args, kwargs)
    elif path not in EXACT:
        kwargs = _in_type_of(places[0], function, kwargs)
    result = function(*args, **kwargs)
    values = result if isinstance(result, (tuple, list)) else (result,)
    if len(values) != len(places) or isinstance(result, Array) != isinstance(out, Array):
        wanted = "a Tensor" if isinstance(result, Array) else f"a tuple of {len(values)} Tensors"
        raise TypeError(f"{name}(): argument 'out' must be {wanted}, not {type(out).__name__} of {len(places)}")
    for place, value in zip(places, values, strict=True):
        _refuse(path, place, value)
    with no_grad():
        for place, value in zip(places, values, strict=True):
            _store(name, place, value, is_quiet=name in (_FILLED if of_tensors else _FACTORIES))
    if isinstance(result, Array):
        return out
    return type(result)(*places) if hasattr(result, "_fields") else places


def _drawn_in(dtype: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Sequence[Any], dict[str, Any]]:
    """``normal`` of tensors takes no dtype: it draws in that of the tensors, with ``out`` in that of the place."""

    def cast(x: Any) -> Any:
        is_tensor = isinstance(x, Array)
        return x.to(dtype) if is_tensor else x

    return [cast(x) for x in args], {name: cast(x) for name, x in kwargs.items()}


def _in_type_of(place: Any, function: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The keywords; what can be told its result's type is told that of the place."""
    if "dtype" not in inspect.signature(function).parameters:
        return kwargs
    dtype = kwargs.get("dtype")
    if dtype is not None and dtype is not place.dtype:
        raise RuntimeError(f"dtype {dtype.title} does not match dtype of out parameter ({place.dtype.title})")
    return {**kwargs, "dtype": place.dtype}


def _refuse(path: str, place: Any, value: Any) -> None:
    name = path.rpartition(".")[2]
    if levels.open is not None and (levels.open.has_tangent(value) or levels.open.has_tangent(place)):
        raise NotImplementedError(
            f"Trying to use forward AD with {name}_out that does not support it because it is an out= function. Leave "
            "out= away, and copy_() the result."
        )
    if value.requires_grad or (place.requires_grad and value.dtype.is_floating_point):
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    own, wanted = place.dtype, value.dtype
    if path in EXACT and own is not wanted and not (path in _BYTES_TOO and own is uint8):
        raise RuntimeError(f"Expected out tensor to have dtype {_c_name(wanted)}, but got {_c_name(own)} instead")
    if path.startswith("fft.") and own.is_complex and not wanted.is_complex:
        raise RuntimeError(f"{name} expects a floating point output tensor, but got {own.title}")
    if wanted.category > own.category:
        if path in _JOINING:
            raise TypeError(f"torch.cat(): input types can't be cast to the desired output type {own.title}")
        raise RuntimeError(f"result type {wanted.title} can't be cast to the desired output type {own.title}")


def _c_name(dtype: Any) -> str:
    names = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int"}
    return names.get(dtype.name, dtype.name)


def _refuse_overlap(places: Sequence[Any], arguments: Sequence[Any], meanwhile: str) -> None:
    """RuntimeError for memory that shows an element twice, or that operands share; see `READ_MEANWHILE`."""
    lists = (x if isinstance(x, (tuple, list)) else (x,) for x in arguments)
    given = [x for several in lists for x in several if isinstance(x, Array)]
    for place in places:
        declare_write_to_picked(place.buffer)
        if repeated_axes(place.ndarray):
            raise RuntimeError(_REPEATED)
        for i, x in enumerate(given):
            in_steps = meanwhile == "all" or (meanwhile == "the first" if i == 0 else meanwhile == "all but the first")
            refuse_overlap(place, (x,), in_steps)


_REPEATED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation."
)


def _store(name: str, place: Any, value: Any, is_quiet: bool) -> None:
    if tuple(place.shape) != tuple(value.shape):
        old, new = list(place.shape), list(value.shape)
        if name == "arange" and place.numel() and place.numel() != value.numel():
            warn_user(_RANGE_RESIZED.format(old, place.numel(), value.numel(), tuple(new)))
        elif place.numel() and not is_quiet:
            warn_user(_RESIZED.format(old, new))
        place.data = value.new_empty(tuple(value.shape), dtype=place.dtype)
    if place.ndarray.size:  # also where a repeated axis has no elements, which is no place to write to
        place.copy_(value)
