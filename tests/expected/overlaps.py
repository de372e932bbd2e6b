"""Which writes PyTorch refuses because an operand shows a part of the memory that is written.

Pairs of views of one piece of memory are drawn; each call of `CALLS` is asked of each pair. The outcome is a letter:
`s` for this refusal, `.` for none and for other errors.
"""

import random

PAIRS = 160

#: Calls with a target `t` and an operand `o`; `at` are places along the first axis of `t`, as many as `o` has rows.
CALLS = [
    "t.add_(o)", "t.lerp_(o, 0.5)", "t.addcmul_(o, o)", "t.copy_(o)", "t.clamp_(o)", "t.pow_(o)", "t.eq_(o)",
    "t.xlogy_(o)", "t.masked_fill_(o > 3, 1.0)", "t.masked_scatter_(t > 3, o)", "t.fill_(o)", "iadd(t, o)",
    "setitem(t, ..., o)", "setitem(t, slice(None), o)", "setitem(t, at, o)", "setitem(t, t > 3, o)",
    "t.index_put_((at,), o)", "t.index_put_((at,), o, accumulate=True)",
    "t.index_add_(0, at, o)", "t.index_copy_(0, at, o)", "t.index_fill_(0, at, 2.0)", "t.put_(at, o[..., 0])",
    "t.index_reduce_(0, at, o, 'amax')",
    "t.scatter_(0, zeros_like(o), o)", "t.scatter_add_(0, zeros_like(o), o)",
    "t.scatter_reduce_(0, zeros_like(o), o, 'amax')",
    "tg.sin(o, out=t)", "tg.add(o, o, out=t)", "tg.where(o > 3, o, o, out=t)", "tg.clamp(o, 0.0, 1.0, out=t)",
    "tg.lerp(o, o, 0.5, out=t)", "tg.index_select(o, 0, at, out=t)", "tg.cat([o[None]], out=t[None])",
    "tg.gather(o, 0, zeros_like(o), out=t)",
]  # fmt: skip


def drawn_view(draw, x):
    """A view of `x` by up to two steps."""
    for _ in range(draw.choice([0, 1, 1, 1, 2])):
        kind = draw.choice(["slice", "slice", "slice", "row", "turned", "expanded"])
        axis = draw.randrange(x.ndim) if x.ndim else 0
        if not x.ndim or (kind == "row" and x.ndim == 1 and draw.random() < 0.7):
            continue
        length = x.shape[axis]
        if kind == "slice":
            first = draw.randrange(length + 1)
            step = draw.choice([1, 1, 1, 2])
            x = x[(slice(None),) * axis + (slice(first, draw.randrange(first, length + 1), step),)]
        elif kind == "row" and length:
            x = x.select(axis, draw.randrange(length))
        elif kind == "turned":
            x = x.transpose(axis, -1)
        elif kind == "expanded" and length and draw.random() < 0.2:
            x = x.narrow(axis, 0, 1).expand([3 if a == axis else n for a, n in enumerate(x.shape)])
    return x


def pair(tg, number):
    """The memory, and two views of it; mostly of shapes that fit."""
    draw = random.Random(f"overlap {number}")
    memory = tg.arange(24.0)
    x = memory.view(draw.choice([(24,), (4, 6), (6, 4), (2, 3, 4), (1, 24), (24, 1), (3, 1, 8)]))
    target = drawn_view(draw, x)
    for _ in range(40):
        other = drawn_view(draw, x)
        fits = other.ndim <= target.ndim and all(
            n in (1, wanted) for n, wanted in zip(reversed(other.shape), reversed(target.shape), strict=False)
        )
        if fits:
            break
    return memory, target, other


def called(tg, text, target, other):
    rows = other.shape[0] if other.ndim else 1
    limit = max(target.shape[0] if target.ndim else 1, 1)
    names = {
        "tg": tg, "t": target, "o": other, "at": tg.arange(rows) % limit,
        "setitem": lambda x, key, value: x.__setitem__(key, value), "iadd": lambda x, y: x.__iadd__(y),
        "zeros_like": lambda x: tg.zeros_like(x, dtype=tg.int64),
    }  # fmt: skip
    return eval(text, names)


def letter(tg, text, number):
    """The outcome of a call; where it is refused, nothing is written."""
    memory, target, other = pair(tg, number)
    if "at, out" in text or "[o[None]], out" in text or "gather" in text:
        target = target if target.shape == other.shape else other  # a result that is resized lies elsewhere
    before = memory.clone()
    try:
        called(tg, text, target, other)
    except (RuntimeError, IndexError) as error:
        if "some elements of the input tensor and the written-to" in str(error):
            assert tg.equal(memory, before), (text, number)
            return "s"
    return "."


def make(tg):
    return {text: "".join(letter(tg, text, number) for number in range(PAIRS)) for text in CALLS}
