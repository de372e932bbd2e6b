"""One table: which function is which method of Tensor."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..ops import arithmetic as ops
from ..ops import comparison, division, elementary, logic, rounding, trigonometry
from ..tensors import indexing
from ..tensors.operands import binary_operator, checked, product_operator, reflected_operator
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
from .statistics import quantiles

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
        "add sub div pow square float_power positive clamp clamp_min clamp_max lerp addcmul addcdiv round "
        "frac nan_to_num heaviside xlogy isclose allclose equal",
    ),
    (activations, "relu softmax log_softmax"),
    (
        reductions,
        "sum prod mean var std norm amax amin max min argmax argmin all any count_nonzero logsumexp renorm",
    ),
    (
        shapes,
        "reshape view view_as reshape_as flatten ravel unflatten squeeze unsqueeze permute transpose t movedim expand "
        "expand_as repeat tile contiguous clone",
    ),
    (
        joining,
        "narrow select split chunk unbind flip fliplr flipud roll repeat_interleave triu tril diagonal diag diag_embed",
    ),
    (
        selecting,
        "nonzero gather index_select take take_along_dim scatter scatter_add index_add index_copy index_fill "
        "masked_fill masked_select masked_scatter argsort sort topk median unique cumsum cumprod",
    ),
    (windows, "unfold as_strided"),
    (quantiles, "quantile nanquantile"),
    (linear_algebra, "mm bmm mv dot outer matmul addmm baddbmm addmv trace"),
    (
        conversions,
        "to type type_as cpu cuda size numel dim stride is_contiguous element_size data_ptr storage_offset "
        "is_floating_point get_device",
    ),
    (creation_methods, "new new_zeros new_ones new_empty new_full new_tensor"),
    (sampling, "bernoulli multinomial"),
    (in_place, "copy_ fill_ zero_ detach_ uniform_ normal_ exponential_ bernoulli_ random_"),
]

OTHER_NAMES: dict[str, Callable[..., Any]] = {
    "float": conversions.to_float,
    "double": conversions.to_double,
    "int": conversions.to_int,
    "long": conversions.to_long,
    "bool": conversions.to_bool,
    "subtract": arithmetic.sub,
    "multiply": ops.mul,
    "divide": arithmetic.div,
    "true_divide": arithmetic.div,
    "negative": ops.neg,
    "absolute": ops.abs,
    "clip": arithmetic.clamp,
    "arctan": trigonometry.atan,
    "arcsin": trigonometry.asin,
    "arccos": trigonometry.acos,
    "arctanh": trigonometry.atanh,
    "greater": comparison.gt,
    "less": comparison.lt,
    "concat": joining.cat,
    "where": lambda self, condition, other: selecting.where(condition, self, other),
    "ger": linear_algebra.outer,
    "inner": linear_algebra.dot,
    "swapaxes": shapes.transpose,
    "swapdims": shapes.transpose,
    "moveaxis": shapes.movedim,
    "broadcast_to": shapes.expand,
    "_is_view": lambda self: self.base is not None,
    "unsqueeze_": in_place.view_in_place(shapes.unsqueeze),
    "squeeze_": in_place.view_in_place(shapes.squeeze),
    "t_": in_place.view_in_place(shapes.t),
    "transpose_": in_place.view_in_place(shapes.transpose),
    "nelement": conversions.numel,
    "ndimension": conversions.dim,
    "index_put_": indexing.index_put_,
    "__getitem__": indexing.getitem,
    "__setitem__": indexing.setitem,
    "__copy__": copying.shallow,
    "__delitem__": indexing.delitem,
    "__deepcopy__": copying.deepcopy,
    "__reduce_ex__": copying.reduce_ex,
    "__invert__": logic.bitwise_not,
    "__pos__": arithmetic.positive,
    "__array_wrap__": arrays.array_wrap,
    "__eq__": arrays.equals,
    "__rtruediv__": arrays.quotient_of,
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
IN_PLACE = (
    "add sub mul div pow neg abs sign exp expm1 log log1p log2 log10 sigmoid sqrt rsqrt sin cos tan tanh floor ceil "
    "round trunc frac reciprocal square clamp clip clamp_min clamp_max lerp addcmul addcdiv relu erf floor_divide "
    "remainder fmod masked_fill masked_scatter scatter scatter_add index_add index_copy index_fill triu tril "
    "addmm baddbmm subtract multiply divide logical_not nan_to_num eq ne lt le gt ge atan cumsum cumprod "
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift logical_and logical_or "
    "logical_xor asin acos sinh cosh asinh acosh atanh atan2 hypot heaviside renorm absolute negative true_divide "
    "greater less arctan arcsin arccos arctanh float_power xlogy"
).split()

PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "T": shapes.numpy_transpose,
    "mT": shapes.matrix_transpose,
    "H": shapes.numpy_transpose,
    "device": conversions.device_of,
    "is_cuda": lambda self: False,
    "is_sparse": lambda self: False,
    "itemsize": conversions.element_size,
}


def _called(function: Any, name: str) -> Any:
    """The same function under the method's name, by which ``__torch_function__`` hears of it."""
    if not isinstance(function, FunctionType) or function.__name__ == name or hasattr(function, "primitive"):
        return function
    method = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    method.__kwdefaults__ = function.__kwdefaults__
    method.__dict__.update(function.__dict__)
    method.__doc__ = function.__doc__
    return method


def _attach() -> None:
    for module, names in SAME_NAME:
        for name in names.split():
            setattr(Tensor, name, checked(getattr(module, name), name, skipped=1))
    for name, function in OTHER_NAMES.items():
        setattr(Tensor, name, _called(function if name[:2] == "__" else checked(function, name, skipped=1), name))
    for name, function in OPERATORS.items():
        setattr(Tensor, f"__{name}__", binary_operator(function, "remainder" if name == "mod" else f"__{name}__"))
        setattr(Tensor, f"__r{name}__", reflected_operator(function, f"__r{name}__"))
    for name in IN_PLACE:
        setattr(Tensor, f"{name}_", in_place.in_place(getattr(Tensor, name)))
    for name in ("add", "sub", "mul", "truediv", "pow", *OPERATORS):
        setattr(Tensor, f"__i{name}__", in_place.in_place_operator(getattr(Tensor, f"__{name}__"), f"__i{name}__"))
    for name, function in PROPERTIES.items():
        setattr(Tensor, name, property(function))


_attach()
