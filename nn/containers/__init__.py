"""Modules and parameters in sequences and dicts."""

from .of_modules import ModuleDict, ModuleList, Sequential
from .of_parameters import ParameterDict, ParameterList

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
