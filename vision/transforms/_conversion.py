"""Images of PIL, arrays and tensors made of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...ops.types import DType, get_default_dtype
from ...tensors.creation import as_tensor, from_numpy
from ...tensors.tensor import Tensor
from .._images import array_of, is_pil, pillow
from . import _functional_tensor as F_t

#: The types of arrays that Pillow's modes without bytes have.
_MODE_TYPES = {"I": np.int32, "I;16": np.int16, "F": np.float32}


def to_tensor(pic: Any) -> Tensor:
    """An image of PIL, or an array (height, width[, channels]), as a tensor (channels, height, width).

    Bytes become float32 from 0 to 1, other types stay. TypeError for anything else, ValueError for other shapes.

    >>> import numpy
    >>> to_tensor(numpy.array([[0, 51], [255, 0]], numpy.uint8))
    tensor([[[0.0000, 0.2000],
             [1.0000, 0.0000]]])
    """
    if not (is_pil(pic) or isinstance(pic, np.ndarray)):
        raise TypeError(f"pic should be PIL Image or ndarray. Got {type(pic)}")
    if isinstance(pic, np.ndarray) and pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    array = _channels_first(pic)
    if array.dtype != np.uint8:
        return from_numpy(array)
    real = get_default_dtype().numpy
    return from_numpy(array.astype(real) / real.type(255))


def pil_to_tensor(pic: Any) -> Tensor:
    """An image of PIL as a tensor (channels, height, width) of its own type. TypeError for anything else."""
    if not is_pil(pic):
        raise TypeError(f"pic should be PIL Image. Got {type(pic)}")
    return from_numpy(_channels_first(pic))


def _channels_first(pic: Any) -> np.ndarray:
    if isinstance(pic, np.ndarray):
        array = pic
    else:
        array = np.array(pic, dtype=_MODE_TYPES.get(pic.mode, np.uint8))
        if pic.mode == "1":
            array *= 255
    return np.array(array[None] if array.ndim == 2 else array.transpose(2, 0, 1), order="C")


def to_pil_image(pic: Any, mode: str | None = None) -> Any:
    """A tensor (channels, height, width), or an array (height, width, channels), as an image of PIL.

    Real tensors from 0 to 1 become bytes. TypeError for types that Pillow has no mode for, ValueError for other shapes
    or a mode that does not fit.
    """
    if not isinstance(pic, (Tensor, np.ndarray)):
        raise TypeError(f"pic should be Tensor or ndarray. Got {type(pic)}.")
    if pic.ndim not in (2, 3):
        raise ValueError(f"pic should be 2/3 dimensional. Got {pic.ndim} dimensions.")
    array = _channels_last(pic, mode) if isinstance(pic, Tensor) else pic if pic.ndim == 3 else pic[:, :, None]
    if array.shape[-1] > 4:
        raise ValueError(f"pic should not have > 4 channels. Got {array.shape[-1]} channels.")
    if array.shape[-1] == 1:
        return _of_one_channel(array[:, :, 0], mode)
    return _of_channels(array, mode)


def _channels_last(pic: Tensor, mode: str | None) -> np.ndarray:
    array = array_of(pic, "to_pil_image()")
    array = array[None] if array.ndim == 2 else array
    if array.dtype.kind == "f" and mode != "F":
        array = (array * array.dtype.type(255)).astype(np.uint8)
    return array.transpose(1, 2, 0)


def _of_one_channel(array: np.ndarray, mode: str | None) -> Any:
    modes = {np.dtype(np.uint8): "L", np.dtype(np.int16): "I;16", np.dtype(np.int32): "I", np.dtype(np.float32): "F"}
    expected = modes.get(array.dtype)
    if mode is not None and mode != expected:
        raise ValueError(f"Incorrect mode ({mode}) supplied for input type {array.dtype}. Should be {expected}")
    if expected is None:
        raise TypeError(f"Input type {array.dtype} is not supported")
    return pillow().fromarray(np.ascontiguousarray(array.astype(np.uint16) if expected == "I;16" else array))


def _of_channels(array: np.ndarray, mode: str | None) -> Any:
    channels = array.shape[-1]
    permitted = {2: ["LA"], 3: ["RGB", "YCbCr", "HSV"], 4: ["RGBA", "CMYK", "RGBX"]}[channels]
    if mode is not None and mode not in permitted:
        raise ValueError(f"Only modes {permitted} are supported for {channels}D inputs")
    if array.dtype != np.uint8:
        raise TypeError(f"Input type {array.dtype} is not supported")
    image = pillow()
    bands = [image.fromarray(np.ascontiguousarray(array[:, :, i])) for i in range(channels)]
    return image.merge(mode or permitted[0], bands)


def convert_image_dtype(image: Tensor, dtype: DType | None = None) -> Tensor:
    """The tensor in another type (default: the default type), scaled so that what means full intensity still does.

    TypeError for an image of PIL, RuntimeError for types that are not exact enough.
    """
    _require_tensor(image)
    return F_t.convert_image_dtype(image, dtype or get_default_dtype())


def normalize(tensor: Tensor, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> Tensor:
    """Each channel less its mean, divided by its deviation, which is not 0.

    >>> import tracegrad as tg
    >>> normalize(tg.ones(2, 1, 1), [0.5, 0.0], [0.5, 2.0]).flatten()
    tensor([1.0000, 0.5000])
    """
    if not isinstance(tensor, Tensor):
        raise TypeError(f"img should be Tensor Image. Got {type(tensor)}")
    if not F_t.is_floating(tensor):
        raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
    if tensor.ndim < 3:
        raise ValueError(
            f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {tensor.shape}"
        )
    means, deviations = (np.asarray(value, tensor.dtype.numpy).reshape(-1, 1, 1) for value in (mean, std))
    if (deviations == 0).any():
        raise ValueError(f"std evaluated to zero after conversion to {tensor.dtype}, leading to division by zero.")
    out = tensor if inplace else tensor.clone()
    return out.sub_(as_tensor(means)).div_(as_tensor(deviations))


def _require_tensor(img: Any) -> None:
    if not isinstance(img, Tensor):
        raise TypeError("Input img should be Tensor Image")
