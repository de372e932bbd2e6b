"""DLPack under PyTorch's path; see `tensors.foreign.dlpack`."""

from __future__ import annotations

from ..tensors.foreign.dlpack import DLDeviceType, from_dlpack, to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
