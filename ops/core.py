"""What a primitive is, and the one switch that decides who interprets it.

A primitive is declared once: its type rule, its numpy evaluation, its derivative and, as data, its C. Calling an op
hands it to the *current interpreter* of this thread, which evaluates it, records it, or adds it to a graph; the
arguments are never asked what they are.
"""

from __future__ import annotations

import inspect
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from .callers.signatures import parameter_names
from .layouts.evaluation import rounded_once
from .layouts.orders import as_made, elementwise_result, folded
from .types import DType, Type

Number = bool | int | float | complex
Params = Mapping[str, Any]
Rule = Callable[..., Any]


# ---------------------------------------------------------------------------------------------- lowering, as data


@dataclass(frozen=True)
class Pointwise:
    """One C expression per element; ``{x}`` stands for the operand called x, ``{f}`` for the suffix of float math
    functions (``f`` in float32, empty in float64), ``{type}`` for the result's C type, ``{NAME}`` for a parameter."""

    c: str


@dataclass(frozen=True)
class Reduction:
    """Folds the axes in the parameter ``axes``: ``acc = init; acc = combine(acc, x)``. `init` is an expression in the
    result's C type: a number, or ``LOWEST`` / ``HIGHEST`` (minus / plus infinity, the extreme integers, false / true).
    `kind` names the fold for vector loops: add, mul, max, min, or, and."""

    kind: str
    init: str
    combine: str


@dataclass(frozen=True)
class Movement:
    """Output elements are input elements at other places; `kind` tells the scheduler which index map it is.
    `view` is True where the eager result shares memory with its operand, as in PyTorch."""

    kind: str  # reshape transpose broadcast slice flip pad concatenate update_slice window spread
    view: bool = False


@dataclass(frozen=True)
class Kernel:
    """A kernel template of its own: dot, gather, scatter_add, take, index_add, argmax, random_words, ..."""

    kind: str


@dataclass(frozen=True)
class Source:
    """Values without operands: input, constant, full, iota."""

    kind: str


Lowering = Pointwise | Reduction | Movement | Kernel | Source


def computes(lower: Lowering) -> bool:
    """Whether an op makes new numbers of its operands' by itself: not by moving them, nor by ops within it."""
    return not isinstance(lower, (Movement, Source)) and lower != Kernel("scan")


# ---------------------------------------------------------------------------------------------------- primitives


@dataclass(frozen=True)
class Derivative:
    """The rule for one operand and the names it needs; only what is named is kept alive by the tape.

    A rule may name ``g`` (the cotangent, of the output's shape), ``out``, any operand, ``<operand>_type``,
    ``<operand>_by_columns`` (`ops.array.by_columns`), ``out_type``, any parameter, and in variadic primitives
    ``index``, the position of the operand.
    """

    rule: Rule
    needs: tuple[str, ...]
    reads_values: bool = True  # operands or the result: the rule is not the same for a conjugated cotangent


@dataclass(frozen=True)
class Check:
    """What an evaluation refuses because of the numbers that it meets (an index out of range), as a rule of its own.

    The rule names operands (it looks at their numbers), ``<operand>_type`` and parameters, and raises as `eval` does.
    """

    rule: Rule
    needs: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Primitive:
    """One op. `inputs` names the operands; a single name with a star (``*xs``) makes it variadic.

    The derivative rule of a variadic op that is `joint` may name all operands by that name, and ``positions``: it gives
    the cotangents of the operands there all at once.
    """

    name: str
    inputs: tuple[str, ...]
    type_rule: Callable[..., Type]
    evaluate_wide: Callable[..., Any]  # of types that numpy computes in as PyTorch does, float32 and float64 among them
    derivatives: Mapping[str, Derivative | None]
    lower: Lowering
    backward_name: str = ""  # what PyTorch calls the grad_fn: MulBackward0
    check: Check | None = None
    joint: bool = False
    keeps: frozenset[np.dtype] = frozenset()  # of these usual types it is computed in the type itself
    linear: tuple[str, ...] = ()  # operands in which, together, it is linear, where the rules are not the exact adjoint
    variadic: bool = field(init=False)
    is_view: bool = field(init=False)
    evaluate: Callable[..., Any] = field(init=False)  # of all types
    rules: tuple[Derivative | None, ...] = field(init=False)  # by operand; a variadic op has one

    def __post_init__(self) -> None:
        object.__setattr__(self, "variadic", self.inputs[:1] != () and self.inputs[0].startswith("*"))
        object.__setattr__(self, "is_view", isinstance(self.lower, Movement) and self.lower.view)
        laid = {Pointwise: elementwise_result, Reduction: folded}.get(type(self.lower), as_made)
        evaluate = rounded_once(self.evaluate_wide, laid) if computes(self.lower) else self.evaluate_wide
        object.__setattr__(self, "evaluate", evaluate)
        object.__setattr__(self, "rules", tuple([self.derivatives[name.lstrip("*")] for name in self.inputs]))

    def derivative(self, position: int) -> Derivative | None:
        """The rule for the operand at `position`, None where there is no gradient."""
        return self.rules[0 if self.variadic else position]

    def differentiable(self, positions: Sequence[int]) -> tuple[int, ...]:
        """Those of the `positions` whose operands have a gradient."""
        rules = self.rules
        if self.variadic:
            return () if rules[0] is None else tuple(positions)
        for i in positions:
            if rules[i] is None:
                return tuple([i for i in positions if rules[i] is not None])
        return positions if type(positions) is tuple else tuple(positions)

    def __repr__(self) -> str:
        return f"<primitive {self.name}>"


class NoGradient:
    """The one way to say that an operand has no gradient: ``vjp={"x": NO_GRADIENT}`` or ``vjp=NO_GRADIENT``."""

    def __repr__(self) -> str:
        return "NO_GRADIENT"


NO_GRADIENT = NoGradient()


class NotImplementedRule:
    """The rule for an operand whose derivative PyTorch does not have either: asking for it is an error."""

    def __init__(self, message: str) -> None:
        self.message = message

    def __call__(self, g: Any) -> Any:
        raise NotImplementedError(self.message)


REGISTRY: dict[str, Primitive] = {}


def define(
    name: str,
    inputs: Sequence[str],
    *,
    type: Callable[..., Type],
    eval: Callable[..., Any],
    lower: Lowering,
    vjp: Mapping[str, Rule | NoGradient] | NoGradient,
    backward_name: str | None = None,
    check: Rule | None = None,
    joint: bool = False,
    keeps: frozenset[np.dtype] = frozenset(),
    linear: tuple[str, ...] = (),
) -> Primitive:
    """Declare a primitive and enter it in the registry; a missing derivative fails here, at import."""
    if name in REGISTRY:
        raise ValueError(f"primitive {name!r} is defined twice")
    names = [i.lstrip("*") for i in inputs]
    rules = dict.fromkeys(names, vjp) if isinstance(vjp, NoGradient) else dict(vjp)
    if set(rules) != set(names):
        raise ValueError(f"{name}: derivatives for {sorted(rules)}, operands are {names}; NO_GRADIENT where none")
    derivatives = {n: None if isinstance(r, NoGradient) else _derivative(r, names) for n, r in rules.items()}
    title = backward_name or "".join(part.capitalize() for part in name.split("_")) + "Backward0"
    checking = None if check is None else Check(check, _names_in(check))
    primitive = Primitive(name, tuple(inputs), type, eval, derivatives, lower, title, checking, joint, keeps, linear)
    REGISTRY[name] = primitive
    return primitive


def _derivative(rule: Rule, operands: Sequence[str]) -> Derivative:
    needs = _names_in(rule)
    return Derivative(rule, needs, not {"out", *operands}.isdisjoint(needs))


def _names_in(rule: Rule) -> tuple[str, ...]:
    return parameter_names(rule)


# -------------------------------------------------------------------------------------------- the current interpreter


class Interpreter(Protocol):
    """Who gives ops their meaning. Operands are what the interpreter's own `apply` returned, or its constants."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Any:
        """The value of one primitive; operands already have the types its type rule wants."""

    def type_of(self, operand: Any) -> Type:
        """Element type and shape of an operand."""

    def is_number(self, operand: Any) -> bool:
        """True for operands that promote as Python numbers do, e.g. a learning rate that is run-time data."""

    def constant(self, number: Number | np.generic, dtype: DType) -> Any:
        """An operand that holds `number` in `dtype`, without dimensions."""


Entry = tuple[Interpreter, types.FrameType]  # and whose it is


class _Switch(threading.local):
    stack: tuple[Entry, ...] = ()


switch = _Switch()  # of this thread; empty: the default interpreter
_default: list[Interpreter] = []


def set_default_interpreter(interpreter: Interpreter) -> None:
    """The interpreter of threads that have chosen none."""
    _default[:] = [interpreter]


def current() -> Interpreter:
    """The interpreter that this thread's ops go to."""
    stack = switch.stack
    return stack[-1][0] if stack else _default[0]


def interpreted(interpreter: Interpreter, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)`` with this thread's ops going to `interpreter`.

    KeyboardInterrupt, and what another thread raises here, may come between any two instructions, also within
    ``finally``. So the state is put back in two of them: an interrupt in the one leaves the other.
    """
    before = switch.stack
    try:
        try:
            switch.stack = (*before, (interpreter, sys._getframe()))
            return function(*args, **kwargs)
        finally:
            switch.stack = before
    finally:
        switch.stack = before


class interpreting:
    """`interpreted` for a block in which none but the library's own code runs; an interrupt may come before its end."""

    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter

    def __enter__(self) -> Any:
        self._before = switch.stack
        switch.stack = (*self._before, (self._interpreter, sys._getframe(1)))
        return self._interpreter

    def __exit__(self, *exc_info: object) -> None:
        switch.stack = self._before


MAY_WAIT = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR  # frames that may go on later


def drop_stale_interpreters() -> None:
    """Forget entries whose frame runs no more, whatever has kept them from being taken away; `left` tells them."""
    stack = switch.stack
    if stack:
        running, frame = set[int](), sys._getframe(1)
        while frame is not None:
            running.add(id(frame))
            frame = frame.f_back  # type: ignore[assignment]
        left = [entry for entry in stack if id(entry[1]) not in running and not entry[1].f_code.co_flags & MAY_WAIT]
        switch.stack = tuple(entry for entry in stack if entry not in left)
        for interpreter, _ in left:
            if hasattr(interpreter, "left"):
                interpreter.left()


class Direct:
    """Plain eager mode's own way for pointwise ops of tensors of one usual type, or of two of which one is floating.

    NotImplemented for any other operands: these go to the current interpreter, the general way. Until there are
    tensors, everything does.
    """

    def unary(self, primitive: Primitive, x: Any) -> Any:
        """The value of a primitive of one operand."""
        return NotImplemented

    def binary(self, primitive: Primitive, x: Any, y: Any) -> Any:
        """The value of a primitive of two operands."""
        return NotImplemented

    def choice(self, primitive: Primitive, condition: Any, x: Any, y: Any) -> Any:
        """The value of a primitive of a condition and two operands."""
        return NotImplemented


class _Plain:
    direct = Direct()
    #: Gives what was made of several primitives one name on the tape, with edges to the operands, if it has a node.
    named: Callable[[Any, str, Sequence[Any]], None] = staticmethod(lambda out, title, operands: None)


plain = _Plain()  # of all threads whose interpreter is the default one


def set_direct(direct: Direct) -> None:
    """Let pointwise ops ask `direct` first while the default interpreter is current."""
    plain.direct = direct


def set_naming(named: Callable[[Any, str, Sequence[Any]], None]) -> None:
    """Let `named` be what gives names on the tape."""
    plain.named = named


def bind(primitive: Primitive, *operands: Any, **params: Any) -> Any:
    """Hand one primitive to the current interpreter. Parameters must be hashable (tuples, numbers, DTypes)."""
    stack = switch.stack
    return (stack[-1][0] if stack else _default[0]).apply(primitive, operands, params)


def at_once(*values: Any) -> Any:
    """The current interpreter, where derivative rules may take the arrays of tensors and give it those of their results
    (`literal`): it is plain eager mode's, and none gets a history. None elsewhere."""
    interpreter = current()
    computes_only = getattr(interpreter, "computes_only", None)
    return interpreter if computes_only is not None and computes_only(*values) else None


def is_plain_now(*values: Any) -> bool:
    """Whether what is read of these tensors, or written to them, is numpy's work and nothing more: in plain eager mode,
    and in a call that puts off ops, where it would do them now and nothing is put off (`works_now`)."""
    stack = switch.stack
    return not stack or getattr(stack[-1][0], "works_now", _never)(*values)


def reads_now(*values: Any) -> bool:
    """Whether copies of elements of these tensors are numpy's work and nothing more: in plain eager mode, and in a call
    that puts off ops, where their numbers are there (`reads_now`)."""
    stack = switch.stack
    return not stack or getattr(stack[-1][0], "reads_now", _never)(*values)


def writes_now(target: Any, *values: Any) -> bool:
    """`reads_now` for a write of what is made of `values` to the memory of `target`: nothing that is put off may read
    or write that (`writes_now`)."""
    stack = switch.stack
    return not stack or getattr(stack[-1][0], "writes_now", _never)(target, *values)


def _never(*_: Any) -> bool:
    return False


@dataclass(unsafe_hash=True, slots=True)  # not frozen: each view makes one, which would take three times as long
class Step:
    """One view op between a buffer's whole and an array that shows part of it."""

    primitive: Primitive
    params: tuple[tuple[str, Any], ...] = field(default=())
