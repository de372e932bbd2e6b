"""Saving and loading: Python's pickle, written whole or not at all."""

from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path
from typing import Any


def save(obj: Any, f: Any, pickle_protocol: int = pickle.DEFAULT_PROTOCOL) -> None:
    """Write `obj` (tensors, state dicts, modules) to a path or an open binary file.

    A path gets the whole file or keeps what it held: the data goes to a temporary file that then takes the name.
    The format is tracegrad's own.
    """
    if hasattr(f, "write"):
        pickle.dump(obj, f, pickle_protocol)
        return
    path = Path(f)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            pickle.dump(obj, file, pickle_protocol)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def load(f: Any, map_location: Any = None, *, weights_only: bool | None = None) -> Any:
    """Read what `save` wrote. It is pickle: load only files that you trust. `map_location` has no meaning here."""
    if hasattr(f, "read"):
        return pickle.load(f)
    with open(f, "rb") as file:
        return pickle.load(file)
