"""Imported by Python when it starts, from this folder of PYTHONPATH: ``torch`` will be tracegrad in this process.

Nothing of tracegrad is imported before the program asks for torch. Another ``sitecustomize`` that this one stands
before is run as well.
"""

import importlib
import os
import sys
from importlib.machinery import PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))


class _FirstTorch:
    """Installs the shim when torch, or what it stands in for, is imported for the first time."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in ("torch", "torchvision", "torchaudio"):
            return None
        sys.meta_path.remove(self)
        root = os.environ["TRACEGRAD_AS_TORCH"]
        if PathFinder.find_spec("tracegrad") is None:
            sys.path.append(root)
        importlib.import_module("tracegrad.shim").install()
        return sys.meta_path[0].find_spec(name, path, target)


def _run_the_next():
    others = [folder for folder in sys.path if os.path.abspath(folder or ".") != _HERE]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(sys.modules[__name__])


if os.environ.get("TRACEGRAD_AS_TORCH"):
    sys.meta_path.insert(0, _FirstTorch())
_run_the_next()
