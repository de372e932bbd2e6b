"""Many steps of one specialisation in one call of C, where nothing that a step depends on can change in between.

Guards are looked at once, for the first of the steps; of the others only the memory of their arguments differs, and
where results go. All else is as in the usual call (`fast_path.py`): gradients that nobody holds are written where they
are, versions are counted up by the number of steps. What is no usual call is no part of many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ...runtime.errors import RuntimeFault
from ...runtime.program import address_of, is_entry
from ..common.classes import is_a
from ..common.pytree import filled, rebuilt
from ..common.written_code import each, lines, written
from ..execution.loop import STRIDED, Loop
from ..symbolic.number import Computed
from .arguments import NumberArgument
from .batches import Batches
from .fast_path import MISS, argument_checks, compile_checks, tensor_arguments
from .fresh_tensors import FreshTensor
from .results import ItemOf, Placed
from .stacked_results import Rows, StackedResults, Values

if TYPE_CHECKING:
    from .specialisation import Specialisation

MOST_BYTES = 1 << 25  # of results that memory is taken for at once

# The addresses of the arguments of further batches, up to one that is not like the first.
LISTED = """
def listed(given, found):
    count = 0
    like = given[0] if type(given[0]) in (tuple, list) else given
    for args in given:
        if type(args) is not tuple and type(args) is not list:
            args = (args,)
        {checks}
        {numbers}
        {addresses}
        count += 1
    return count
"""


class ManySteps:
    """What many steps of one specialisation share."""

    def __init__(self, of: Specialisation) -> None:
        self._of = of
        self._holds = compile_checks(of)
        self._loop = Loop(of.binding)
        self.slots = [
            (i, spec.slot) for i, spec in tensor_arguments(of.arguments.simple or ()) if spec.slot is not None
        ]
        self.listed = _listed(of)

    def run(self, batches: Batches, most: int, results: StackedResults) -> int:
        """Do the next steps, up to `most` of them, and add their results; returns how many were done.

        0 if the next one has to be done by itself: nothing was changed then.
        """
        with self._of.lock:
            args = batches.first()
            if args is None or self._holds(args) is MISS:
                return 0
            count, moving = batches.moving(self, min(most, self._most))
            done = self._run(count, moving, results)
        batches.skip(done)
        return done

    @property
    def _most(self) -> int:
        types = self._of.binding.result_types[: len(self._of.results.fresh)]
        return max(1, MOST_BYTES // max(1, sum(of.nbytes for of in types)))

    def _run(self, count: int, moving: list[tuple[int, ...]], results: StackedResults) -> int:
        of, loop = self._of, self._loop
        types = of.binding.result_types[: len(of.results.fresh)]
        blocks = [np.empty((count, *each.shape), each.dtype.numpy) for each in types]
        first = of.binding.first_result
        made = [(first + i, STRIDED, address_of(block), types[i].nbytes) for i, block in enumerate(blocks)]
        loop.begin(0, count, [*moving, *made])
        effects = _Effects(of, blocks)
        try:
            loop.run()
            effects.apply(loop.done)
        except BaseException:
            effects.apply(loop.done)
            raise
        done = loop.done
        if done:
            results.add_many(_tree(of, [block[:done] for block in blocks], done))
        return done


class _Effects:
    """What follows the steps that were done: versions of what was written, numbers in lists."""

    def __init__(self, of: Specialisation, blocks: list[np.ndarray]) -> None:
        written = of.captured.written_buffers
        writes = Counter(map(id, written))
        self._written = [(buffer, buffer.version, writes.pop(id(buffer))) for buffer in written if id(buffer) in writes]
        self._appends = of.results.appends
        self._blocks = blocks
        self._pending: Iterator[None] | None = None
        self._appended: list[None] = []

    def apply(self, steps: int) -> None:
        """Do it. After an interrupt it may be called once more, and does the rest."""
        for buffer, before, writes in self._written:
            buffer.version = before + steps * writes
        if self._appends:
            if self._pending is None:
                self._pending = self._extending(steps)
            self._appended.extend(self._pending)  # which no bytecode is a part of: all of it, or nothing

    def _extending(self, steps: int) -> Iterator[None]:
        """Gives numbers to the lists that the steps append to, in order, while it is gone through."""
        columns = [
            (source.now(), [_numbers(leaf.fill, self._blocks, steps) for leaf in leaves])
            for source, leaves in self._appends
        ]
        if len(columns) == 1 and len(columns[0][1]) == 1:
            return map(list.extend, [columns[0][0]], [columns[0][1][0]])
        pairs = [(to, [column[i] for column in found]) for i in range(steps) for to, found in columns]
        return map(list.extend, [to for to, _ in pairs], [numbers for _, numbers in pairs])


def _numbers(fill: ItemOf, blocks: list[np.ndarray], steps: int) -> list[Any]:
    assert is_a(fill.tensor, FreshTensor)
    found: list[Any] = blocks[fill.tensor.index][:steps].reshape(steps).tolist()
    return found


def _tree(of: Specialisation, blocks: list[np.ndarray], steps: int) -> Any:
    """The results of the steps."""

    def column(leaf: Any) -> Any:
        if not is_a(leaf, Placed):
            return Values([leaf] * steps)
        if is_a(leaf.fill, FreshTensor):
            return Rows(blocks[leaf.fill.index])
        assert is_a(leaf.fill, ItemOf)
        return Values(_numbers(leaf.fill, blocks, steps))

    return rebuilt(of.results.tree, column)


def many_steps(of: Specialisation) -> ManySteps | None:
    """The many steps of `of`, None if each has to be done by itself.

    So it is with calls that are never usual, with those that store tensors outside, and with results that are not made
    anew by C, each for itself: tensors that were there before, views, numbers that Python computes.
    """
    if not callable(of.usual) or of.recording.inputs.places or not is_entry(of.binding.entry):
        return None
    if of.arguments.simple is None or of.results.stored:
        return None
    if any(output.leaf for output in of.results.fresh) or not all(map(_is_column, _filled(of))):
        return None
    try:
        return ManySteps(of)
    except RuntimeFault:  # of which a warning has told
        return None


def _filled(of: Specialisation) -> list[Any]:
    return filled(of.results.tree) + [leaf for _, leaves in of.results.appends for leaf in leaves]


def _is_column(leaf: Any) -> bool:
    if not is_a(leaf, Placed):
        return not is_a(leaf, Computed)
    fill = leaf.fill.tensor if is_a(leaf.fill, ItemOf) else leaf.fill
    return is_a(fill, FreshTensor)


def _listed(of: Specialisation) -> Callable[[Any, list[int]], int]:
    names: dict[str, Any] = {}
    checks = argument_checks(of, names, miss="count").replace("\n", "\n    ")
    numbers = [i for i, spec in enumerate(of.arguments.simple or ()) if is_a(spec, NumberArgument)]
    read = [i for i, spec in tensor_arguments(of.arguments.simple or ()) if spec.slot is not None]
    text = LISTED.format(
        checks=checks,
        numbers=lines(8, [f"if a{i} is not like[{i}]: return count" for i in numbers]),
        addresses=f"found += {each('m{}[2]', read)}," if read else "pass",
    )
    return written(text, f"usual call of {of.recording.name!r}", names)
