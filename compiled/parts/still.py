"""Whether what an expected call depends on is as it was, as far as counted changes tell."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ...runtime.references import versions_are_known
from ...tape.nodes import Edge
from ...tracing.watch import counter
from ..guards.option_numbers import OptionNumbers
from ..lazy.kept_input import Snapshot
from ..lazy.program_calls import ProgramCall
from .guard_looks import Looks
from .noting import NotedSpecialisation


class Still:
    """Whether all that is counted (but for gradients) is as it was when the general way looked at it last, and what
    followed from it."""

    def __init__(
        self, of: NotedSpecialisation, call: ProgramCall, looks: Looks, kept: Sequence[str], apart: Collection[str] = ()
    ) -> None:
        self._of, self._call, self._looks = of, call, looks
        self._apart = frozenset(apart)  # captured inputs that other tensors stand for
        self.term, self.now = " + ".join(f"changes.{kind}" for kind in of.kinds), counter(of.kinds)
        self.labels = tuple(kept)  # of captured inputs that the backward pass reads
        self.containers = of.recording.environment.counted_containers
        self.count = self._count_of_others = -1
        self._others = counter(tuple(kind for kind in of.kinds if kind != "options"))
        numbers = [number for number in of.recording.numbers if number.root.node.label in call.operands]
        self._reads = [number.get for number in numbers]
        self._options = OptionNumbers(self._reads, of.recording.guards, self.containers)
        self.numbers: list[np.ndarray] = []
        self.edges: tuple[Edge, ...] = ()
        self.kept: tuple[Snapshot, ...] = ()

    @property
    def elsewhere(self) -> str:
        """A term that is true where something was written to containers, and has not been counted."""
        if not self.containers:
            return ""
        if not versions_are_known:
            return "not containers.agree() and not containers.look() or "
        items = " or memory[containers.items].tobytes() != containers.expected_items" * self.containers.has_lists
        words = f"(memory[containers.places].tobytes() != containers.expected{items})"
        return f"{words} and not containers.only_modes_or_stores_changed() or "

    def captured_edges(self) -> dict[str, Edge]:
        """Where the gradients of captured leaves go."""
        known = self._of.captured_edges()
        return {label: edge for label, edge in known.items() if label not in self._apart} if self._apart else known

    def is_so(self) -> bool:
        """Take over what the general way has found since the last change, if it has; or see that nothing but numbers
        of options has changed."""
        of, now, others = self._of, self.now(), self._others()
        if others == self._count_of_others and not of.inputs.sources and self._options.are_all_that_changed():
            self.numbers = [np.array(read(), np.float64) for read in self._reads]
            self.count = now
            return True
        self._count_of_others = -1
        if not self._looks.hold():
            return False
        self.numbers = [array.copy() for _, array in of.number_arrays(frozenset(self._call.operands))]
        if of.backward is not None:
            known = self.captured_edges()
            self.edges = tuple(known[label] for label in of.backward.wrt if label in known)
            self.kept = tuple(of.backward.snapshot(label, of.captured_sources[label]) for label in self.labels)
        self._options.note()
        self._count_of_others, self.count = others, self.now()
        return True
