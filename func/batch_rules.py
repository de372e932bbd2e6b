"""How a primitive is computed for all slices at once: a rule for each kind, with the batch as the first axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..ops.core import Params, Pointwise, Primitive, Reduction, bind
from ..ops.movement import broadcast, concatenate, reshape, slice, transpose
from ..ops.sources import iota
from ..ops.types import Type, dtype_of, int64, number_in
from ..tracing.user_warning import warn_user

Shape = tuple[int, ...]


class Held(NamedTuple):
    """What an array of one slice stands for: a tensor of all slices, or one that is the same for each."""

    tensor: Any
    batched: bool

    @property
    def shape(self) -> Shape:
        """The shape of one slice."""
        shape: Shape = self.tensor.ndarray.shape
        return shape[1:] if self.batched else shape

    @property
    def type(self) -> Type:
        """The type of one slice."""
        return Type(self.tensor.dtype, self.shape)


class Batched:
    """An interpreter whose values are `Held`, or numbers: primitives go on to `below` for all slices at once."""

    def __init__(self, size: int) -> None:
        self.size = size

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        held = [x if isinstance(x, Held) else Held(x, False) for x in operands]
        if not any(x.batched for x in held):
            return Held(bind(primitive, *(x.tensor for x in held), **params), False)
        rule = _rule_of(primitive)
        if any(isinstance(x.tensor, np.generic) for x in held) and rule is not _pointwise:
            rule = _one_by_one
        return Held(rule(_Call(primitive, held, params, self.size)), True)

    def type_of(self, operand: Any) -> Type:
        return operand.type if isinstance(operand, Held) else Type(dtype_of(operand), ())

    def is_number(self, operand: Any) -> bool:
        return isinstance(operand, np.generic)

    def constant(self, number: Any, dtype: Any) -> Any:
        return number_in(number, dtype)


class _Call(NamedTuple):
    primitive: Primitive
    held: Sequence[Held]
    params: Params
    size: int

    def bound(self, *operands: Any, **changed: Any) -> Any:
        """The primitive with these operands, and these of its parameters changed."""
        return bind(self.primitive, *operands, **{**self.params, **changed})

    def whole(self, place: int) -> Any:
        """An operand with the batch as its first axis."""
        x = self.held[place]
        return x.tensor if x.batched else broadcast(reshape(x.tensor, (1, *x.shape)), (self.size, *x.shape))

    def wholes(self) -> list[Any]:
        return [self.whole(place) for place in range(len(self.held))]


Rule = Callable[[_Call], Any]


def _pointwise(call: _Call) -> Any:
    ndim = max(len(x.shape) for x in call.held if not isinstance(x.tensor, np.generic))
    return call.bound(*(_lined_up(x, ndim, call.size) for x in call.held))


def _lined_up(x: Held, ndim: int, size: int) -> Any:
    """A batched operand with axes of extent 1 behind the batch, so that it broadcasts like one slice."""
    if not x.batched or len(x.shape) == ndim:
        return x.tensor
    return reshape(x.tensor, (size, *(1,) * (ndim - len(x.shape)), *x.shape))


def _axes(call: _Call) -> Any:
    return call.bound(call.whole(0), axes=tuple(axis + 1 for axis in call.params["axes"]))


def _axis(call: _Call) -> Any:
    return call.bound(*call.wholes(), axis=call.params["axis"] + 1)


def _last_axes(call: _Call) -> Any:
    return call.bound(*call.wholes())


def _lay(call: _Call) -> Any:
    return call.bound(call.whole(0), order=(0, *(axis + 1 for axis in call.params["order"])))


def _shape(call: _Call) -> Any:
    return call.bound(call.whole(0), shape=(call.size, *call.params["shape"]))


def _transpose(call: _Call) -> Any:
    return transpose(call.whole(0), (0, *(axis + 1 for axis in call.params["permutation"])))


def _broadcast(call: _Call) -> Any:
    shape = call.params["shape"]
    return broadcast(_lined_up(call.held[0], len(shape), call.size), (call.size, *shape))


def _slice(call: _Call) -> Any:
    p = call.params
    return slice(call.whole(0), (0, *p["starts"]), (call.size, *p["stops"]), (1, *p["steps"]))


def _update_slice(call: _Call) -> Any:
    return call.bound(*call.wholes(), starts=(0, *call.params["starts"]), steps=(1, *call.params["steps"]))


def _pad(call: _Call) -> Any:
    return call.bound(call.whole(0), low=(0, *call.params["low"]), high=(0, *call.params["high"]))


def _dot(call: _Call) -> Any:
    x, y = call.held
    if len(x.shape) == 2 and not y.batched:  # the rows of all slices are rows of one matrix
        (rows, inner), columns = x.shape, y.shape[1]
        return reshape(call.bound(reshape(x.tensor, (call.size * rows, inner)), y.tensor), (call.size, rows, columns))
    return call.bound(*call.wholes())


# ------------------------------------------------------------------------------------------------- rows by number


def _take(call: _Call) -> Any:
    x, index = call.held
    if not x.batched:
        return call.bound(x.tensor, index.tensor)
    if not index.batched:
        out = call.bound(turned(x.tensor, 1, 0), index.tensor)
        return turned(out, len(index.shape), 0)
    _check(call)
    return call.bound(_flat(x.tensor), _places_of_all(call, index, x.shape[0]))


def _write_rows(call: _Call) -> Any:
    x, index, source = call.wholes()
    _check(call)
    places = _places_of_all(call, Held(index, True), call.held[0].shape[0])
    return reshape(call.bound(_flat(x), places, source), tuple(x.ndarray.shape))


def _check(call: _Call) -> None:
    """Raise what the primitive raises for a row that one slice does not have."""
    x, index = call.held[:2]
    assert call.primitive.check is not None
    known = {"index": index.tensor.ndarray, "x_type": x.type}
    call.primitive.check.rule(*(known[name] for name in call.primitive.check.needs))


def _places_of_all(call: _Call, index: Held, extent: int) -> Any:
    """The rows of each slice as rows of all slices together."""
    places = index.tensor
    places = places + (places < 0).to(int64) * extent
    return places + reshape(iota((call.size,), 0, int64), (call.size, *(1,) * len(index.shape))) * extent


def _flat(x: Any) -> Any:
    """The batch and the first axis as one."""
    first, second, *rest = x.ndarray.shape
    return reshape(x, (first * second, *rest))


def turned(x: Any, source: int, to: int) -> Any:
    """An axis moved to another place; the tensor itself where that is the same."""
    if source == to:
        return x
    order = [axis for axis in range(x.ndarray.ndim) if axis != source]
    order.insert(to, source)
    return transpose(x, tuple(order))


def _rows(call: _Call) -> Any:
    """The slices one below the other, for what works on each row by itself."""
    out = call.bound(*map(_flat, call.wholes()))
    return reshape(out, (call.size, out.ndarray.shape[0] // call.size, *out.ndarray.shape[1:]))


# --------------------------------------------------------------------------------------------------- convolutions


def _conv(call: _Call) -> Any:
    """Also `conv_input`: with one kernel for all, slices are more of a batch; otherwise more groups."""
    if not call.held[1].batched:
        return _split(call.bound(_flat(call.held[0].tensor), call.held[1].tensor), 0, call.size)
    x, w = call.wholes()
    out = call.bound(_channels(x), _flat(w), groups=call.params["groups"] * call.size)
    return turned(_split(out, 1, call.size), 1, 0)


def _conv_weight(call: _Call) -> Any:
    x, y = call.wholes()
    out = call.bound(_channels(x), _channels(y), groups=call.params["groups"] * call.size)
    return _split(out, 0, call.size)


def _channels(x: Any) -> Any:
    """[slices, batch, channels, ...] as [batch, slices * channels, ...]."""
    size, batch, channels, *rest = x.ndarray.shape
    return reshape(turned(x, 0, 1), (batch, size * channels, *rest))


def _split(x: Any, axis: int, size: int) -> Any:
    """The slices taken out of an axis, as an axis before it."""
    shape = x.ndarray.shape
    return reshape(x, (*shape[:axis], size, shape[axis] // size, *shape[axis + 1 :]))


# ---------------------------------------------------------------------------------------------------- all the others


def _one_by_one(call: _Call) -> Any:
    """What has no rule: the primitive for each slice, and the results stacked."""
    warn_user(
        "There is a performance drop because we have not yet implemented the batching rule for "
        f"aten::{call.primitive.name}. It is computed slice by slice.",
    )
    parts = []
    for place in range(call.size):
        out = call.bound(*(_one(x, place) for x in call.held))
        parts.append(reshape(out, (1, *out.ndarray.shape)))
    return concatenate(parts, 0)


def _one(x: Held, place: int) -> Any:
    if not x.batched:
        return x.tensor
    ones = (1,) * len(x.shape)
    part = slice(x.tensor, (place, *(0,) * len(x.shape)), (place + 1, *x.shape), (1, *ones))
    return reshape(part, x.shape)


_RULES: Mapping[str, Rule] = {
    "reshape": _shape, "by_rows": _last_axes, "lay": _lay, "gradient_in_order": _lay,
    "transpose": _transpose, "broadcast": _broadcast, "slice": _slice, "flip": _axes, "pad": _pad,
    "update_slice": _update_slice, "concatenate": _axis, "unfold": _axis, "view_as_complex": _last_axes,
    "view_as_real": _last_axes, "window": _last_axes, "spread": _last_axes, "window_argmax": _last_axes, "dot": _dot,
    "argmax": _axis, "argmin": _axis, "argsort": _axis, "cumsum": _axis, "cumsum_rounded": _axis,
    "running_argmax": _axis, "running_argmin": _axis, "gather": _axis, "scatter": _axis, "scatter_add": _axis,
    "scatter_amax": _axis, "scatter_amin": _axis, "scatter_prod": _axis, "take": _take, "put": _write_rows,
    "index_add": _write_rows, "pick": _rows, "unpick": _rows, "conv": _conv, "conv_input": _conv,
    "conv_weight": _conv_weight, "conj_view": _last_axes, "diagonal": _last_axes,
}  # fmt: skip


def _rule_of(primitive: Primitive) -> Rule:
    if isinstance(primitive.lower, Pointwise):
        return _pointwise
    return _axes if isinstance(primitive.lower, Reduction) else _RULES.get(primitive.name, _one_by_one)
