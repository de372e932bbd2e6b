"""Activations as layers. The formulas are in ``nn.functional``."""

from .along_axis import GLU, LogSoftmax, Softmax, Softmin
from .base import InPlace
from .rectified import CELU, ELU, SELU, Hardtanh, LeakyReLU, PReLU, ReLU, ReLU6
from .smooth import GELU, Hardsigmoid, Hardswish, LogSigmoid, Mish, Sigmoid, SiLU, Softplus, Softsign, Tanh, Tanhshrink

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "InPlace",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softmin",
    "Softplus",
    "Softsign",
    "Tanh",
    "Tanhshrink",
]
