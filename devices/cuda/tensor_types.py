"""Classes of tensors on CUDA devices: no tensor is one, and none can be made."""

from __future__ import annotations

from typing import Any

_DOC = """TypeError when one is made: there is no such device. Use ``tracegrad.{name}``.

>>> import tracegrad as tg
>>> try:
...     tg.cuda.{name}(2)
... except TypeError:
...     print("no such device")
no such device
"""


class _CudaTensor:
    """TypeError when one is made: there is no such device."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled. "
            f"Use tracegrad.{cls.__name__}"
        )


def _kind(name: str) -> Any:
    return type(name, (_CudaTensor,), {"__doc__": _DOC.format(name=name), "__module__": __name__})


FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor = map(
    _kind, ("FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor")
)
ByteTensor, CharTensor, ShortTensor = map(_kind, ("ByteTensor", "CharTensor", "ShortTensor"))
IntTensor, LongTensor, BoolTensor = map(_kind, ("IntTensor", "LongTensor", "BoolTensor"))
