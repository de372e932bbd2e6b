"""What data sets of images have in common."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...utils.data import Dataset

Transform = Callable[[Any], Any]


class StandardTransform:
    """One transform for the image and one for what is to be learned of it; None changes nothing."""

    def __init__(self, transform: Transform | None = None, target_transform: Transform | None = None) -> None:
        self.transform = transform
        self.target_transform = target_transform

    def __call__(self, input: Any, target: Any) -> tuple[Any, Any]:
        if self.transform is not None:
            input = self.transform(input)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return input, target

    def __repr__(self) -> str:
        lines = [type(self).__name__]
        for name, transform in (("Transform", self.transform), ("Target transform", self.target_transform)):
            if transform is not None:
                first, *rest = repr(transform).splitlines()
                lines += [f"{name}: {first}", *(" " * (len(name) + 2) + line for line in rest)]
        return "\n".join(lines)


class VisionDataset(Dataset[Any]):
    """A data set in the folder `root`. A subclass defines ``__getitem__`` and ``__len__``.

    `transform` is for the image, `target_transform` for the target, or `transforms` for both. ValueError for both.
    """

    def __init__(
        self,
        root: str | Path | None = None,
        transforms: Callable[..., Any] | None = None,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        self.root: Any = os.path.expanduser(root) if isinstance(root, str) else root
        separate = transform is not None or target_transform is not None
        if transforms is not None and separate:
            raise ValueError("Only transforms or transform/target_transform can be passed as argument")
        self.transform = transform
        self.target_transform = target_transform
        self.transforms = StandardTransform(transform, target_transform) if separate else transforms

    def _transformed(self, img: Any, target: Any) -> tuple[Any, Any]:
        if self.transform is not None:
            img = self.transform(img)
        if self.target_transform is not None:
            target = self.target_transform(target)
        return img, target

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def __repr__(self) -> str:
        body = [f"Number of datapoints: {len(self)}"]
        if self.root is not None:
            body.append(f"Root location: {self.root}")
        body += self.extra_repr().splitlines()
        if self.transforms is not None:
            body += repr(self.transforms).splitlines()
        return "\n".join([f"Dataset {type(self).__name__}", *(f"    {line}" for line in body)])

    def extra_repr(self) -> str:
        """More lines of the description."""
        return ""


def not_found(name: str, files: list[str], folder: str, source: str) -> RuntimeError:
    """What is raised where files are missing, whether they were to be downloaded or not."""
    return RuntimeError(
        f"Dataset not found. {name} has no files here, and nothing is downloaded.\n"
        f"  Looked for {', '.join(files)} in {folder}\n"
        f"  Put them there by hand: {source}"
    )
