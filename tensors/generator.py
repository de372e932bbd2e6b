"""Generators: where random numbers come from, and how they are seeded, stored and set back.

A generator's state lies in three tensors. Draws are ops on them followed by an in-place write, so a recording sees
random numbers as it sees any other state: the tensors are inputs of the graph and are written back.
"""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Callable, Sequence
from contextlib import ContextDecorator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ops.array import eager
from ..ops.core import current
from ..ops.identity import copy
from ..ops.locks import new_lock
from ..ops.movement import concatenate, slice
from ..ops.random import STATE_SIZE, random_seed, random_words, serial_normals
from ..ops.sampling.rejection import random_gamma
from ..ops.sources import full
from ..ops.types import float64, int32, int64
from ..tracing.watch import changes, declare_read, watcher
from .device import as_device, device
from .drawing.at_once import DrawsAtOnce
from .drawing.without_offset import WithoutOffset
from .layouts.generator_state import TORCH_STATE, record_of
from .tensor import EAGER, Tensor, make

if TYPE_CHECKING:
    from .calling.annotations import DeviceLike


#: The seed of a new generator in PyTorch.
DEFAULT_SEED = 67280421310721


def _place(where: Any) -> device:
    """The CPU. RuntimeError for any other device."""
    of = as_device(where)
    if of.type == "mps":
        raise RuntimeError("Cannot execute getNewGenerator() without MPS backend. Write Generator().")
    if of.type != "cpu":
        raise RuntimeError(
            f"Cannot get {of.type.upper()} generator without ATen_{of.type} library: tracegrad draws numbers on the "
            f"CPU only, got device {str(where)!r}. Write Generator()."
        )
    return of


def _never(_: int) -> bool:
    return False


class Generator(DrawsAtOnce, WithoutOffset):
    """A source of random numbers: PyTorch's CPU generator (MT19937), with the same numbers for the same seed.

    >>> import tracegrad as tg
    >>> g = tg.Generator().manual_seed(42)
    >>> tg.rand(2, generator=g)
    tensor([0.8823, 0.9150])

    `state` int32[625] are the words and the position in them; `cached` float64[2] are a normal number that is ready for
    the next draw, and 1.0 if there is one; `seeded` int64[] is the last seed. Only code that draws writes to them.
    """

    def __init__(self, device: DeviceLike = "cpu") -> None:
        self.device = _place(device)
        self.state = _labelled("generator.state", np.zeros(STATE_SIZE, np.int32))
        self.cached = _labelled("generator.cached", np.zeros(2))
        self.seeded = _labelled("generator.seed", np.zeros((), np.int64))
        self._lock = new_lock()
        self._decided_in: weakref.ref[Any] | None = None
        self._open_in: weakref.ref[Any] | None = None
        self.manual_seed(DEFAULT_SEED)

    # ----------------------------------------------------------------------------------------------------- seeding

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed` (64 bits, negative ones count from 2^64 down); returns the generator.

        As in PyTorch only the low 32 bits decide about the numbers. RuntimeError for what is no int, ValueError if it
        does not fit.
        """
        if not hasattr(seed, "__index__"):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        bits = _signed64(seed)
        interpreter = current()
        constant = interpreter.constant(bits, int64)
        with self._lock:
            interpreter.write(self.state, random_seed(constant))  # type: ignore[attr-defined]
            interpreter.write(self.seeded, constant)  # type: ignore[attr-defined]
            self._cache(interpreter.constant(0.0, float64))
        return self

    def seed(self) -> int:
        """Start again from a seed of the system's randomness, which it returns.

        >>> import tracegrad as tg
        >>> g = tg.Generator()
        >>> g.seed() == g.initial_seed()
        True
        """
        eager().read(self.state, "Generator.seed()")
        seed = secrets.randbits(53)
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The last seed, as a number of 64 bits without sign.

        >>> import tracegrad as tg
        >>> tg.Generator().manual_seed(-1).initial_seed() == 2**64 - 1
        True
        """
        return int(eager().read(self.seeded, "Generator.initial_seed()")) & (2**64 - 1)

    # ------------------------------------------------------------------------------------------------------- state

    def get_state(self) -> Tensor:
        """The state: PyTorch's 5,056 bytes, as a uint8 tensor. They have the same meaning, so that
        ``torch.set_rng_state(torch.from_numpy(state.numpy()))`` goes on where tracegrad stands."""
        read = eager().read
        words = read(self.state, "get_state()").view(np.uint32)
        normal, has_normal = read(self.cached, "get_state()")
        record = np.zeros((), TORCH_STATE)
        record["seed"] = self.initial_seed()
        record["seeded"] = 1
        record["next"] = words[-1]
        record["left"] = STATE_SIZE - int(words[-1])
        record["words"] = words[:-1]
        record["has_normal"] = has_normal
        record["normal"] = normal
        return make(np.frombuffer(record.tobytes(), np.uint8).copy())

    def set_state(self, new_state: Tensor | np.ndarray) -> Generator:
        """Go on from what ``get_state()`` gave, here or in PyTorch (then as a numpy array); returns the generator.

        TypeError if it is no array of integers, RuntimeError if it has another size.
        """
        record = record_of(new_state)
        left = int(record["left"])
        words = np.append(record["words"].astype(np.uint32), np.uint32(STATE_SIZE - left))
        self._restore(
            make(words.view(np.int32)),
            make(np.array([record["normal"] if record["has_normal"] else 0.0, record["has_normal"]])),
            make(np.array(record["seed"]).view(np.int64)),  # a scalar would be no memory to copy from
        )
        return self

    def clone_state(self) -> Generator:
        """A generator of its own that stands where this one does.

        >>> import tracegrad as tg
        >>> g = tg.Generator()
        >>> other = g.clone_state()
        >>> tg.equal(tg.rand(2, generator=g), tg.rand(2, generator=other))
        True
        """
        clone = Generator(self.device)
        clone.set_state(self.get_state())
        return clone

    def snapshot(self) -> tuple[Tensor, Tensor, Tensor]:
        """The state as tensors, without looking at them: a compiled function may keep and restore it."""
        _ = watcher() is not None and self.has_cached  # on which draws behind a restoration depend: it is guarded
        return copy(self.state), copy(self.cached), copy(self.seeded)

    def _restore(self, state: Any, cached: Any, seeded: Any) -> None:
        with self._lock:
            eager().write(self.state, state)
            eager().write(self.seeded, seeded)
            self._cache(cached)

    def __reduce__(self) -> Any:
        return restored, (str(self.device), eager().peek(self.get_state()).tobytes())

    def __setstate__(self, state: tuple[int, None, Tensor]) -> None:
        """What PyTorch pickles: the seed, an offset that generators of other devices have, and ``get_state()``."""
        _, _, words = state
        self.set_state(words)

    # ------------------------------------------------------------------------------------------------------- draws

    @property
    def has_cached(self) -> bool:
        """Whether a normal number is ready. It decides how many words the next draw takes, so a recording guards it.

        Only what it was at the entry of the recorded function is a guard; what the function's own draws make of it
        follows from that. A program with an odd number of such draws has two specialisations, which alternate; whoever
        runs one that writes `cached` counts `changes` up, so that the guard is looked at again.
        """
        listening = watcher()
        if listening is not None and self._open_in is not None and self._open_in() is listening:
            return bool(eager().read(self.cached, "A normal number after gamma numbers")[1])
        if self._decided_in is not None and self._decided_in() is listening:
            return self._flag()
        return bool(declare_read("generator.has_cached", self._flag))

    def _flag(self) -> bool:
        return bool(eager().peek(self.cached)[1])

    def _cache(self, value: Any) -> None:
        before = self._flag()
        eager().write(self.cached, value)
        changes.count += self._flag() != before
        listening = watcher()
        self._decided_in = None if listening is None else weakref.ref(listening)

    def words(self, count: int) -> Tensor:
        """The next `count` words, as int32 bit patterns."""
        if count == 0:
            return full((0,), 0, int32)
        with self._lock:
            interpreter = current()
            if interpreter is EAGER or getattr(interpreter, "does_at_once", _never)(count):
                return make(self.few_words(count))
            state, words = random_words(self.state, count)
            eager().write(self.state, state)
        return words

    def normals(self, count: int) -> Tensor:
        """The next `count` float64 normal numbers, two from four words; an odd one is kept for the next call."""
        if count == 0:
            return full((0,), 0.0, float64)
        with self._lock:
            had = self.has_cached
            parts = [copy(_part(self.cached, 0, 1))] if had else []
            missing = count - had
            if missing:
                parts.append(serial_normals(self.words(4 * ((missing + 1) // 2))))
            drawn = parts[0] if len(parts) == 1 else concatenate(parts, 0)
            if missing % 2:
                self._cache(concatenate([_part(drawn, count, count + 1), full((1,), 1.0, float64)], 0))
            elif had:
                self._cache(current().constant(0.0, float64))
        return _part(drawn, 0, count)

    def rejected(self, draw: Callable[..., Any], *parameters: Any) -> Any:
        """What `draw`, one of `ops.sampling.rejection`, makes of rows of parameters in float64.

        It takes as many words as it happens to need. A gamma number may leave a normal number over: whether one is
        ready is then a matter of numbers, which no recording can decide by (see `has_cached`).
        """
        with self._lock:
            state, cached, drawn = draw(self.state, self.cached, *parameters)
            eager().write(self.state, state)
            if draw is random_gamma:
                self._cache(cached)
                self._open_in = self._decided_in
        return drawn


def _part(x: Any, start: int, stop: int) -> Any:
    return slice(x, (start,), (stop,), (1,))


def _labelled(label: str, ndarray: np.ndarray) -> Tensor:
    tensor = make(ndarray)
    tensor.label = label
    return tensor


def _signed64(seed: int) -> int:
    number = int(seed)
    if not -(2**63) <= number < 2**64:
        raise ValueError(f"Overflow when unpacking long long: the seed {number} needs more than 64 bits.")
    return number - 2**64 if number >= 2**63 else number


def restored(device: DeviceLike, state: bytes) -> Generator:
    """A generator that goes on from `state`, the bytes of ``get_state()``."""
    generator = Generator(device)
    generator.set_state(np.frombuffer(state, np.uint8))
    return generator


_restored = restored  # what files of versions before name


# ------------------------------------------------------------------------------------------------ the default generator

default_generator = Generator()
default_generator.seed()


def chosen(generator: Any) -> Generator:
    """The generator that a draw names, or the default one. TypeError for what is none."""
    if generator is None:
        return default_generator
    if not isinstance(generator, Generator):
        raise TypeError(f"argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    return generator


def manual_seed(seed: int) -> Generator:
    """Seed the default generator, from which all draws come that name none; returns it. See `Generator.manual_seed`.

    The same seed gives PyTorch's numbers. ValueError for one that does not fit into 64 bits.

    >>> import tracegrad as tg
    >>> _ = tg.manual_seed(42)
    >>> tg.rand(2)
    tensor([0.8823, 0.9150])
    """
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the system's randomness; returns the seed.

    >>> import tracegrad as tg
    >>> tg.seed() == tg.initial_seed()
    True
    """
    return default_generator.seed()


def initial_seed() -> int:
    """The last seed of the default generator, as a number of 64 bits without sign.

    >>> import tracegrad as tg
    >>> _ = tg.manual_seed(42)
    >>> tg.initial_seed()
    42
    """
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state, PyTorch's 5056 bytes, as a uint8 tensor; see `Generator.get_state`.

    >>> import tracegrad as tg
    >>> state = tg.get_rng_state()
    >>> state.shape, state.dtype
    (tracegrad.Size([5056]), tracegrad.uint8)
    """
    return default_generator.get_state()


def set_rng_state(new_state: Tensor | np.ndarray) -> None:
    """Go on from a state that `get_rng_state` gave, here or in PyTorch (as a numpy array).

    TypeError if it is no array of integers, RuntimeError if it has another size.

    >>> import tracegrad as tg
    >>> tg.set_rng_state(tg.Generator().manual_seed(42).get_state())
    >>> tg.rand(2)
    tensor([0.8823, 0.9150])
    """
    default_generator.set_state(new_state)


class fork_rng(ContextDecorator):
    """Draws inside the block leave the default generator as it was. `devices` and other options have no meaning here.

    >>> import tracegrad as tg
    >>> _ = tg.manual_seed(42)
    >>> with tg.random.fork_rng():
    ...     _ = tg.rand(100)
    >>> tg.rand(1)
    tensor([0.8823])
    """

    def __init__(self, devices: Sequence[DeviceLike] | None = None, enabled: bool = True, **options: Any) -> None:
        self._enabled = enabled

    def _recreate_cm(self) -> fork_rng:
        return fork_rng(enabled=self._enabled)  # one for each decorated call

    def __enter__(self) -> None:
        self._kept = default_generator.snapshot() if self._enabled else ()

    def __exit__(self, *exc_info: object) -> None:
        if self._kept:
            default_generator._restore(*self._kept)
