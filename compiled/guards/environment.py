"""The environment guards of a recording: the Python values that the function may have read, and must find again.

A recording freezes Python values. So there is a guard for each source that the function can reach (`reachability.py`):
globals and closure variables that its code names, attributes of objects among them, contents of lists and dicts. A
guard that fails at a later call makes another specialisation; one that fails at the *end of the same call* shows a side
effect, which a replay could not repeat, and which is refused by name.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...compiler.errors import CaptureError
from ...tensors.tensor import Tensor
from ...tracing.declares import declares
from ...tracing.stored_places import stored_places
from ..common.classes import is_a
from ..common.collection import referrers
from ..common.effect_lines import EffectLines, lines_storing
from ..common.pytree import Path
from ..common.tensor_memory import hooks_on
from .attribute_names import are_computed
from .bytecode import looks_through_modules, only_stores
from .counted_containers import CountedContainers
from .found_code import FoundCode
from .identity_guards import asks_identity, compares, meets_nan
from .namespaces import Namespaces
from .onlookers import keeps_nothing, may_look
from .reachability import Codes, with_patches
from .rng_state import random_states
from .sources import MISSING, Attribute, Kept, KindOf, LoadedModule, Source
from .stable_words import StableWords
from .states import LARGEST, state, without_numbers
from .symbolic_safe import is_symbolic_safe
from .value_guard import ValueGuard, flat_items, guard_at, has_items, others_in, writer_of
from .value_kinds import CONTAINERS, MUTABLE, is_guardable, is_of_threads, is_optimizer

_ANY_GLOBALS = frozenset({"__globals__", "f_globals"})
_MAKING = frozenset({"backward", "retain_grad", "register_buffer", "register_parameter"})
MOST = 20_000  # places that each call may look at


class Environment:
    """The environment of one call: guards on the sources of the function, and of the objects among its arguments.

    `codes` is code that is known to run without being found otherwise.
    """

    def __init__(self, function: Any, arguments: list[Any], codes: Codes | None = None) -> None:
        self._reach = with_patches([function, *_functions_of(codes or {})], arguments, codes, MOST)
        reached = self._reach.objects.values()
        declared = [found for found in map(declares, set(map(type, reached))) if found is not None]
        self.counted = {found.counter for found in declared if found.counter}
        self.converting = list(self._reach.converting.values())
        self._trusted: bool | None = None
        self.as_arguments = frozenset[int]()  # identities of captured tensors that are looked up at each call
        self.compares = compares(self._reach)
        self.by_identity = asks_identity(self._reach) or (self.compares and meets_nan(self._reach, arguments))
        self.facts = [guard_at(*place, self.by_identity) for place in self._reach.places]
        self.containers = self._own_containers() if self.by_identity else []
        self._sort()
        owners = (fact.source.owner for fact in self.facts if fact.source.is_of_library)
        self.counted_containers = CountedContainers({id(o): o for o in (*reached, *owners)}.values())
        self._arguments = [(value, state(value)) for value in arguments if is_a(value, CONTAINERS)]
        self._hooks = [(tensor, hooks_on(tensor)) for tensor in self.tensors()]
        self._namespaces = Namespaces(reached, self._reach.spaces.values())
        self._repeated: set[ValueGuard] = set()  # what the call has changed, and later calls change as well
        self._random = [(name, get, get()) for name, get in random_states(self._reach.objects.values())]

    def _sort(self) -> None:
        """Guards by how they are checked: counted ones only after a change, bindings by identity, contents by item."""
        counted_ones = [fact for fact in self.facts if fact.source.is_counted(fact.value) and not fact.free]
        changeable = [fact for fact in counted_ones if is_a(fact.value, MUTABLE)]
        self.counted_contents = [(fact, None if fact.by_identity else flat_items(fact.value)) for fact in changeable]
        self.counted_values = [fact for fact in counted_ones if not is_a(fact.value, MUTABLE)]
        # What is one number is looked at as a source of the recording's formulas; containers have other items, too.
        self.opened = [(others_in(fact), fact) for fact in self.facts if fact.free and () not in fact.free]
        counted = {id(fact) for fact in counted_ones}
        rest = [fact for fact in self.facts if id(fact) not in counted and not fact.free]
        self.stable = StableWords(rest)
        rest = [fact for fact in rest if id(fact) not in self.stable.known]
        self.contents = [(fact, flat_items(fact.value)) for fact in rest if is_a(fact.value, MUTABLE)]
        bound = [fact for fact in rest if fact.by_identity or not is_a(fact.value, MUTABLE)]
        self.bindings = [(fact.source.now, fact.value, fact) for fact in bound]

    def _own_containers(self) -> list[Any]:
        """The containers that code finds without the arguments, and may ask whether an argument is one of them."""
        found = self._reach.objects.items()
        constants = [c for code in self._reach.codes for c in code.co_consts if is_a(c, (tuple, frozenset))]
        return [v for key, v in found if key in self._reach.by_function and is_a(v, CONTAINERS)] + constants

    def unknown(self, codes: Codes) -> Codes:
        """Those of `codes` that ran without having been found: callbacks, what ``eval`` was given."""
        return {code: space for code, space in codes.items() if not self._reach.knows(code)}

    def imported(self) -> str:
        """A module that the call has imported for the first time; "" if there is none."""
        for fact in self.facts:
            if fact.value is MISSING and is_a(fact.source, LoadedModule) and not fact.holds():
                return fact.name
        return ""

    def watch(self, source: Source) -> None:
        """Guard a source that was met while the function ran."""
        self.facts.append(guard_at(source, None))
        self._sort()

    @property
    def codes(self) -> list[types.CodeType]:
        """All code that was found."""
        return list(self._reach.codes)

    def is_symbolic_safe(self) -> bool:
        """True if all that was found may run on stand-ins for numbers."""
        if self._trusted is None:
            known = is_symbolic_safe(self._reach.codes, self._reach.objects.values())
            self._trusted = known and not self.by_identity  # a stand-in is no other object
        return self._trusted

    def keeps_nothing(self) -> bool:
        """True if none of the code that was found can put a number where others find it."""
        return keeps_nothing(self._reach.codes, self._reach.objects.values())

    def stores_nothing(self) -> bool:
        """The same of tensors: no gradient is made, and no optimizer's state."""
        makes = any(not _MAKING.isdisjoint(code.co_names) for code in self._reach.codes)
        return not makes and not any(map(is_optimizer, self._reach.objects.values())) and self.keeps_nothing()

    def is_stranger(self, frame: types.FrameType) -> bool:
        """True for a frame that may look at what it finds: its code was not found, nor does it only compute."""
        return not self._reach.knows(frame.f_code) and may_look(frame)

    def open(self, free: dict[int, set[Path]]) -> None:
        """Leave numbers out of guards (by the identity of their sources): they are inputs from now on."""
        if free:
            found = ((fact, free.get(id(fact.source))) for fact in self.facts)
            self.facts = [fact if paths is None else fact.opened(frozenset(paths)) for fact, paths in found]
            self._sort()

    def tensors(self) -> list[Tensor]:
        """The tensors that the function can reach."""
        return [value for value in self._reach.objects.values() if is_a(value, Tensor)]

    def hold(self) -> bool:
        """The slow check: True while all guards hold but counted ones (`Unwritten`). Identity decides most."""
        if not self.stable.look():
            return False
        for now, value, fact in self.bindings:
            if now() is not value and not fact.holds():
                return False
        for fact, items in self.contents:
            if (items is None or not has_items(fact.source.now(), items)) and not fact.holds():
                return False
        for same, fact in self.opened:
            if not same() and not fact.holds():
                return False
        return True

    def hold_but_for_numbers(self) -> bool:
        """True while all guards hold, or would hold for other numbers of the same types."""
        return all(
            without_numbers(state(fact.source.now(), fact.free, fact.by_identity)) == without_numbers(fact.state)
            for fact in self.facts
        )

    def places_of(self, value: Any) -> int:
        """In how many places this object was found."""
        return sum(fact.value is value for fact in self.facts)

    def is_only_one(self, container: Any) -> bool:
        """True if all ways on which this list or dict was found lead through one storage, and no other of its type was
        found: containers are compared by what is in them, so that a later call may find this one in another's place."""
        found = [fact.source.storage() for fact in self.facts if fact.value is container]
        if None in found or len({storage.key for storage in found if storage is not None}) != 1:
            return False
        return all(each is container or type(each) is not type(container) for each in self._reach.objects.values())

    def is_found_alone(self, value: Any) -> bool:
        """True for an object that the function finds without its arguments."""
        return id(value) in self._reach.by_function

    def only_named_in(self, name: str, code: types.CodeType) -> bool:
        """True if no other code that was found mentions the variable or attribute."""
        return self._reach.codes_naming(name) <= {code}

    def only_a_list(self, fact: ValueGuard) -> None:
        """Guard of the list at this source only that it is one, not what is in it."""
        self.facts = [other for other in self.facts if other is not fact]
        self.facts.append(guard_at(KindOf(fact.source), fact.code))
        self._sort()

    def count_stores(self) -> None:
        """A program is made: from now on, what others store in the attributes that it guards by counts is counted."""
        facts = (*self.counted_values, *(fact for fact, _ in self.counted_contents))
        sources = (fact.source for fact in facts if is_a(fact.source, Attribute))
        stored_places.guard(self, [(source.owner, source.name) for source in sources])

    def is_only_stored(self, source: Source) -> bool:
        """True for an attribute to which the code that was found does nothing but assign it."""
        if type(source) is not Attribute or any(are_computed(frozenset(code.co_names)) for code in self._reach.codes):
            return False
        return all(only_stores(code, source.name) for code in self._reach.codes_naming(source.name))

    def repeats(self, facts: Sequence[ValueGuard], unread: Sequence[ValueGuard]) -> None:
        """Changes that the call has made are none that are refused: later calls make them, too. What was there before
        is guarded, but where it is `unread`."""
        if not facts:
            return
        self._repeated.update(facts)
        for storage in (fact.source.storage() for fact in facts):
            if storage is not None:
                self._namespaces.leave_out(storage.owner, storage.name)
        self.facts = [fact for fact in self.facts if fact not in unread]
        self._sort()  # what is stored is counted no more

    def repeats_in(self, fact: ValueGuard, before: Any) -> None:
        """The same of entries of the container at this source; `before` is what it was, as a copy: to be compared with
        what calls find there."""
        self.facts = [other for other in self.facts if other is not fact]
        self.facts.append(ValueGuard(fact.source, fact.code, before, fact.state))
        self._repeated.add(self.facts[-1])
        self._sort()

    def mentions(self, name: str) -> bool:
        """True if any code that was found mentions the variable, attribute or keyword."""
        return FoundCode(self._reach.codes).mentions(name)

    def reaches_threads(self) -> bool:
        """True if the function can let other threads see what it has computed."""
        return any(map(is_of_threads, self._reach.objects.values()))

    def reaches(self, value: Any) -> bool:
        """True for an object that was there before the call."""
        return self._reach.reaches(value)

    def let_go(self) -> None:
        """Forget what only the recorded call needed: its arguments among it."""
        self.is_symbolic_safe()
        self._reach.ways, self._reach.objects, self._arguments, self._hooks, self._random = {}, {}, [], [], []
        self._repeated = set()
        self._namespaces = Namespaces((), ())

    def captures(self, tensor: Any) -> bool:
        """True for a tensor that the function finds without its arguments, but for those that are made arguments."""
        return id(tensor) in self._reach.by_function and id(tensor) not in self.as_arguments

    def ways_to(self, value: Tensor | tuple[Any, ...]) -> list[Any]:
        """What leads the function to a tensor or a tuple: sources, and containers."""
        return self._reach.ways.get(id(value), [])

    def refuse_side_effects(self, effect_lines: EffectLines) -> None:
        """CaptureError if the call itself has made a guard fail, or has drawn numbers that a replay would repeat."""
        unknown = "in the call that was recorded"
        for fact in self.facts:
            if fact not in self._repeated and not fact.holds():
                raise _side_effect(f"the function changes {fact.name}, which outlives the call", fact)
        for name in self._namespaces.changed():
            raise self._written_past_guards(name)
        for value, before in self._arguments:
            if state(value) != before:
                place = effect_lines.at("container", value, lines_storing(self.codes) or unknown)
                raise CaptureError(
                    f"the function changes an argument, a {type(value).__name__}\n  {place}\n"
                    "  A compiled step repeats what it computes, not what it does to Python objects: return the value."
                )
        for tensor, hooks in self._hooks:
            if hooks_on(tensor) != hooks:
                place = effect_lines.at("hook", tensor, effect_lines.at("hook", None, unknown))
                raise CaptureError(
                    f"the function registers or removes a hook of {tensor.label or 'a tensor'}\n  {place}\n"
                    "  Later calls would not do it again: register hooks outside."
                )
        for name, get, before in self._random:
            if get() != before:
                raise CaptureError(
                    f"the function draws from {name}\n  {effect_lines.at('random', None, unknown)}\n"
                    "  Later calls would repeat these numbers: draw with tg.rand and the like, or pass them in."
                )

    def _written_past_guards(self, name: str) -> CaptureError:
        naming = self._reach.codes_naming(name.rpartition(".")[2])
        at = writer_of(next(iter(naming)), name) if naming else "a line that is not known"
        return CaptureError(
            f"the function changes {name}, which outlives the call\n  at {at}\n"
            "  A compiled step repeats what it computes, not what it does to Python objects: do this outside."
        )

    def refuse_unwatchable(self, arguments: list[Any]) -> None:
        """CaptureError for what cannot be compared from call to call: iterators, numpy arrays. Nothing has run yet."""
        for value in arguments:
            if is_a(value, np.ndarray) or hasattr(type(value), "__next__"):
                raise CaptureError(
                    f"an argument is {type(value).__name__}, whose contents change without notice\n"
                    "  in the call of a compiled function\n  Pass tensors: tg.from_numpy(array), or next(iterator)."
                )
        if not all(map(_is_counted, filter(is_optimizer, self._reach.objects.values()))):
            raise CaptureError(
                "an optimizer has a list or a dict of the program's own among its parameter groups\n"
                "  in the call of a compiled function\n"
                "  Its changes are not noticed: use add_param_group(), and change the lists and dicts that are there."
            )
        for fact in self.facts:
            if is_a(fact.value, np.ndarray) and fact.value.size > LARGEST:
                raise _side_effect(f"the function may read {fact.name}, a large numpy array", fact, "make it a tensor.")
            if hasattr(type(fact.value), "__next__"):
                what = f"the function may advance {fact.name}, an iterator that outlives the call"
                raise _side_effect(what, fact, "take the next item outside and pass it as an argument.")
        if self._reach.is_too_much:
            raise CaptureError(
                f"the function reaches more than {MOST} variables and attributes, which each call would compare\n"
                f"  through {', '.join(sorted(self._packages()))}\n"
                "  Pass what it needs as arguments; call libraries outside."
            )
        self._refuse_any_place()
        for value in self._reach.objects.values():
            if not is_guardable(value):
                raise self._not_understood(value)

    def _refuse_any_place(self) -> None:
        """CaptureError where code may look at any module, or at the globals of any function, by computed names."""
        for code in self._reach.codes:
            what = next((name for name in code.co_names if name in _ANY_GLOBALS), "")
            if self._reach.reaches(sys.modules) or (self._reach.reaches(sys) and looks_through_modules(code)):
                what = "sys.modules"
            if what:
                raise CaptureError(
                    f"the function may read or write anything through {what}\n  at {writer_of(code, what)}\n"
                    "  Name the module: import it, or say sys.modules['its name']."
                )

    def _packages(self) -> set[str]:
        modules = (getattr(value, "__module__", None) for value in self._reach.objects.values())
        return {module.partition(".")[0] for module in modules if is_a(module, str)}

    def _not_understood(self, value: Any) -> CaptureError:
        source, code = self._reach.found_at.get(id(value), (Kept(value, "an argument"), None))
        name = source.describe()
        kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
        return CaptureError(
            f"the function may read {name}, which is or holds a {kind}: that may change without notice\n"
            f"  at {writer_of(code, name)}\n"
            "  Read it outside and pass what the function needs as an argument."
        )


def _functions_of(codes: Codes) -> list[types.FunctionType]:
    """The functions that run these codes, as far as they are still there."""
    found = referrers(list(codes)) if codes else []  # a look through all objects that there are
    return [f for f in found if is_a(f, types.FunctionType)]


def _is_counted(value: Any) -> bool:
    declared = declares(type(value))
    return declared is None or declared.is_counted(value)


def _side_effect(what: str, fact: ValueGuard, advice: str = "return the value and do this outside.") -> CaptureError:
    return CaptureError(
        f"{what}\n  at {fact.line}\n"
        f"  A compiled step repeats what it computes, not what it does to Python objects: {advice}"
    )
