"""Processes that the program starts: in them, too, torch is tracegrad."""

from __future__ import annotations

import os
from pathlib import Path

#: A folder whose ``sitecustomize`` Python imports when it starts.
STARTUP = Path(__file__).with_name("startup")
_ROOT = Path(__file__).resolve().parents[1]


def follow() -> None:
    """Let Python processes that are started from now on, with this environment, have the shim as well."""
    folders = [os.fspath(STARTUP), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(folders))
    os.environ["TRACEGRAD_AS_TORCH"] = os.fspath(_ROOT.parent)
