"""``tracegrad.profiler``: how long named ranges of a program take.

Difference: single operations are not listed, since compiled steps do not run them one by one. The table has a row for
each `record_function` range, and one for the whole of the profile.
"""

from __future__ import annotations

import enum
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..autograd.profiler import EventList, Profile, Range, record_function

__all__ = [
    "EventList", "ProfilerAction", "ProfilerActivity", "profile", "record_function", "schedule",
    "supported_activities", "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(enum.Enum):
    """What PyTorch profiles."""

    CPU, XPU, CUDA, MTIA, HPU, PrivateUse1 = range(6)

    def __repr__(self) -> str:
        return f"<ProfilerActivity.{self.name}: {self.value}>"


class ProfilerAction(enum.Enum):
    """What is done in a step of a `schedule`."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)

    def __repr__(self) -> str:
        return f"<ProfilerAction.{self.name}: {self.value}>"


def supported_activities() -> set[ProfilerActivity]:
    """The CPU."""
    return {ProfilerActivity.CPU}


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """A function of a step's number that says what is done in it, for ``profile(schedule=...)``.

    >>> import tracegrad as tg
    >>> tg.profiler.schedule(wait=1, warmup=1, active=1)(2)
    <ProfilerAction.RECORD_AND_SAVE: 3>
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            "Invalid profiler schedule arguments: wait, warmup, repeat, skip_first >= 0 and active > 0"
        )
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        step -= skip_first
        if step < 0 or (repeat > 0 and step // cycle >= repeat):
            return ProfilerAction.NONE
        if skip_first_wait and step < cycle:
            step += wait
        place = step % cycle
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


class profile(Profile):
    """A block whose named ranges are timed; see `record_function`.

    `schedule`, a function of the step's number, and ``step()`` say which steps are; `on_trace_ready` is called with
    the profile at the end of each such turn. Other options have no effect: single operations are not recorded.

    >>> import tracegrad as tg
    >>> with tg.profiler.profile(activities=[tg.profiler.ProfilerActivity.CPU]) as prof:
    ...     y = tg.ones(3) * 2
    >>> prof.key_averages()[0].key
    'profile'
    """

    def __init__(
        self,
        *,
        activities: Any = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[..., Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
        custom_trace_id_callback: Any = None,
        post_processing_timeout_s: float | None = None,
    ) -> None:
        super().__init__()
        self.activities = set(activities or supported_activities())
        self.schedule, self.on_trace_ready = schedule, on_trace_ready
        self.step_num = 0
        self._step_began = 0

    @property
    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)

    def _note(self, found: Range) -> None:
        if self._action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            super()._note(found)

    def start(self) -> None:
        """Begin."""
        super().start()
        self._step_began = self._began

    def stop(self) -> None:
        """End."""
        super().stop()
        if self.schedule is None and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """The next step of the `schedule` begins."""
        now = time.perf_counter_ns()
        action = self._action
        self._note(Range(f"ProfilerStep#{self.step_num}", self._step_began, now, threading.get_ident()))
        if action is ProfilerAction.RECORD_AND_SAVE and self.on_trace_ready is not None:
            self.on_trace_ready(self)
            self._ranges = []
        self._step_began = now
        self.step_num += 1

    def add_metadata(self, key: str, value: str) -> None:
        """Nothing: metadata is not written."""

    add_metadata_json = add_metadata


_KinetoProfile = profile


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False
) -> Callable[[profile], None]:
    """A function for `on_trace_ready` that writes a file for each turn of the schedule into a folder."""

    def write(prof: profile) -> None:
        Path(dir_name).mkdir(parents=True, exist_ok=True)
        name = f"{worker_name or f'worker_{os.getpid()}'}.{time.time_ns()}.pt.trace.json"
        prof.export_chrome_trace(Path(dir_name, name))

    return write
