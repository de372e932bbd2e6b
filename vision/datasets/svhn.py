"""House numbers in photographs of streets, in files of MATLAB."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from .._images import pillow
from .vision import Transform, VisionDataset, not_found


class SVHN(VisionDataset):
    """Digits of house numbers, 32 x 32 pixels of three bytes; `split` is "train", "test" or "extra". `data` is uint8
    (count, 3, 32, 32), `labels` int64.

    The file (``train_32x32.mat``, ...) stands in `root`; reading it needs scipy. RuntimeError if it is not there,
    ValueError for another split.
    """

    split_list = {name: [None, f"{name}_32x32.mat"] for name in ("train", "test", "extra")}

    def __init__(
        self,
        root: str | Path,
        split: str = "train",
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        if split not in self.split_list:
            raise ValueError(f"Unknown value '{split}' for argument split. Valid values are {list(self.split_list)}.")
        self.split = split
        self.filename = self.split_list[split][1]
        path = os.path.join(self.root, str(self.filename))
        if not os.path.isfile(path):
            source = "they are those of ufldl.stanford.edu/housenumbers."
            raise not_found("SVHN", [str(self.filename)], str(self.root), source)
        loaded = importlib.import_module("scipy.io").loadmat(path)
        self.data = np.ascontiguousarray(loaded["X"].transpose(3, 2, 0, 1))
        labels = loaded["y"].astype(np.int64).reshape(-1)
        self.labels = np.where(labels == 10, 0, labels)  # the file calls the digit 0 so

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        pixels = np.ascontiguousarray(self.data[index].transpose(1, 2, 0))
        return self._transformed(pillow().fromarray(pixels), int(self.labels[index]))

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {self.split}"
