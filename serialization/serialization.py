"""``save`` and ``load``. A file is a pickle; reading one runs no code of its own unless the caller asks for that."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from ..tensors.device import device
from ..tensors.tensor import make
from .atomic import replacing
from .moved import Unpickler
from .saved import Writer
from .unpickling import load_weights

_ZIP = b"PK\x03\x04"


def save(obj: Any, f: Any, pickle_module: Any = pickle, pickle_protocol: int = 2) -> None:
    """Write `obj` (tensors, state dicts, containers, whole modules) to a path or an open binary file.

    A path gets the whole file or keeps what it held, also when the program is killed meanwhile: the data goes to a
    temporary file beside it, which then takes the name (and the mode) of the old one. A symbolic link stays, its target
    is replaced. Pipes, devices and open files are written directly. Tensors that share memory share it after `load`;
    as in PyTorch, the memory that a view shows is saved whole (``x[:2].clone()`` is smaller). `pickle_protocol` is 2
    to 5, `pickle_module` one with Python's Pickler (cloudpickle, dill), for objects that pickle itself refuses.

    RuntimeError for a path that cannot be written, AttributeError if `f` is neither a path nor a file, and what pickle
    raises for an object that it refuses. Difference: PyTorch writes its zip format, this is a pickle of its own.

    >>> import io, tracegrad as tg
    >>> file = io.BytesIO()
    >>> tg.save({"weight": tg.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> tg.load(file)
    {'weight': tensor([1., 1.])}
    """
    if pickle_protocol not in range(2, 6):
        raise ValueError(f"save takes pickle protocols 2 to 5, got {pickle_protocol!r}; leave it out, or pass 2")
    if isinstance(f, (str, os.PathLike)):
        with replacing(os.fsdecode(f)) as file:
            _dump(obj, file, pickle_module, pickle_protocol)
    elif hasattr(f, "write"):
        _dump(obj, f, pickle_module, pickle_protocol)
    else:
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")


def _dump(obj: Any, file: IO[bytes], pickle_module: Any, protocol: int) -> None:
    writer = Writer()

    class Pickler(pickle_module.Pickler):
        def reducer_override(self, value: Any) -> Any:
            reduced = writer.reduced(value)
            inherited = getattr(super(), "reducer_override", None)
            return reduced if reduced is not NotImplemented or inherited is None else inherited(value)

    Pickler(file, protocol).dump(obj)


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` wrote to a path or an open binary file.

    With `weights_only` (the default, unless a `pickle_module` is given) the result is made of tensors, containers and
    numbers, whatever the file holds: strings, bytes, dtypes, sizes, devices and generators, in lists, tuples, dicts,
    sets, OrderedDict, defaultdict and Counter. pickle.UnpicklingError for a file that names anything else (it says
    what) or is damaged, EOFError for one that is cut off; no code of the file runs. ``weights_only=False`` is pickle,
    which runs what the file says: only for files that you trust. `pickle_module` and `pickle_load_args` are for this.

    `map_location` may be anything that leads to the CPU, where everything is: "cpu", a device, a dict of names, or a
    function of a storage and its location, which is asked once; RuntimeError for another device. `mmap` is refused
    (RuntimeError). Difference: PyTorch's zip files are not read.

    >>> import tempfile, os, tracegrad as tg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "state.pt")
    ...     tg.save([tg.zeros(1), 3], path)
    ...     tg.load(path, weights_only=True)
    [tensor([0.]), 3]
    """
    if weights_only and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    if mmap:
        raise RuntimeError(
            "mmap can only be used with files in PyTorch's zip format, which tracegrad does not read. Leave mmap out."
        )
    _require_mapped_to_cpu(map_location)
    plain = weights_only is False or (weights_only is None and pickle_module is not None)
    if pickle_load_args and not plain:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    read = _reading(pickle_module, pickle_load_args) if plain else _weights
    if isinstance(f, (str, os.PathLike)):
        with open(f, "rb") as file:
            return read(file)
    if not hasattr(f, "read"):
        raise AttributeError(
            f"{type(f).__name__!r} object has no attribute 'read'. You can only load from a path or from a file that "
            "is open for reading bytes."
        )
    return read(f)


def _weights(file: Any) -> Any:
    _refuse_zip(file)
    try:
        return load_weights(file)
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(
            f"Weights only load failed for {_where(file)}. WeightsUnpickler error: {error}\n"
            "If you trust the source of the file, load it with `weights_only=False`, which can run any code that the "
            "file names. Otherwise save what is needed of it, such as a state_dict(), as tensors, containers and "
            "numbers."
        ) from error


def _reading(pickle_module: Any, arguments: dict[str, Any]) -> Callable[[Any], Any]:
    def read(file: Any) -> Any:
        _refuse_zip(file)
        if pickle_module is None or pickle_module is pickle:
            return Unpickler(file, **arguments).load()
        return pickle_module.load(file, **arguments)

    return read


def _where(file: Any) -> str:
    name = getattr(file, "name", None)
    return repr(name) if isinstance(name, (str, bytes, os.PathLike)) else f"the open {type(file).__name__}"


def _refuse_zip(file: Any) -> None:
    """UnpicklingError for a file of PyTorch's. A stream that cannot go back is not looked at."""
    if not hasattr(file, "seekable") or not file.seekable():
        return
    start = file.tell()
    begins = file.read(len(_ZIP))
    file.seek(start)
    if begins == _ZIP:
        raise pickle.UnpicklingError(
            f"{_where(file)} has PyTorch's zip format, which tracegrad does not read. In PyTorch, save numbers that "
            "both know: {name: tensor.numpy() for name, tensor in state_dict.items()} with numpy.savez."
        )


def _require_mapped_to_cpu(map_location: Any) -> None:
    """RuntimeError if `map_location` leads from the CPU, where all storages are, to another device."""
    place = map_location.get("cpu") if isinstance(map_location, dict) else map_location
    if callable(place):
        storage = make(np.empty(0, np.float32))
        mapped = place(storage, "cpu")
        if mapped is not None and mapped is not storage:
            raise RuntimeError(
                "map_location gave another storage than the one on the CPU; tracegrad computes on the CPU only. "
                "Return the storage that it is given, or leave map_location out."
            )
    elif place is not None and device(place).type != "cpu":
        raise RuntimeError(
            f"Attempting to deserialize object on device {str(place)!r} but torch.cuda.is_available() is False: "
            'tracegrad computes on the CPU only. Use map_location="cpu".'
        )
