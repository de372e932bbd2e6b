"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...functional.joining import cat
from ...tensors.operands import checked
from ...tensors.tensor import Tensor

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters' elements in one vector [total], one parameter after the other, each in row-major order; gradients
    flow back through it.

    >>> import tracegrad as tg
    >>> tg.nn.utils.parameters_to_vector([tg.ones(1, 2), tg.zeros(1)])
    tensor([1., 1., 0.])
    """
    return checked(cat)([parameter.reshape(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Let the parameters show the parts of a vector [total]: what ``parameters_to_vector`` made, back.

    They share its memory from then on: writes to the vector are writes to the parameters. TypeError for what is no
    tensor, RuntimeError for a vector that is too short.

    >>> import tracegrad as tg
    >>> layer, vector = tg.nn.Linear(2, 1), tg.tensor([1.0, 2.0, 3.0])
    >>> tg.nn.utils.vector_to_parameters(vector, layer.parameters())
    >>> vector[2] = 5
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[1.0, 2.0]], [5.0])
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    start = 0
    for parameter in parameters:
        stop = start + parameter.ndarray.size
        parameter.data = vec[start:stop].reshape(parameter.shape).data
        start = stop
