"""What ``importlib.metadata`` says of the distribution ``torch`` while tracegrad has its name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.metadata import Distribution, DistributionFinder
from typing import Any

from .names.version import __version__

_METADATA = f"""Metadata-Version: 2.1
Name: torch
Version: {__version__}
Summary: tracegrad under PyTorch's name
"""


class TorchDistribution(Distribution):
    """The distribution ``torch``: a version, and no files."""

    def read_text(self, filename: str) -> str | None:
        return _METADATA if filename == "METADATA" else None

    def locate_file(self, path: str | os.PathLike[str]) -> Any:
        raise FileNotFoundError(f"torch is tracegrad in this process, and has no file {os.fspath(path)!r}.")


def distributions(context: DistributionFinder.Context) -> Iterator[Distribution]:
    """This distribution, where it is asked for by name or all are."""
    if context.name is None or context.name.lower() == "torch":
        yield TorchDistribution()
