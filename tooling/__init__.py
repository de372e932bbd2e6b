"""What surrounds a program: tests, profiles, versions, and PyTorch's formats that are not there."""

# ruff: noqa: F401 (what is imported is offered)

from __future__ import annotations

from . import compiler, hub, jit, onnx, profiler, testing, types, version
