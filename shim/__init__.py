"""``torch`` by another name: ``tracegrad.shim.install()`` makes ``import torch`` mean tracegrad in this process.

>>> import tracegrad.shim
>>> with tracegrad.shim.installed():
...     import torch
...     torch.ones(2)
tensor([1., 1.])
"""

from __future__ import annotations

from .installation import install, installed, is_installed, uninstall

__all__ = ["install", "installed", "is_installed", "uninstall"]
