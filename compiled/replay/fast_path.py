"""The usual call: tensors and numbers by position, nothing rebound, gradients that nobody keeps.

`Specialisation.matches` and `call` say what a call means. This says the same for the call that is made a million
times, without a walk over structures: what is not as usual gives `MISS`, with nothing done, and the general way
decides. As the C is written for one graph, this function is written for one specialisation: its arguments, the places
that it must look at and its results are lines of their own, since a loop over two of them costs more than they do.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ops.array import Buffer
from ...ops.memory import CACHE_LINE
from ...runtime.program import address_of
from ...runtime.references import memory, versions_are_known
from ...tensors.blank import blank
from ...tensors.tensor import Tensor
from ...tracing.watch import changes
from ...tracing.watched_classes import classes
from ..common.classes import is_a
from ..common.tensor_memory import memory_of
from ..common.written_code import each, lines, written
from ..guards.guard_codegen import GuardCodegen
from ..recording.call_inputs import CallInputs
from .arguments import TensorArgument
from .last_look import LastLook

if TYPE_CHECKING:
    from .fresh_output import FreshOutput
    from .specialisation import Specialisation

MISS = object()
FEW = 3  # arguments that are compared two by two; for more a set is quicker

# The functions take what they work with from their globals, `names` below. An interrupt gives the call its whole
# effect, if C has run: see commit.py and `Binding.run`. A failed check has written nothing; the general way gives the
# eager error.
CHECKS = """
    if not ({modes}):
        return MISS
    {arguments}
    with lock:
        if {now} != look.count and not look.again():
            return MISS
        {words}
        try:
            if not ({environment}):
                return MISS
        except GONE:
            return MISS
        {numbers}
"""

# What one look at many words of memory tells (`last_look.py`), where they are known; else the same, one by one.
WORDS = """
        if memory[look.places].tobytes() != look.expected and not look.is_settled():
            return MISS
"""
WORDS_AND_SPARE = """
        spare = look.spare
        if spare is not None and memory[spare.places].tobytes() == spare.expected:
            look.spare = spare.other
        elif memory[look.places].tobytes() != look.expected and not look.is_settled():
            return MISS
        else:
            spare = None
"""
# The items of lists, which are where the words before say.
ITEMS = """
        if memory[containers.items].tobytes() != containers.expected_items and not look.is_settled():
            return MISS
"""
ONE_BY_ONE = """
        if not ({classes}) or not look.gradients_free():
            return MISS
"""
LOOKED_INTO = """
        if not containers.agree() and not containers.look():
            return MISS
"""

RUN = """
        {addresses}
        {results}
        written = iter(written_buffers)
        codes.clear()
        try:
            codes.extend(map(c, pointers))
            if codes[0]:
                return MISS
            for buffer in written: buffer.version += 1
        except BaseException:
            if binding.has_run:
                for buffer in written: buffer.version += 1
            raise
        {histories}
    return {result}
"""

# `make`, where nobody watches: there is no recording.
NEW_TENSOR = """
    n{i} = empty(shape{i}, dtype{i})
    r{i}, b{i} = blank(Tensor), new(Buffer)
    b{i}.whole = r{i}.ndarray = n{i}
    b{i}.version, b{i}.reader, r{i}.buffer = {version}, None, b{i}
    r{i}.steps, r{i}.label, r{i}.place = (), None, {place}
"""
SMALL_RESULT = textwrap.indent(NEW_TENSOR + "    words[{slot}] = address_of(n{i})\n", " " * 4)

# A result of one number: one that was handed out before and is held no more, or a new one.
SPARE_RESULT = """
        if spare is not None:
            r0 = spare.result
            words[{slot}] = spare.address
        else:
{made}
"""

# Numbers of the result are this call's, which other threads replace as soon as the lock is free.
NUMBERS = "values = inputs.values"
HAND_OUT = "hand_out([{}], (args, {{}}), values)"

UNPACKED = """
    try:
        [{names}] = args
    except ValueError:
        return {miss}
"""

# How a tensor lies, found anew where it shows another array.
LAYOUT = """
    m{i} = a{i}.memory
    if m{i} is None or m{i}[0] is not a{i}.ndarray:
        m{i} = memory_of(a{i})
    if m{i}[1] is not layout{i}:
        return {miss}
"""
ARGUMENT = """
    if type(a{i}) is not Tensor or a{i}._requires or a{i}._node is not None or a{i}.__dict__:
        return {miss}
    if a{i}._base is not None and a{i}.requires_grad:
        return {miss}
"""


@dataclass(frozen=True)
class UsualArguments:
    """What the function for one specialisation is called with, and what is made of its results."""

    specs: Sequence[Any]  # what is expected, by position; None: looked at elsewhere
    numbers_hold: Callable[[Any], bool]  # whether the numbers among them serve; they are read
    hand_out: Callable[[list[Tensor], Any, Any], Any]  # results that are not one tensor

    @staticmethod
    def by_position(of: Specialisation) -> UsualArguments | None:
        """Those of a call with tensors and numbers only; None if calls have others."""
        specs = of.arguments.simple
        return None if specs is None else UsualArguments(specs, of.inputs.reader(), of.results.hand_out)


def compile_fast_path(of: Specialisation) -> Callable[[tuple[Any, ...]], Any] | None:
    """The function for calls of `of` with tensors and numbers by position, or None if its calls are never usual."""
    arguments = UsualArguments.by_position(of)
    call = None if arguments is None else compile_call_with(of, arguments)
    return _with_places(call, of.recording.inputs) if call is not None and of.recording.inputs.places else call


def compile_call_with(of: Specialisation, arguments: UsualArguments) -> Callable[[Any], Any] | None:
    """The function for calls of `of` with such arguments, or None if its calls are never usual.

    So it is with arguments that are written, with results that are joined to the tape, and with captured tensors that
    have to be copied.
    """
    if not _can_be_usual(of, arguments.specs):
        return None
    spared = memory is not None and _is_one_number(of)
    names, checks = _checked(of, WORDS_AND_SPARE if spared else WORDS, arguments)
    results = [_new_result(i, of, names) for i in range(len(of.results.fresh))]
    if spared:
        made = textwrap.indent(results[0], " " * 4)
        results = [SPARE_RESULT.format(slot=of.binding.first_result, made=" " * 8 + made).strip()]
    text = f"def call(args):{checks}" + RUN.format(
        addresses=lines(8, _addresses(arguments.specs)),
        results=lines(8, results + [NUMBERS] * (not of.results.is_one_tensor)),
        histories=lines(8, _histories(of.results.fresh, names) + ["if spare is None: look.keep(r0)"] * spared),
        result="r0" if of.results.is_one_tensor else HAND_OUT.format(each("r{}", range(len(of.results.fresh)))),
    )
    return written(text, f"usual call of {of.recording.name!r}", names)


def compile_checks(of: Specialisation) -> Callable[[tuple[Any, ...]], Any]:
    """What tells whether a call by position would be usual, True or `MISS`; to be asked under the lock. Nothing is
    done."""
    arguments = UsualArguments.by_position(of)
    assert arguments is not None
    names, checks = _checked(of, WORDS, arguments)
    return written(f"def holds(args):{checks}        return True\n", f"usual call of {of.recording.name!r}", names)


def argument_checks(of: Specialisation, names: dict[str, Any], miss: str) -> str:
    """Python that unpacks `args` and looks at each, as the usual call does; it returns `miss` for others."""
    names.update(Tensor=Tensor, memory_of=memory_of, captured=of.arguments.captured)
    return _arguments(of, names, of.arguments.simple or (), miss)


def _checked(of: Specialisation, words: str, arguments: UsualArguments) -> tuple[dict[str, Any], str]:
    """The checks of a call, with the names that these and the call use."""
    guards = GuardCodegen(of.recording.environment, words_apart=memory is not None)
    binding, names = of.binding, guards.names
    look = LastLook(of, guards.cells)
    names.update(
        MISS=MISS, GONE=GuardCodegen.GONE, Tensor=Tensor, Buffer=Buffer,
        memory_of=memory_of, address_of=address_of, new=object.__new__, empty=np.empty, changes=changes, lock=of.lock,
        blank=blank, binding=binding, codes=binding.codes, c=binding.entry, pointers=binding.pointers,
        written_buffers=of.captured.written_buffers,
        words=binding.slots.words, fresh_result=binding.fresh_result, hand_out=arguments.hand_out,
        look=look, memory=memory, captured=of.arguments.captured, inputs=of.inputs,
        numbers_hold=arguments.numbers_hold,
    )  # fmt: skip
    names.update(classes.names)
    containers = names["containers"] = look.containers
    if memory is None:
        words = ONE_BY_ONE.format(classes=classes.term)
    elif not classes.flagged:
        words = f"if not ({classes.term}):\n            return MISS\n        {words.strip()}"
    if containers and not versions_are_known:
        words += LOOKED_INTO
    elif containers.has_lists:
        words += ITEMS
    return names, CHECKS.format(
        now=" + ".join(f"changes.{kind}" for kind in of.counted),
        modes=of.recording.modes.as_python(names),
        words=words.strip(),
        environment="\n            and ".join(guards.terms) or "True",
        arguments=_arguments(of, names, arguments.specs),
        numbers="if not numbers_hold(args): return MISS" if of.inputs.sources else "pass",
    )


def _is_one_number(of: Specialisation) -> bool:
    """True if the only new tensor is a number in a result of its own, which may be handed out again later."""
    return of.results.is_one_tensor and of.binding.result_types[0].shape == () and not of.results.fresh[0].leaf


def _with_places(call: Callable[[tuple[Any, ...]], Any], inputs: CallInputs) -> Callable[[tuple[Any, ...]], Any]:
    """`call` with the tensors that are looked up at each call behind the arguments."""

    def found(args: tuple[Any, ...]) -> Any:
        inputs_now = inputs.find(args, {})
        return MISS if inputs_now is None else call(inputs_now[0])

    return found


def _can_be_usual(of: Specialisation, specs: Sequence[Any]) -> bool:
    if of.backward is not None or of.written_arguments or of.arguments.are_shared:
        return False
    if any(path is not None for _, path in of.grads.to_none):
        return False
    captured = of.captured
    if captured.copied or captured.vary or captured.writes_normals:
        return False
    if any(
        s.only is not None or s.kind is not Tensor or s.attributes or s.requires_grad or not s.layout.contiguous
        for _, s in tensor_arguments(specs)
    ):
        return False
    if any(output.strides is not None for output in of.results.fresh):
        return False
    return not any(output.path is not None or output.always_new for output in of.grads.outputs)


def tensor_arguments(specs: Sequence[Any]) -> list[tuple[int, TensorArgument]]:
    """What is expected of the tensors among the arguments, with their positions."""
    return [(i, spec) for i, spec in enumerate(specs) if is_a(spec, TensorArgument)]


def _arguments(of: Specialisation, names: dict[str, Any], expected: Sequence[Any], miss: str = "MISS") -> str:
    """Unpack the arguments and check each: a plain tensor without a history, which shares no memory that matters."""
    specs = tensor_arguments(expected)
    at = [i for i, _ in specs]
    names.update((f"layout{i}", spec.layout) for i, spec in specs)
    every = range(len(expected))
    text = UNPACKED.format(names=each("a{}", every), miss=miss).strip()
    text += "".join((ARGUMENT + LAYOUT).format(i=i, miss=miss) for i in at)
    if specs and not of.arguments.alias_free:
        shared = [f"m{i}[3] in captured" for i in at]
        shared += [f"m{i}[3] == m{j}[3]" for i in at for j in at if j < i]
        if len(specs) > FEW:
            shared = [f"len({{{each('m{}[3]', at)}}} - captured) != {len(specs)}"]
        text += f"    if {' or '.join(shared)}:\n        return {miss}\n"
    return text


def _addresses(specs: Sequence[Any]) -> list[str]:
    return [f"words[{spec.slot}] = m{i}[2]" for i, spec in tensor_arguments(specs) if spec.slot is not None]


def _new_result(i: int, of: Specialisation, names: dict[str, Any]) -> str:
    """`Binding.fresh_result`; small memory needs no care for cache lines."""
    of_type, version = of.binding.result_types[i], of.results.fresh[i].version
    if of_type.nbytes >= CACHE_LINE:
        return f"r{i} = fresh_result({i}, {version})"
    names.update({f"shape{i}": of_type.shape, f"dtype{i}": of_type.dtype.numpy})
    return SMALL_RESULT.format(i=i, version=version, place=None, slot=of.binding.first_result + i).strip()


def _histories(outputs: list[FreshOutput], names: dict[str, Any]) -> list[str]:
    """What the results are in eager mode: computed with a graph that was used up, leaves that require gradients."""
    lines = []
    for i, output in enumerate(outputs):
        if output.spent is not None:
            names[f"spent{i}"] = output.spent
            lines.append(f"r{i}._node = spent{i}")  # what Tensor.attach does for the first output
        elif output.leaf:
            lines.append(f"r{i}.requires_grad_()")
    return lines
