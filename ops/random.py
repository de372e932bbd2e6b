"""Random numbers as pure functions: the words of MT19937 from its state, and numbers from words.

The recipes are those of PyTorch's CPU generator, bit for bit. A state is int32[625]: the 624 words of MT19937 (as int32
bit patterns) and the position in them. Nothing here remembers anything: whoever draws stores the new state.
`sampling.ahead` draws few at a time.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .cephes import box_muller, cephes_cos, cephes_log, cephes_sin
from .core import NO_GRADIENT, Kernel, Pointwise, Primitive, bind, current, define
from .elementary import log, log1p, sqrt
from .movement import concatenate, reshape, slice
from .trigonometry import cos, sin
from .types import DType, Type, broadcast_shapes, float32, float64, int32, int64

#: 624 words and the position.
STATE_SIZE = 625
#: Draws of normal numbers from here on fill blocks of 16.
BLOCK = 16


class _Scratch(threading.local):
    """A bit generator whose C state is visible as an array: set the state, draw, read the state.

    numpy's MT19937 keeps ``struct { uint32_t key[624]; int pos; }`` at ``state_address``.
    """

    def __init__(self) -> None:
        self.bits = np.random.MT19937(0)
        self.seeder = np.random.RandomState(self.bits)
        self.__array_interface__ = {
            "data": (self.bits.ctypes.state_address, False),
            "shape": (STATE_SIZE,),
            "typestr": np.dtype(np.int32).str,
            "version": 3,
        }
        self.state = np.asarray(self)


_scratch = _Scratch()


def _require_known_layout() -> None:
    """Fail at import where numpy keeps its state in another way: wrong numbers must not come out silently."""
    _scratch.seeder.seed(5489)
    fresh = (int(_scratch.state[0]), int(_scratch.state[-1]))
    word = int(_scratch.bits.random_raw())
    # The first word of MT19937 seeded with 5489, its authors' default.
    if (*fresh, word, int(_scratch.state[-1])) != (5489, 624, 3499211612, 1):
        raise ImportError(
            f"numpy {np.__version__} keeps the state of MT19937 in a layout that tracegrad does not know. "
            "Install a numpy 2 release that tracegrad was tested with."
        )


_require_known_layout()


# ------------------------------------------------------------------------------------------------------ words


def _seed_state(seed: np.ndarray) -> np.ndarray:
    _scratch.seeder.seed(int(seed) & 0xFFFFFFFF)
    return _scratch.state.copy()


random_seed_primitive = define(
    "random_seed",
    ("seed",),
    type=lambda seed: Type(int32, (STATE_SIZE,)),
    eval=_seed_state,
    lower=Kernel("random_seed"),
    vjp=NO_GRADIENT,
)


def random_seed(seed: Any) -> Any:
    """The state that an int64 without dimensions seeds; its low 32 bits count."""
    return bind(random_seed_primitive, seed)


def _words_type(state: Type, count: int) -> Type:
    if state != Type(int32, (STATE_SIZE,)):
        raise TypeError(f"random_words needs a state of type i32[{STATE_SIZE}], got {state}")
    return Type(int32, (STATE_SIZE + count,))


def _words(state: np.ndarray, count: int) -> np.ndarray:
    _scratch.state[:] = state
    out = np.empty(STATE_SIZE + count, np.int32)
    out.view(np.uint32)[STATE_SIZE:] = _scratch.bits.random_raw(count)
    out[:STATE_SIZE] = _scratch.state
    return out


def twisted(state: np.ndarray) -> np.ndarray:
    """The state with the 624 words that come next."""
    _scratch.state[:] = state
    _scratch.state[-1] = STATE_SIZE - 1
    _scratch.bits.random_raw()
    return _scratch.state.copy()


def tempered(state: np.ndarray) -> np.ndarray:
    """All words that are ready in `state`, those before its position too."""
    _scratch.state[:] = state
    _scratch.state[-1] = 0
    return _scratch.bits.random_raw(STATE_SIZE - 1).astype(np.uint32).view(np.int32)


random_words_primitive = define(
    "random_words", ("state",), type=_words_type, eval=_words, lower=Kernel("random_words"), vjp=NO_GRADIENT
)


def random_words(state: Any, count: int) -> tuple[Any, Any]:
    """The state after `count` draws, and the drawn words as int32 bit patterns."""
    drawn = bind(random_words_primitive, state, count=count)
    return _part(drawn, 0, STATE_SIZE), _part(drawn, STATE_SIZE, STATE_SIZE + count)


def _part(x: Any, start: int, stop: int, step: int = 1) -> Any:
    return slice(x, (start,), (stop,), (step,))


def pairs(x: Any) -> tuple[Any, Any]:
    """The elements at even and at odd places."""
    size = current().type_of(x).size
    return _part(x, 0, size, 2), _part(x, min(1, size), size, 2)


# ----------------------------------------------------------------------------------------- numbers, element by element


def _words_to(name: str, inputs: tuple[str, ...], result: DType, eval: Callable[..., Any], c: str) -> Primitive:
    """A pointwise primitive that makes a number of one or two words."""

    def type_rule(*words: Type) -> Type:
        return Type(result, broadcast_shapes(*(w.shape for w in words)))

    return define(name, inputs, type=type_rule, eval=eval, lower=Pointwise(c), vjp=NO_GRADIENT)


def uniforms24_of(word: np.ndarray) -> Any:
    """float32 in [0, 1) of a word each, as numpy code."""
    return (word & 0xFFFFFF).astype(np.float32) * np.float32(2.0**-24)


def uniforms53_of(high: np.ndarray, low: np.ndarray) -> Any:
    """float64 in [0, 1) of two words each, as numpy code."""
    return ((high & 0x1FFFFF) * 2.0**32 + low.view(np.uint32)) * 2.0**-53


def _join_words(high: np.ndarray, low: np.ndarray) -> Any:
    return high.astype(np.int64) << 32 | low.view(np.uint32).astype(np.int64)


def _unsigned_modulo(x: np.ndarray, range: np.ndarray) -> Any:
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    return (x.view(unsigned) % range.view(unsigned)).view(x.dtype)


_PAIR = ("high", "low")
uniform24_primitive = _words_to("uniform24", ("word",), float32, uniforms24_of, "tg_uniform24({word})")
uniform53_primitive = _words_to("uniform53", _PAIR, float64, uniforms53_of, "tg_uniform53({high}, {low})")
join_words_primitive = _words_to("join_words", _PAIR, int64, _join_words, "tg_join_words({high}, {low})")
unsigned_modulo_primitive = define(
    "unsigned_modulo",
    ("x", "range"),
    type=lambda x, range: Type(x.dtype, broadcast_shapes(x.shape, range.shape)),
    eval=_unsigned_modulo,
    lower=Pointwise("tg_unsigned_modulo{f}({x}, {range})"),
    vjp=NO_GRADIENT,
)


def unsigned_modulo(x: Any, range: int) -> Any:
    """Integers, read as unsigned ones, modulo `range`; the result is signed again."""
    dtype = current().type_of(x).dtype
    bits = 8 * dtype.itemsize
    signed = range - (1 << bits) if range >> (bits - 1) else range
    return bind(unsigned_modulo_primitive, x, current().constant(signed, dtype))


def uniform24(word: Any) -> Any:
    """float32 in [0, 1), with 24 random bits."""
    return bind(uniform24_primitive, word)


def uniform53(high: Any, low: Any) -> Any:
    """float64 in [0, 1), with 53 random bits."""
    return bind(uniform53_primitive, high, low)


def join_words(high: Any, low: Any) -> Any:
    """64 random bits as int64."""
    return bind(join_words_primitive, high, low)


# ------------------------------------------------------------------------------------------------- normal numbers


def uniforms_for_blocks(count: int) -> int:
    """How many uniforms `block_normals` takes: 16 more than `count` where the blocks do not come out even."""
    return count + (BLOCK if count % BLOCK else 0)


def block_normals(u: Any, count: int) -> Any:
    """`count` (16 or more) normal numbers from uniforms, by Box and Muller in blocks of 16.

    Eight radii and eight angles make a block. If a rest remains, the last 16 numbers are one more block of 16 fresh
    uniforms; the uniforms of the rest go unused, if they were drawn.
    """
    even = count - count % BLOCK
    dtype = current().type_of(u).dtype
    if even != count and current().type_of(u).size != even + BLOCK:
        u = concatenate([_part(u, 0, even), _part(u, count, count + BLOCK)], 0)
    blocks = uniforms_for_blocks(count) // BLOCK
    halves = reshape(u, (blocks, 2, BLOCK // 2))
    radii, angles = (slice(halves, (0, h, 0), (blocks, h + 1, BLOCK // 2), (1, 1, 1)) for h in (0, 1))
    if dtype is float32:
        radius, angle = sqrt(-2 * cephes_log(1 - radii)), angles * float(np.float32(2 * math.pi))
        x, y = radius * cephes_cos(angle), radius * cephes_sin(angle)
    else:
        x, y = _polar(log(1 - radii), angles)
    out = reshape(concatenate([x, y], 1), (blocks * BLOCK,))
    if even == count:
        return out
    return concatenate([_part(out, 0, count - BLOCK), _part(out, blocks * BLOCK - BLOCK, blocks * BLOCK)], 0)


def serial_normals(words: Any) -> Any:
    """Two float64 normal numbers from four words each, in the order in which Box and Muller make them."""
    angles, radii = pairs(uniform53(*pairs(words)))
    count = current().type_of(radii).size
    x, y = _polar(log1p(-radii), angles)
    return reshape(concatenate([reshape(x, (count, 1)), reshape(y, (count, 1))], 1), (2 * count,))


def serial_normals_of(words: np.ndarray) -> np.ndarray:
    """`serial_normals` as numpy code."""
    uniforms = uniforms53_of(words[::2], words[1::2])
    radius, angle = np.sqrt(-2 * np.log1p(-uniforms[1::2])), uniforms[::2] * (2 * math.pi)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)


def block_normals_of(u: np.ndarray, count: int) -> np.ndarray:
    """`block_normals` as numpy code."""
    even = count - count % BLOCK
    if even != count and u.size != even + BLOCK:
        u = np.concatenate([u[:even], u[count : count + BLOCK]])
    halves = u.reshape(-1, 2, BLOCK // 2)
    radii, turns = halves[:, 0], halves[:, 1]
    if u.dtype == np.float32:
        pair = box_muller(radii, turns)
    else:
        radius, angle = np.sqrt(-2 * np.log(1 - radii)), turns * (2 * math.pi)
        pair = radius * np.cos(angle), radius * np.sin(angle)
    out = np.stack(pair, 1).reshape(-1)
    return out if even == count else np.concatenate([out[: count - BLOCK], out[-BLOCK:]])


def uniforms_of(words: Callable[[int], np.ndarray], count: int, dtype: DType) -> np.ndarray:
    """`count` numbers in [0, 1) of what draws words: float64, or float32 for all other types."""
    if dtype is not float64:
        return np.asarray(uniforms24_of(words(count)))
    drawn = words(2 * count)
    return np.asarray(uniforms53_of(drawn[::2], drawn[1::2]))


def _polar(log_radius: Any, turn: Any) -> tuple[Any, Any]:
    """Two float64 normal numbers from each radius and angle."""
    radius, angle = sqrt(-2 * log_radius), turn * (2 * math.pi)
    return radius * cos(angle), radius * sin(angle)


# ------------------------------------------------------------------------------------------ permutations and choices


#: Permutations of fewer elements are quicker made one change after the other.
_FEW = 1000


def _permutation(words: np.ndarray, n: int) -> np.ndarray:
    offsets = words.view(np.uint32) % np.arange(n, 1, -1, dtype=np.uint32)
    if n >= _FEW:
        return changed_at_once(offsets)
    order = list(range(n))
    for i, offset in enumerate(offsets.tolist()):
        order[i], order[i + offset] = order[i + offset], order[i]
    return np.array(order, np.int64)


def changed_at_once(offsets: np.ndarray) -> np.ndarray:
    """What changing element i with element ``i + offsets[i]``, for one i after the other, makes of 0 ... n-1.

    A place i is written by earlier changes with it, of which the last, j, counts: it brings what stood at j then. That
    is found by following these from place to place, all at once; the number of steps is logarithmic.
    """
    places = np.arange(len(offsets) + 1)
    moved = np.flatnonzero(offsets)
    others = moved + offsets[moved]
    keys = np.sort(others << 32 | moved)
    to, turns = keys >> 32, keys & 0xFFFFFFFF
    is_again = to[1:] == to[:-1]
    brought = places.copy()  # the change after which a place keeps what it holds until its own turn
    is_last = np.append(~is_again, True)[: len(to)]
    brought[to[is_last]] = turns[is_last]
    while True:
        further = brought[brought]
        if np.array_equal(further, brought):
            break
        brought = further
    out = brought.copy()
    out[moved] = others
    again = np.flatnonzero(is_again)
    out[turns[again + 1]] = brought[turns[again]]
    return out


permutation_primitive = define(
    "permutation",
    ("words",),
    type=lambda words, n: Type(int64, (n,)),
    eval=_permutation,
    lower=Kernel("permutation"),
    vjp=NO_GRADIENT,
)


def permutation(words: Any, n: int) -> Any:
    """0 ... n-1 shuffled by n - 1 words: element i changes places with one of those behind it, or stays."""
    return bind(permutation_primitive, words, n=n)
