"""Learning rates that follow a plan. Each ``scheduler.step()`` sets ``lr`` of the optimizer's groups.

As in PyTorch most plans are chainable: a step computes the next rate from the present one, so that two schedulers on
one optimizer combine, and rates set by hand are kept. The arithmetic is PyTorch's, in its order, so that the rates are
its floats. A compiled training step takes new rates, momentums and betas without recompiling.
"""

from __future__ import annotations

from .base import LRScheduler, _LRScheduler
from .combined import ChainedScheduler, SequentialLR
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .cycles import CyclicLR, OneCycleLR
from .factors import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from .plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "_LRScheduler",
]
