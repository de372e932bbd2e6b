"""SummaryWriter writes files that TensorBoard reads."""

import pytest

pytest.importorskip("tensorboard")
pytest.importorskip("PIL")

import numpy as np  # noqa: E402
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator  # noqa: E402

import tracegrad as tg  # noqa: E402
from tracegrad.utils.tensorboard import SummaryWriter  # noqa: E402


def read(folder):
    events = EventAccumulator(str(folder), size_guidance={"histograms": 0, "images": 0})
    events.Reload()
    return events


def test_scalars(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        for i in range(3):
            writer.add_scalar("loss", tg.tensor(1.0 / (i + 1), requires_grad=True), i)
        writer.add_scalar("half", tg.tensor([0.5], dtype=tg.bfloat16), 7)
        writer.add_scalars("two", {"a": 1.0, "b": np.float64(2.0)}, 1)
        with pytest.raises(AssertionError, match="one element"):
            writer.add_scalar("bad", tg.ones(2))
    events = read(tmp_path)
    assert [(e.step, e.value) for e in events.Scalars("loss")] == [(0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))]
    assert [(e.step, e.value) for e in events.Scalars("half")] == [(7, 0.5)]
    assert [e.value for e in read(tmp_path / "two_b").Scalars("two")] == [2.0]


def test_histograms(tmp_path):
    tg.manual_seed(0)
    values = tg.randn(100)
    with SummaryWriter(tmp_path) as writer:
        writer.add_histogram("weights", values, 1)
        writer.add_histogram("few", values, 1, max_bins=10)
        writer.add_histogram("auto", np.arange(10), 1, bins="auto")
        with pytest.raises(ValueError, match="no element"):
            writer.add_histogram("none", tg.ones(0))
    events = read(tmp_path)
    found = events.Histograms("weights")[0].histogram_value
    assert found.num == 100 and found.min == values.min().item() and sum(found.bucket) == 100
    assert len(found.bucket) == len(found.bucket_limit) and found.bucket[0] == 0
    assert sum(events.Histograms("auto")[0].histogram_value.bucket) == 10
    assert len(events.Histograms("few")[0].histogram_value.bucket) < len(found.bucket)


def test_images_text_and_hyperparameters(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        writer.add_image("one", tg.rand(3, 4, 5), 1)
        writer.add_image("grey", tg.rand(4, 5), 1, dataformats="HW")
        writer.add_images("many", tg.rand(3, 1, 4, 5), 1)
        writer.add_text("notes", "**bold**", 1)
        writer.add_hparams({"lr": 0.1, "name": "x", "flag": True}, {"accuracy": tg.tensor(0.9)}, run_name="run")
        with pytest.raises(AssertionError, match="input_format"):
            writer.add_image("bad", tg.rand(4, 5))
        for refused in (writer.add_graph, writer.add_embedding, writer.add_audio, writer.add_video, writer.add_mesh):
            with pytest.raises(NotImplementedError):
                refused("x", tg.ones(2))
    events = read(tmp_path)
    sizes = {name: (events.Images(name)[0].height, events.Images(name)[0].width) for name in ("one", "grey", "many")}
    assert sizes == {"one": (4, 5), "grey": (4, 5), "many": (4, 15)}
    assert events.Tensors("notes/text_summary")[0].tensor_proto.string_val == [b"**bold**"]
    assert [e.value for e in read(tmp_path / "run").Scalars("accuracy")] == [pytest.approx(0.9)]


def test_figures(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure = pyplot.figure(figsize=(2, 1), dpi=50)
    with SummaryWriter(tmp_path) as writer:
        writer.add_figure("plot", figure, 1)
    image = read(tmp_path).Images("plot")[0]
    assert (image.width, image.height) == (100, 50) and not pyplot.fignum_exists(figure.number)
