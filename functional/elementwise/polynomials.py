"""Orthogonal polynomials. Gradients end with them, as in PyTorch, which has no derivatives of theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ops.elementwise.special import POLYNOMIALS
from ..arithmetic import require_a_tensor

if TYPE_CHECKING:
    from ...tensors.calling.annotations import Number
    from ...tensors.tensor import Tensor


def _value(name: str, input: Any, n: Any) -> Any:
    require_a_tensor(f"special_{name}", input, n)
    return POLYNOMIALS[name](input, n)


def chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev's polynomial of the first kind of degree `n` at `input`; 0 for a negative `n`. One may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.chebyshev_polynomial_t(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([-0.6875, -1.0000, 26.0000])
    """
    return _value("chebyshev_polynomial_t", input, n)


def chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev's polynomial of the second kind of degree `n` at `input`; 0 for a negative `n`. One may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.chebyshev_polynomial_u(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([-0.8750, -1.0000, 56.0000])
    """
    return _value("chebyshev_polynomial_u", input, n)


def chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev's polynomial of the third kind of degree `n` at `input`; 0 for a negative `n`. One may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.chebyshev_polynomial_v(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([-0.1250, -1.0000, 41.0000])
    """
    return _value("chebyshev_polynomial_v", input, n)


def chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev's polynomial of the fourth kind of degree `n` at `input`; 0 for a negative `n`. One may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.chebyshev_polynomial_w(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([-1.6250, -1.0000, 71.0000])
    """
    return _value("chebyshev_polynomial_w", input, n)


def hermite_polynomial_h(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The physicists' Hermite polynomial of degree `n` at `input`; 0 for a negative `n`. One may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.hermite_polynomial_h(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([-2.8750, -5.0000, 40.0000])
    """
    return _value("hermite_polynomial_h", input, n)


def hermite_polynomial_he(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """The probabilists' Hermite polynomial of degree `n` at `input`; 0 for a negative `n`. One may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.hermite_polynomial_he(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([-0.7344, -1.3750,  2.0000])
    """
    return _value("hermite_polynomial_he", input, n)


def laguerre_polynomial_l(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Laguerre's polynomial of degree `n` at `input`; 0 for a negative `n`. One may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.laguerre_polynomial_l(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([ 0.3411, -0.1458, -0.3333])
    """
    return _value("laguerre_polynomial_l", input, n)


def legendre_polynomial_p(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Legendre's polynomial of degree `n` at `input`; 0 for a negative `n`. One may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.legendre_polynomial_p(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([-0.3359, -0.4375, 17.0000])
    """
    return _value("legendre_polynomial_p", input, n)


def shifted_chebyshev_polynomial_t(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev's polynomial of the first kind of degree `n` at ``2 * input - 1``, 0 for a negative `n`.

    One of the operands may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.shifted_chebyshev_polynomial_t(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([ 1., -0., 99.])
    """
    return _value("shifted_chebyshev_polynomial_t", input, n)


def shifted_chebyshev_polynomial_u(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev's polynomial of the second kind of degree `n` at ``2 * input - 1``, 0 for a negative `n`.

    One of the operands may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.shifted_chebyshev_polynomial_u(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([  1.,  -0., 204.])
    """
    return _value("shifted_chebyshev_polynomial_u", input, n)


def shifted_chebyshev_polynomial_v(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev's polynomial of the third kind of degree `n` at ``2 * input - 1``, 0 for a negative `n`.

    One of the operands may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.shifted_chebyshev_polynomial_v(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([  1.,   1., 169.])
    """
    return _value("shifted_chebyshev_polynomial_v", input, n)


def shifted_chebyshev_polynomial_w(input: Tensor | Number, n: Tensor | Number) -> Tensor:
    """Chebyshev's polynomial of the fourth kind of degree `n` at ``2 * input - 1``, 0 for a negative `n`.

    One of the operands may be a number.

    Shapes are broadcast, types promoted. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.shifted_chebyshev_polynomial_w(tg.tensor([0.25, 0.5, 2.]), 3)
    tensor([  1.,  -1., 239.])
    """
    return _value("shifted_chebyshev_polynomial_w", input, n)
