"""Writes files in tracegrad's own former format, which `load` still reads: a pickle that holds its storages."""

import io
import pickle

import numpy as np

from tracegrad.ops.array import eager
from tracegrad.ops.types import dtype_of
from tracegrad.serialization.saved import CLASSES, VIEWS, Storage, storage, tensor
from tracegrad.tensors.tensor import Tensor


def former(value, protocol=2, pickle_module=pickle):
    """The bytes that `save` wrote."""
    writer = Writer()

    class Pickler(pickle_module.Pickler):
        def reducer_override(self, value):
            if isinstance(value, Storage):
                return reduced_storage(value)
            return writer.reduced(value)

    file = io.BytesIO()
    Pickler(file, protocol).dump(value)
    return file.getvalue()


def reduced_storage(self):
    whole = self.buffer.whole
    order = tuple(int(axis) for axis in np.argsort([-abs(stride) for stride in whole.strides], kind="stable"))
    dense = whole.transpose(order)
    data = dense.astype(whole.dtype.newbyteorder("<"), copy=False).tobytes()
    return storage, (dtype_of(whole).name, whole.shape, order, data)


class Writer:
    """What one file says about tensors; remembers the storages that it has named."""

    def __init__(self):
        self._storages = {}

    def reduced(self, value):
        """A tensor as pickle's pair of a function and its arguments; NotImplemented for anything else."""
        kind = type(value)
        if not isinstance(value, Tensor) or kind not in CLASSES.values():
            return NotImplemented
        shown = eager().read(value, "tracegrad.save()")
        steps = _steps_in(value, shown)
        memory = self._storage(shown if steps is None else value.buffer.whole)
        return tensor, (kind, memory, steps or (), value.requires_grad)

    def _storage(self, whole):
        """The storage at this address: arrays that show it in the same way are one, whoever made them."""
        key = (whole.__array_interface__["data"][0], whole.dtype.str, whole.shape, whole.strides)
        return self._storages.setdefault(key, Storage(whole))


def _steps_in(value, shown):
    """The steps as a file has them; None where they do not lead to what the tensor shows, or not by these views."""
    at, steps = value.buffer.whole, []
    for step in value.steps:
        params = dict(step.params)
        name = step.primitive.name
        if name not in VIEWS:
            return None
        at = step.primitive.evaluate(at, **params)
        steps.append((name, *(tuple(map(int, params[key])) for key in VIEWS[name][1])))
    same = all(getattr(at, fact) == getattr(shown, fact) for fact in ("shape", "strides", "dtype"))
    address = [array.__array_interface__["data"][0] for array in (at, shown)]
    return tuple(steps) if same and address[0] == address[1] and _is_plain(value.buffer.whole) else None


def _is_plain(whole):
    """Whether no element is shown twice, as in an expanded array."""
    return all(stride or extent < 2 for stride, extent in zip(whole.strides, whole.shape, strict=True))
