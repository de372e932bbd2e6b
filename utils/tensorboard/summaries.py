"""What `SummaryWriter` writes, as TensorBoard's messages."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from google.protobuf import struct_pb2
from PIL import Image
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from ...ops.types import bfloat16, float16
from ...tensors.tensor import Tensor

#: Limits that grow by a tenth, on both sides of zero.
_POSITIVE = np.multiply.accumulate([1e-12, *[1.1] * 773])
_LIMITS = np.concatenate([-_POSITIVE[::-1], [0.0], _POSITIVE])
_AXES = set("NCHW")


def array_of(value: Any) -> np.ndarray:
    """A tensor, an array or numbers as an array. NotImplementedError for anything else."""
    if isinstance(value, Tensor):
        value = value.detach()
        return np.asarray((value.float() if value.dtype in (bfloat16, float16) else value).numpy())
    if isinstance(value, (np.ndarray, np.generic, int, float, list, tuple)):
        return np.asarray(value)
    raise NotImplementedError(f"Got {type(value)}, but numpy array or tracegrad.Tensor are expected.")


def scalar(tag: str, value: Any, new_style: bool = False, double_precision: bool = False) -> Any:
    """A number. AssertionError unless there is one element."""
    array = array_of(value).squeeze()
    if array.ndim != 0:
        raise AssertionError(f"Tensor should contain one element (0 dimensions), got shape {list(array.shape)}")
    number = float(array)
    if not new_style:
        return Summary(value=[Summary.Value(tag=tag, simple_value=number)])
    held: dict[str, Any] = {"float_val": [number], "dtype": "DT_FLOAT"}
    if double_precision:
        held = {"double_val": [number], "dtype": "DT_DOUBLE"}
    about = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    return Summary(value=[Summary.Value(tag=tag, tensor=TensorProto(**held), metadata=about)])


def histogram(tag: str, values: Any, bins: Any, max_bins: int | None = None) -> Any:
    """How often values occur; TensorBoard wants the right limits of the bins alone, so an empty one comes first."""
    numbers = array_of(values).astype(float).reshape(-1)
    if not numbers.size:
        raise ValueError(f"add_histogram({tag!r}): the input has no element")
    counts, limits = np.histogram(numbers, bins=_LIMITS if isinstance(bins, str) and bins == "tensorflow" else bins)
    if max_bins is not None and len(counts) > max_bins:
        step = len(counts) // max_bins
        starts = np.arange(0, len(counts), step)
        counts, limits = np.add.reduceat(counts, starts), np.append(limits[:-1][starts], limits[-1])
    used = np.flatnonzero(counts)
    start, end = int(used[0]), int(used[-1]) + 1
    counts = counts[start - 1 : end] if start > 0 else np.concatenate([[0], counts[:end]])
    return Summary(
        value=[
            Summary.Value(
                tag=tag,
                histo=HistogramProto(
                    min=numbers.min(), max=numbers.max(), num=len(numbers), sum=numbers.sum(),
                    sum_squares=numbers.dot(numbers), bucket_limit=limits[start : end + 1].tolist(),
                    bucket=counts.tolist(),
                ),
            )
        ]
    )  # fmt: skip


# -------------------------------------------------------------------------------------------------------- images


def _in_order(array: np.ndarray, formats: str) -> np.ndarray:
    """[height, width, channels] with 3 or 4 channels; a batch becomes a grid."""
    formats = formats.upper()
    if len(set(formats)) != len(formats) or not set(formats) <= _AXES or len(formats) != array.ndim:
        raise AssertionError(
            f"size of input tensor and input format are different. tensor shape: {array.shape}, input_format: {formats}"
        )
    if "N" in formats:
        batch = array.transpose([formats.index(axis) for axis in "NHWC"])
        array = _grid(batch)
    elif "C" in formats:
        array = array.transpose([formats.index(axis) for axis in "HWC"])
    else:
        array = array.transpose([formats.index(axis) for axis in "HW"])[..., None]
    return np.repeat(array, 3, axis=2) if array.shape[2] == 1 else array


def _grid(images: np.ndarray) -> np.ndarray:
    """Eight images in a row at most."""
    count, height, width, channels = images.shape
    columns = min(count, 8)
    rows = -(-count // columns)
    grid = np.zeros((rows * height, columns * width, channels), images.dtype)
    for i, image in enumerate(images):
        y, x = divmod(i, columns)
        grid[y * height : (y + 1) * height, x * width : (x + 1) * width] = image
    return grid


def image(tag: str, values: Any, formats: str) -> Any:
    """An image, in PNG."""
    array = _in_order(array_of(values), formats)
    scale = 1 if array.dtype == np.uint8 else 255
    array = (array.astype(np.float32) * scale).clip(0, 255).astype(np.uint8)
    height, width, channels = array.shape
    file = io.BytesIO()
    Image.fromarray(array).save(file, format="PNG")
    held = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=file.getvalue())
    return Summary(value=[Summary.Value(tag=tag, image=held)])


def pixels(figure: Any, close: bool) -> np.ndarray:
    """What a figure of matplotlib's shows: [height, width, 3] bytes."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=figure.dpi)
    if close:
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot is not None:
            pyplot.close(figure)
    return np.asarray(Image.open(file).convert("RGB"))


def stacked(images: list[np.ndarray]) -> np.ndarray:
    """A batch of images of one size."""
    return np.stack(images)


# ------------------------------------------------------------------------------------------ text, hyperparameters


def text(tag: str, words: str) -> Any:
    """Text."""
    about = SummaryMetadata(
        plugin_data=SummaryMetadata.PluginData(
            plugin_name="text", content=TextPluginData(version=0).SerializeToString()
        )
    )
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    held = TensorProto(dtype="DT_STRING", string_val=[words.encode("utf-8")], tensor_shape=shape)
    return Summary(value=[Summary.Value(tag=f"{tag}/text_summary", metadata=about, tensor=held)])


def _value(value: Any) -> tuple[str, Any]:
    """The type that TensorBoard has for a hyperparameter, and the value."""
    if isinstance(value, Tensor):
        value = value.item()
    if isinstance(value, (bool, np.bool_)):
        return "DATA_TYPE_BOOL", struct_pb2.Value(bool_value=bool(value))
    if isinstance(value, (int, float, np.number)):
        return "DATA_TYPE_FLOAT64", struct_pb2.Value(number_value=float(value))
    if isinstance(value, str):
        return "DATA_TYPE_STRING", struct_pb2.Value(string_value=value)
    raise ValueError(f"value should be one of int, float, str, bool, or a tensor of one element, got {value!r}")


def hparams(
    values: Mapping[str, Any], metrics: Mapping[str, Any], domains: Mapping[str, Any] | None
) -> tuple[Any, Any, Any]:
    """Three summaries: the experiment, the start of a session with its values, and its end."""
    begin, infos = plugin_data_pb2.SessionStartInfo(), []
    for name, value in values.items():
        if value is None:
            continue
        kind, held = _value(value)
        begin.hparams[name].CopyFrom(held)
        domain = None
        if domains and name in domains:
            domain = struct_pb2.ListValue(values=[_value(one)[1] for one in domains[name]])
        number = api_pb2.DataType.Value(kind)
        infos.append(api_pb2.HParamInfo(name=name, type=number, domain_discrete=domain))
    names = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=name)) for name in metrics]
    version = metadata.PLUGIN_DATA_VERSION
    data = plugin_data_pb2.HParamsPluginData
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=names)
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))
    return (
        _of_plugin(metadata.EXPERIMENT_TAG, data(experiment=experiment, version=version)),
        _of_plugin(metadata.SESSION_START_INFO_TAG, data(session_start_info=begin, version=version)),
        _of_plugin(metadata.SESSION_END_INFO_TAG, data(session_end_info=end, version=version)),
    )


def _of_plugin(tag: str, content: Any) -> Any:
    about = SummaryMetadata.PluginData(plugin_name=metadata.PLUGIN_NAME, content=content.SerializeToString())
    return Summary(value=[Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=about))])
