"""A user's ``autograd.Function`` on the tape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..ops.pointwise import cast
from ..ops.sources import zeros
from ..ops.types import Type
from ..ops.vjp import unbroadcast
from ..tape.first_shapes import may_be_summed
from ..tape.nodes import NO_EDGE, SECOND_BACKWARD, Node
from ..tape.saved import SavedTensor, saved
from ..tensors.creation import is_tensor
from ..tensors.tensor import Tensor

if TYPE_CHECKING:
    from .function import Function, FunctionCtx


class FunctionNode(Node):
    """A user's operation on the tape."""

    user_defined = True

    def __init__(self, function: type[Function], ctx: FunctionCtx, inputs: Sequence[Any]) -> None:
        tensors = [(i, x) for i, x in enumerate(inputs) if isinstance(x, Tensor)]
        edges = tuple(x.gradient_edge() if ctx.needs_input_grad[i] else NO_EDGE for i, x in tensors)
        super().__init__(f"{function.__name__}Backward", edges)
        self.rename(self.title)
        self.function = function
        self.ctx = ctx
        self.positions = [i for i, _ in tensors]
        self.input_types = [x.type_ for _, x in tensors]
        self.input_count = len(inputs)
        self.output_types: list[Type | None] = []
        self.saved: list[tuple[Any, int]] | None = None

    def save(self, outputs: Sequence[Any]) -> None:
        """Take over what `forward` wanted to keep, now that the outputs are known."""
        self.saved = []
        for i, tensor in enumerate(self.ctx.to_save):
            if tensor is not None and not is_tensor(tensor):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {i} is of type {type(tensor).__name__}. "
                    "Set what is no tensor as an attribute of ctx."
                )
            place = next((i for i, out in enumerate(outputs) if out is tensor), -1)
            self.saved.append((saved(tensor, is_output=place >= 0) if isinstance(tensor, Tensor) else tensor, place))
        self.ctx.to_save = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `forward` saved. RuntimeError once it is freed, or where its memory has been written to since."""
        if self.saved is None:
            raise RuntimeError(SECOND_BACKWARD)
        return tuple(self._unpacked(kept, place) for kept, place in self.saved)

    def _unpacked(self, kept: Any, place: int) -> Any:
        if not isinstance(kept, SavedTensor):
            return kept
        tensor = kept.unpack(self)
        if place >= 0:
            tensor.attach(self, place)
        return tensor

    def __getattr__(self, name: str) -> Any:
        """In PyTorch ctx is the node: what `forward` has set on it is seen at ``tensor.grad_fn``, too."""
        if name == "ctx" or name.startswith("__"):
            raise AttributeError(name)
        try:
            return getattr(self.ctx, name)
        except AttributeError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None

    def release(self) -> None:
        if self.saved:
            self.saved = None

    def backward(self, cotangents: Sequence[Any], wanted: Sequence[bool]) -> list[Any]:
        if self.ctx.materialize_grads:
            cotangents = [
                zeros(of) if g is None and of is not None else g
                for g, of in zip(cotangents, self.output_types, strict=True)
            ]
        returned = self.function.backward(self.ctx, *cotangents)
        gradients = returned if isinstance(returned, tuple) else (returned,)
        expected = self.input_count
        if len(gradients) < expected or any(g is not None for g in gradients[expected:]):
            raise RuntimeError(
                f"function {self.title} returned an incorrect number of gradients "
                f"(expected {expected}, got {len(gradients)}): return one for each argument of forward, None where none"
            )
        for i, g in enumerate(gradients[:expected]):
            if g is not None and i not in self.positions:
                raise RuntimeError(
                    f"function {self.title} returned a gradient different than None at position {i + 1}, but the "
                    "corresponding forward input was not a Variable. Return None there."
                )
        return [self._fitting(gradients[i], of, i) for i, of in zip(self.positions, self.input_types, strict=True)]

    def _fitting(self, g: Any, of: Type, place: int) -> Any:
        """`g` in its input's shape and type."""
        if g is None:
            return None
        if not isinstance(g, Tensor):
            raise RuntimeError(
                f"expected Variable or None (got {type(g).__name__}) at index {place} of what {self.title} returned"
            )
        shape = g.type_.shape
        if shape != of.shape:
            if not may_be_summed(shape, of.shape):
                raise RuntimeError(
                    f"Function {self.title} returned an invalid gradient at index {place} - got {list(shape)} but "
                    f"expected shape compatible with {list(of.shape)}"
                )
            g = unbroadcast(g, of.shape)
        if g.dtype.is_complex and not of.dtype.is_complex:
            raise RuntimeError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
                f"got false: {self.title} returned {g.dtype} at index {place} for an input of {of.dtype}"
            )
        return g if g.dtype is of.dtype else cast(g, of.dtype)
