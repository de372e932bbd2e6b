"""SummaryWriter: what a run logs, as files that TensorBoard reads."""

from __future__ import annotations

import datetime
import os
import socket
import time
from collections.abc import Mapping
from typing import Any, NoReturn

from tensorboard.compat.proto import event_pb2
from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from . import summaries


class FileWriter:
    """Writes events to a new file in a folder."""

    def __init__(
        self, log_dir: str | os.PathLike[str], max_queue: int = 10, flush_secs: int = 120, filename_suffix: str = ""
    ) -> None:
        self.event_writer = EventFileWriter(os.fspath(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """The folder."""
        return str(self.event_writer.get_logdir())

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Write an event with its time and step."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, summary: Any, global_step: int | None = None, walltime: float | None = None) -> None:
        """Write a summary as an event."""
        self.add_event(event_pb2.Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Write what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Open the file again."""
        self.event_writer.reopen()


class SummaryWriter:
    """Writes scalars, histograms, images, figures, text and hyperparameters to a new event file in `log_dir`.

    `log_dir` is ``runs/<time>_<machine><comment>`` by default. Values are tensors, numpy arrays or numbers;
    `global_step` is the step that TensorBoard shows them at. Graphs, meshes, audio, video and embeddings are refused.

    >>> writer = SummaryWriter(folder)                          # doctest: +SKIP
    >>> writer.add_scalar("loss", loss, global_step=step)       # doctest: +SKIP
    >>> writer.close()                                          # doctest: +SKIP
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{now}_{socket.gethostname()}{comment}")
        self.log_dir = os.fspath(log_dir)
        self.purge_step, self.max_queue = purge_step, max_queue
        self.flush_secs, self.filename_suffix = flush_secs, filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] = {}
        self._get_file_writer()

    def _new_file(self, folder: str) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        if self.file_writer is None:
            self.file_writer = self._new_file(self.log_dir)
            self.all_writers[self.file_writer.get_logdir()] = self.file_writer
            if self.purge_step is not None:
                most_recent = self.purge_step
                self.file_writer.add_event(Event(step=most_recent, file_version="brain.Event:2"))
                start = Event(step=most_recent, session_log=SessionLog(status=SessionLog.START))
                self.file_writer.add_event(start)
                self.purge_step = None
        return self.file_writer

    def get_logdir(self) -> str:
        """The folder of the event file."""
        return self.log_dir

    def _add(self, summary: Any, global_step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, global_step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """A number. ValueError unless the value has one element."""
        self._add(summaries.scalar(tag, scalar_value, new_style, double_precision), global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Several numbers in one diagram: each has an event file of its own below `log_dir`."""
        folder = self._get_file_writer().get_logdir()
        for tag, value in tag_scalar_dict.items():
            path = os.path.join(folder, f"{main_tag.replace('/', '_')}_{tag}")
            if path not in self.all_writers:
                self.all_writers[path] = self._new_file(path)
            self.all_writers[path].add_summary(summaries.scalar(main_tag, value), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """How often values occur. `bins` is "tensorflow" (limits that grow by 1.1), or what numpy's histogram takes."""
        self._add(summaries.histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """An image, of floats in 0 to 1 or of bytes; `dataformats` says what its axes are (C: 1, 3 or 4 channels)."""
        self._add(summaries.image(tag, img_tensor, dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """A batch of images, side by side in a grid."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """A figure of matplotlib's, or a list of them, as an image; it is closed then unless `close` is False."""
        figures = figure if isinstance(figure, list) else [figure]
        images = [summaries.pixels(each, close) for each in figures]
        if isinstance(figure, list):
            self.add_images(tag, summaries.stacked(images), global_step, walltime, "NHWC")
        else:
            self.add_image(tag, images[0], global_step, walltime, "HWC")

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Text, which TensorBoard shows as Markdown."""
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Any] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Hyperparameters and what they have led to, in a folder of their own. TypeError unless both are dicts."""
        if not isinstance(hparam_dict, dict) or not isinstance(metric_dict, dict):
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        found = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(log_dir=folder) as writer:
            for summary in found:
                writer._get_file_writer().add_summary(summary, global_step)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def _refused(self, name: str, instead: str) -> NoReturn:
        raise NotImplementedError(f"SummaryWriter.{name}() is not there: {instead}")

    def add_graph(self, *args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError: graphs of TorchScript are not there."""
        self._refused("add_graph", "print tg.compile(step).graph, or add_text() it")

    def add_embedding(self, *args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError."""
        self._refused("add_embedding", "write the vectors as text, and load them in the projector")

    def add_audio(self, *args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError."""
        self._refused("add_audio", "write the sound to a file")

    def add_video(self, *args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError."""
        self._refused("add_video", "add_images() its frames")

    def add_mesh(self, *args: Any, **kwargs: Any) -> NoReturn:
        """NotImplementedError."""
        self._refused("add_mesh", "add_figure() a picture of it")

    def flush(self) -> None:
        """Write what waits."""
        for writer in self.all_writers.values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files."""
        for writer in self.all_writers.values():
            writer.flush()
            writer.close()
        self.file_writer, self.all_writers = None, {}

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()
