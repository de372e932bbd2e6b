"""``tracegrad.utils.tensorboard``: event files for TensorBoard, by its own package (``pip install tensorboard``)."""

from __future__ import annotations

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]
