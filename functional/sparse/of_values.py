"""Functions that are 0 at 0, of the values of sparse tensors: the other elements stay 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ops import arithmetic as ops
from ...ops import elementary, rounding, trigonometry
from .. import activations
from .. import arithmetic as dense_ops
from .sparse_tensor import SparseTensor, operation
from .structure import coalesce, with_values

#: Sums of these are these of sums: values at one place may stay apart.
_LINEAR = frozenset("neg negative __neg__ positive __pos__ conj conj_physical resolve_conj resolve_neg".split())
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "neg": ops.neg, "abs": ops.abs, "sign": ops.sign, "sqrt": elementary.sqrt, "expm1": elementary.expm1,
    "log1p": elementary.log1p, "erf": elementary.erf, "sin": trigonometry.sin, "tan": trigonometry.tan,
    "asin": trigonometry.asin, "atan": trigonometry.atan, "sinh": trigonometry.sinh, "tanh": trigonometry.tanh,
    "asinh": trigonometry.asinh, "atanh": trigonometry.atanh, "floor": rounding.floor, "ceil": rounding.ceil,
    "trunc": rounding.trunc, "square": dense_ops.square, "relu": activations.relu,
}  # fmt: skip
_ALIASES = {
    "__neg__": "neg", "negative": "neg", "__abs__": "abs", "absolute": "abs", "arcsin": "asin", "arctan": "atan",
    "arcsinh": "asinh", "arctanh": "atanh", "fix": "trunc",
}  # fmt: skip
#: Methods of dense tensors, which the values have.
_METHODS = (
    "deg2rad rad2deg erfinv frac round sgn nan_to_num isnan isinf isneginf isposinf signbit positive __pos__ "
    "conj_physical resolve_conj resolve_neg"
).split()
#: Those with an in-place form.
VALUE_BY_VALUE = (
    "neg negative abs absolute sign sqrt expm1 log1p erf sin tan asin arcsin atan arctan sinh tanh asinh arcsinh atanh "
    "arctanh floor ceil trunc fix relu deg2rad rad2deg erfinv frac round sgn nan_to_num conj_physical"
).split()


def _of_values(name: str, function: Callable[..., Any]) -> Callable[..., SparseTensor]:
    def computed(input: SparseTensor, *args: Any, **options: Any) -> SparseTensor:
        x = input if name in _LINEAR else coalesce(input)
        return with_values(x, function(x.stored, *args, **options))

    computed.__name__ = name
    computed.__doc__ = f"""``{name}()`` of the values: it is 0 at 0, so that the other elements stay 0.

    >>> import tracegrad as tg
    >>> x = tg.eye(2).to_sparse()
    >>> tg.equal(x.{name}().values(), x.values().{name}())
    True
    """
    return operation(name)(computed)


def _method(name: str) -> Callable[..., Any]:
    return lambda values, *args, **options: getattr(values, name)(*args, **options)


for _name, _function in _FUNCTIONS.items():
    _of_values(_name, _function)
for _name, _of in _ALIASES.items():
    _of_values(_name, _FUNCTIONS[_of])
for _name in _METHODS:
    _of_values(_name, _method(_name))
conj = _of_values("conj", _method("conj"))
