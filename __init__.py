"""tracegrad: PyTorch's names and eager semantics on numpy, and ``compile`` for whole training steps in fused C.

This is the public face: what ``import tracegrad as tg`` offers, and nothing else.
"""

# ruff: noqa: F401 (every import here is the offer)

from __future__ import annotations

import sys
from math import e, inf, nan, pi
from types import FunctionType, SimpleNamespace

from . import autograd, nn, optim, utils
from .compiled import CompiledFunction, compile, deferred
from .functional import linalg, methods, return_types
from .functional.activations import log_softmax, relu, selu, softmax
from .functional.arithmetic import (
    add,
    addcdiv,
    addcmul,
    allclose,
    clamp,
    clamp_max,
    clamp_min,
    div,
    equal,
    float_power,
    frac,
    heaviside,
    isclose,
    lerp,
    nan_to_num,
    positive,
    pow,
    round,
    rsub,
    square,
    sub,
    xlogy,
)
from .functional.control import cond, while_loop
from .functional.conversions import is_floating_point, numel
from .functional.einsum import einsum
from .functional.joining import (
    cartesian_prod,
    cat,
    chunk,
    diag,
    diag_embed,
    diagonal,
    flip,
    fliplr,
    flipud,
    hstack,
    meshgrid,
    narrow,
    repeat_interleave,
    roll,
    select,
    split,
    stack,
    tril,
    triu,
    unbind,
    vstack,
)
from .functional.layers import dropout, embedding, layer_norm, pairwise_distance, rms_norm
from .functional.linear_algebra import (
    addmm,
    addmv,
    baddbmm,
    bmm,
    cdist,
    dot,
    matmul,
    mm,
    mv,
    outer,
    trace,
)
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
from .functional.reductions import (
    all,
    amax,
    amin,
    any,
    argmax,
    argmin,
    count_nonzero,
    logsumexp,
    max,
    mean,
    min,
    norm,
    prod,
    renorm,
    std,
    std_mean,
    sum,
    var,
    var_mean,
)
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
    index_add,
    index_copy,
    index_fill,
    index_select,
    masked_fill,
    masked_select,
    median,
    nonzero,
    scatter,
    scatter_add,
    sort,
    take,
    take_along_dim,
    topk,
    unique,
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
    tile,
    transpose,
    unflatten,
    unsqueeze,
    view_as,
)
from .functional.statistics.quantiles import nanquantile, quantile
from .functional.windows import as_strided
from .ops.arithmetic import abs, maximum, minimum, mul, neg, reciprocal, sign
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
    bool_,
    float32,
    float64,
    get_default_dtype,
    int32,
    int64,
    promote_types,
    set_default_dtype,
)
from .runtime.num_threads import get_num_interop_threads, get_num_threads, set_num_interop_threads, set_num_threads
from .serialization.serialization import load, save
from .tape.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .tensors import cuda, overrides
from .tensors import generator as random
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
from .tensors.device import device
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
from .tensors.legacy import BoolTensor, DoubleTensor, FloatTensor, IntTensor, LongTensor
from .tensors.limits import finfo, iinfo
from .tensors.operands import checked
from .tensors.overriding import DisableTorchFunctionSubclass, disabled_torch_function, is_disabled
from .tensors.tensor import Size, Tensor
from .tracing.watched_classes import watch_classes
from .tracing.watched_modules import watch_modules

# PyTorch's other names. They come last: some of them hide Python's own.
absolute, negative, multiply, subtract, divide, true_divide = abs, neg, mul, sub, div, div
arctan, arcsin, arccos, arctanh, arctan2 = atan, asin, acos, atanh, atan2
clip, concat, concatenate, ger, swapaxes, moveaxis, greater, less = clamp, cat, cat, outer, transpose, movedim, gt, lt
not_equal, greater_equal, less_equal = ne, ge, le
detach, is_inference, row_stack = Tensor.detach, Tensor.is_inference, vstack
float, double, int, long, bool = float32, float64, int32, int64, bool_

# The public functions check their operands, see `checked`.
globals().update({_n: checked(_f) for _n, _f in list(globals().items()) if isinstance(_f, FunctionType)})

#: The parts of ``torch._C`` that programs with Tensor subclasses name.
_C = SimpleNamespace(
    DisableTorchFunction=DisableTorchFunctionSubclass,
    DisableTorchFunctionSubclass=DisableTorchFunctionSubclass,
    _disabled_torch_function_impl=disabled_torch_function,
    _is_torch_function_enabled=lambda: not is_disabled(),
)
sys.modules[f"{__name__}.overrides"] = overrides  # for `from tracegrad.overrides import ...`
overrides.declare(__name__, sys.modules[__name__])
overrides.declare(f"{__name__}.nn.functional", nn.functional)

__version__ = "0.1.0"

watch_modules(__name__)
watch_classes(__name__)
