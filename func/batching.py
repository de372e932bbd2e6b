"""A function called once for all slices: arrays of one slice's shape stand for tensors with the batch as first axis.

An array of the batching level has the shape and the strides of one slice, and no numbers unless all slices have the
same. What it stands for is computed by `batch_rules` at the level around, whose tape keeps its history. Memory is
functionalised, as in a recording: a write gives the memory of one slice another tensor to stand for.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from ..autograd.function import VmapInfo
from ..autograd.random_state import RandomState
from ..functional.trees import flatten_tree, unflatten_tree
from ..ops.array import Array, Evaluator, require_writable
from ..ops.core import Params, Primitive, current, interpreted
from ..ops.identity import copy
from ..ops.movement import broadcast, reshape
from ..ops.pointwise import cast
from ..ops.views import replay, write_through
from ..tape.grad_mode import is_recording, no_grad
from ..tape.tape import Tape
from ..tensors.tensor import make
from ..tracing.refusals import Refusal, Refusing, unless_refused
from .batch_rules import Batched, Held, turned
from .slices import is_of_generator
from .tracking import OuterInput

_TOO_MANY = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args "
    "that has more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped "
    "over in a vmap. Please try to use out-of-place operators instead of inplace arithmetic. If said operator is being "
    "called inside the PyTorch framework, please file a bug report instead."
)


def require_randomness(randomness: str) -> None:
    """RuntimeError for what `vmap` does not take as `randomness`."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def refuse_draws(start: RandomState) -> None:
    """RuntimeError where random numbers were drawn since `start`, which is put back."""
    if start.has_moved:
        start.put_back()
        raise RuntimeError(
            "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
            "'different' randomness flags on vmap or perform the randomness operation out of vmap"
        )


class CannotBatchError(Refusal):
    """The function does what can be done for one slice only; `is_worth_saying` where PyTorch has no way for it."""

    def __init__(self, reason: str, is_worth_saying: bool = True) -> None:
        super().__init__(reason)
        self.is_worth_saying = is_worth_saying


class Batcher(Refusing, Evaluator):
    """Evaluates for all slices. Use it below a tape, in ``interpreted(...)``; `around` is the interpreter outside."""

    def __init__(self, size: int, around: Any, randomness: str = "error") -> None:
        self.size, self.around, self.rules = size, around, Batched(size)
        self.randomness = randomness
        self._regions: dict[int, tuple[weakref.ref[np.ndarray], Held]] = {}  # by the identity of the memory
        self._cut: weakref.WeakValueDictionary[int, Array] = weakref.WeakValueDictionary()
        self._given: dict[int, tuple[Any, Any, int]] = {}  # by the identity of what is held of it: that, tensor, axis
        self._before: list[tuple[Any, Any]] = []  # what writes to memory from outside took the place of
        self._views: dict[int, tuple[Any, Any, Primitive, Params]] = {}  # of memory from outside, made here

    def slice_of(self, tensor: Any, axis: int) -> Any:
        """An array that stands for the slices of `tensor` along `axis`."""
        place = axis % tensor.ndarray.ndim
        held = Held(interpreted(self.around, turned, tensor, place, 0), True)
        self._given[id(held.tensor)] = held.tensor, tensor, place
        out = self._made(held, make)
        if tensor.requires_grad:
            out.attach(OuterInput("BatchedBackward0", ()), 0)
        return out

    def held(self, operand: Any) -> Held:
        """What an operand stands for."""
        if not isinstance(operand, Array):
            return Held(operand, False)
        if id(operand) in self._views:
            _, source, primitive, params = self._views[id(operand)]
            return self._applied(primitive, [self.held(source)], params)
        found = self._regions.get(id(operand.buffer.whole))
        if found is None:
            return Held(operand, False)  # from outside: it is the same for all slices
        held = found[1]
        if operand.steps:
            held = self._within(replay, held, operand.steps)
        return Held(held.tensor.detach(), held.batched) if id(operand) in self._cut else held

    def _within(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run library code on what arrays stand for."""
        return interpreted(_Above(self.rules, self.around), function, *args)

    def _applied(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Held:
        out: Held = interpreted(self.around, self.rules.apply, primitive, operands, params)
        return out

    def _made(self, held: Held, kind: Any) -> Any:
        """An array of one slice's shape that stands for `held`."""
        array = held.tensor.ndarray
        out = kind(np.empty(held.shape, array.dtype) if held.batched else np.array(array, order="C"))
        self._remember(out, held)
        return out

    def _remember(self, array: Any, held: Held) -> None:
        whole = array.buffer.whole
        key = id(whole)
        self._regions[key] = (weakref.KeyedRef(whole, self._forget, key), held)

    def _forget(self, memory: weakref.KeyedRef[int, np.ndarray]) -> None:
        """A memory is gone: another one may get its identity."""
        if self._regions.get(memory.key, (None,))[0] is memory:
            del self._regions[memory.key]

    def custom_function(self, function: Any, args: Sequence[Any]) -> tuple[Any] | None:
        """The results of a user's Function by its own `vmap`, in a tuple; `function` is None where it has none.

        None where its `forward` is to be called with what stands for the slices. It is not called so where somebody
        around asks for a gradient: its operations would leave their own derivatives there, not `backward`.
        """
        held = [self.held(x) if isinstance(x, Array) else None for x in args]
        if function is None or not any(h is not None and h.batched for h in held):
            if is_recording() and any(h is not None and h.tensor.requires_grad for h in held):
                self.refuse(CannotBatchError("the gradient of an autograd.Function", is_worth_saying=False))
            return None
        given = [x if h is None else h.tensor for x, h in zip(args, held, strict=True)]
        axes = tuple(0 if h is not None and h.batched else None for h in held)
        info = VmapInfo(self.size, self.randomness)
        output, places = interpreted(self.around, function.vmap, info, axes, *given)
        leaves, shape = flatten_tree(output)
        spread = [places] * len(leaves) if places is None or isinstance(places, int) else flatten_tree(places)[0]
        wrapped = [self._from_around(x, at) for x, at in zip(leaves, spread, strict=True)]
        return (unflatten_tree(shape, wrapped),)

    def _from_around(self, leaf: Any, axis: int | None) -> Any:
        if not isinstance(leaf, Array):
            return leaf
        return self._made(Held(leaf, False), make) if axis is None else self.slice_of(leaf, axis)

    def refuse_recomputation(self) -> NoReturn:
        """A checkpoint has something to compute again: it needs its slice, which only a call for each slice has."""
        self.refuse(CannotBatchError("a checkpoint with gradients", is_worth_saying=False))

    def result_of(self, leaf: Any, axis: int) -> Any:
        """What a result of the function stands for, with the batch at `axis`: for an argument as it came, that."""
        held = self.held(leaf)
        known = self._given.get(id(held.tensor))
        if known is not None and known[2] in (axis, axis + known[1].ndarray.ndim):
            return known[1]
        return interpreted(self.around, _placed, held, axis, self.size)

    # ------------------------------------------------------------------------------------------------ the interpreter

    def stacked(self, arrays: Sequence[Array], axis: int, kind: Any) -> Any:
        return None

    def evaluate(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Any) -> Any:
        if primitive.is_view and isinstance(operands[0], Array):
            out = super().evaluate(primitive, operands, params, kind)
            if out.buffer is operands[0].buffer:
                if id(operands[0]) in self._cut:
                    self._cut[id(out)] = out
                if id(out.buffer.whole) not in self._regions:
                    self._views[id(out)] = (out, operands[0], primitive, dict(params))
                return out
        return self._made(self._applied(primitive, [self.held(x) for x in operands], params), kind)

    def literal(self, values: np.ndarray, kind: Any = Array) -> Any:
        return self._made(Held(make(values.copy()), False), kind)

    def write(self, target: Array, value: Array | np.generic) -> None:
        require_writable(target)
        region = self._regions.get(id(target.buffer.whole))
        if region is None:
            self._write_outside(target, self.held(value))
            return
        if region[1].tensor.requires_grad and not is_recording():
            self.refuse(CannotBatchError("a write without gradients to what has some", is_worth_saying=False))
        stored = self._within(_written, region[1], target.steps, self.held(value), target.type_)
        if not stored.batched:
            np.copyto(target.ndarray, value.ndarray if isinstance(value, Array) else value)
        self._remember(target, stored)
        target.buffer.version += 1

    def _write_outside(self, target: Array, value: Held) -> None:
        """A write to memory that is the same for all slices is done once. RuntimeError where slices have their own."""
        if is_of_generator(target):
            self.refuse(CannotBatchError("random numbers", is_worth_saying=False))
        if value.batched:
            raise RuntimeError(_TOO_MANY)
        if getattr(target, "requires_grad", False) or getattr(value.tensor, "requires_grad", False):
            self.refuse(
                CannotBatchError("a write to what has gradients outside of the function", is_worth_saying=False)
            )
        self.keep(target)
        interpreted(self.around, self.around.write, target, value.tensor)

    def keep(self, target: Any) -> None:
        """Remember what memory from outside holds, which is about to be written."""
        with no_grad():
            self._before.append((target, interpreted(self.around, copy, target)))

    def take_back(self) -> None:
        """Put back what memory from outside held before: the function is to be called again."""
        for target, numbers in reversed(self._before):
            interpreted(self.around, self.around.write, target, numbers)
        self._before.clear()

    def read(self, array: Array, purpose: str) -> np.ndarray:
        if self.held(array).batched:
            self.refuse(CannotBatchError(f"{purpose} needs the numbers of each slice"))
        return array.ndarray

    def item(self, array: Array) -> bool | int | float:
        number: bool | int | float = self.read(array, "item()").item()
        return number

    def peek(self, array: Array) -> np.ndarray:
        return self.read(array, "a decision of the library")

    def require(self, array: Array, requirement: Any, facts: tuple[int, ...]) -> None:
        self.around.require(self.held(array).tensor, requirement, facts)

    def cut(self, array: Array) -> None:
        self._cut[id(array)] = array


class _Above:
    """`Batched` as the current interpreter; what its rules bind goes to the interpreter around."""

    def __init__(self, rules: Batched, around: Any) -> None:
        self.rules, self.around = rules, around

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        return interpreted(self.around, self.rules.apply, primitive, operands, params)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rules, name)


def _written(whole: Held, steps: Any, value: Any, of: Any) -> Held:
    """`whole` with the part that `steps` show replaced by `value`."""
    interpreter = current()
    given = interpreter.type_of(value)
    value = value if given.dtype is of.dtype else cast(value, of.dtype)
    value = value if given.shape == of.shape else broadcast(value, of.shape)
    out: Held = write_through(whole, steps, value)
    return out


def batched_call(
    function: Callable[..., Any], size: int, arguments: Sequence[tuple[Any, Any]], randomness: str = "error"
) -> tuple[Any, Batcher]:
    """``function(leaves)`` for all slices, and who knows what its results stand for.

    `arguments` are the leaves, with the axes that are mapped over, None for what goes in whole.
    """
    batcher = Batcher(size, current(), randomness)
    leaves = [x if axis is None else batcher.slice_of(x, axis) for x, axis in arguments]
    versions = [leaf.buffer.version if isinstance(leaf, Array) else 0 for leaf in leaves]
    try:
        result = unless_refused(batcher, interpreted, Tape(batcher, make), function, leaves)
    except CannotBatchError:
        batcher.take_back()
        raise
    for (x, axis), leaf, version in zip(arguments, leaves, versions, strict=True):
        if axis is not None and leaf.buffer.version != version:
            batcher.keep(x)
            x.copy_(batcher.result_of(leaf, axis))
    return result, batcher


def _placed(held: Held, axis: int, size: int) -> Any:
    shape = held.shape
    whole = held.tensor if held.batched else broadcast(reshape(held.tensor, (1, *shape)), (size, *shape))
    if not -len(shape) - 1 <= axis <= len(shape):
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-len(shape) - 1}, {len(shape)}], but got {axis})"
        )
    place = axis % (len(shape) + 1)
    return turned(whole, 0, place) if place else whole


def can_batch() -> bool:
    """Whether the code around is plain eager code, or a batched call itself."""
    from_here: Any = current()
    below = getattr(from_here, "below", None)
    return type(below) in (Evaluator, Batcher)
