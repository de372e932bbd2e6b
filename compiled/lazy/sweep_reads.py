"""What a repeated backward pass meets: tensors, saved values and numbers that the nodes keep, as lines of Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...ops.core import Step
from ...ops.views import shown
from ...tensors.tensor import Tensor, make
from ..common.tensor_memory import memory_of
from .event_trie import TrieInput
from .program_calls import PendingResults

# Conditions, to be put into texts: that the segment knows a memory (`number_of` also has identities of memory that is
# gone, which new memory may have been given); that it has met w{i} of o{i}, or numpy code sees that; that w{i}, which
# shows h{i}, is not met as a copy.
_KNOWS = "(id({0}) in deferred.number_of and deferred.number({0}) is not None)"
MET = "(o{i} in taken or o{i} in deferred.owners or o{i} in exposed or " + _KNOWS.format("w{i}") + ")"
NOT_COPIED = """o{i} not in exposed and (w{i}.size >= h{i}.size or o{i} in taken
            or deferred.owners.get(o{i}, id(h{i})) != id(h{i}) or """ + _KNOWS.format("h{i}") + ")"  # fmt: skip
SHOWN = """
    t{i} = {source}
    m{i} = memory_of(t{i})
    w{i}, _, _, o{i} = m{i}
    if m{i}[1] is not layout{i} or t{i}.steps or t{i}.buffer.whole is not w{i} or MET:
        return NOT_NOTED
""".replace("MET", MET)
SHOWN_BY_STEPS = """
    t{i} = {source}
    w{i} = t{i}.buffer.whole
    m{i} = memory_of(t{i})
    o{i} = m{i}[3]
    if (m{i}[1] is not layout{i} or (w{i}.shape, w{i}.strides, w{i}.dtype) != whole{i} or t{i}.steps != steps{i}
            or MET):
        return NOT_NOTED
""".replace("MET", MET)
COPY = """
    t{i} = {source}
    w{i}, layout, _, o{i} = memory_of(t{i})
    h{i} = t{i}.buffer.whole
    if layout is not layout{i} or (NOT_COPIED):
        return NOT_NOTED
    w{i} = array(w{i}, order="C")
""".replace("NOT_COPIED", NOT_COPIED)
SEEN = """
    t{i} = {source}
    if {other_memory} or t{i}.steps != steps{i}:
        return NOT_NOTED
"""


@dataclass(frozen=True, eq=False)
class Read:
    """One thing that the pass meets, under a token and in a memory.

    `kind` says how: a tensor that is "shown" as it is or read from a "copy", a view of memory that is "seen" already, a
    value that a call has "saved", a number that an op has as "constant", the "positions" that it has sliced. `source`
    is the expression for it, `view` what is known of the tensor: layout, steps, and the memory that they begin at.
    """

    token: int
    memory: int
    kind: str
    source: str
    view: Any = None
    steps: tuple[Step, ...] = ()  # of a view that the derivative takes of the tensor

    @property
    def brings_memory(self) -> bool:
        return self.kind != "seen"

    @property
    def is_of_tensor(self) -> bool:
        return self.kind in ("shown", "copy", "seen")


def read_of_tensor(
    token: int, event: TrieInput, source: str, tensor: Tensor, place: Any, met: Any = None, steps: tuple[Step, ...] = ()
) -> Read:
    """How the pass has read `tensor`, met as `met` (itself, or an alias), which has been given `place` if it was not
    copied. With `steps` it is a view of what `source` says."""
    whole = tensor.buffer.whole
    view = memory_of(tensor)[1], event.steps, (whole.shape, whole.strides, whole.dtype)
    if event.dtype is None:
        return Read(token, event.memory, "seen", source, view, steps)
    is_shown = (tensor if met is None else met).place == place
    return Read(token, event.memory, "shown" if is_shown else "copy", source, view, steps)


def view_of(tensor: Tensor, steps: Sequence[Step]) -> Tensor:
    """The view that a derivative takes of a tensor that is there."""
    return make(shown(tensor.ndarray, steps), tensor.buffer, (*tensor.steps, *steps))


def text_of(i: int, read: Read, before: int, reads: Sequence[Read], names: dict[str, Any]) -> str:
    """The lines that find what read number `i` meets, and give up where that is not as it was."""
    if read.kind == "saved":
        names["saved_value"] = saved_value
        return f"    w{i} = saved_value({read.source})\n"
    if not read.is_of_tensor:
        return f"    w{i} = {read.source}\n"
    names[f"layout{i}"], names[f"steps{i}"], names[f"whole{i}"] = read.view
    source = read.source
    if read.steps:
        names["view_of"], names[f"taken{i}"] = view_of, read.steps
        source = f"view_of({source}, taken{i})"
    if read.kind == "seen":
        return SEEN.format(i=i, source=source, other_memory=_other_memory(i, read.memory, before, reads))
    if read.kind == "copy":
        return COPY.format(i=i, source=source)
    return (SHOWN_BY_STEPS if read.view[1] else SHOWN).format(i=i, source=source)


def _other_memory(i: int, memory: int, before: int, reads: Sequence[Read]) -> str:
    """The condition that a tensor does not show the memory with that number."""
    if memory < before:
        return f"deferred.number(t{i}.buffer.whole) != {memory}"
    brought = next(j for j, read in enumerate(reads) if read.memory == memory and read.brings_memory)
    return f"t{i}.buffer.whole is not w{brought}"


def met_lines(i: int, read: Read) -> list[str]:
    """What is remembered of it, once the pass is noted."""
    met = [f"deferred.memories[{read.memory}] = w{i}"] if read.brings_memory else []
    if read.kind == "shown":
        met.append(f"deferred.owners[o{i}], deferred.number_of[id(w{i})] = id(w{i}), {read.memory}")
    if read.kind in ("shown", "seen"):
        met.append(f"t{i}.place = (segment, {read.token})")
    return met


def saved_value(saved: Any, position: int) -> np.ndarray:
    """A value that was saved for the backward pass, of a call whose segment is done."""
    if type(saved) is PendingResults:
        return saved.now(saved.memory + position)
    value = saved[position]
    array: np.ndarray = value if type(value) is np.ndarray else value.now()
    return array


FRESH = """
    n = {node}
    if type(n) is not AccumulateGrad: return NOT_NOTED
    {leaf} = n.variable
    if (type({leaf}) is not kind_{leaf} or not {leaf}._requires or {leaf}._node is not None or {leaf}.leaf_hooks
            or {leaf}.post_accumulate_hooks or {leaf}.ndarray.dtype is not dtype_{leaf}
            or {leaf}.ndarray.shape != {shape} or {leaf}.ndarray.strides != {strides}):
        return NOT_NOTED
"""


def text_of_fresh_leaf(node: str, leaf: str, like: Tensor, names: dict[str, Any]) -> str:
    """The lines that call the leaf at the end of the edge to `node` `leaf`, if it takes a gradient as `like` did."""
    names[f"dtype_{leaf}"], names[f"kind_{leaf}"] = like.ndarray.dtype, type(like)
    return FRESH.format(node=node, leaf=leaf, shape=like.ndarray.shape, strides=like.ndarray.strides)
