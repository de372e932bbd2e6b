"""The object that ``tracegrad.compile`` returns."""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable
from typing import Any

from ..compiler.errors import CaptureError
from ..compiler.pipeline import require_toolchain
from ..ops.core import current, drop_stale_interpreters, switch
from ..ops.locks import new_lock
from ..runtime.errors import RuntimeFault
from ..runtime.pages import give_back
from ..tape.anomaly import CHECKS_ALL
from ..tape.saved import packing
from ..tensors.tensor import EAGER
from ..tracing.tracebacks import fold
from .common.callables import NAMED, function_of, name_of
from .common.classes import is_a
from .common.outermost import clean_up, entered, entry
from .common.profilers import PROFILED, is_profiled
from .execution.binding import CheckFailed
from .execution.shape_cache import Programs
from .explain import Change, Explaining, difference, first_call
from .guards.found_code import FoundCode
from .guards.reachability import Codes
from .lazy.deferred_calls import NOT_NOTED
from .limits import Limits
from .memory_limit import undone_beyond_limit
from .parts.expecting import expect
from .parts.fallback import Fallback, kind_of
from .parts.noting import NotedSpecialisation
from .parts.subprograms import NOT_SERVED
from .profiling import Profile, profile
from .recording.call_inputs import LearnedInputs
from .recording.leaks import check_order_of_hooks, forget
from .recording.recording import Recording
from .recording.scalar_outputs import plain
from .recording.symbolic_inputs import Learned
from .replay.fast_path import MISS
from .replay.specialisation import NOT_WRITTEN, Specialisation
from .replay.turns import Turns, compile_usual_call, usual_call
from .run import Running
from .stages import Stages
from .verification.report import Report
from .verification.verify import check, verify


class CompiledFunction(Running, Stages, Explaining):
    """A function whose calls run as one C function each, once recorded.

    The first call with new shapes, flags or other facts that the program depends on runs eagerly and records; later
    calls with the same facts are *replayed* from C. What cannot be replayed is *re-recorded*: Python runs at each call
    and notes the ops, which C does when their numbers are needed. `way` tells how the latest call was served,
    `explain()` why. `graph`, `schedule` and `source` show the latest specialisation.
    """

    _specialised: type[Specialisation] = Specialisation

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False, memory_limit: int | None = None) -> None:
        functools.update_wrapper(self, function if is_a(function, NAMED) else type(function), updated=())
        self.__wrapped__ = function
        self.__name__ = name_of(function)
        self.function = function
        self.fullgraph = fullgraph
        self.memory_limit = memory_limit
        self.specialisations: list[Specialisation] = []
        self.programs = Programs(memory_limit=memory_limit)
        self.way = "eager"
        self._rerun = Fallback(self.__name__, Subprogram)
        self._lock = new_lock()
        self._usual: Callable[[tuple[Any, ...]], Any] | None = None  # of the first specialisation
        self._fault: RuntimeFault | None = None  # why there are no more programs
        self._learned = Learned()  # which numbers are data
        self._inputs = LearnedInputs()  # what of its surroundings, and of its arguments, is an argument
        self._codes: Codes = {}  # code that runs without being found beforehand
        self._limits = Limits()
        self._turns = Turns()
        self._surroundings: FoundCode | None = None  # of the latest recording

    @entry
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            usual = self._usual
            if usual is not None and not kwargs and not switch.stack:  # nothing but eager mode
                result = usual(args)
                if result is not MISS:
                    self.way = "replay"
                    return result
            if self.specialisations and not switch.stack:
                for specialisation in self._turns.candidates(self.specialisations, kwargs):
                    result = usual_call(specialisation, args, kwargs)
                    if result is not MISS:
                        self._serves(specialisation)
                        return result
            if current() is not EAGER:
                drop_stale_interpreters()
            if current() is not EAGER:
                return self.function(*args, **kwargs)  # inside another recording: becomes part of it
            return self._call(args, kwargs)
        except BaseException as error:
            clean_up()
            fold(error)
            raise

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The general way: the first specialisation that matches, else another recording, else Python."""
        in_order = self._turns.in_order(self.specialisations) if len(self.specialisations) > 1 else self.specialisations
        for specialisation in in_order:
            with specialisation.lock:
                inputs = specialisation.inputs_of(args, kwargs)
                if inputs is None or not specialisation.matches(*inputs):
                    continue
                if not self._is_verified(specialisation, args, kwargs):
                    continue
                try:
                    result = specialisation.call(*inputs)
                except CheckFailed:
                    break
                except RuntimeFault as fault:
                    self._give_up(fault)
                    return self._unserved(args, kwargs)
            self._serves(specialisation)
            return result
        else:
            return self._unserved(args, kwargs)
        # Nothing was written yet: the function itself gives the eager error, at the eager place, in the eager state.
        self.way = "eager"
        return self.function(*args, **kwargs)

    def _is_verified(self, specialisation: Specialisation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """With TRACEGRAD_VERIFY=1 the first replay of each specialisation is compared with the eager call before."""
        if not specialisation.unverified:
            return True
        specialisation.unverified = False
        check(self, args, kwargs)
        inputs = specialisation.inputs_of(args, kwargs)
        return inputs is not None and specialisation.matches(*inputs)

    def _unserved(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that no specialisation fits: recorded, as long as there is hope that it can be replayed."""
        if self._fault is not None or CHECKS_ALL or packing.hooks:
            return self._without_program(self._fault, args, kwargs)
        if self.fullgraph:
            require_toolchain()  # nothing was done yet
        if self.fullgraph or self._rerun.may_record(args, kwargs):
            if is_profiled():
                self._rerun.note_once(PROFILED.format(name=self.__name__))
                return self._without_program(None, args, kwargs)
            if self.memory_limit is not None:
                return undone_beyond_limit(self.function, self._record, args, kwargs)
            return self._record(args, kwargs)
        return self._rerecord(args, kwargs)

    def _without_program(self, fault: RuntimeFault | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call after the one whose program could not be built; without a `fault`, one that others look at."""
        self.way = "eager"
        if self.fullgraph and fault is not None:
            raise type(fault)(*fault.args)
        return self.function(*args, **kwargs)

    def _rerecord(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.way, is_observed = "re-record", False
        if self._rerun.is_eager or len(sys._current_frames()) > 1:  # other threads may look
            self.way, is_observed = self._rerun.way()
            if self.way == "eager":
                return self.function(*args, **kwargs)
        return self._rerun.call(self.function, args, kwargs, is_observed)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __getattr__(self, name: str) -> Any:
        """What a compiled module is asked for besides calls: parameters(), train(), state_dict(), submodules."""
        if name.startswith("__") or "function" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.function, name)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledFunction:
        """A copy of the function, yet to be recorded: programs are bound to the tensors that they were made for."""
        return CompiledFunction(copy.deepcopy(self.function, memo), self.fullgraph, self.memory_limit)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """By name where this is what the function's module has under the function's name, as functions are."""
        inner = function_of(self.function)
        if inner is not None and self._is_named(inner.__qualname__):
            return inner.__qualname__
        return CompiledFunction, (self.function, self.fullgraph, self.memory_limit)

    def __copy__(self) -> CompiledFunction:
        return CompiledFunction(self.function, self.fullgraph, self.memory_limit)

    def _is_named(self, name: str) -> bool:
        found: Any = sys.modules.get(self.function.__module__ or "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return found is self

    def _serves(self, specialisation: Specialisation) -> None:
        """It has served a call: it is asked first from now on."""
        self.way = "replay"
        if specialisation is self.specialisations[0] and self._usual is not None:
            return
        self._turns.note(specialisation)
        with self._lock:
            rest = [s for s in self.specialisations if s is not specialisation]
            self.specialisations = [specialisation, *rest]
            if specialisation.usual is NOT_WRITTEN:
                specialisation.usual = compile_usual_call(specialisation)
                give_back()  # recorded gradients have been replaced
            self._usual = specialisation.usual

    def _record(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        known_ones = [s.recording for s in self.specialisations]
        wanted = self._learned.wanted(known_ones, args, kwargs)
        self._inputs.compare([each.noted for each in known_ones], self.function, args, kwargs)
        recording = Recording(self.__name__, self.fullgraph, wanted=wanted, codes=self._codes, learned=self._inputs)
        known = self.specialisations[:1]
        because = difference(known[0], args, kwargs) if known else first_call(args, kwargs)
        kind = kind_of(args, kwargs)
        self.way = "eager"
        try:
            if not self.fullgraph:
                self._limits.check_values(because, self.__name__)
            self._limits.check(len(self.specialisations) - self.programs.more_sizes, self.__name__)
            result = recording.run(self.function, args, kwargs)
            self._note_recorded(recording)
            if not recording.transient:
                self._compile(recording, args, kwargs, because)
        except CaptureError as reason:
            if self.fullgraph:
                forget(recording)
                raise
            self._rerun.note(reason, recording.seen or self._surroundings, kind, not recording.stores_nothing())
            reason.__traceback__ = None  # its frames hold the result, and the recording holds the error
        except Exception:
            if recording.recorder.refused is not None and not self.fullgraph:
                self._rerun.note(recording.recorder.refused, recording.seen, kind)
            forget(recording)
            raise
        else:
            if recording.transient:
                forget(recording)
            else:
                recording.let_go()
            give_back()
            return result
        done, result = recording.done, plain(recording.result)
        forget(recording)
        return result if done else self._rerecord(args, kwargs)

    def _note_recorded(self, recording: Recording) -> None:
        self._learned.note(recording)
        self._surroundings = FoundCode(recording.environment.codes)
        self._limits.note_transient(recording.transient)

    def _compile(self, recording: Recording, args: tuple[Any, ...], kwargs: dict[str, Any], because: Change) -> None:
        """Build the program. The call itself is done by now: if that fails, its result is returned all the same."""
        check_order_of_hooks(recording)
        try:
            specialisation = self._specialised(recording, self.programs)
        except RuntimeFault as fault:
            self._give_up(fault)
            return
        specialisation.because = str(because)
        self._limits.note(because)
        with self._lock:
            others = [s for s in self.specialisations if not specialisation.includes(s, (args, kwargs))]
            self.specialisations = [specialisation, *others]
            self._usual, self._turns = None, Turns()

    def _give_up(self, fault: RuntimeFault) -> None:
        """A program cannot be built, which was said in a warning: there will be no more."""
        self._fault = type(fault)(*fault.args)  # without the frames of this call
        self._rerun.reasons.append(str(fault))
        with self._lock:
            self.specialisations = [each for each in self.specialisations if each.binding.is_built]
            self._usual = None

    # -------------------------------------------------------------------------------------------------- looking inside

    @entered
    def verify(self, *args: Any, **kwargs: Any) -> Report:
        """Do ``step(*args, **kwargs)`` eagerly and compiled, from the same state, and report how far they are apart.

        The report has a row for each result, gradient and updated tensor: the largest difference in units of the last
        place of the tensor's largest number, relative to the number itself, its index, and the line of the program that
        computes it. `report.ok` is False if a difference is larger than roundings explain. Tensors, gradients, random
        numbers, optimizers and Python objects that the function reaches are afterwards as they were; what it prints is
        printed. If such a call has not been recorded yet, it is, and what is compared is the call after it. An error
        that the function raises is compared, too. CompilerError if no compiled form comes about.

        >>> import tracegrad as tg
        >>> double = tg.compile(lambda x: (x * 2).sum())
        >>> double.verify(tg.ones(3)).ok
        True
        """
        return verify(self, args, kwargs)

    @entered
    def profile(self, *args: Any, repeats: int = 20, **kwargs: Any) -> Profile:
        """Do ``step(*args, **kwargs)``, and report where the time of its programs goes: a row for each kernel.

        The call is an ordinary one: what it writes stays (it is made again, up to eight times, until it runs programs).
        Each kernel is timed in `repeats` runs on copies of the program's memory, without the time in which other
        programs have the processor. See `Profile`: a table, a trace for a browser, a picture of the roofline.
        ValueError for `repeats` below 1, CompilerError if no program runs.

        >>> import tracegrad as tg
        >>> double = tg.compile(lambda x: (x * 2).sum())
        >>> [row.flops for row in double.profile(tg.ones(3)).rows]
        [6]
        """
        return profile(functools.partial(self._call, args, kwargs), self.__name__, repeats)

    def __repr__(self) -> str:
        return f"<compiled {self.__name__}, {len(self.specialisations)} specialisations>"


class Subprogram(CompiledFunction):
    """A piece of library work within the re-recorded calls of another function: `NOT_SERVED` if it cannot be replayed,
    with nothing done. Its graph becomes part of segments; its own program is built when a call is first made alone.
    """

    _specialised = NotedSpecialisation
    specialisations: list[NotedSpecialisation]  # type: ignore[assignment]

    def __init__(self, function: Callable[..., Any], fullgraph: bool = False) -> None:
        super().__init__(function, fullgraph)
        self.programs = Programs(later=True)

    def noted(self, deferred: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call that `deferred` makes later; `NOT_SERVED` if no program is for it, `NOT_NOTED` if
        it has to be made now."""
        if deferred.segments.are_open:
            for specialisation in self.specialisations:
                with specialisation.lock:
                    inputs = None if specialisation.unverified else specialisation.inputs_of(args, kwargs)
                    if inputs is not None and specialisation.matches(*inputs):
                        before, result = deferred.here, specialisation.note(deferred, *inputs)
                        if result is not NOT_NOTED:
                            expect(specialisation, self.function, before, deferred, (args, kwargs))
                        return result
        return NOT_SERVED

    def may_serve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """False if such calls will not be served."""
        return bool(self.specialisations) or (self._fault is None and self._rerun.may_record(args, kwargs))

    def _rerecord(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return NOT_SERVED

    def _without_program(self, fault: RuntimeFault | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return NOT_SERVED
