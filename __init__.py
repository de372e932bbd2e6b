"""tracegrad: PyTorch's names and eager semantics on numpy, and ``compile`` for whole training steps in fused C.

This is the public face: what ``import tracegrad as tg`` offers, and nothing else.
"""

# ruff: noqa: E402, F401 (the first import comes before the others; every import here is the offer)

from __future__ import annotations

import sys
from math import e, inf, nan, pi
from types import FunctionType, ModuleType

from .paused_collection import PausedCollection

_paused = PausedCollection()

from . import autograd, distributions, func, nn, optim, serialization, utils
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .compiled import CompiledFunction, compile, deferred
from .devices import accelerator, amp, backends, cpu, cuda, distributed, mps, multiprocessing, xpu
from .devices.amp.autocast_mode import (
    autocast,
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_cpu_dtype,
    get_autocast_dtype,
    get_autocast_gpu_dtype,
    is_autocast_cache_enabled,
    is_autocast_cpu_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_cpu_dtype,
    set_autocast_cpu_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
    set_autocast_gpu_dtype,
)
from .devices.amp.grad_scaler import GradScaler
from .devices.settings import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_device_module,
    get_float32_matmul_precision,
    is_deterministic_algorithms_warn_only_enabled,
    is_warn_always_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_warn_always,
    use_deterministic_algorithms,
)
from .func import vmap
from .functional import einops_backend, foreach, methods, return_types
from .functional.activations import celu, prelu, relu, selu
from .functional.arithmetic import (
    add,
    addcdiv,
    addcmul,
    div,
    float_power,
    frac,
    lerp,
    positive,
    pow,
    round,
    rsub,
    square,
    sub,
    xlogy,
)
from .functional.complex_numbers.functions import (
    angle,
    complex,
    conj,
    conj_physical,
    imag,
    is_conj,
    is_neg,
    isreal,
    polar,
    real,
    resolve_conj,
    resolve_neg,
    sgn,
    view_as_complex,
    view_as_real,
)
from .functional.control import cond, while_loop
from .functional.conversions import is_complex, is_floating_point, numel
from .functional.criteria.of_torch import (
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    ctc_loss,
    hinge_embedding_loss,
    kl_div,
    margin_ranking_loss,
    poisson_nll_loss,
    triplet_margin_loss,
)
from .functional.einsum import einsum
from .functional.elementwise import special
from .functional.elementwise.bessel import i0
from .functional.elementwise.bounds import clamp, clamp_max, clamp_min, heaviside, nan_to_num
from .functional.elementwise.closeness import allclose, equal, isclose
from .functional.elementwise.differences import (
    cumulative_trapezoid,
    diff,
    gradient,
    logcumsumexp,
    trapezoid,
)
from .functional.elementwise.draws import (
    _dirichlet_grad,
    _sample_dirichlet,
    _standard_gamma,
    _standard_gamma_grad,
    binomial,
    poisson,
)
from .functional.elementwise.filling import fill
from .functional.elementwise.gamma import digamma, igamma, igammac, lgamma, mvlgamma, polygamma
from .functional.elementwise.normal import erfc, erfinv, logaddexp2, logit, sinc
from .functional.elementwise.real import (
    copysign,
    deg2rad,
    exp2,
    fmax,
    fmin,
    frexp,
    gcd,
    is_same_size,
    isneginf,
    isposinf,
    lcm,
    ldexp,
    nextafter,
    rad2deg,
    signbit,
)
from .functional.fourier import fft, signal
from .functional.fourier.short_time import istft, stft
from .functional.fourier.windows import bartlett_window, blackman_window, hamming_window, hann_window, kaiser_window
from .functional.joining import (
    cartesian_prod,
    cat,
    chunk,
    flip,
    fliplr,
    flipud,
    hstack,
    meshgrid,
    narrow,
    roll,
    select,
    split,
    stack,
    unbind,
    vstack,
)
from .functional.layers import cosine_similarity, pairwise_distance, rms_norm
from .functional.linear_algebra import (
    addmm,
    addmv,
    baddbmm,
    bmm,
    dot,
    matmul,
    mm,
    mv,
    outer,
    trace,
)
from .functional.lookup.of_torch import embedding
from .functional.matrices import linalg
from .functional.matrices.checks import LinAlgError
from .functional.matrices.low_rank import pca_lowrank, svd_lowrank
from .functional.matrices.torch_names import (
    adjoint,
    chain_matmul,
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    det,
    eig,
    frobenius_norm,
    geqrf,
    inverse,
    logdet,
    lstsq,
    lu,
    lu_unpack,
    matrix_exp,
    matrix_power,
    matrix_rank,
    norm,
    nuclear_norm,
    orgqr,
    ormqr,
    pinverse,
    qr,
    slogdet,
    solve,
    svd,
    symeig,
    triangular_solve,
    vander,
)
from .functional.matrices.torch_names import torch_lu_solve as lu_solve
from .functional.naming import aliases
from .functional.normalizing.of_torch import (
    alpha_dropout,
    alpha_dropout_,
    dropout,
    dropout_,
    feature_alpha_dropout,
    feature_alpha_dropout_,
    feature_dropout,
    feature_dropout_,
    group_norm,
    instance_norm,
    layer_norm,
)
from .functional.normalizing.renorm import renorm
from .functional.normalizing.softmax_along import log_softmax, softmax
from .functional.places.distinct import bincount, unique, unique_consecutive
from .functional.places.histograms import histc, histogram, histogramdd
from .functional.places.index_writes import (
    index_add,
    index_copy,
    index_fill,
    index_put,
    index_put_,
    masked_scatter,
    put,
)
from .functional.places.scattering import index_reduce, scatter, scatter_add, scatter_reduce
from .functional.places.searching import (
    argwhere,
    bucketize,
    isin,
    msort,
    nonzero_static,
    searchsorted,
    unravel_index,
)
from .functional.places.slice_writes import as_strided_scatter, diagonal_scatter, select_scatter, slice_scatter
from .functional.products.distances import bilinear, cdist, pdist
from .functional.products.vectors import addbmm, addr, cross, inner, kron, tensordot, vdot
from .functional.rectifiers.drawn import rrelu
from .functional.rectifiers.in_place import celu_, relu_, rrelu_, selu_, threshold_
from .functional.rectifiers.piecewise import threshold
from .functional.rectifiers.shrinkage import hardshrink
from .functional.recurrent.functions import (
    gru,
    gru_cell,
    lstm,
    lstm_cell,
    rnn_relu,
    rnn_relu_cell,
    rnn_tanh,
    rnn_tanh_cell,
)
from .functional.reductions import all, any, count_nonzero, logsumexp, mean, prod, std, sum, var
from .functional.resampling.shuffling import channel_shuffle, pixel_shuffle, pixel_unshuffle
from .functional.sampling import (
    bernoulli,
    multinomial,
    normal,
    rand,
    rand_like,
    randint,
    randint_like,
    randn,
    randn_like,
    randperm,
)
from .functional.selecting import (
    argsort,
    cumprod,
    cumsum,
    gather,
    index_select,
    masked_fill,
    masked_select,
    median,
    nonzero,
    sort,
    take,
    take_along_dim,
    topk,
    where,
)
from .functional.shapes import (
    clone,
    expand_as,
    flatten,
    movedim,
    permute,
    ravel,
    reshape,
    squeeze,
    t,
    transpose,
    unflatten,
    unsqueeze,
    view_as,
)
from .functional.shaping.assembling import block_diag, column_stack, combinations, diagflat, dstack, rot90
from .functional.shaping.broadcasting import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    broadcast_shapes,
    broadcast_tensors,
    broadcast_to,
)
from .functional.shaping.copies import (
    alias_copy,
    as_strided_copy,
    detach_copy,
    diagonal_copy,
    expand_copy,
    narrow_copy,
    permute_copy,
    select_copy,
    slice_copy,
    split_copy,
    split_with_sizes_copy,
    squeeze_copy,
    t_copy,
    transpose_copy,
    unbind_copy,
    unfold_copy,
    unsqueeze_copy,
    view_copy,
)
from .functional.shaping.diagonals import diag, diag_embed, diagonal, tril, triu
from .functional.shaping.repetition import repeat_interleave, tile
from .functional.shaping.splitting import (
    dsplit,
    hsplit,
    split_with_sizes,
    tensor_split,
    unsafe_chunk,
    unsafe_split,
    unsafe_split_with_sizes,
    vsplit,
)
from .functional.shaping.storage import resize_as_
from .functional.sparse import names as sparse
from .functional.sparse.construction import sparse_coo_tensor
from .functional.sparse.products import spmm
from .functional.spatial.average_pooling import adaptive_avg_pool1d, avg_pool1d
from .functional.spatial.convolution import (
    conv1d,
    conv2d,
    conv3d,
    conv_transpose1d,
    conv_transpose2d,
    conv_transpose3d,
)
from .functional.spatial.max_pooling import adaptive_max_pool1d_with_indices as adaptive_max_pool1d
from .functional.spatial.max_pooling import max_pool1d, max_pool1d_with_indices, max_pool2d, max_pool3d
from .functional.spatial.time_first import conv_tbc
from .functional.statistics.extremes import amax, amin, argmax, argmin, max, min
from .functional.statistics.moments import corrcoef, cov, dist, nanmean, nansum, std_mean, var_mean
from .functional.statistics.orders import aminmax, cummax, cummin, kthvalue, mode, nanmedian
from .functional.statistics.quantiles import nanquantile, quantile
from .functional.windows import as_strided
from .nn.batch_norm import torch_batch_norm as batch_norm
from .ops.arithmetic import abs, maximum, minimum, mul, neg, reciprocal, sign
from .ops.callers.signatures import forget_parameters
from .ops.comparison import eq, ge, gt, isfinite, isinf, isnan, le, lt, ne
from .ops.division import floor_divide, fmod, remainder
from .ops.elementary import erf, exp, expm1, hypot, log, log1p, log2, log10, logaddexp, rsqrt, sigmoid, sqrt
from .ops.logic import (
    bitwise_and,
    bitwise_left_shift,
    bitwise_not,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from .ops.rounding import ceil, floor, trunc
from .ops.trigonometry import acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan, tanh
from .ops.types import DType as dtype
from .ops.types import (
    bfloat16,
    bool_,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    promote_types,
    set_default_dtype,
    uint8,
)
from .public_names import __all__ as __all__
from .runtime.num_threads import get_num_interop_threads, get_num_threads, set_num_interop_threads, set_num_threads
from .serialization import load, save
from .serialization import storages as storage
from .serialization.storages import (
    BFloat16Storage,
    BoolStorage,
    ByteStorage,
    CharStorage,
    ComplexDoubleStorage,
    ComplexFloatStorage,
    DoubleStorage,
    FloatStorage,
    HalfStorage,
    IntStorage,
    LongStorage,
    ShortStorage,
    TypedStorage,
    is_storage,
)
from .serialization.untyped_storage import UntypedStorage
from .tape.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .tensors import generator as random
from .tensors import overrides
from .tensors.creation import (
    arange,
    as_tensor,
    empty,
    empty_like,
    eye,
    from_numpy,
    full,
    full_like,
    is_tensor,
    linspace,
    logspace,
    ones,
    ones_like,
    result_type,
    tensor,
    zeros,
    zeros_like,
)
from .tensors.device import device, get_default_device, set_default_device
from .tensors.foreign.dlpack import from_dlpack, to_dlpack
from .tensors.formatting import set_printoptions
from .tensors.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .tensors.layouts.formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    sparse_coo,
    strided,
)
from .tensors.layouts.strided import empty_permuted, empty_strided, tril_indices, triu_indices
from .tensors.legacy import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from .tensors.limits import finfo, iinfo
from .tensors.operands import checked
from .tensors.overriding import DisableTorchFunctionSubclass, disabled_torch_function, is_disabled
from .tensors.tensor import Size, Tensor
from .tensors.typed import (
    asarray,
    can_cast,
    frombuffer,
    is_nonzero,
    is_signed,
    scalar_tensor,
    set_default_tensor_type,
    typename,
)
from .tensors.typed import range_ as range
from .tooling import hub, jit, onnx, own_paths, profiler, testing, types, version
from .tooling.type_names import name_types
from .tracing.public_names import name_functions
from .tracing.watched_classes import watch_classes
from .tracing.watched_modules import watch_modules

# PyTorch's other names. They come last: some of them hide Python's own.
absolute, negative, multiply, subtract, divide, true_divide = abs, neg, mul, sub, div, div
arctan, arcsin, arccos, arctanh, arctan2 = atan, asin, acos, atanh, atan2
clip, concat, concatenate, ger, swapaxes, moveaxis, greater, less = clamp, cat, cat, outer, transpose, movedim, gt, lt
swapdims = transpose
not_equal, greater_equal, less_equal = ne, ge, le
trapz = trapezoid
detach, is_inference, row_stack = Tensor.detach, Tensor.is_inference, vstack
as_strided_, get_device, is_distributed = Tensor.as_strided_, Tensor.get_device, Tensor.is_distributed
float, double, int, long, bool = float32, float64, int32, int64, bool_
short, half, cfloat, cdouble = int16, float16, complex64, complex128
newaxis = None  # as in numpy: an index that makes an axis of one element

aliases.name_methods()
aliases.describe_methods(globals())
# The public functions check their operands, see `checked`.
globals().update({_n: checked(_f, _n) for _n, _f in list(globals().items()) if isinstance(_f, FunctionType)})
globals().update(aliases.other_functions(globals()))
globals().update(foreach.FUNCTIONS)

#: The parts of ``torch._C`` that programs with Tensor subclasses name.
_C = ModuleType(f"{__name__}._C")
vars(_C).update(
    _LinAlgError=LinAlgError,
    DisableTorchFunction=DisableTorchFunctionSubclass,
    DisableTorchFunctionSubclass=DisableTorchFunctionSubclass,
    _disabled_torch_function_impl=disabled_torch_function,
    _is_torch_function_enabled=lambda: not is_disabled(),
)
sys.modules[f"{__name__}._C"] = _C  # where pickle looks for its errors
del LinAlgError
sys.modules.update({f"{__name__}.linalg": linalg, f"{__name__}.fft": fft})  # for `from tracegrad.fft import ...`
sys.modules.update({f"{__name__}.signal": signal, f"{__name__}.signal.windows": signal.windows})
for _path, _module in list(sys.modules.items()):  # for `import tracegrad.backends.cudnn`
    for _folder in (".devices.", ".tooling."):
        if _path.startswith(__name__ + _folder):
            sys.modules.setdefault(_path.replace(_folder, ".", 1), _module)
sys.modules[f"{__name__}.sparse"] = sparse
sys.modules[f"{__name__}.overrides"] = overrides  # for `from tracegrad.overrides import ...`
overrides.declare(__name__, sys.modules[__name__])
overrides.declare(f"{__name__}.nn.functional", nn.functional)
overrides.declare(f"{__name__}.special", special)

__version__ = version.__version__
name_functions(
    (path, prefix, dict(vars(owner)))
    for path, prefix, owner in (
        (__name__, "", sys.modules[__name__]),
        *(
            (module.__name__, "", module)
            for module in (
                nn.functional,
                nn.init,
                nn.utils,
                special,
                linalg,
                fft,
                signal.windows,
                sparse,
                func,
                autograd,
                autograd.functional,
            )
        ),
        (Tensor.__module__, "Tensor.", Tensor),
    )
)

einops_backend.install()
own_paths.install()
name_types(__name__, {"Optimizer": optim.Optimizer})
del ModuleType, einops_backend, foreach, name_functions, name_types, own_paths

watch_modules(__name__)
watch_classes(__name__)
forget_parameters()
_paused.end()
del _paused, PausedCollection, forget_parameters
