"""The expected event: code written for the call that has come next at one point of the tree of events.

`Subprogram.noted` says what noting a call means: which specialisation matches, which tokens stand for its operands,
what its results are and which history they get. What has come twice at the same point is written as one Python
function, in which all of that is known but for the guards; it gives `NOT_NOTED`, with nothing done, for whatever is not
as it was, and the general way decides.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...ops.array import Buffer
from ...ops.core import Step
from ...ops.exposure import exposed_owners
from ...runtime.references import memory
from ...tape.nodes import Saved, count_now
from ...tensors.blank import blank
from ...tensors.operands import PLAIN_TENSORS
from ...tensors.tensor import Tensor
from ...tracing.watch import changes
from ...tracing.watched_classes import classes
from ..common.classes import is_a
from ..common.tensor_memory import memory_of
from ..common.written_code import each, lines, written
from ..guards.guard_codegen import GuardCodegen
from ..lazy.compiled_node import CompiledNode
from ..lazy.deferred_calls import CALL, NOT_NOTED
from ..lazy.event_trie import Call, Compute, TrieInput, TrieNode
from ..lazy.program_calls import PendingResults, ProgramCall
from ..replay.arguments import TensorArgument
from .expected_source import (
    COPIED,
    KNOWN,
    MEMORY,
    NOT_WITH_HISTORY,
    OUTSIDE_WITH,
    OWNER,
    RESULT,
    SOURCE,
    VIEW,
    VIEW_WITH,
    WHOLE,
)
from .guard_looks import Looks
from .noting import NotedSpecialisation
from .still import Still

Steps = tuple[Step, ...]
FEW = 3  # memories that are compared two by two


class Unexpected(Exception):
    """The call is of a kind that the general way has to note each time."""


class Noted(NamedTuple):
    """As what a call has been noted: `others` are operands behind the arguments, the inputs `labels`, in the places of
    captured tensors."""

    call: ProgramCall
    looks: Looks
    labels: tuple[str, ...] = ()
    others: tuple[Tensor, ...] = ()


class Expected:
    """Writes the function for a call that has just been noted, between two points of the tree."""

    def __init__(
        self, of: NotedSpecialisation, before: TrieNode, args: tuple[Any, ...], deferred: Any, noted: Noted
    ) -> None:
        _require(of.plan is not None and of.arguments.simple is not None and not of.arguments.are_shared)
        _require(not of.captured.vary and not of.captured.writes_normals and not of.needs_numbers)
        assert of.plan is not None
        self._of, self._before, self._after, self._plan = of, before, _point_of_call(deferred.here), of.plan
        self._args, self._deferred, self._segment = (*args, *noted.others), deferred, deferred.segment
        others = [TensorArgument(tensor, None, captured=False) for tensor in noted.others]
        self._specs = [*(of.arguments.simple or ()), *others]
        instead = [(label, (0, i)) for i, label in enumerate(noted.labels, len(args))]
        self._operands = [*of.plan.arguments, *instead]  # by label, with their paths
        self._met, self._event = _events(before, self._after)
        self._names_of_met: dict[int, str] = {}  # what is met, by token
        self._outside: list[Any] = []  # arguments that no call of this segment has made
        self._whole: dict[Any, int] = {}  # those of them that are met as they are: their tokens
        _require(self._event.program is noted.call and not (of.backward and of.backward.copied))
        guards = GuardCodegen(of.recording.environment)
        self._terms, self.names = guards.terms, guards.names
        self._paths = {label: path[1] for label, path in self._operands}
        kept = () if of.backward is None else of.backward.kept
        self._kept_arguments = sorted((self._paths[label], label) for label in kept if label in self._paths)
        of_captured = sorted(label for label in kept if label not in self._paths)
        self._still = Still(of, noted.call, noted.looks, of_captured, noted.labels)
        self._moving = () if noted.labels else of.plan.moving
        _require(self._still.is_so())

    def function(self) -> Callable[..., Any]:
        """The function for calls like it."""
        of, event, names = self._of, self._event, self.names
        taken = event.owners.union(*(call.owners for call in self._before.captured))
        names.update(
            NOT_NOTED=NOT_NOTED, GONE=GuardCodegen.GONE, Tensor=Tensor, Buffer=Buffer, memory_of=memory_of,
            copied=_copied,
            new=object.__new__, blank=blank, empty=np.empty, changes=changes, ref=weakref.ref, still=self._still,
            taken=taken, exposed=exposed_owners, owners=event.owners, wholes=event.program.wholes,
            arrays=event.arrays, after=self._after, lock=of.lock, inputs=of.inputs, hand_out=of.results.hand_out,
            nothing={}, memory=memory, containers=self._still.containers, before=self._before,
        )  # fmt: skip
        names.update(classes.names)
        operands = self._arguments() + self._gradients() + self._moved()
        numbers = self._numbers()
        _require(len(self._names_of_met) == len(self._met))
        source = SOURCE.format(
            count=len(self._specs), call=CALL, elsewhere=self._still.elsewhere, now=self._still.term,
            classes=classes.term, modes=of.recording.modes.as_python(names),
            environment="\n            and ".join(self._terms) or "True",
            operands=operands.strip() or "pass", numbers=numbers, refused="\n            or ".join(self._refusals()),
            meet=lines(4, self._meeting()), results=self._results(), first=self._before.memories,
            memories=self._memories(), written=lines(4, self._written()), history=lines(4, self._history()),
            result=self._result(),
        )  # fmt: skip
        return written(source, f"call of {of.recording.name!r}", names)

    # ------------------------------------------------------------------------------------------------------- operands

    def _arguments(self) -> str:
        """The checks of arguments; those that the program reads are operands."""
        text = f"[{each('a{}', range(len(self._specs)))}] = args\n" if self._specs else ""
        tokens = [token for _, token in self._event.operands[: len(self._operands)]]
        token_of = {path[1]: token for (_, path), token in zip(self._operands, tokens, strict=True)}
        for i, spec in enumerate(self._specs):
            if is_a(spec, TensorArgument):
                _require(spec.only is None)
                text += self._operand(i, spec, self._args[i], token_of.get(i))
        return text

    def _moved(self) -> str:
        """Captured tensors that have been given other memory."""
        text, first = "", len(self._plan.arguments) + len(self._plan.gradients)
        for j, captured in enumerate(self._moving):
            tensor: Any = captured.array
            _require(is_a(tensor, Tensor))
            self.names[f"moved{j}"] = tensor
            text += f"    a_moved{j} = moved{j}\n"
            spec = TensorArgument(tensor, None, captured=False)
            text += self._operand(f"_moved{j}", spec, tensor, self._event.operands[first + j][1])
        return text

    def _operand(self, i: Any, spec: TensorArgument, tensor: Tensor, token: int | None) -> str:
        _require(spec.kind in PLAIN_TENSORS and not tensor.__dict__ and not spec.hooks)
        self.names.update({f"layout{i}": spec.layout, f"kind{i}": spec.kind})
        history = "leaf" if spec.tracked and spec.leaf else "history" if spec.tracked else "none"
        if token is not None and token < self._before.tokens:
            return self._known(i, token) + NOT_WITH_HISTORY[history].format(i=i)
        _require(token is not None or self._of.arguments.alias_free)
        self._outside.append(i)
        outside = OUTSIDE_WITH[history].format(i=i) + MEMORY.format(i=i)
        if token is None:
            return outside
        steps = self._meets(token, f"w{i}", tensor.steps)
        if steps:
            whole = tensor.buffer.whole
            _require(history in VIEW_WITH and tensor.place == (self._segment, token))
            self.names.update({f"steps{i}": steps, f"whole{i}": (whole.shape, whole.strides, whole.dtype)})
            self._whole[i] = token
            return VIEW_WITH[history].format(i=i) + MEMORY.format(i=i) + VIEW.format(i=i)
        if tensor.place == (self._segment, token):
            self._whole[i] = token
            return outside + WHOLE.format(i=i)
        return outside + COPIED.format(i=i)

    def _known(self, i: Any, token: int) -> str:
        """What this segment has met or made before. What it has made lies in memory of its own."""
        if not is_a(_event_of(self._before, token), TrieInput):
            return KNOWN.format(i=i, token=token)
        self._outside.append(i)
        return KNOWN.format(i=i, token=token) + OWNER.format(i=i)

    def _gradients(self) -> str:
        text, first = "", len(self._plan.arguments)
        for j, captured in enumerate(self._plan.gradients):
            _require(captured.path is None and not captured.requires_grad)
            i, token = f"_grad{j}", self._event.operands[first + j][1]
            slot: Any = captured.slot
            leaf = self.names[f"leaf{j}"] = slot.tensor
            self.names[f"kind{i}"] = Tensor
            text += f"    a{i} = leaf{j}._grad\n"
            if token < self._before.tokens:
                text += f"    if a{i} is None: return NOT_NOTED\n"
                text += self._known(i, token) + NOT_WITH_HISTORY["none"].format(i=i)
                continue
            _require(leaf._grad.place == (self._segment, token))
            self.names[f"layout{i}"] = memory_of(leaf._grad)[1]
            self._meets(token, f"w{i}")
            self._outside.append(i)
            self._whole[i] = token
            text += OUTSIDE_WITH["none"].format(i=i) + MEMORY.format(i=i) + WHOLE.format(i=i)
        return text

    def _numbers(self) -> str:
        """Numbers among the operands, copied, since they may be others by the time that the program runs."""
        arrays = [array for _, array in self._plan.numbers]
        tokens = [token for _, token in self._event.operands[len(self._event.operands) - len(arrays) :]]
        formulas = bool(self._of.inputs.sources)
        for i, token in enumerate(tokens):
            self._meets(token, f"u{i}" if formulas else f"still.numbers[{i}]")
        if not formulas:
            return "pass"
        self.names.update(numbers_hold=self._of.inputs.reader(), number_arrays=arrays)
        kept = "values = inputs.values" + "".join(f"; u{i} = number_arrays[{i}].copy()" for i in range(len(arrays)))
        return f"with lock:\n        if not numbers_hold(args): return NOT_NOTED\n        {kept}"

    def _meets(self, token: int, name: str, steps: Steps = ()) -> Steps:
        """`name` is what the event that brings `token` meets: a memory as it is, or by `steps`, which are returned."""
        position = token - self._before.tokens
        _require(position >= 0 and token not in self._names_of_met)
        met = self._met[position]
        _require(met.dtype is not None and met.steps in ((), steps))
        self._names_of_met[token] = name
        return met.steps

    def _refusals(self) -> list[str]:
        """When the call cannot be noted, or would be another event."""
        of, outside = self._of, self._outside
        refused = [f"len({{{each('o{}', outside)}}}) != {len(outside)}"] if len(outside) > FEW else []
        refused = refused or [f"o{i} == o{j}" for n, i in enumerate(outside) for j in outside[:n]]
        if of.arguments.captured and outside:
            self.names["captured"] = of.arguments.captured
            refused += [f"o{i} in captured" for i in outside if type(i) is int]  # the gradients themselves are
        if self._event.owners:
            refused += [*self._captured_otherwise(), "exposed and not owners.isdisjoint(exposed)"]
        for i, (tensor, _, had) in enumerate(of.captured.had_gradients):
            self.names[f"fed{i}"] = tensor
            refused += [] if had else [f"fed{i}._grad is not None"]
        for i, guard in enumerate(of.guards_of_gradients):
            self.names[f"guard{i}"] = guard
            refused.append(f"not guard{i}.holds()")
        for i, check in enumerate(self._plan.checks):
            self.names[f"check{i}"] = check
            refused.append(f"not check{i}.passes(deferred, (args, nothing))")
        # A check may have ended the segment, to look at numbers that were pending.
        return [*refused, "deferred.segment is not segment"]

    def _captured_otherwise(self) -> list[str]:
        """When captured memory, which the segment may know by now, is not known as it was."""
        deferred, program = self._deferred, self._event.program
        numbers = {whole: deferred.number_of[whole] for whole in program.order if whole in deferred.number_of}
        owners = {owner: deferred.owners[owner] for owner in program.owners if owner in deferred.owners}
        _require(all(program.wholes_by_owner[owner] == whole for owner, whole in owners.items()))
        if not numbers and not owners:
            return ["not (owners.isdisjoint(deferred.owners) and wholes.isdisjoint(deferred.number_of))"]
        met = [f"deferred.number_of.get({whole}) != {number}" for whole, number in numbers.items()]
        met += [f"deferred.owners.get({owner}) != {whole}" for owner, whole in owners.items()]
        return [
            f"len(owners.intersection(deferred.owners)) != {len(owners)}",
            f"len(wholes.intersection(deferred.number_of)) != {len(numbers)}", *met,
        ]  # fmt: skip

    # -------------------------------------------------------------------------------------------------------- effects

    def _meeting(self) -> list[str]:
        made = []
        for i, token in self._whole.items():
            memory = self._met[token - self._before.tokens].memory
            made.append(f"deferred.owners[o{i}], deferred.number_of[id(w{i})] = id(w{i}), {memory}")
            made.append(f"a{i}.place = (segment, {token})")
        return made

    def _results(self) -> str:
        text, token = "", self._after.tokens - len(self._event.results)
        for i, (of, version) in enumerate(self._plan.fresh):
            self.names.update({f"shape{i}": of.shape, f"dtype{i}": of.dtype.numpy})
            text += RESULT.format(i=i, version=version, token=token + i, memory=self._event.first_result + i)
        if self._plan.saved:
            count = len(self._plan.fresh)
            self.names.update(saved_types=tuple(self._plan.saved), Pending=PendingResults)
            memory = self._event.first_result + count
            text += f"    saved = Pending(saved_types, segment, {token + count}, {memory})\n    s = ref(saved)\n"
        return text.strip() or "pass"

    def _memories(self) -> str:
        met = [self._names_of_met[self._before.tokens + i] for i in range(len(self._met))]
        results = [f"ref(n{i})" for i in range(len(self._plan.fresh))] + ["s"] * len(self._plan.saved)
        return f"[{', '.join([*met, '*arrays', *results])}]"

    def _written(self) -> list[str]:
        self.names.update(event_written=self._event.written, written_buffers=self._of.captured.written_buffers)
        if not self._event.written:
            return []
        return ["for buffer in written_buffers: buffer.version += 1"]

    def _history(self) -> list[str]:
        made, live = ([] if self._of.backward is None else self._node()), 0
        for i, output in enumerate(self._of.results.fresh):
            if output.live:
                made.append(f"r{i}._node, r{i}._output = node, {live}")
                live += 1
            elif output.spent is not None:
                self.names[f"spent{i}"] = output.spent
                made.append(f"r{i}._node = spent{i}")
            elif output.leaf:
                made.append(f"r{i}.requires_grad_()")
        return made

    def _node(self) -> list[str]:
        """What `CompiledNode.__init__` does."""
        backward = self._of.backward
        assert backward is not None
        _require(len(backward.groups) == 1)
        live = [i for i, output in enumerate(self._of.results.fresh) if output.live]
        self.names.update(Node=CompiledNode.called(backward.groups[0].title), backward=backward, Saved=Saved)
        self.names.update(count_now=count_now, group=backward.groups[0])
        inputs, versions = ["*still.kept"], []
        for j, label in enumerate(self._still.labels):
            self.names[f"kept{j}"] = self._of.captured_sources[label]
            versions.append(f"kept{j}.buffer.version, ")
        for i, label in self._kept_arguments:
            spec = self._specs[i]
            has_history = label not in backward.wrt and spec.tracked and not spec.leaf
            kept = f"({label!r}, a{i}, a{i}.ndarray, a{i}.buffer, a{i}.steps)"
            inputs.append(f"backward.snapshot({label!r}, a{i})" if has_history else kept)
            versions.append(f"a{i}.buffer.version, ")
        outputs = ", ".join(f"{j}: Saved(r{live[i]}, True)" for j, i in enumerate(backward.eager.outputs))
        return [
            "node = new(Node)",
            f"node.edges = node.shown_edges = {self._edges()}",
            "node.sequence, node.tensor_hooks, node.retained = count_now(), {}, {}",
            "node.pre_hooks, node.post_hooks, node.origin = {}, {}, None",
            f"node.outputs, node._backward, node._group = {len(live)}, backward, group",
            "node._copies, node._released = nothing, False",
            f"node.inputs, node.versions = {f'({chr(44).join(inputs)},)' if inputs[1:] else 'still.kept'}, "
            f"({''.join(versions)})",
            f"node._outputs, node._saved = {{{outputs}}}, {'saved' if self._plan.saved else '()'}",
            f"node.segment, node.token, node.still = segment, {self._after.tokens}, still",
            "node.made_at = still.count",
            *(f"r{live[i]}.buffer.reader = ref(node)" for i in backward.eager.outputs),
        ]

    def _edges(self) -> str:
        assert self._of.backward is not None
        wrt, known = self._of.backward.wrt, self._still.captured_edges()
        captured = [label for label in wrt if label in known]
        if len(captured) == len(wrt):
            return "still.edges"
        _require(all(label in self._paths for label in wrt if label not in known))
        parts = [
            f"still.edges[{captured.index(label)}]" if label in known else f"a{self._paths[label]}.gradient_edge()"
            for label in wrt
        ]
        return f"({', '.join(parts)},)"

    def _result(self) -> str:
        results = self._of.results
        if results.is_one_tensor:
            return "r0"
        values = "values" if self._of.inputs.sources else "inputs.values"
        return f"hand_out([{each('r{}', range(len(results.fresh)))}], (args, nothing), {values})"


def _point_of_call(here: TrieNode) -> TrieNode:
    """Where a call has led to; views of its results, which come behind it, are made anew when these are handed out."""
    while is_a(here.event, Compute) and here.event.is_view and here.before is not None:
        here = here.before
    return here


def _events(before: TrieNode, after: TrieNode) -> tuple[list[TrieInput], Call]:
    """What has come between two points: tensors that were met, and the call."""
    events: list[Any] = [point.event for point in after.since(before) or ()]
    _require(events and is_a(events[-1], Call) and all(is_a(event, TrieInput) for event in events[:-1]))
    return events[:-1], events[-1]


def _event_of(here: TrieNode, token: int) -> Any:
    """The event that has brought a token."""
    return next(point.event for point in here.way() if token < point.tokens)


def _copied(array: np.ndarray) -> np.ndarray:
    return np.array(array, order="C")


def _require(condition: Any) -> None:
    if not condition:
        raise Unexpected
