"""Updates that recordings need not record for each parameter anew (`compiler/repeats.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tape.grad_mode import is_recording
from ..tensors.operands import PLAIN_TENSORS
from ..tracing.watch import watcher
from .in_numpy import form_of
from .options import Options
from .state import name_state, state_tensor

Update = Callable[..., None]


def repeated(update: Update, optimizer: Any, options: Options) -> Update:
    """`update` of a parameter, its gradient and its state. A recording is told that all parameters with equal types
    are updated alike by these options, if the update is the library's own; what they hold is computed by its form in
    numpy then."""
    recording, form = watcher(), form_of(optimizer.update)
    if recording is None or form is None or is_recording():
        return update
    recorder, group = recording.recorder, options.numbers_of_python()

    def updated(p: Any, gradient: Any, state: Any, *more: Any) -> None:
        tensors = (p, gradient, *dict.values(state))

        def whole() -> bool:
            update(p, gradient, state, *more)
            return [*map(id, dict.values(state))] == [*map(id, tensors[2:])]

        def in_numpy() -> bool:
            for key in dict.keys(state):
                state_tensor(state, key, p)
            return form(optimizer, p, gradient, state, group)

        if all(type(each) in PLAIN_TENSORS for each in tensors):
            for key in dict.keys(state):
                name_state(state, key, p)
            recorder.repeated((options, *dict.keys(state)), tensors, whole, in_numpy)
        else:
            whole()

    return updated
