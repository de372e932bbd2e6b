"""Images that tests share: smooth ones, so that ways to interpolate can be compared."""

import numpy as np
import pytest

Image = pytest.importorskip("PIL.Image")


def photograph(height=24, width=32, channels=3):
    """An image of PIL with soft shapes in all its channels."""
    y, x = np.mgrid[0:height, 0:width] / 8.0
    waves = [np.sin(x + c) * np.cos(y - 0.5 * c) for c in range(channels)]
    levels = (np.stack(waves, -1) * 110 + 128).astype(np.uint8)
    return Image.fromarray(levels if channels > 1 else levels[:, :, 0])


def levels(img):
    """The numbers of an image of PIL, or of a tensor, as int64 (height, width[, channels])."""
    if isinstance(img, Image.Image):
        return np.asarray(img).astype(np.int64)
    array = img.numpy().transpose(1, 2, 0).astype(np.int64)
    return array[:, :, 0] if array.shape[2] == 1 else array
