"""``tracegrad.utils.collect_env``: what a report of a fault should say about the machine."""

from __future__ import annotations

import os
import platform
import sys
from typing import NamedTuple

import numpy as np

from ..tooling.version import __version__


class SystemEnv(NamedTuple):
    """What is known of the machine."""

    tracegrad_version: str
    python_version: str
    numpy_version: str
    os: str
    processor: str
    cpu_count: int | None
    is_cuda_available: bool


def get_env_info() -> SystemEnv:
    """What is known of the machine."""
    return SystemEnv(
        __version__,
        sys.version.replace("\n", " "),
        np.__version__,
        platform.platform(),
        platform.machine(),
        os.cpu_count(),
        False,
    )


def pretty_str(env: SystemEnv) -> str:
    """One line for each fact."""
    return "\n".join(f"{name.replace('_', ' ')}: {value}" for name, value in env._asdict().items())


def get_pretty_env_info() -> str:
    """What is known of the machine, as text.

    >>> import tracegrad as tg
    >>> tg.utils.collect_env.get_pretty_env_info().splitlines()[-1]
    'is cuda available: False'
    """
    return pretty_str(get_env_info())


def main() -> None:
    """Print it."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
