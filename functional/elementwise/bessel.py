"""Bessel functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ops.elementwise import special as ops

if TYPE_CHECKING:
    from ...tensors.tensor import Tensor


def i0(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind, of order 0.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.i0(tg.tensor([0., 1., 3.]))
    tensor([1.0000, 1.2661, 4.8808])
    """
    return ops.i0(input)


def i0e(input: Tensor) -> Tensor:
    """``exp(-abs(input)) * i0(input)``, which is finite everywhere.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.i0e(tg.tensor([0., 1., 300.]))
    tensor([1.0000, 0.4658, 0.0230])
    """
    return ops.i0e(input)


def i1(input: Tensor) -> Tensor:
    """The modified Bessel function of the first kind, of order 1.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.i1(tg.tensor([0., 1., 3.]))
    tensor([0.0000, 0.5652, 3.9534])
    """
    return ops.i1(input)


def i1e(input: Tensor) -> Tensor:
    """``exp(-abs(input)) * i1(input)``, which is finite everywhere.

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.i1e(tg.tensor([0., 1., 300.]))
    tensor([0.0000, 0.2079, 0.0230])
    """
    return ops.i1e(input)


def bessel_j0(input: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 0. Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.bessel_j0(tg.tensor([0., 1., 10.]))
    tensor([ 1.0000,  0.7652, -0.2459])
    """
    return ops.bessel_j0(input)


def bessel_j1(input: Tensor) -> Tensor:
    """The Bessel function of the first kind, of order 1. Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.bessel_j1(tg.tensor([0., 1., 10.]))
    tensor([0.0000, 0.4401, 0.0435])
    """
    return ops.bessel_j1(input)


def bessel_y0(input: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 0: minus infinity at 0, NaN below.

    Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.bessel_y0(tg.tensor([0., 1., 10.]))
    tensor([  -inf, 0.0883, 0.0557])
    """
    return ops.bessel_y0(input)


def bessel_y1(input: Tensor) -> Tensor:
    """The Bessel function of the second kind, of order 1: minus infinity at 0, NaN below.

    Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.bessel_y1(tg.tensor([0., 1., 10.]))
    tensor([   -inf, -0.7812,  0.2490])
    """
    return ops.bessel_y1(input)


def spherical_bessel_j0(input: Tensor) -> Tensor:
    """``sin(input) / input``, and 1 at 0. Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.spherical_bessel_j0(tg.tensor([0., 1., 10.]))
    tensor([ 1.0000,  0.8415, -0.0544])
    """
    return ops.spherical_bessel_j0(input)


def airy_ai(input: Tensor) -> Tensor:
    """Airy's function Ai. Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.airy_ai(tg.tensor([-5., 0., 2.]))
    tensor([0.3508, 0.3550, 0.0349])
    """
    return ops.airy_ai(input)


def modified_bessel_i0(input: Tensor) -> Tensor:
    """`i0`, with which gradients end (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.modified_bessel_i0(tg.tensor([0., 1., 3.]))
    tensor([1.0000, 1.2661, 4.8808])
    """
    return ops.i0(input.detach())


def modified_bessel_i1(input: Tensor) -> Tensor:
    """`i1`, with which gradients end (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.modified_bessel_i1(tg.tensor([0., 1., 3.]))
    tensor([0.0000, 0.5652, 3.9534])
    """
    return ops.i1(input.detach())


def modified_bessel_k0(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind, of order 0: infinite at 0, NaN below.

    Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.modified_bessel_k0(tg.tensor([0., 1., 3.]))
    tensor([   inf, 0.4210, 0.0347])
    """
    return ops.modified_bessel_k0(input)


def modified_bessel_k1(input: Tensor) -> Tensor:
    """The modified Bessel function of the second kind, of order 1: infinite at 0, NaN below.

    Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.modified_bessel_k1(tg.tensor([0., 1., 3.]))
    tensor([   inf, 0.6019, 0.0402])
    """
    return ops.modified_bessel_k1(input)


def scaled_modified_bessel_k0(input: Tensor) -> Tensor:
    """``exp(input)`` times the modified Bessel function of the second kind, of order 0: infinite at 0, NaN below.

    Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.scaled_modified_bessel_k0(tg.tensor([0., 1., 3.]))
    tensor([   inf, 1.1445, 0.6978])
    """
    return ops.scaled_modified_bessel_k0(input)


def scaled_modified_bessel_k1(input: Tensor) -> Tensor:
    """``exp(input)`` times the modified Bessel function of the second kind, of order 1: infinite at 0, NaN below.

    Gradients end here (PyTorch has none).

    The shape is that of `input`. Floats keep their type; integers and bool give the default type;
    NotImplementedError for complex numbers.

    >>> import tracegrad as tg
    >>> tg.special.scaled_modified_bessel_k1(tg.tensor([0., 1., 3.]))
    tensor([   inf, 1.6362, 0.8066])
    """
    return ops.scaled_modified_bessel_k1(input)
