"""Generators: where random numbers come from, and how they are seeded, stored and set back.

A generator's state lies in three tensors. Draws are ops on them followed by an in-place write, so a recording sees
random numbers as it sees any other state: the tensors are inputs of the graph and are written back.
"""

from __future__ import annotations

import secrets
import weakref
from contextlib import ContextDecorator
from typing import Any

import numpy as np

from ..ops.array import eager
from ..ops.core import current
from ..ops.identity import copy
from ..ops.locks import new_lock
from ..ops.movement import concatenate, slice
from ..ops.random import STATE_SIZE, random_seed, random_words, random_words_primitive, serial_normals
from ..ops.sources import full
from ..ops.types import float64, int32, int64
from ..tracing.watch import changes, declare_read, watcher
from .tensor import EAGER, Tensor, make

#: The seed of a new generator in PyTorch.
DEFAULT_SEED = 67280421310721

#: PyTorch's layout of a CPU generator's state. `left` counts the words until the next refill, plus one.
TORCH_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", (STATE_SIZE - 1,)),
        ("unused", "<f8"),
        ("normal", "<f8"),
        ("unused_too", "<f8"),
        ("has_normal", "<i4"),
        ("padding", "V4"),
        ("float_normal", "<f4"),
        ("has_float_normal", "?"),
        ("padding_too", "V3"),
    ]
)


class Generator:
    """A source of random numbers: PyTorch's CPU generator (MT19937), with the same numbers for the same seed.

    >>> import tracegrad as tg
    >>> g = tg.Generator().manual_seed(42)
    >>> tg.rand(2, generator=g)
    tensor([0.8823, 0.9150])

    `state` int32[625] are the words and the position in them; `cached` float64[2] are a normal number that is ready for
    the next draw, and 1.0 if there is one; `seeded` int64[] is the last seed. Only code that draws writes to them.
    """

    def __init__(self, device: Any = "cpu") -> None:
        self.device = device
        self.state = _labelled("generator.state", np.zeros(STATE_SIZE, np.int32))
        self.cached = _labelled("generator.cached", np.zeros(2))
        self.seeded = _labelled("generator.seed", np.zeros((), np.int64))
        self._lock = new_lock()
        self._decided_in: weakref.ref[Any] | None = None
        self.manual_seed(DEFAULT_SEED)

    # ----------------------------------------------------------------------------------------------------- seeding

    def manual_seed(self, seed: int) -> Generator:
        """Start again from `seed` (64 bits, negative ones count from 2^64 down); returns the generator.

        As in PyTorch only the low 32 bits decide about the numbers. ValueError if `seed` does not fit.
        """
        bits = _signed64(seed)
        interpreter = current()
        constant = interpreter.constant(bits, int64)
        with self._lock:
            interpreter.write(self.state, random_seed(constant))  # type: ignore[attr-defined]
            interpreter.write(self.seeded, constant)  # type: ignore[attr-defined]
            self._cache(interpreter.constant(0.0, float64))
        return self

    def seed(self) -> int:
        """Start again from a seed that nobody knows beforehand; returns it."""
        eager().read(self.state, "Generator.seed()")
        seed = secrets.randbits(53)
        self.manual_seed(seed)
        return seed

    def initial_seed(self) -> int:
        """The last seed, as a number of 64 bits without sign."""
        return int(eager().read(self.seeded, "Generator.initial_seed()")) & (2**64 - 1)

    # ------------------------------------------------------------------------------------------------------- state

    def get_state(self) -> Tensor:
        """The state: PyTorch's 5,056 bytes, as an int64 tensor of numbers from 0 to 255.

        Difference: PyTorch's tensor is uint8, a type that tracegrad does not have. The bytes have the same meaning, so
        ``torch.set_rng_state(torch.tensor(state.tolist(), dtype=torch.uint8))`` goes on where tracegrad stands.
        """
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
        return make(np.frombuffer(record.tobytes(), np.uint8).astype(np.int64))

    def set_state(self, new_state: Any) -> None:
        """Go on from what ``get_state()`` gave, here or in PyTorch (then as a numpy array).

        TypeError if it is no array of integers, RuntimeError if it has another size.
        """
        record = _record(new_state)
        left = int(record["left"])
        words = np.append(record["words"].astype(np.uint32), np.uint32(STATE_SIZE - left))
        self._restore(
            make(words.view(np.int32)),
            make(np.array([record["normal"] if record["has_normal"] else 0.0, record["has_normal"]])),
            make(np.array(record["seed"]).view(np.int64)),  # a scalar would be no memory to copy from
        )

    def snapshot(self) -> tuple[Tensor, Tensor, Tensor]:
        """The state as tensors, without looking at them: a compiled function may keep and restore it."""
        return copy(self.state), copy(self.cached), copy(self.seeded)

    def _restore(self, state: Any, cached: Any, seeded: Any) -> None:
        with self._lock:
            eager().write(self.state, state)
            eager().write(self.seeded, seeded)
            self._cache(cached)

    def __reduce__(self) -> Any:
        return restored, (self.device, eager().peek(self.get_state()).astype(np.uint8).tobytes())

    # ------------------------------------------------------------------------------------------------------- draws

    @property
    def has_cached(self) -> bool:
        """Whether a normal number is ready. It decides how many words the next draw takes, so a recording guards it.

        Only what it was at the entry of the recorded function is a guard; what the function's own draws make of it
        follows from that. A program with an odd number of such draws has two specialisations, which alternate; whoever
        runs one that writes `cached` counts `changes` up, so that the guard is looked at again.
        """
        if self._decided_in is not None and self._decided_in() is watcher():
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

    def words(self, count: int) -> Any:
        """The next `count` words, as int32 bit patterns."""
        if count == 0:
            return full((0,), 0, int32)
        with self._lock:
            if current() is EAGER:
                return self._words_at_once(count)
            state, words = random_words(self.state, count)
            eager().write(self.state, state)
        return words

    def _words_at_once(self, count: int) -> Tensor:
        """The same evaluation and write without making tensors in between, where nobody records them."""
        drawn = random_words_primitive.evaluate(self.state.ndarray, count)
        self.state.ndarray[:] = drawn[:STATE_SIZE]
        self.state.buffer.version += 1
        return make(drawn[STATE_SIZE:])

    def normals(self, count: int) -> Any:
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


def _record(new_state: Any) -> np.ndarray:
    given = eager().peek(new_state) if isinstance(new_state, Tensor) else new_state
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "iu":
        raise TypeError("RNG state must be a tensor of bytes: what get_rng_state() gave, or a numpy array of uint8.")
    if given.size != TORCH_STATE.itemsize:
        raise RuntimeError(
            f"Expected a CPUGeneratorImplState of size {TORCH_STATE.itemsize} but found the input RNG state size to be "
            f"{given.size}. Pass what get_rng_state() returned."
        )
    record = np.frombuffer(given.astype(np.uint8).tobytes(), TORCH_STATE)[0]
    if record["seeded"] != 1 or not 0 < record["left"] <= STATE_SIZE or record["next"] >= STATE_SIZE:
        raise RuntimeError("Invalid mt19937 state: its position lies outside. Pass what get_rng_state() gave.")
    return record


def restored(device: Any, state: bytes) -> Generator:
    """A generator that goes on from `state`, the bytes of ``get_state()``."""
    generator = Generator(device)
    generator.set_state(np.frombuffer(state, np.uint8))
    return generator


_restored = restored  # what files of versions before name


# ------------------------------------------------------------------------------------------------ the default generator

default_generator = Generator()
default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Seed the default generator; see :meth:`Generator.manual_seed`."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Seed the default generator from the system's randomness; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The default generator's state; see :meth:`Generator.get_state` for the difference to PyTorch's."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Set the default generator's state to what ``get_rng_state()`` gave."""
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

    def __init__(self, devices: Any = None, enabled: bool = True, **options: Any) -> None:
        self._enabled = enabled

    def _recreate_cm(self) -> fork_rng:
        return fork_rng(enabled=self._enabled)  # one for each decorated call

    def __enter__(self) -> None:
        self._kept = default_generator.snapshot() if self._enabled else ()

    def __exit__(self, *exc_info: object) -> None:
        if self._kept:
            default_generator._restore(*self._kept)
