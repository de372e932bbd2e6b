"""``save`` and ``load``, in PyTorch's format. Reading a file runs no code of it unless the caller asks for that."""

from __future__ import annotations

import io
import os
import pickle
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any

from . import safetensors
from .allowed import is_allowed
from .archive import Archive, MappedArchive, is_archive
from .atomic import replacing
from .legacy import MAGIC_NUMBER, read_legacy, write_legacy
from .locations import Restore, restorer
from .moved import unpickler_of
from .reading import ArchivedStorages, CallersError
from .settings import maps_shared
from .torch_names import VALUES
from .trust import names_in, trusted_by_path
from .unpickling import load_weights, renamed_type
from .zip_writing import archive_name, write_archive

#: Reads one pickle of a file; the second argument makes storages of persistent ids.
_Read = Callable[[Any, Any], Any]

_UNSAFE = (
    "In PyTorch 2.6, we changed the default value of the `weights_only` argument in `torch.load` from `False` to "
    "`True`. Re-running `torch.load` with `weights_only` set to `False` will likely succeed, but it can result in "
    "arbitrary code execution. Do it only if you got the file from a trusted source."
)


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
    _disable_byteorder_record: bool = False,
) -> None:
    """Write `obj` (tensors, state dicts, containers, whole modules) to a path or an open binary file.

    The format is PyTorch's, which reads the file: state dicts with its ``weights_only=True``, whole modules and
    optimizers of its own classes without. With ``_use_new_zipfile_serialization=False`` it is the one before 1.6, of
    which a file may hold several, one behind the other. Tensors that share memory share it after `load`; the memory
    that a view shows is saved whole (``x[:2].clone()`` is smaller).

    A path gets the whole file or keeps what it held, also when the program is killed meanwhile: the data goes to a
    temporary file beside it, which then takes the name (and the mode) of the old one. A symbolic link stays, its target
    is replaced. Pipes, devices and open files are written directly. `pickle_protocol` is 2 to 5 (PyTorch's restricted
    reader knows 2), `pickle_module` one with Python's Pickler (cloudpickle, dill), for objects that pickle refuses.

    RuntimeError for a path that cannot be written and for memory that tensors of different types show, AttributeError
    if `f` is neither a path nor a file, and what pickle raises for an object that it refuses.

    >>> import io, tracegrad as tg
    >>> file = io.BytesIO()
    >>> tg.save({"weight": tg.ones(2)}, file)
    >>> _ = file.seek(0)
    >>> tg.load(file)
    {'weight': tensor([1., 1.])}
    """
    if pickle_protocol not in range(2, 6):
        raise ValueError(f"save takes pickle protocols 2 to 5, got {pickle_protocol!r}; leave it out, or pass 2")

    def write(file: IO[bytes]) -> None:
        if _use_new_zipfile_serialization:
            write_archive(obj, file, archive_name(f), pickle_module, pickle_protocol, not _disable_byteorder_record)
        else:
            write_legacy(obj, file, pickle_module, pickle_protocol)

    if isinstance(f, (str, os.PathLike)):
        with replacing(os.fsdecode(f)) as file:
            write(file)
    elif hasattr(f, "write"):
        write(f)
        if hasattr(f, "flush"):
            f.flush()
    else:
        raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` or PyTorch's `save` wrote to a path or an open binary file that can seek.

    With `weights_only` (the default, unless a `pickle_module` is given) the result is made of tensors, containers and
    numbers, whatever the file holds: strings, bytes, dtypes, sizes, devices, generators and storages, in lists, tuples,
    dicts, sets, OrderedDict, defaultdict and Counter, and of classes that `serialization.add_safe_globals` names.
    pickle.UnpicklingError for a file that names anything else (it says what) or is damaged, RuntimeError for a damaged
    archive, EOFError for a file that is cut off; no code of the file runs. ``weights_only=False`` is pickle, which runs
    what the file says: only for files that you trust. `pickle_module` and `pickle_load_args` are for this; PyTorch's
    classes become those of the same names here. The environment variables TORCH_FORCE_WEIGHTS_ONLY_LOAD and
    TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD decide as in PyTorch.

    `map_location` says where storages go, whatever device they were saved from: a name or a device, a dict of names, or
    a function of a storage and its location that gives a storage or None. RuntimeError for any device but the CPU.
    ``mmap=True`` maps the file at a path instead of reading it. A path that ends in ``.safetensors`` is read by that
    package.

    >>> import tempfile, os, tracegrad as tg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "state.pt")
    ...     tg.save([tg.zeros(1), 3], path)
    ...     tg.load(path, map_location="cpu", weights_only=True)
    [tensor([0.]), 3]
    """
    weights_only = _restricts(weights_only, pickle_module)
    if pickle_load_args and weights_only:
        warnings.warn("pickle_load_args only works if `weights_only=False`.", stacklevel=2)
    if isinstance(f, (str, os.PathLike)) and os.fspath(f).endswith(".safetensors"):
        return safetensors.loaded(f, map_location)
    read = _weights if weights_only else _reading(pickle_module or pickle, pickle_load_args)
    try:
        with _opened(f) as file:
            if is_archive(file):
                return _from_archive(f, file, restorer(map_location), read, bool(mmap))
            if mmap:
                raise RuntimeError(
                    "mmap can only be used with files saved with "
                    "`torch.save(_use_new_zipfile_serialization=True), please torch.save your checkpoint with this "
                    "option in order to use mmap."
                )
            return _from_pickles(file, restorer(map_location), read)
    except CallersError as error:
        raise error.error from None


def _restricts(weights_only: bool | None, pickle_module: Any) -> bool:
    """Whether only weights are read, by the argument, the other argument, and the environment."""
    forced, released = (
        os.getenv(name, "0").lower() in ("1", "y", "yes", "true")
        for name in ("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    )
    if forced and released:
        raise RuntimeError(
            "Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD` or `TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD` should be set, but both "
            "were set."
        )
    if released and weights_only is None:
        warnings.warn(
            "Environment variable TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD detected, since the `weights_only` argument was not "
            "explicitly passed to `torch.load`, forcing weights_only=False.",
            stacklevel=3,
        )
        return False
    restricts = forced or (pickle_module is None if weights_only is None else bool(weights_only))
    if restricts and pickle_module is not None:
        raise RuntimeError("Can not safely load weights when explicit pickle_module is specified")
    return restricts


def _opened(f: Any) -> AbstractContextManager[Any]:
    """The file at a path, which is closed behind it; an open file stays open. An error for one that cannot seek."""
    if isinstance(f, (str, os.PathLike)):
        return open(f, "rb")
    try:
        f.seek(f.tell())
    except (io.UnsupportedOperation, AttributeError) as error:
        raise type(error)(
            f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data into a buffer "
            "like io.BytesIO and try to load from it instead."
        ) from None
    return nullcontext(f)


def _from_archive(f: Any, file: Any, restore: Restore, read: _Read, mmap: bool) -> Any:
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ValueError("f must be a file path in order to use the mmap argument")
    archive = MappedArchive(file, f, maps_shared()) if mmap else Archive(file)
    if archive.has("constants.pkl"):
        raise RuntimeError(
            "Cannot use ``weights_only=True`` with TorchScript archives passed to ``torch.load``, nor without it: "
            "tracegrad does not run TorchScript. Save the state_dict() of the module in PyTorch."
        )
    return read(io.BytesIO(archive.bytes_of("data.pkl")), ArchivedStorages(archive, restore).load)


def _from_pickles(file: Any, restore: Restore, read: _Read) -> Any:
    """Files without an archive: PyTorch's before 1.6, and tracegrad's own former ones, which are one pickle."""
    _refuse_tar(file)
    first = read(file, None)
    return read_legacy(file, restore, read) if type(first) is int and first == MAGIC_NUMBER else first


def _refuse_tar(file: Any) -> None:
    start = file.tell()
    header = file.read(262)
    file.seek(start)
    if header[257:] == b"ustar":
        raise RuntimeError(
            "Cannot use ``weights_only=True`` with files saved in the legacy .tar format, nor without it: tracegrad "
            "does not read what PyTorch before 0.1.10 wrote. Load the file in PyTorch and save it again."
        )


# ---------------------------------------------------------------------------------------------------------- unpickling


def _weights(file: Any, storages: Any) -> Any:
    try:
        return load_weights(file, storages)
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(_explained(str(error))) from error


def _explained(message: str) -> str:
    """What is wrong with a file, and what to do, in PyTorch's words."""
    if "was not an allowed global by default" in message:
        return (
            "Weights only load failed. This file can still be loaded, to do so you have two options, \033[1mdo those "
            f"steps only if you trust the source of the checkpoint\033[0m. \n\t(1) {_UNSAFE}\n\t(2) Alternatively, to "
            "load with `weights_only=True` please check the recommended steps in the following error message.\n\t"
            f"WeightsUnpickler error: {message}"
        )
    return f"Weights only load failed. {_UNSAFE}\nWeightsUnpickler error: {message}"


def _reading(pickle_module: Any, arguments: dict[str, Any]) -> _Read:
    def read(file: Any, storages: Any) -> Any:
        given = {"encoding": "utf-8", **arguments}
        return unpickler_of(pickle_module)(file, storages=storages, **given).load()

    return read


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The paths of classes and functions in a file that ``load(f, weights_only=True)`` refuses. The file is not run.

    ValueError for a file that is no archive.

    >>> import io, tracegrad as tg
    >>> file = io.BytesIO()
    >>> tg.save(tg.nn.ReLU(), file)
    >>> _ = file.seek(0)
    >>> tg.serialization.get_unsafe_globals_in_checkpoint(file)
    ['torch.nn.modules.activation.ReLU']
    """
    with _opened(f) as file:
        if not is_archive(file):
            raise ValueError("Expected input to be a checkpoint returned by torch.save")
        archive = Archive(file)
        if archive.has("constants.pkl"):
            raise ValueError(
                "Expected input to be a checkpoint returned by torch.save but got a torchscript checkpoint"
            )
        try:
            names = list(dict.fromkeys(names_in(archive.bytes_of("data.pkl"))))
        except ValueError as error:
            raise pickle.UnpicklingError(f"the pickle is damaged: {error}") from error
    trusted = trusted_by_path()
    return [name for name in names if not _is_safe(name) and name not in trusted]


def _is_safe(name: str) -> bool:
    full = renamed_type(name)
    return is_allowed(full) or full in VALUES
