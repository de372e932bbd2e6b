"""What a node has saved under PyTorch's names: ``grad_fn._saved_self``, ``_saved_result``, for who looks at graphs.

A table says for each operation which of its operands PyTorch saves, and as what. What is None there was not saved:
nothing that requires a gradient needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..ops.core import current
from ..ops.types import float64
from ..tracing.watch import forbid

#: What begins the names of what is kept although no rule reads it; behind it stands the place.
KEPT = "kept"
OUT = "out"
SECOND_BACKWARD = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)


def _named(names: str, of: str) -> dict[str, Mapping[str, str]]:
    """For the operations in `names` (behind a colon stands which of several) places as in "self=0 result=out"."""
    places = dict(pair.split("=") for pair in of.split())
    parts = (name.partition(":") for name in names.split())
    return {f"{name}Backward{number or 0}": places for name, _, number in parts}


#: Operation -> PyTorch's name of what is saved -> the operand's place (behind #: a number), its name, or `OUT`.
PLACES: dict[str, Mapping[str, str]] = {
    **_named("Abs Acos Acosh Asin Asinh Atan Atanh Cos Cosh Digamma Erf Erfc Erfinv Log Log1P Log2 Log10", "self=0"),
    **_named("Lgamma LogSigmoid Sin Sinh Sinc Gelu Silu Mish Softplus LeakyRelu Hardtanh", "self=0"),
    **_named("Clamp:1 Var Cumprod MaxPool2DWithIndices AvgPool2D", "self=0"),
    **_named("Exp Exp2 Expm1 Sigmoid Tanh Tan Sqrt Rsqrt Reciprocal Relu Softmax LogSoftmax", "result=out"),
    **_named("Mul Div Atan2 Minimum Maximum", "self=0 other=1"),
    **_named("Mm Bmm", "self=0 mat2=1"),
    **_named("Addmm", "mat1=1 mat2=2"),
    **_named("Pow", "self=0 exponent=#1"),
    **_named("Pow:1", "self=0 exponent=1 result=out"),
    **_named("Logsumexp Prod Amax Amin Std", "self=0 result=out"),
    **_named("MseLoss SmoothL1Loss HuberLoss BinaryCrossEntropyWithLogits", "self=0 target=1"),
    **_named("Where", "condition=0"),
    **_named("Convolution", "input=0 weight=1"),
    **_named("NativeLayerNorm", "input=0"),
    **_named("NativeBatchNorm", "input=0"),
    **_named("Gather", "self=0 index=index"),
    **_named("Embedding Topk Sort", "indices=index"),
    **_named("IndexSelect", "index=index"),
    **_named("MaskedFill", "mask=condition"),
}
#: Operations that are another primitive, which saves these of their operands.
_AS = {("BmmBackward0", "dot"): "01", ("PowBackward0", "mul"): "0"}


def saved_properties(title: str) -> dict[str, property]:
    """The attributes ``_saved_...`` of nodes that are called `title`."""
    return {f"_saved_{name}": property(_reading(name, place)) for name, place in PLACES.get(title, {}).items()}


def _reading(name: str, place: str) -> Callable[[Any], Any]:
    def read(node: Any) -> Any:
        forbid(f"reading _saved_{name} of an operation", "Read it outside, or keep the tensor itself.")
        if getattr(node, "released", False):
            raise RuntimeError(SECOND_BACKWARD)
        if hasattr(node, "fused"):
            return _of_composite(node, name, place)
        found = _of_primitive(node, name, place.lstrip("#"))
        return found.item() if place[0] == "#" and isinstance(found, np.generic) else _shown(node, found)

    return read


def _of_primitive(node: Any, name: str, place: str) -> Any:
    known, primitive = getattr(node, "known", {}), getattr(node, "primitive", None)
    if primitive is None:
        raise _not_kept(node, name)
    is_own = primitive.backward_name == node.title
    places = [f"{KEPT} {place}"]
    if not place.isdigit() and (place != OUT or is_own):
        places.append(place)
    elif is_own or place in _AS.get((node.title, primitive.name), ""):
        places.append(primitive.inputs[int(place)])
    found = [known[each] for each in places if each in known]
    if not found and not is_own and not any(each.startswith(KEPT) for each in known):
        raise _not_kept(node, name)
    return found[0] if found else None


def _of_composite(node: Any, name: str, place: str) -> Any:
    fused = node.fused
    if place == OUT:
        return _result(node, name)
    is_read = int(place) in node.read or int(place) in fused.watched
    return _shown(node, node.known.get(place)) if is_read else None


def _result(node: Any, name: str) -> Any:
    """The value of a composite."""
    value = node.value()
    if value is None:
        raise _not_kept(node, name)
    return value


def _shown(node: Any, value: Any) -> Any:
    """A saved tensor with its history; a number as a tensor without axes."""
    if isinstance(value, np.generic):
        return current().constant(value.item(), float64)
    return None if value is None else value.unpack(node)


def _not_kept(node: Any, name: str) -> RuntimeError:
    return RuntimeError(
        f"_saved_{name} of {node.title} is not kept here, and nobody else holds it: keep the tensor itself, or compute "
        "it within autograd.graph.saved_tensors_hooks()."
    )
