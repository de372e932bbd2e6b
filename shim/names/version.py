"""``torch.version``: which PyTorch this answers as, and that it is a build for the CPU alone."""

from __future__ import annotations

from typing import Any

__all__ = ["TorchVersion", "__version__", "cuda", "debug", "git_version", "hip", "rocm", "xpu"]

#: The version of PyTorch whose names and values are followed, and who answers.
__version__ = "2.13.0+tracegrad"


class TorchVersion(str):
    """A version as text that compares as a version.

    >>> TorchVersion("2.13.0+tracegrad") >= "2.4"
    True
    """

    def _numbers(self) -> tuple[int, ...]:
        return _numbers(self)

    def __lt__(self, other: Any) -> bool:
        return self._numbers() < _numbers(other)

    def __le__(self, other: Any) -> bool:
        return self._numbers() <= _numbers(other)

    def __gt__(self, other: Any) -> bool:
        return self._numbers() > _numbers(other)

    def __ge__(self, other: Any) -> bool:
        return self._numbers() >= _numbers(other)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and str.__eq__(self, other):
            return True
        return self._numbers() == _numbers(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


def _numbers(version: Any) -> tuple[int, ...]:
    """The numbers of a version: a text, a tuple, a Version of ``packaging``. Its suffixes are left out."""
    parts = version if isinstance(version, (tuple, list)) else str(version).partition("+")[0].split(".")
    numbers = [int(str(part)) for part in parts if str(part).isdigit()]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


__version__ = TorchVersion(__version__)
cuda: str | None = None
hip: str | None = None
xpu: str | None = None
rocm: str | None = None
debug = False
git_version = "tracegrad"
