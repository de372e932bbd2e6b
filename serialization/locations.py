"""Where the storages of a file go: ``map_location``, and devices that programs register."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ..tensors.device import device
from .meta_storage import MetaStorage
from .untyped_storage import UntypedStorage

Restore = Callable[[Any, str], Any]
_packages: list[tuple[int, Callable[[Any], str | None], Restore]] = []
_MAP = (
    "If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') to map your "
    "storages to the CPU."
)


def register_package(priority: int, tagger: Callable[[Any], str | None], deserializer: Restore) -> None:
    """Let storages be restored by ``deserializer(storage, location)``, asked in the order of `priority` (the CPU is
    10) until one gives something else than None; `tagger` names the location of a storage, and is not asked.

    >>> import tracegrad as tg
    >>> tg.serialization.register_package(30, lambda storage: None, lambda storage, where: None)
    """
    _packages.append((priority, tagger, deserializer))
    _packages.sort(key=lambda package: package[0])


def _on_the_cpu(storage: Any, location: str) -> Any:
    return storage if location == "cpu" else None


def _on_meta(storage: Any, location: str) -> Any:
    return MetaStorage(storage.nbytes()) if location == "meta" else None


def _refused(storage: Any, location: str) -> Any:
    kind = re.split("[:0-9]", location)[0]
    if kind == "cuda":
        raise RuntimeError(
            "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False: tracegrad "
            f"computes on the CPU only. {_MAP}"
        )
    if kind == "mps":
        raise RuntimeError(
            f"torch.UntypedStorage(): Storage device not recognized: {kind}: tracegrad computes on the CPU only. {_MAP}"
        )
    if kind in ("hpu", "xpu", "mtia"):
        raise RuntimeError(f"The {kind.upper()} device module is not registered. {_MAP}")
    return None


register_package(10, lambda storage: "cpu", _on_the_cpu)
register_package(20, lambda storage: None, _refused)
register_package(22, lambda storage: None, _on_meta)


def location_tag(storage: Any) -> str:
    """``"cpu"``: where all storages are."""
    return "cpu"


def default_restore_location(storage: Any, location: str) -> Any:
    """`storage` at its `location`: itself for ``"cpu"``, one without bytes for ``"meta"``. RuntimeError for a
    place that is not there.

    >>> import tracegrad as tg
    >>> tg.serialization.default_restore_location(tg.UntypedStorage(2), "cpu").nbytes()
    2
    """
    for _, _, restore in _packages:
        restored = restore(storage, location)
        if restored is not None:
            return restored
    raise RuntimeError(
        "don't know how to restore data location of torch.storage.UntypedStorage (tagged with "
        f"{location}). Use map_location='cpu'."
    )


def restorer(map_location: Any) -> Restore:
    """What puts a storage to its place, by ``load``'s `map_location` in all its forms."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, (str, bytes, device)):
        name = map_location.decode() if isinstance(map_location, bytes) else str(map_location)
        return lambda storage, location: default_restore_location(storage, name)

    def restore(storage: Any, location: str) -> Any:
        restored = map_location(storage, location)
        return default_restore_location(storage, location) if restored is None else restored

    return restore


def require_storage(restored: Any) -> UntypedStorage:
    """TypeError unless what ``map_location`` gave is a storage."""
    if not isinstance(restored, UntypedStorage):
        raise TypeError(f"Argument 'wrap_storage' must be UntypedStorage, but got {type(restored)}")
    return restored
