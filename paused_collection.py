"""Python's garbage collector while the package is imported."""

from __future__ import annotations

import gc
from collections.abc import Callable


class PausedCollection:
    """No collections until `end()`, or until an import that fails lets this object go.

    An import makes a hundred thousand objects and no garbage: to look through them takes a sixth of its time.
    """

    def __init__(self) -> None:
        self._was_enabled = gc.isenabled()
        gc.disable()

    def end(self) -> None:
        """Let collections go on. What is there counts as old, as if they had found it in use."""
        if not gc.get_freeze_count():  # what the program has frozen stays so
            gc.freeze()
            gc.unfreeze()
        self.__del__()

    def __del__(self, enable: Callable[[], None] = gc.enable) -> None:
        if self._was_enabled:
            enable()
        self._was_enabled = False
