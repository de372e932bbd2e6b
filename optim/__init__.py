"""Optimizers under PyTorch's names."""

from __future__ import annotations

import sys

from . import adam as _adam
from . import lr_scheduler, swa_utils
from .adadelta import Adadelta
from .adafactor import Adafactor
from .adagrad import Adagrad
from .adam import Adam, AdamW
from .adamax import Adamax
from .asgd import ASGD
from .lbfgs import LBFGS
from .muon import Muon
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

#: PyTorch's module paths of what lies elsewhere here.
_PATHS = {"adamw": _adam, "_adafactor": sys.modules[Adafactor.__module__], "_muon": sys.modules[Muon.__module__]}
for _name, _module in _PATHS.items():
    sys.modules[f"{__name__}.{_name}"] = _module

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]
