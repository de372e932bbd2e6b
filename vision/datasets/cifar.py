"""CIFAR: small photographs of things, in pickled arrays."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np

from .._images import pillow
from .vision import Transform, VisionDataset, not_found

#: All that the files name: arrays of numpy, under the names of its versions, and bytes of Python 2.
_NAMES = {
    (module, name)
    for module, names in {
        "numpy": ("ndarray", "dtype"),
        "numpy.core.multiarray": ("_reconstruct", "scalar"),
        "numpy._core.multiarray": ("_reconstruct", "scalar"),
        "_codecs": ("encode",),
    }.items()
    for name in names
}


class _Unpickler(pickle.Unpickler):
    """Reads arrays, and runs nothing that a file may name besides."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _NAMES:
            raise pickle.UnpicklingError(f"the file names {module}.{name}, which no file of CIFAR does")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read_pickle(path: str) -> dict[str, Any]:
    """The dict in a file. UnpicklingError for a file that names other classes than arrays, or is none."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        found = _Unpickler(io.BytesIO(data), encoding="latin1").load()
    except pickle.UnpicklingError:
        raise
    except Exception as error:
        raise pickle.UnpicklingError(f"{path} is no file of CIFAR: {error}\n  Get the file once more.") from error
    if not isinstance(found, dict):
        raise pickle.UnpicklingError(f"{path} is no file of CIFAR: it holds {type(found).__name__}, not a dict")
    return found


class CIFAR10(VisionDataset):
    """Photographs of ten kinds of things: 50000 to train, 10000 to test, 32 x 32 pixels of three bytes. Item i is an
    image of PIL and its label, after their transforms; `data` is uint8 (count, 32, 32, 3), `targets` a list.

    The files (``data_batch_1`` to ``_5``, ``test_batch``, ``batches.meta``) stand in ``root/cifar-10-batches-py``.
    RuntimeError if they do not.

    Difference: nothing is downloaded, and check sums are not compared.
    """

    base_folder = "cifar-10-batches-py"
    train_list: list[Any] = [[f"data_batch_{i}"] for i in range(1, 6)]
    test_list: list[Any] = [["test_batch"]]
    meta = {"filename": "batches.meta", "key": "label_names"}
    _labels = "labels"
    _source = "they are in the archive for Python of www.cs.toronto.edu/~kriz/cifar.html."

    def __init__(
        self,
        root: str | Path,
        train: bool = True,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform, target_transform=target_transform)
        self.train = train
        self.download()
        found = [read_pickle(self._path(name)) for name in self._batches()]
        pixels = np.concatenate([np.asarray(batch["data"], np.uint8).reshape(-1, 3, 32, 32) for batch in found])
        self.data = np.ascontiguousarray(pixels.transpose(0, 2, 3, 1))
        self.targets = [int(label) for batch in found for label in batch[self._labels]]
        if len(self.data) != len(self.targets):
            raise ValueError(f"{self._path('')} has {len(self.data)} images, and {len(self.targets)} labels")
        self._load_meta()

    def _batches(self) -> list[str]:
        return [entry[0] for entry in (self.train_list if self.train else self.test_list)]

    def _path(self, name: str) -> str:
        return os.path.join(self.root, self.base_folder, name)

    def download(self) -> None:
        """Nothing if the files are there. RuntimeError, which says where to put them, otherwise."""
        needed = [*self._batches(), self.meta["filename"]]
        if not all(os.path.isfile(self._path(name)) for name in needed):
            raise not_found(type(self).__name__, needed, self._path(""), self._source)

    def _load_meta(self) -> None:
        self.classes: list[str] = list(read_pickle(self._path(self.meta["filename"]))[self.meta["key"]])
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._transformed(pillow().fromarray(self.data[index]), self.targets[index])

    def __len__(self) -> int:
        return len(self.data)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"


class CIFAR100(CIFAR10):
    """Photographs of a hundred kinds of things; the files (``train``, ``test``, ``meta``) stand in
    ``root/cifar-100-python``."""

    base_folder = "cifar-100-python"
    train_list = [["train"]]
    test_list = [["test"]]
    meta = {"filename": "meta", "key": "fine_label_names"}
    _labels = "fine_labels"
