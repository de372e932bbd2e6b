"""The one device there is: names that programs write for portability, and a clear refusal of any other."""

from __future__ import annotations

from typing import Any


class device:
    """``device("cpu")``. Other devices can be named, and nothing can be put on them."""

    __slots__ = ("index", "type")

    type: str
    index: int | None

    def __init__(self, type: Any = "cpu", index: int | None = None) -> None:
        name = type.type if isinstance(type, device) else str(type)
        self.type, _, number = name.partition(":")
        self.index = int(number) if number else index

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type={self.type!r}{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return device, (str(self),)


CPU = device("cpu")


def require_cpu(where: Any) -> None:
    """RuntimeError unless `where` (None, a name, a device) is the CPU; AssertionError for CUDA, as in PyTorch."""
    if where is not None and device(where).type == "cuda":
        raise AssertionError(
            f"Torch not compiled with CUDA enabled: tracegrad computes on the CPU only, got device {str(where)!r}. "
            'Choose the device by tg.cuda.is_available() (it is False), or write "cpu".'
        )
    if where is not None and device(where).type != "cpu":
        raise RuntimeError(
            f"tracegrad computes on the CPU only, got device {str(where)!r}. "
            'Choose the device by tg.cuda.is_available() (it is False), or write "cpu".'
        )
