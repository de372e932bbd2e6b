"""What signatures name, where the functions are: ``typing.get_type_hints`` looks names up in a function's module.

Modules import types for annotations only below ``TYPE_CHECKING``, since most of them are made of modules that are
imported later. Here, when all are there, each gets the names that signatures use and that it does not have itself.
"""

from __future__ import annotations

import collections.abc
import sys
import types
import typing
from typing import Any

from ..devices.distributed.groups import ProcessGroup
from ..nn.module import Module
from ..ops.types import DType
from ..tensors.calling import annotations as types_of_signatures
from ..tensors.generator import Generator
from ..tensors.layouts.formats import layout, memory_format
from ..tensors.size import Size
from ..tensors.tensor import Tensor

_CLASSES = (DType, Generator, ProcessGroup, Size, Tensor, layout, memory_format)
_OF_PYTHON = ("Callable", "Hashable", "Iterable", "Iterator", "Mapping", "MutableMapping", "Sequence")


def names() -> dict[str, Any]:
    """The names that signatures use, and what they are."""
    aliases = "Number DTypeLike DeviceLike Axes Sizes Index Tree Option".split()
    return {
        **{name: getattr(types_of_signatures, name) for name in aliases},
        **{name: getattr(collections.abc, name) for name in _OF_PYTHON},
        **{kind.__name__: kind for kind in _CLASSES},
        "Any": typing.Any,
    }


def name_types(package: str, further: dict[str, Any]) -> None:
    """Give the modules of `package` the names that annotations use, and `further` ones.

    Only ``nn`` gets Module: what is listed of ``cuda`` or ``distributed`` is to be their own.
    """
    known = {**names(), **further}
    for path, module in list(sys.modules.items()):
        if path.startswith(f"{package}.") and isinstance(module, types.ModuleType):
            own = vars(module)
            for name, kind in known.items():
                own.setdefault(name, kind)
            if path.startswith(f"{package}.nn."):
                own.setdefault("Module", Module)
