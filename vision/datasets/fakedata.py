"""Images of random numbers."""

from __future__ import annotations

from typing import Any

from ...functional.sampling import randint, randn
from ...tensors.generator import get_rng_state, manual_seed, set_rng_state
from ..transforms.functional import to_pil_image
from .vision import Transform, VisionDataset


class FakeData(VisionDataset):
    """`size` images of `image_size` (channels, height, width), with labels below `num_classes`: the same at each look,
    made of their index and `random_offset`; the default generator stays as it is."""

    def __init__(
        self,
        size: int = 1000,
        image_size: tuple[int, int, int] = (3, 224, 224),
        num_classes: int = 10,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
        random_offset: int = 0,
    ) -> None:
        super().__init__(transform=transform, target_transform=target_transform)
        self.size = size
        self.num_classes = num_classes
        self.image_size = image_size
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        before = get_rng_state()
        manual_seed(index + self.random_offset)
        img = randn(*self.image_size)
        target = randint(0, self.num_classes, (1,)).item()
        set_rng_state(before)
        return self._transformed(to_pil_image(img), target)

    def __len__(self) -> int:
        return self.size
