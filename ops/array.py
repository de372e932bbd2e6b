"""Arrays with an identity: a numpy array, the buffer whose memory it shows, and how it is a view of it."""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from .complex_numbers.conjugated import CONJUGATED, conjugated, mirror_of
from .core import Interpreter, Number, Params, Primitive, Step, current, set_default_interpreter
from .memory import Buffer as Buffer
from .memory import read_first
from .operators import Operators
from .types import DType, Type, dtype_of, number_in

#: The version of memory that was made in inference mode: writes are not counted, it is never saved for backward.
UNTRACKED = float("-inf")
#: The first version of such memory where a tensor shows it that was detached outside of inference mode: it may be
#: written to, which is counted, but is not saved for backward either.
DETACHED = -(2.0**40)


def alias_of(buffer: Buffer, inference: bool) -> Buffer:
    """The same memory with a version of its own, as what is detached in or outside of `inference` mode shows it."""
    alias = buffer.alias()
    if buffer.version < 0:
        alias.version = UNTRACKED if inference else DETACHED
    return alias


class Array(Operators):
    """`ndarray` shows `buffer`'s memory; `steps` are the view ops that lead from the buffer's whole to it.

    `label` is the name that compiled code gives it, e.g. ``fc1.weight``; `place` is where an interpreter that computes
    later has it in its list of things to do.
    """

    __slots__ = ("__weakref__", "buffer", "label", "ndarray", "place", "steps")

    def __init__(self, ndarray: np.ndarray, buffer: Buffer | None = None, steps: tuple[Step, ...] = ()) -> None:
        self.ndarray = ndarray
        self.buffer = Buffer(ndarray) if buffer is None else buffer
        self.steps = steps
        self.label: str | None = None
        self.place: Any = None

    @property
    def type_(self) -> Type:
        return _type(self.ndarray.dtype, self.ndarray.shape)


@functools.lru_cache(maxsize=4096)
def _type(dtype: np.dtype, shape: tuple[int, ...]) -> Type:
    """Asked for several times an op: looking one up is five times as fast as making it."""
    return Type(dtype_of(np.empty((), dtype)), shape)


class _Quiet(threading.local):
    """Runs numpy's work with its warnings off: in a context of this thread's own, whose error state ignores them.

    Entering a context takes a tenth of what an ``errstate`` does, which may be as long as a whole op of small arrays.
    """

    def __init__(self) -> None:
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run
        # In each thread numpy's error state is set first, to what it is. Where it was never set, the end of an
        # ``errstate`` deletes it, and a collection of garbage in the middle of that, in which a finaliser computes,
        # leaves CPython's context variable with a pointer to what is freed (seen in Python 3.11).
        np.seterr(**np.geterr())


_quiet = _Quiet()


def quietly(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function(*args, **kwargs)``, numpy's work: infinities and NaN are values, not warnings.

    What it calls must not be the program's: that would not find its own context variables.
    """
    try:
        return _quiet.run(function, *args, **kwargs)
    except RuntimeError as error:
        if not _was_entered(error):
            raise
    return within_errstate(function, *args, **kwargs)


def _was_entered(error: RuntimeError) -> bool:
    """Whether the function was not called, as the context is in use: a finaliser computes within a computation."""
    trace = error.__traceback__
    return trace is not None and trace.tb_next is None and str(error).startswith("cannot enter context")


@np.errstate(all="ignore")
def within_errstate(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """`quietly` for what may call the program's code."""
    return function(*args, **kwargs)


class Evaluator:
    """Interprets ops at once with numpy. Operands are Arrays or numpy scalars (constants)."""

    def apply(self, primitive: Primitive, operands: Sequence[Any], params: Params) -> Array:
        return self.evaluate(primitive, operands, params, Array)

    def evaluate(self, primitive: Primitive, operands: Sequence[Any], params: Params, kind: Callable[..., Any]) -> Any:
        """The value of one primitive as a new `kind` (Array or a subclass); a view op's result shares its buffer."""
        values = [o.ndarray if isinstance(o, Array) else o for o in operands]
        if primitive.lower is CONJUGATED and isinstance(operands[0], Array):
            base = operands[0]
            return kind(conjugated(values[0], base.buffer), base.buffer, (*base.steps, Step(primitive, ())))
        out = self._computed(primitive, values, params)
        if type(out) is not np.ndarray:
            out = np.asarray(out)
        if primitive.is_view and isinstance(operands[0], Array) and shows(out, operands[0].ndarray):
            base = operands[0]
            return kind(out, base.buffer, (*base.steps, Step(primitive, tuple(params.items()))))
        return kind(out)

    def _computed(self, primitive: Primitive, values: Sequence[Any], params: Params) -> Any:
        """numpy's result; what numpy refuses, the type rule explains."""
        try:
            return quietly(primitive.evaluate, *values, **params)
        except ValueError:
            primitive.type_rule(*(Type(dtype_of(v), v.shape) for v in values), **params)
            raise

    def stacked(self, arrays: Sequence[Array], axis: int, kind: Callable[..., Any]) -> Any:
        """Arrays of one type along a new axis, in one go, row by row; None from interpreters that want ops."""
        first, count = arrays[0].ndarray, len(arrays)
        shape = first.shape
        out = np.empty((*shape[:axis], count, *shape[axis:]), first.dtype)
        if axis == 0 and shape:
            np.concatenate([array.ndarray for array in arrays], out=out.reshape(count * shape[0], *shape[1:]))
        else:
            place = (*(slice(None),) * axis, None)
            np.concatenate([array.ndarray[place] for array in arrays], axis, out)
        return kind(out)

    def literal(self, values: np.ndarray, kind: Callable[..., Any] = Array) -> Any:
        """A new `kind` that holds `values`, numbers from the program itself; recorders add them as constants."""
        return kind(values)

    def write(self, target: Array, value: Array | np.generic) -> None:
        """Store `value` (same type, or broadcastable) in `target`'s memory and count the version up.

        RuntimeError, with nothing stored, for memory that is read-only or shows one element several times.
        """
        require_writable(target)
        to = target.ndarray
        mirror = None if type(target.buffer) is Buffer else mirror_of(to, target.buffer)
        if mirror is not None:
            mirror.store(to, value.ndarray if isinstance(value, Array) else value)
        else:
            np.copyto(to, read_first(value.ndarray, to) if isinstance(value, Array) else value)
        target.buffer.version += 1

    def read(self, array: Array, purpose: str) -> np.ndarray:
        """The numbers themselves, for code outside the graph (`item`, `print`, ``if``); recorders refuse."""
        return array.ndarray

    def item(self, array: Array) -> bool | int | float:
        """The one number of `array` for the program; recorders refuse unless it is only passed on."""
        number: bool | int | float = array.ndarray.item()
        return number

    def peek(self, array: Array) -> np.ndarray:
        """The numbers themselves, for a decision that the library takes in eager mode and in a recording alike."""
        return array.ndarray

    def require(self, array: Array, requirement: Any, facts: tuple[int, ...]) -> None:
        """Raise unless a `requirements.Requirement` holds for the numbers of `array`; recorders add it to the graph."""
        requirement.check(array.ndarray, facts)

    def cut(self, array: Array) -> None:
        """`array` was computed from values that require gradients, without being recorded (``no_grad``)."""

    def type_of(self, operand: Any) -> Type:
        return _type(operand.dtype, ()) if isinstance(operand, np.generic) else operand.type_

    def is_number(self, operand: Any) -> bool:
        return isinstance(operand, np.generic)

    def constant(self, number: Number | np.generic, dtype: DType) -> Any:
        return number_in(number, dtype)


class ValueInterpreter(Interpreter, Protocol):
    """Interpreters whose values have memory and numbers: eager evaluation, the tape, a recording."""

    def write(self, target: Any, value: Any) -> None: ...

    def read(self, array: Any, purpose: str) -> np.ndarray: ...

    def item(self, array: Any) -> bool | int | float: ...

    def peek(self, array: Any) -> np.ndarray: ...

    def require(self, array: Any, requirement: Any, facts: tuple[int, ...]) -> None: ...

    def cut(self, array: Any) -> None: ...

    def literal(self, values: np.ndarray) -> Any: ...


def eager() -> ValueInterpreter:
    """The current interpreter, for code that works on memory: everything except derivative rules and passes."""
    interpreter: Any = current()  # `typing.cast` would be one more call for each write, read and literal
    return interpreter


def require_writable(target: Array) -> None:
    """RuntimeError unless each element of `target` can be written, and has a place of its own."""
    values = target.ndarray
    if (mirror := mirror_of(values, target.buffer)) is not None:
        values = mirror.behind(values)
    if values.flags.writeable and not repeated_axes(values):
        return
    if not values.flags.writeable:
        raise RuntimeError("the tensor shows a numpy array that is read-only. clone() it before writing.")
    raise RuntimeError(
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
        "Please clone() the tensor before performing the operation."
    )


def repeated_axes(values: np.ndarray) -> tuple[int, ...]:
    """The axes that show one element again and again, as those do that `broadcast` makes; none for no elements."""
    if values.flags.c_contiguous or not values.size:
        return ()
    sides = zip(values.shape, values.strides, strict=True)
    return tuple([axis for axis, (n, step) in enumerate(sides) if n > 1 and not step])


def by_columns(values: np.ndarray) -> bool:
    """Whether a matrix lies in memory as a contiguous one does that is transposed.

    A derivative rule that names ``<operand>_by_columns`` is told so: gradients of matrices lie as PyTorch's do.
    """
    if values.ndim != 2 or values.size == 1:  # a single element lies both ways; one row is then recorded as more are
        return False
    return values.strides == (values.itemsize, values.itemsize * values.shape[0])


def shows(view: np.ndarray, whole: np.ndarray) -> bool:
    """True where `view` shows `whole`'s memory instead of a copy (numpy's reshape decides by strides)."""
    below = view.base
    if below is not None and (below is whole or below is whole.base):
        return True
    return view is whole or view.size == 0 or np.may_share_memory(view, whole)


set_default_interpreter(Evaluator())
