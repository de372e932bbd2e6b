"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...functional.joining import cat
from ...functional.shapes import reshape
from ...ops.array import eager
from ...tape.grad_mode import no_grad
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
    """Store the parts of a vector [total] in the parameters: what ``parameters_to_vector`` made, back.

    Difference: the numbers are copied; in PyTorch the parameters become views of `vec`.

    >>> import tracegrad as tg
    >>> layer = tg.nn.Linear(2, 1)
    >>> tg.nn.utils.vector_to_parameters(tg.tensor([1.0, 2.0, 3.0]), layer.parameters())
    >>> layer.weight.tolist(), layer.bias.tolist()
    ([[1.0, 2.0]], [3.0])
    """
    start = 0
    with no_grad():
        for parameter in parameters:
            stop = start + parameter.ndarray.size
            part = vec[start:stop]
            eager().write(parameter, reshape(part, *parameter.shape))
            start = stop
