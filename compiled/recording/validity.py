"""What a recorded call must not have done, looked for when it is over: each a CaptureError that says what to do.

The call itself was an eager call and is done; what is refused is to repeat it.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ...compiler.capture import Recorder
from ...compiler.demands import Demand, checked_base, demand_of
from ...compiler.errors import CaptureError
from ...compiler.graph import Graph, Node, topological
from ...compiler.roots import Alias, Root
from ...ops.callers.source_files import is_standard_file, is_user_file
from ...ops.core import switch
from ...ops.types import defaults, get_default_dtype
from ...tape.grad_mode import switches
from ...tensors.autocasting import state as autocast
from ...tensors.tensor import Tensor
from ...tracing.watch import local
from ..common.autograd_graph import history_of
from ..common.classes import is_a
from ..common.collection import around_collections, put_back_at_end
from ..common.effect_lines import EffectLines
from .external_effects import spoken_to, spoken_to_by, title
from .pure_functions import is_pure, is_pure_module
from .quiet_code import listen_with

DONE = "The call itself was done, eagerly."


def refusal(what: str, where: Any, advice: str) -> CaptureError:
    """The three parts of a message."""
    return CaptureError(f"{what}\n  {where}\n  {advice} {DONE}")


class CallTrace:
    """Notes calls that speak to the outside world (print, open, clocks, logging) while a function is recorded.

    ``ahead(frame)`` is called before Python code runs, ``hide()`` and ``show()`` around what is done in a collection:
    that is no part of the function, and nothing of it is recorded.
    """

    def __init__(self, ahead: Callable[[Any], None], hide: Callable[[], None], show: Callable[[], None]) -> None:
        self._ahead, self._hide, self._show = ahead, hide, show
        self._collection: str | None = None  # how far the callbacks of one have come; None: it is over
        self.refused: tuple[str, str] | None = None
        self.effect_lines = EffectLines()
        self.codes: dict[types.CodeType, dict[str, Any]] = {}  # what the user's program ran, with its globals

    def watch(self, function: Callable[..., Any], *args: Any) -> Any:
        """``function(*args)``, noted."""
        return around_collections((self._collects, self._collected), self._watch, function, *args)

    def _collects(self) -> None:
        if self._collection is None:
            self._collection = "begun"
            put_back_at_end((switch, {"stack": switch.stack}), (local, {"watcher": local.watcher}))
            switch.stack, local.watcher = (), None
            self._hide()
            self._collection = "hidden"

    def _collected(self) -> None:
        if self._collection == "hidden":
            self._collection = "shown"
            self._show()
            self._collection = None
        else:  # Python has dropped an interrupt that came while a callback ran, and with it what was left to do
            self._collection = "torn"

    def _watch(self, function: Callable[..., Any], *args: Any) -> Any:
        self._before = sys.getprofile()
        if self._before is not None:  # a profiler that is at work keeps its place
            return function(*args)
        try:
            try:
                listen_with(self._note)
                return function(*args)
            finally:
                sys.setprofile(None)
        finally:
            sys.setprofile(None)  # an interrupt may come in the line before

    @property
    def is_torn(self) -> bool:
        """True if an interrupt has come in a collection, so that what followed was not recorded."""
        return self._collection is not None

    @property
    def is_blind(self) -> bool:
        """True if nothing was noted: a profiler was at work."""
        return self._before is not None

    def _note(self, frame: types.FrameType, event: str, called: Any) -> None:
        if self._collection is not None:
            return
        if event == "c_call":
            self._note_c(frame, called)
        elif event == "return":
            self.effect_lines.returned(frame)
        elif event == "call":
            self._ahead(frame)
            self._note_call(frame)

    def _note_c(self, frame: types.FrameType, called: Any) -> None:
        what = spoken_to(called)
        if what:
            self._note_spoken(what, frame)
        if is_a(called, types.BuiltinFunctionType):
            if not is_pure(called) and _is_programs(frame) and not _only_hashes(called, frame):
                self._refuse(f"{title(called)}, which may give something else at each call,", frame)
            self.effect_lines.called_c(called)

    def _note_call(self, frame: types.FrameType) -> None:
        self.effect_lines.called(frame)
        if _is_programs(frame):
            module = sys.modules.get(frame.f_globals.get("__name__", ""))
            if module is not None and vars(module) is frame.f_globals:
                self.codes[frame.f_code] = frame.f_globals
            elif not _is_of_named_tuple(frame):
                self.codes[frame.f_code] = {}  # a dict that exec() was given is of this call
        else:
            what = spoken_to_by(frame.f_code)
            if frame.f_back is None:
                return
            if what:
                self._note_spoken(what, frame.f_back)
            name = str(frame.f_globals.get("__name__"))
            if not is_pure_module(name) and _is_programs(frame.f_back):
                what = f"{name}.{frame.f_code.co_name}(), which may give something else at each call,"
                self._refuse(what, frame.f_back)

    def _note_spoken(self, what: str, frame: types.FrameType) -> None:
        """It is the program that speaks if only Python's library is between."""
        outer: types.FrameType | None = frame
        while outer is not None and is_standard_file(outer.f_code.co_filename):
            outer = outer.f_back
        if outer is not None and _is_programs(outer):
            self._refuse(what, outer)

    def _refuse(self, what: str, frame: types.FrameType) -> None:
        if self.refused is None:
            self.refused = (what, _place(frame))

    def check(self) -> None:
        """CaptureError for what later calls would leave out."""
        if self.refused is not None:
            what, place = self.refused
            advice = "Later calls would skip it: return the values and do it outside."
            raise refusal(f"{what} inside a compiled function", f"at {place}", advice)


_NOT_THE_PROGRAM = frozenset({"numpy", *sys.stdlib_module_names})


def _is_programs(frame: types.FrameType) -> bool:
    """True for code of the user's program: not what numpy, Python's library and this package do for themselves."""
    if str(frame.f_globals.get("__name__")).partition(".")[0] in _NOT_THE_PROGRAM:
        return False
    return is_user_file(frame.f_code.co_filename)


def _is_of_named_tuple(frame: types.FrameType) -> bool:
    """True for the ``__new__`` that Python makes of a named tuple: the package has some, too."""
    return frame.f_code.co_names == ("_tuple_new",) and not frame.f_builtins


def _only_hashes(called: Any, frame: types.FrameType) -> bool:
    """True for the hash of an object by what it is made of, where a class says so."""
    return called is hash and frame.f_code.co_name == "__hash__"


def _place(frame: types.FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


class ThreadModes:
    """The switches of this thread that a function might leave changed."""

    def __init__(self) -> None:
        self.gradients = switches.both
        self.grad_enabled, self.inference = self.gradients
        self.default_dtype = get_default_dtype()
        self.autocast = autocast.modes

    def hold(self) -> bool:
        if autocast.modes is not self.autocast:
            return False
        return switches.both is self.gradients and get_default_dtype() is self.default_dtype

    def as_python(self, names: dict[str, Any]) -> str:
        """An expression that is true while they are as they were; it finds what it works with in `names`, where that is
        put."""
        names.update(
            switches=switches, defaults=defaults, autocast=autocast, gradients=self.gradients,
            default_dtype=self.default_dtype, autocast_modes=self.autocast,
        )  # fmt: skip
        term = "switches.both is gradients and defaults.dtype is default_dtype"
        return f"{term} and autocast.modes is autocast_modes"

    def check(self, name: str, effect_lines: EffectLines) -> None:
        """CaptureError if the call has changed one."""
        if not self.hold():
            raise refusal(
                "the function leaves the grad mode, autocast or the default dtype changed",
                effect_lines.at("mode", None, f"in {name}"),
                "Later calls would not change it: use a with block, or set it outside.",
            )


def check_classes(are_same: bool, effect_lines: EffectLines) -> None:
    """CaptureError if the call has set or deleted a member of a public class of this package."""
    if not are_same:
        raise refusal(
            "the function changes a class of the library",
            effect_lines.at_return("in the call that was recorded"),
            "Later calls would not do it again: patch classes outside.",
        )


def check_roots(recording: Any, effect_lines: EffectLines) -> None:
    """CaptureError if the call made a tensor from outside show other memory, or changed its history or whether it
    requires grad."""
    for root in recording.recorder.roots:
        _check_as_met(root.array, root, str(root.node.label), f"first read at {root.met_at}", effect_lines)
    for alias in list(recording.recorder.aliases.values()):
        array = alias.array()
        if array is not None and not recording.is_own(array):
            _check_as_met(array, alias, array.label or "a tensor", f"in {recording.name}", effect_lines)


def _check_as_met(array: Any, met: Root | Alias, name: str, first: str, effect_lines: EffectLines) -> None:
    if array.ndarray is not met.shown:
        raise refusal(
            f"{name} is made to show other memory (.data = ..., an in-place transpose)",
            effect_lines.at("memory", array, first),
            "Write into the memory that it has: t.data.copy_(new), or with no_grad(): t.copy_(new).",
        )
    if bool(getattr(array, "_requires", False)) != met.leaf_requires:
        raise refusal(
            f"requires_grad of {name} is changed for later calls",
            effect_lines.at("flag", array, "in the function that was recorded"),
            "Set it outside; freezing and unfreezing from outside gives one specialisation each.",
        )
    if is_a(array, Tensor) and history_of(array) is not met.history:
        raise refusal(
            f"{name}, a tensor from outside, has another history after the call (a write of what requires grad, "
            "detach_())",
            first,
            "Write what is detached: t.copy_(new.detach()); or return the new value.",
        )


def check_origins(roots: Iterable[Root], is_own: Callable[[Any], bool]) -> None:
    """CaptureError if numbers entered during the call, whatever way they came: each later call would have the same."""
    for root in roots:
        if is_own(root.array):
            raise refusal(
                "a tensor is made from numbers that are not part of the recording (numpy, a copy, a loaded tensor)",
                f"used at {root.met_at}",
                "Make it outside, or by tensor operations such as clone().",
            )


def check_unused_errors(recorder: Recorder, graph: Graph) -> None:
    """CaptureError if indices or divisors that are not the same at each call are used for results that nobody needs:
    eager mode raises for those that are out of range, or 0."""
    live = set(graph.nodes())
    asked = {_asked(node) for node in live}
    same = set(recorder.literals)
    for node in recorder.checked:
        integers, demand = _asked(node)
        if node in live or demand is None or (integers, demand) in asked:
            continue
        if integers.type.size and _varies(integers, same):
            what, wrong = ("a divisor", "0") if demand.axis is None else ("indices", "out of range")
            raise refusal(
                f"{node.op.name} with {what}, whose result is not used",
                f"at {node.origin}",
                f"Leave it out, or use it: as it is, only eager mode notices an integer that is {wrong}.",
            )


def _asked(node: Node) -> tuple[Node, Demand | None]:
    """What eager mode asks of which integers."""
    demand = demand_of(node)
    return (node if demand is None else checked_base(node)), demand


def _varies(node: Node, same: set[Node]) -> bool:
    return any(behind.is_input and behind not in same for behind in topological([node]))


def check_overlaps(roots: Iterable[Root]) -> None:
    """CaptureError if written memory is also shown by a tensor that does not know it (numpy views of one array)."""
    shown = _overlapping([root for root in roots if root.array.ndarray.size])
    for root in shown:
        if not root.region.written:
            continue
        for other in shown:
            mine, its = root.array.buffer.whole, other.array.buffer.whole
            if mine is not its and np.may_share_memory(mine, its):
                raise refusal(
                    f"{root.node.label} is written in place, and {other.node.label} shows the same memory",
                    f"two tensors over one numpy array, written at {root.region.node.origin}",
                    "Make one tensor of the array and take views of it.",
                )


def _overlapping(roots: list[Root]) -> list[Root]:
    """Those whose memory begins before that of another one ends. Sorted: there are many, and hardly any such."""
    wholes = {id(root.array.buffer.whole): root.array.buffer.whole for root in roots}
    found: set[int] = set()
    before, end = 0, 0
    for low, high, key in sorted((*byte_bounds(whole), key) for key, whole in wholes.items()):
        if low < end:
            found |= {before, key}
        if high > end:
            before, end = key, high
    return [root for root in roots if id(root.array.buffer.whole) in found]


def check_gradients(slots: Iterable[Any], roots: Iterable[Root], effect_lines: EffectLines) -> None:
    """CaptureError if a new gradient shares memory with a tensor from outside or with another gradient."""
    taken = {id(root.array.buffer.whole) for root in roots}
    for slot in slots:
        _check_history_of_gradient(slot, effect_lines)
        memory = id(slot.after.buffer.whole)
        if memory in taken or slot.after.steps:
            raise refusal(
                "a gradient is assigned that shares memory with another tensor",
                effect_lines.at("gradient", slot.tensor, f"the .grad of {slot.tensor.label or 'a tensor'}"),
                "Assign a clone() of it.",
            )
        taken.add(memory)


def _check_history_of_gradient(slot: Any, effect_lines: EffectLines) -> None:
    """CaptureError if a new gradient can be differentiated (``create_graph=True``): a replay stores numbers alone."""
    if slot.after.requires_grad:
        raise refusal(
            "a gradient that is left behind has a history (create_graph=True), or requires a gradient itself",
            effect_lines.at("gradient", slot.tensor, f"the .grad of {slot.tensor.label or 'a tensor'}"),
            "Use autograd.grad(..., create_graph=True) and return what it gives, or detach() the gradient.",
        )
