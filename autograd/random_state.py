"""The random state of a time: whether it has moved since, and the way back."""

from __future__ import annotations

from ..tensors.generator import default_generator


class RandomState:
    """The default generator's state when this is made, as tensors that a compiled function may keep, too."""

    def __init__(self) -> None:
        self._tensors = default_generator.snapshot()
        self._versions = _versions()

    @property
    def has_moved(self) -> bool:
        """Whether numbers were drawn, or the generator was seeded, since: told by versions, no number is looked at."""
        return _versions() != self._versions

    def put_back(self) -> None:
        """The generator as it was; where nothing was drawn it is not written to."""
        if self.has_moved:
            default_generator._restore(*self._tensors)
            self._versions = _versions()


def _versions() -> tuple[float, float]:
    """Of the words, and of a normal number that is ready: a draw may take that one alone."""
    return default_generator.state.buffer.version, default_generator.cached.buffer.version
