"""One recorded graph, compiled: when it applies, and what a call of it does.

A call compares the arguments with what was recorded, fills the table of addresses, calls C once, and hands out results
and gradients. Anything else that the recording depended on is guarded by one counter (tracing/watch.py): only when it
has moved are the guards looked at and the addresses of captured tensors found again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...compiler.differentiate import missing_derivative
from ...compiler.errors import CaptureError
from ...compiler.graph import Graph
from ...compiler.pipeline import Program
from ...runtime.program import address_of
from ...tape.nodes import Edge
from ...tensors.tensor import Tensor, make
from ...tracing.watch import changes, counter
from ...tracing.watched_classes import classes
from ..common.autograd_graph import depending_by_zero, graph_behind, histories, reached_from
from ..common.classes import is_a
from ..common.pytree import at
from ..common.sharing import sharing
from ..execution.binding import Binding
from ..execution.commit import Effects, run
from ..execution.shape_cache import Programs
from ..guards.unwritten import Unwritten
from ..lazy.backward_program import Backward
from ..lazy.compiled_node import CompiledNode
from ..lazy.eager_tape import EagerTape
from ..lazy.gradient_orders import gradient_orders
from ..recording.leaks import refuse_leaks
from ..recording.recording import Recording
from ..recording.result_histories import check_ends, check_history
from ..recording.stored_values import check_unread
from ..recording.validity import check_unused_errors, refusal
from ..verification.verify import is_wanted
from .arguments import Args, Arguments, Kwargs
from .captured_inputs import CapturedInputs
from .gradients import Grads
from .number_inputs import NumberInputs
from .results import Results, graph_of
from .saved_memory import SavedMemory

NOT_WRITTEN = object()


class Specialisation:
    """One recording and its program."""

    def __init__(self, recording: Recording, programs: Programs) -> None:
        self.recording = recording
        args, kwargs = recording.given
        _refuse_strided_writes(recording)
        self.results = Results(recording)
        graph = graph_of(recording, self.results)
        check_unused_errors(recording.recorder, graph)
        check_unread(recording.stored, recording.recorder.roots, graph)
        self.backward = _backward_of(recording, graph, self.results, programs)
        refuse_leaks(recording, self.results.tensors)
        self.graph = graph if self.backward is None else self.backward.parts.forward
        self.program: Program = programs.of(self.graph)
        self.binding = Binding(self.program)
        if not programs.later:
            self.binding.build()
        self.because = ""  # why it was made
        self.unverified = is_wanted()  # by eager mode
        self.lock = self.binding.lock  # around `matches` and `call`, which share the table
        self.seen = -1  # the value of `changes` for which all guards are known to hold
        self._seen_count = self._seen_options = self._seen_memories = -1  # the same, by what is counted
        self._unlike_at = (-1, -1)  # where they are known not to hold, whatever gradients there are
        of = recording.environment
        of.count_stores()
        self.unwritten = Unwritten(recording.guards, of.counted_values, of.counted_contents)
        self.guards_of_gradients = [guard for guard in recording.guards if guard.of_gradients]
        self.captured = CapturedInputs(recording, self.binding)
        self.arguments = Arguments(recording, self.binding, self.captured, args, kwargs)
        counted = recording.counted | recording.environment.counted | ({"grads"} if recording.grads else set())
        counted |= {"memories"} if self.captured.all else set()
        self.counted = tuple(sorted(counted))  # what of `changes` concerns this program
        self.now = counter(self.counted)
        self.now_but_for_updates = counter(tuple(sorted(counted - {"grads", "memories", "options"})))
        self.sharing = sharing(recording, self.captured, (args, kwargs))  # as recorded, for messages
        self.grads = Grads(recording, self.binding, len(self.results.fresh))
        saved = () if self.backward is None else self.backward.parts.saved
        self._saved = SavedMemory(self.binding, len(self.results.fresh) + len(self.grads), len(saved))
        self.written_arguments = [path for path, root in recording.arguments if root.region.written]
        # Those whose versions are counted up, once for each write.
        self.counted_arguments = [path for path, root in recording.arguments for _ in range(root.counted_writes)]
        self._bind_numbers()
        self.inputs = NumberInputs(recording.symbolic_inputs, recording.scalars, self.binding)
        self._edges_seen = -1  # the value of `changes` at which edges to captured leaves were found
        self._captured_edges: dict[str, Edge] = {}
        self._find_sources()
        self.results.let_go()
        recording.let_go()
        self.usual: Any = NOT_WRITTEN  # the function for its usual calls, None if they are never usual
        self.many: Any = NOT_WRITTEN  # what does many steps at once, None if each has to be done by itself

    def number_arrays(self, labels: Collection[str]) -> list[tuple[str, np.ndarray]]:
        """Where the numbers that are inputs of the graph, those of `labels`, lie once they have been looked at."""
        names = [number.root.node.label for number in self.recording.numbers]
        found = [(name, self._numbers[i : i + 1].reshape(())) for i, name in enumerate(names)]
        return [(label, array) for label, array in (*found, *self.inputs.arrays()) if label in labels]

    def _bind_numbers(self) -> None:
        inputs = self.recording.numbers
        self._numbers = np.zeros(max(1, len(inputs)), np.float64)
        for i, number in enumerate(inputs):
            slot = self.binding.slot_of.get(number.root.node.label)
            if slot is not None:
                self.binding.slots.set_address(slot, address_of(self._numbers) + self._numbers.itemsize * i)

    # ---------------------------------------------------------------------------------------------------- applying

    def inputs_of(self, args: Args, kwargs: Kwargs) -> tuple[Args, Kwargs] | None:
        """The inputs of a call with these arguments, which the other methods take; None if it has not all of them."""
        return self.recording.inputs.find(args, kwargs)

    def matches(self, args: Args, kwargs: Kwargs) -> bool:
        """True if this program is the right one for a call with these inputs, in the world as it is."""
        if not self.recording.modes.hold() or not self.arguments.fit(args, kwargs):
            return False
        classes.patches()  # which counts as a change if there are others
        self.recording.environment.counted_containers.look()  # which does as well
        changed = self.now() != self.seen
        rebound = changed and not self._only_gradients_changed()
        counted = self._counted_now()
        if rebound and counted == self._unlike_at:
            return False
        if not self.recording.environment.hold() or not self.inputs.find((args, kwargs)):
            return False
        if rebound and not self._is_like():
            self._unlike_at = counted
            return False
        return not (changed or self.captured.vary) or self._look_again((args, kwargs))

    def _counted_now(self) -> tuple[int, int]:
        """What is counted that guards may look at, but for gradients."""
        return self.now_but_for_updates(), changes.options if "options" in self.counted else 0

    def _is_like(self) -> bool:
        """True if what only counted changes can have touched, gradients apart, is as it was recorded."""
        return self.unwritten.values_hold() and self.unwritten.guards_hold(but_gradients=True)

    def includes(self, other: Specialisation, call_arguments: tuple[Args, Kwargs]) -> bool:
        """True if `other` differs from this one in numbers only, and this one holds for those of `other` as well.

        This one has just been recorded for a call with these arguments.
        """
        call_arguments = other.inputs_of(*call_arguments) or call_arguments
        if not self.inputs.sources or not other.recording.modes.hold():
            return False
        with other.lock:
            return self.inputs.accepts(other.recording.symbolic_inputs) and other.fits_but_for_numbers(call_arguments)

    def fits_but_for_numbers(self, call_arguments: tuple[Args, Kwargs]) -> bool:
        """True if this program would be the right one, were numbers other ones of their types."""
        recording = self.recording
        changes.count += 1  # what is found now is not for these calls: the next one looks again
        return (
            self.arguments.fit(*call_arguments, but_for_numbers=True)
            and recording.environment.hold_but_for_numbers()
            and all(guard.holds_but_for_numbers() for guard in recording.guards)
            and self.captured.find(call_arguments)
        )

    def _only_gradients_changed(self) -> bool:
        """True if nothing else of what is counted has been rebound since the guards were looked at."""
        same = self.now_but_for_updates() == self._seen_count
        return same and (changes.options == self._seen_options or "options" not in self.counted)

    def _look_again(self, call_arguments: Any) -> bool:
        """Guards, addresses and numbers, after something has been rebound somewhere."""
        now, options, memories = self.now(), changes.options, changes.memories
        count = self.now_but_for_updates()
        if count == self._seen_count and memories == self._seen_memories and not self.captured.vary:
            found: bool | None = options == self._seen_options or self.look_at_options()
            found = found and self._look_at_gradients(call_arguments)
            if found is None:
                found = self.captured.find(call_arguments)
        else:
            found = self.look_at_options() and self.captured.find(call_arguments)
        # Which memory arguments must not share follows from the memory that captured tensors have now.
        if not found or not self.arguments.share_as_recorded(*call_arguments):
            return False
        self.seen, self._seen_count, self._seen_options, self._seen_memories = now, count, options, memories
        self.unwritten.note()
        return True

    def _look_at_gradients(self, call_arguments: Any) -> bool | None:
        if not all(guard.holds() for guard in self.guards_of_gradients):
            return False
        return self.captured.find_gradients(call_arguments)

    def look_at_options(self) -> bool:
        """True if what the library has declared is as recorded; its numbers are read, and are numbers."""
        if not self.unwritten.guards_hold():
            return False
        try:
            for i, number in enumerate(self.recording.numbers):
                self._numbers[i] = number.get()
        except Exception:  # the function itself will raise it, once it has done what comes before
            return False
        return True

    # ----------------------------------------------------------------------------------------------------- calling

    def call(self, args: Args, kwargs: Kwargs) -> Any:
        """Run the step once; the caller has made sure that it matches, and holds `lock` since.

        RuntimeFault, with nothing done, if the program was yet to be built and cannot be.
        """
        self.binding.build()
        call_arguments = (args, kwargs)
        kept = self.arguments.point(args, kwargs)
        gradients = self.grads.prepare(call_arguments)
        fresh = [self.binding.fresh_result(i, each.version) for i, each in enumerate(self.results.fresh)]
        saved = self._saved.fresh()
        written = [at(call_arguments, path).buffer for path in self.counted_arguments]
        effects = Effects([*self.captured.written_buffers, *written], self.captured.writes_normals)
        self.grads.store(gradients, call_arguments, effects)
        self.captured.before_call()
        run(self.binding, effects)
        del kept
        for tensor, output in zip(fresh, self.results.fresh, strict=True):
            output.lay_out(tensor)
        self.join_tape(fresh, saved, call_arguments)
        return self.results.hand_out(fresh, call_arguments, self.inputs.values)

    def join_tape(
        self,
        fresh: list[Tensor],
        saved: Sequence[Any],
        call_arguments: Any,
        deferred: Any = None,
        instead: Mapping[int, Tensor] | None = None,
    ) -> None:
        """Give the results the history that they have in eager mode. `deferred` is who has noted the call, `instead`
        what has taken the places of captured tensors, by the identity of these."""
        outputs = self.results.fresh
        if self.backward is not None:
            live = [tensor for tensor, output in zip(fresh, outputs, strict=True) if output.live]
            sources, edges = self._sources(call_arguments), self.captured_edges()
            if instead:
                others = {k: instead[id(one)] for k, one in self.captured_sources.items() if id(one) in instead}
                sources.update(others)
                edges = {label: edge for label, edge in edges.items() if label not in others}
            for group in self.backward.groups:
                node = CompiledNode(self.backward, group, sources, edges, saved, live, deferred)
                for i, place in enumerate(group.places):
                    live[place].attach(node, i)
        for tensor, output in zip(fresh, outputs, strict=True):
            if output.spent is not None:
                tensor.attach(output.spent, 0)
            elif output.leaf:
                tensor.requires_grad_()

    def _sources(self, call_arguments: Any) -> dict[str, Any]:
        """The tensors behind the graph's inputs in this call, as far as the backward pass asks for them."""
        sources = dict(self.captured_sources)
        for label, path in self._argument_sources:
            sources[label] = at(call_arguments, path)
        if self.needs_numbers:
            sources.update(self.inputs.tensors())
            for number, value in zip(self.recording.numbers, self._numbers, strict=False):
                sources[number.root.node.label] = make(value.copy().reshape(()))
        return sources

    def captured_edges(self) -> dict[str, Edge]:
        """Where the gradients of captured leaves go."""
        now = self.now_but_for_updates()
        if self._edges_seen != now:
            self._edges_seen = now
            leaves: dict[str, Any] = {k: array for k, array in self.captured_sources.items() if k in self._leaves}
            self._captured_edges = {label: leaf.gradient_edge() for label, leaf in leaves.items() if leaf.is_leaf}
        return self._captured_edges

    def _find_sources(self) -> None:
        """Where `_sources` has to look."""
        needed = set() if self.backward is None else self.backward.needed
        arguments = {id(root): path for path, root in self.recording.arguments}
        roots = [root for root in self.recording.recorder.roots if root.node.label in needed]
        numbers = {n.root.node.label for n in self.recording.numbers} | set(self.inputs.tensors())
        self.captured_sources = {root.node.label: _as_tensor(root.array) for root in roots if id(root) not in arguments}
        self._argument_sources = [(r.node.label, arguments[id(r)]) for r in roots if id(r) in arguments]
        self._leaves = frozenset(() if self.backward is None else self.backward.wrt)
        self.needs_numbers = not numbers.isdisjoint(needed)


def _backward_of(recording: Recording, graph: Graph, results: Results, programs: Programs) -> Backward | None:
    """The backward program for results that can still be differentiated; None if there are none."""
    tensors = [t for output, t in zip(results.fresh, results.tensors, strict=True) if output.live]
    behind = graph_behind((t.grad_fn for t in tensors), stop=histories(recording.recorder.roots))
    check_history(behind)
    check_ends(behind, recording)
    if tensors and recording.flag_changed:
        raise refusal(
            "requires_grad of a tensor from outside changes while a result is computed that can be differentiated",
            f"at {recording.flag_changed}",
            "Use detach() for what shall be constant.",
        )
    if tensors and recording.written_unseen_at:
        raise refusal(
            "a tensor with a history is written where the tape does not see it (no_grad(), detach(), .data), while a "
            "result is computed that can be differentiated",
            f"at {recording.written_unseen_at}",
            "The graph of values is not the graph of derivatives then: write outside, or call backward() inside.",
        )
    written = [root for root in recording.recorder.roots if root.leaf_requires and root.region.written]
    if tensors and written:
        raise refusal(
            f"{written[0].node.label}, a leaf that requires a gradient, is written (by an optimizer, say), while "
            "a result is computed that can be differentiated",
            f"at {written[0].region.node.origin}",
            "Gradients lead to what was written, which is no input of the graph: return what is detached.",
        )
    live = [output.name for output in results.fresh if output.live]
    wrt = [root.node.label for root in recording.recorder.roots if root.requires_grad]
    if not live:
        return None
    _refuse_histories_of_nothing(recording, graph, live)
    if missing := missing_derivative(graph, live, wrt):
        what, node = missing
        raise refusal(
            f"{what.rstrip('.')}, and a result that can be differentiated is computed by it",
            f"at {node.origin}",
            "Return what is detached, or compute it in no_grad(): a backward pass through it is an error in any mode.",
        )
    leaves = {root.node.label: root.array for root in recording.recorder.roots if root.requires_grad}
    orders = gradient_orders(tensors, leaves, behind)
    ends: dict[Edge, frozenset[str]] = {}
    for label, leaf in leaves.items():
        edge = _as_tensor(leaf).gradient_edge()
        ends[edge] = ends.get(edge, frozenset()) | {label}
    reached = reached_from(behind, ends)
    tape = EagerTape.of(tensors, recording.recorder.roots, reached, ends)
    return Backward(graph, live, wrt, programs.backward, tape, orders, depending_by_zero(reached, ends))


def _as_tensor(array: Any) -> Tensor:
    """A captured tensor itself, or the numbers of a literal as one."""
    return array if is_a(array, Tensor) else make(array.ndarray, array.buffer, array.steps)


def _refuse_histories_of_nothing(recording: Recording, graph: Graph, live: Sequence[str]) -> None:
    """CaptureError for a result with a history that leads nowhere: the backward program would have nothing to give."""
    for name in live:
        node = graph.result(name)
        if node is not None and not recording.recorder.leads_on(node):
            raise refusal(
                "a result requires gradients, but there is nothing that it can be differentiated with respect to: it "
                "is computed of views that only their bases make require gradients",
                f"at {node.origin}",
                "Take such views outside of no_grad(), or detach() them.",
            )


def _refuse_strided_writes(recording: Recording) -> None:
    """C writes to memory as it is: it has no way to put a copy back."""
    for root in recording.recorder.roots:
        flags = root.array.ndarray.flags
        if root.region.written and not (flags.c_contiguous and flags.aligned):
            raise CaptureError(
                f"an in-place write to {root.node.label}, whose memory is not contiguous, or not aligned\n"
                f"  at {root.region.node.origin}\n"
                "  Pass the tensor that it is a view of, and take the view inside the compiled function."
            )
