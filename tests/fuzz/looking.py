"""Statements that look at numbers, or do something to Python objects: what a replay cannot leave out.

What decides which way a program takes is asked of exact tensors only (author.py).
"""

from __future__ import annotations

from collections.abc import Callable

from .author import Author
from .expressions import Written, options

CONDITIONS = "({x} > 0).any()|({x} > 0).all()|{x}.sum() > 0|{x}.sum().item() > 0.5|bool({x}.amax() > 1)|{x}.reshape(-1)[0] < 0|float({x}.mean()) < 0"
EXACT_NUMBERS = "{x}.sum().item()|float({x}.reshape(-1)[0])|int(({x} > 0).sum())|{x}.max().item()|len({x}.reshape(-1))|{x}.tolist()[0]|{x}.argmax().item()"
RAGGED = "{x}[{x} > 0]|tg.masked_select({x}, {x} > 0)|{x}[{x} > 0].sum()|{x}.reshape(-1)[{x}.reshape(-1).nonzero().reshape(-1)]|tg.unique({x})|tg.nonzero({x} > 0)|tg.tensor([{x}.sum().item(), 0.5])|tg.tensor({x}.tolist())|tg.stack([row * 2 for row in {x}])|tg.tensor({x}.numpy())|sum(row.sum() for row in {x})"
EFFECTS = "seen.append({y}.detach())|seen.append({y}.sum().item())|counts['n'] += 1|counts['last'] = {y}.detach()|seen.append(counts['n'])|counts['sum'] = counts.get('sum', 0.0) + {y}.sum().item()|seen.extend({y}.detach().reshape(-1)[:1])|seen.append(float({y}.detach().mean()) + counts['n'])"


def exact_one(a: Author) -> str | None:
    return a.pick(lambda t, m: m.exact and t.is_floating_point() and t.numel() > 0 and not t.requires_grad)


def choice(a: Author) -> Written:
    """One of two tensors, by a number."""
    x, y, z = exact_one(a), a.floating(), a.floating()
    if x is None or y is None or z is None:
        return None
    condition = a.choice(options(CONDITIONS)).replace("{x}", x)
    return f"{y} * 0.5 if {condition} else {z}", False


def scaled(a: Author) -> Written:
    x, y = exact_one(a), a.floating()
    if x is None or y is None:
        return None
    return f"{y} * {a.choice(options(EXACT_NUMBERS)).replace('{x}', x)}", False


def ragged(a: Author) -> Written:
    """Results whose size or structure depends on numbers."""
    x = exact_one(a)
    return None if x is None else (a.choice(options(RAGGED)).replace("{x}", x), True)


BY_NUMBER = """
{y} * {k}|{y} + {k}|{y} / ({k} + 2.5)|F.dropout({y}, 0.1 * abs({k}))|{y}.clamp(max={k} + 0.0137)|tg.full((int({k}) + 1,), 0.5)|{y}[..., :int({k})]
{y}.mul({k}).sub(0.25 * {k})|{y} * 0.5 if {k} > 0.6 else {y}|({y} * {y} + 0.5) ** (0.5 * {k})|{y} * max({k}, 0.75)|{y} * int({k})
{y} * math.exp(-{k})|{y}.add({y}, alpha={k})|tg.full_like({y}, {k})|F.leaky_relu({y} + 0.1337, 0.1 * {k})|{y}.clone().fill_({k})
tg.tensor({k}) * {y}|tg.tensor([{k}, 0.5]).sum() * {y}|tg.where({y} > 0.3119, {y}, {k})|tg.lerp({y}, tg.sin({y}), {k})|{y} * round({k})
{y} * (0.5 if isinstance({k}, float) else 2)|{y} * len(str({k}))|{y} * (0.5, 2.0)[{k} == 1.5]|{k} - {y}|{y} * ({k} // 1)|{y} * ({k} or 0.25)
{y} * ({k} ** 2 - 1)|sum(({y} * j for j in range(int({k}))), {y})|{y}.clone().mul_({k})|{y} * float({k})|{y} / 2 ** {k}|{y} * ({k} % 0.7)
{y} * (2.0 if {k} is ONE else 0.5)|{y} if {k} is not ZERO else {y} * 3|{y} * (2 if {k} is HALF else 3 if {k} is not None else 4)
{y} * (2.0 if {k} is THRESHOLD else {k})|{y} * (0.25 if operator.is_({k}, ONE) else 0.5)|{y} if type({k}) is int else {y} * 2
F.layer_norm({y}, {y}.shape[-1:], eps=0.1 + abs({k}))|{y} * math.sqrt(abs({k}))|tg.arange(4) * {k}|tg.ones(2, 3) * {k} + 1
"""


def by_argument(a: Author) -> Written:
    """With a Python number that the caller passes or changes."""
    y = a.floating()
    if y is None or not a.numbers:
        return None
    return a.choice(options(BY_NUMBER)).replace("{y}", y).replace("{k}", a.choice(a.numbers)), False


def computed(write: Callable[[Author], Written]) -> Callable[[Author], bool]:
    def statement(a: Author) -> bool:
        written = write(a)
        return written is not None and a.assign(*written) is not None

    return statement


def halved(a: Author) -> bool:
    """A loop that ends by what it computes."""
    x = exact_one(a)
    if x is None:
        return False
    name = a.assign(f"{x} * 1", True)
    return name is not None and a.run(f"while ({name}.abs() > 0.3).any():\n    {name} = {name} * 0.5")


def effect(a: Author) -> bool:
    y = a.floating()
    return y is not None and a.run(a.choice(options(EFFECTS)).replace("{y}", y))


def caught(a: Author) -> bool:
    """An error that the function handles itself."""
    x = a.floating(1)
    if x is None or a[x].shape[0] == 0:
        return False
    name = a.assign(f"{x} * 1")
    wrong = a.choice([f"{name}[{a[x].shape[0]}]", f"{name} @ tg.ones(7, 7)", f"{name}[tg.tensor([{a[x].shape[0]}])]"])
    return a.run(f"try:\n    {name} = {wrong}\nexcept (IndexError, RuntimeError):\n    {name} = {name} * 0.5")


LOOKING: list[tuple[int, Callable[[Author], bool]]] = [
    (5, computed(choice)),
    (4, computed(scaled)),
    (4, computed(ragged)),
    (2, halved),
    (6, effect),
    (2, caught),
]
NUMBERS: list[tuple[int, Callable[[Author], bool]]] = [(8, computed(by_argument))]
