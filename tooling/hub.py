"""``tracegrad.hub``: models and weights from the network are not fetched; files that are there are loaded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from ..devices.answers import refusing
from ..serialization.serialization import load as _load

__all__ = [
    "download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir",
]  # fmt: skip

_dir: list[str | None] = [None]
_OFFLINE = "nothing is fetched from the network: download it, and load it by its path"


def get_dir() -> str:
    """The folder where PyTorch keeps what it has fetched: ``$TORCH_HOME/hub``, or what `set_dir` was given."""
    if _dir[0] is not None:
        return _dir[0]
    cache = os.environ.get("XDG_CACHE_HOME", os.path.join("~", ".cache"))
    return os.path.join(os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch"))), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder."""
    _dir[0] = os.path.expanduser(os.fspath(d))


load = refusing("load", NotImplementedError, f"torch.hub.load: {_OFFLINE}")
help = refusing("help", NotImplementedError, f"torch.hub.help: {_OFFLINE}")
list = refusing("list", NotImplementedError, f"torch.hub.list: {_OFFLINE}")
download_url_to_file = refusing(
    "download_url_to_file", NotImplementedError, f"torch.hub.download_url_to_file: {_OFFLINE}"
)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = True,
) -> Any:
    """What is in the file of the URL's name in `model_dir` (``get_dir()/checkpoints``), if it has been fetched before.

    NotImplementedError if there is no such file: nothing is fetched.
    """
    folder = Path(get_dir(), "checkpoints") if model_dir is None else Path(model_dir)
    path = folder / (file_name or os.path.basename(urlparse(url).path))
    if not path.is_file():
        raise NotImplementedError(f"load_state_dict_from_url: {_OFFLINE}. Put {url} at {path}")
    return _load(path, map_location=map_location, weights_only=weights_only)


load_url = load_state_dict_from_url
