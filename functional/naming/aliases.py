"""PyTorch's other names of functions and methods, and the in-place forms, each from one table.

What is not there yet has no alias and no in-place form; a function that comes gets both by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from ...tensors.operands import checked
from ...tensors.tensor import Tensor
from ..in_place import in_place, view_in_place
from .descriptions import described, in_place_form, method_form, other_name

#: Other names of functions and of the methods of the same name.
ALIASES: dict[str, str] = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctan2": "atan2", "arctanh": "atanh", "clip": "clamp", "concat": "cat", "concatenate": "cat",
    "divide": "div", "fix": "trunc", "ger": "outer", "greater": "gt", "greater_equal": "ge", "less": "lt",
    "less_equal": "le", "moveaxis": "movedim", "multiply": "mul", "negative": "neg", "not_equal": "ne",
    "row_stack": "vstack", "subtract": "sub", "swapdims": "transpose", "true_divide": "div",
}  # fmt: skip
#: Methods that PyTorch has with a trailing underscore too.
IN_PLACE = (
    "abs absolute acos acosh add addbmm addcdiv addcmul addmm addmv addr arccos arccosh arcsin arcsinh arctan "
    "arctan2 arctanh asin asinh atan atan2 atanh baddbmm bitwise_and bitwise_left_shift bitwise_not bitwise_or "
    "bitwise_right_shift bitwise_xor ceil clamp clamp_max clamp_min clip conj_physical copysign cos cosh cumprod "
    "cumsum deg2rad digamma div divide eq erf erfc erfinv exp exp2 expm1 fix float_power floor floor_divide fmod "
    "frac gcd ge greater greater_equal gt heaviside hypot i0 igamma igammac index_add index_copy index_fill "
    "index_put index_reduce lcm ldexp le lerp less less_equal lgamma log log10 log1p log2 logical_and logical_not "
    "logical_or logical_xor logit lt masked_fill masked_scatter mul multiply mvlgamma nan_to_num ne neg negative "
    "nextafter not_equal polygamma pow put rad2deg reciprocal relu remainder renorm round rsqrt scatter "
    "scatter_add scatter_reduce sgn sigmoid sign sin sinc sinh sqrt square sub subtract tan tanh tril triu "
    "true_divide trunc xlogy"
).split()
#: Methods with an underscore that turn the tensor into another view of its memory.
VIEWS_IN_PLACE = "squeeze swapaxes swapdims t transpose unsqueeze".split()
#: In-place methods that PyTorch has as functions, too.
FUNCTIONS_IN_PLACE = (
    "abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_ "
    "atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach_ erf_ erfc_ exp2_ "
    "exp_ expm1_ fill_ fix_ floor_ frac_ gcd_ i0_ index_put_ lcm_ ldexp_ log10_ log1p_ log2_ log_ logit_ "
    "nan_to_num_ neg_ negative_ rad2deg_ reciprocal_ relu_ resize_as_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ "
    "sqrt_ square_ tan_ tanh_ trunc_ xlogy_ zero_"
).split()


def name_methods() -> None:
    """Give Tensor the other names and the in-place forms of the methods that it has."""
    for other, name in ALIASES.items():
        if not hasattr(Tensor, other) and isinstance(vars(Tensor).get(name), FunctionType):
            setattr(Tensor, other, renamed(vars(Tensor)[name], other))
    for names, form in ((IN_PLACE, in_place), (VIEWS_IN_PLACE, view_in_place)):
        for name in names:
            if hasattr(Tensor, name) and not hasattr(Tensor, f"{name}_"):
                setattr(Tensor, f"{name}_", form(getattr(Tensor, name)))


def describe_methods(functions: Mapping[str, Any]) -> None:
    """Say of each method that is a function of the same name what that function calls the tensor."""
    for name, method in vars(Tensor).items():
        if isinstance(method, FunctionType) and isinstance(functions.get(name), FunctionType):
            own = getattr(method, "__wrapped__", None)
            if own is not None and name[-1] != "_":
                method.__doc__ = method_form(method.__doc__ or "", name)


def other_functions(functions: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """The public functions that are in none of the modules: in-place forms, other names of those in `functions`."""
    found = {name: _function(name) for name in FUNCTIONS_IN_PLACE if hasattr(Tensor, name) and name not in functions}
    aliases = {o: n for o, n in ALIASES.items() if o not in functions and isinstance(functions.get(n), FunctionType)}
    return found | {other: renamed(functions[name], other) for other, name in aliases.items()}


def renamed(function: Any, name: str) -> Any:
    """The same function under another name, by which ``__torch_function__`` hears of it."""
    copy = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    copy.__kwdefaults__, copy.__annotations__ = function.__kwdefaults__, function.__annotations__
    copy.__dict__.update(function.__dict__)
    copy.__doc__, copy.__qualname__ = other_name(function.__doc__ or "", function.__name__), name
    return copy


def _function(name: str) -> Callable[..., Any]:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(input, name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    method = getattr(Tensor, name)
    doc = (
        in_place_form(method, name, False)
        if hasattr(method, "__wrapped__") and name[:-1] in IN_PLACE
        else method.__doc__
    )
    return described(checked(function), method, name, doc)
