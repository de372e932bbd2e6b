"""What the latest program of a compiled function was made of, stage by stage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..compiler.errors import CompilerError
from ..compiler.graph import Graph
from .replay.specialisation import Specialisation

if TYPE_CHECKING:
    from ..compiler.schedule.schedule import Schedule


class Stages:
    """The part of a compiled function that shows graph, schedule and C."""

    __name__: str
    specialisations: list[Specialisation]

    @property
    def _latest(self) -> Specialisation:
        if not self.specialisations:
            raise CompilerError(
                f"{self.__name__} has not been compiled yet\n"
                f"  where its graph, schedule or source is asked for\n"
                "  Call it once with real arguments; then look inside."
            )
        return self.specialisations[0]

    @property
    def graph(self) -> Graph:
        """The simplified graph; prints as text."""
        return self._latest.program.graph

    @property
    def schedule(self) -> Schedule:
        """Kernels, buffers and the arena; prints as text."""
        return self._latest.program.schedule

    @property
    def source(self) -> str:
        """The C."""
        return self._latest.program.source

    @property
    def source_path(self) -> Path:
        """The file that holds the C."""
        return self._latest.program.source_path

    @property
    def from_cache(self) -> bool:
        """True if the library was found in the cache instead of being built."""
        return self._latest.program.built.from_cache
