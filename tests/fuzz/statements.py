"""What the body of a step does besides computing: in-place writes, blocks, hooks, helper functions."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

import tracegrad as tg

from .author import Author, Made, good
from .expressions import expression, options
from .facts import FACTS
from .looking import LOOKING, NUMBERS

# {x} is written, {y} a value that broadcasts into it. All keep exact numbers exact if {y} is.
WRITES = """
{x}.add_({y})|{x}.sub_({y})|{x}.copy_({y})|{x} += {y}|{x}[...] = {y}|{x}.add_({y}, alpha=0.5)|{x} -= {y} * 0.5|{x}.mul_(0.5).add_({y})
{x}.detach().copy_({y})|{x}.detach().add_({y})|{x}.data.mul_(0.5)|{x}.data.copy_({y})|{x}.view(-1).mul_(0.5)|{x}[...] += {y}
"""
NUMBER_WRITES = """
{x}.mul_(0.5)|{x}.zero_()|{x}.fill_(0.25)|{x}.add_(1)|{x} *= -1|{x}.neg_()|{x}[...] = 0.5|{x}.masked_fill_({x} > 0.6173, 0.5)
{x}.bernoulli_(0.5)|{x}.clamp_(-1.5, 1.5)|{x}.div_(2)
"""
SMOOTH_WRITES = "{x}.tanh_()|{x}.sigmoid_()|{x}.mul_({y})|{x} *= {y}|{x}.sin_()|{x}.uniform_()|{x}.normal_()|{x}.exponential_()|{x}.lerp_({y}, 0.3)|{x}.addcmul_({y}, {y}, value=0.1)|{x}.mul_({y}).tanh_()|{x}.pow_(2)"
PART_WRITES = """
{x}[0] = {v}|{x}[-1:] = {v}|{x}[::2] = {v}|{x}[0].mul_(0.5)|{x}[1:].add_(1)|{x}[[0]] = {v}|{x}.select({d}, 0).fill_({v})|{x}[..., 0] = {v}
{x}.narrow({d}, 0, 1).zero_()|{x}.index_fill_(0, tg.tensor([0]), {v})|{x}[0] += {x}[-1]|{x}[0] = {x}[-1]|{x}.index_add_(0, tg.tensor([0]), {x}[-1:])
{x}.unbind({d})[0].add_({v})|{x}.chunk(2, {d})[-1].mul_(0.5)|{x}.index_copy_(0, tg.tensor([0]), {x}[-1:])|{x}[..., ::2] *= 0.5|{x}.t()[0] = {v}
{x}.scatter_(0, tg.zeros_like({x}[:1]).long(), {v})|{x}.transpose(0, -1)[-1].add_({v})|{x}.view(-1)[::2] = {v}|{x}.reshape(-1)[0] = {v}|{x}.flatten()[0].add_(1)
{x}.unfold(0, 1, 1)[-1].mul_(0.5)|{x}.scatter_reduce_(0, tg.zeros_like({x}[:1]).long(), {x}[-1:], 'sum')|{x}.unfold(-1, {x}.shape[-1], 1).add_({v})
{x}[-1].copy_({x}[0])|{x}.expand_as({x})[0] = {v}|{x}.diagonal().mul_(0.5)|{x}[0].unsqueeze(0).add_({v})|{x}[tg.tensor([0, -1])] *= 0.5|{x}[{x} > 0.4139] = {v}
"""


def sharing(a: Author, name: str) -> list[str]:
    """The variables that show some of the same memory, `name` itself too."""
    memory = a[name].detach().numpy()
    return [n for n in a.made if n == name or np.may_share_memory(a[n].detach().numpy(), memory)]


def may_be_written(a: Author, tensor: Any) -> bool:
    return not (tensor.is_leaf and tensor.requires_grad and tg.is_grad_enabled())


def write_in_place(a: Author) -> bool:
    """One in-place write to any tensor, through whatever view."""
    x = a.pick(lambda t, m: t.is_floating_point() and may_be_written(a, t))
    if x is None:
        return False
    if not a.made[x].fixed and a.chance(0.5):  # memory of its own, that no derivative needs yet
        x = a.assign(a.choice([f"{x}.clone()", f"{x} * 1", f"{x} + 0.5"]), a.exact(x)) or x
    together = sharing(a, x)
    must_stay_exact = any(a.made[n].fixed and a.made[n].exact for n in together)
    kind = a.choice(["value", "number", "part", "part", *([] if must_stay_exact else ["smooth", "smooth"])])
    y = a.fitting(x, into=True)
    if y is None or (must_stay_exact and not a.exact(y)):
        kind = kind if kind in ("number", "part") else "part"
        y = x
    text, exact = _write_text(a, kind, x, y)
    if not a.run(text):
        return False
    for name in together:
        a.made[name].exact = a.made[name].exact and exact
    return True


def _write_text(a: Author, kind: str, x: str, y: str) -> tuple[str, bool]:
    templates = {"value": WRITES, "number": NUMBER_WRITES, "part": PART_WRITES, "smooth": SMOOTH_WRITES}[kind]
    axis = str(a.axis(x)) if a[x].ndim else "0"
    text = a.choice(options(templates)).replace("{v}", a.choice(["0.5", "-0.25", "1", "tg.tensor(0.75)"]))
    exact = kind in ("number", "part") or (kind == "value" and a.exact(y))
    return text.replace("{x}", x).replace("{y}", y).replace("{d}", axis), exact


def compute(a: Author) -> bool:
    written = expression(a)
    return written is not None and a.assign(*written) is not None


def call_module(a: Author) -> bool:
    """Apply a module to something that it takes."""
    if not a.modules:
        return False
    name, features, ndim, dtype = a.choice(a.modules)
    if dtype is tg.int64:
        x = a.pick(lambda t, m: m.exact and t.dtype is tg.int64 and t.ndim <= 2)
        return x is not None and a.assign(f"{name}({x} % {features})") is not None
    x = a.pick(lambda t, m: t.dtype is dtype and t.ndim >= ndim and t.ndim > 0 and t.shape[-1] == features)
    return x is not None and a.assign(f"{name}({x})") is not None


def hook(a: Author) -> bool:
    x = a.pick(lambda t, m: t.requires_grad and not t.is_leaf)
    if x is None:
        return False
    return a.run(a.choice([
        f"{x}.register_hook(lambda g: g * 0.5)", f"{x}.register_hook(lambda g: g.clamp(-0.3171, 0.2713))",
        f"{x}.retain_grad()", f"{x}.register_hook(lambda g: None)", f"{x}.register_hook(lambda g: g + {x}.detach())",
    ]))  # fmt: skip


def rebind(a: Author) -> bool:
    """Change a tensor's own shape or history."""
    x = a.pick(lambda t, m: not m.fixed)
    if x is None:
        return False
    return a.run(a.choice([f"{x}.unsqueeze_(0)", f"{x}.squeeze_()", f"{x}.t_()", f"{x}.detach_()",
                           f"{x}.transpose_(0, -1)", f"{x}.requires_grad_()"]))  # fmt: skip


def own_leaf(a: Author) -> bool:
    """A view of another tensor that is made to require a gradient by itself, and a part of it."""
    x = a.pick(lambda t, m: t.is_floating_point() and t.ndim > 0 and not t.requires_grad)
    if x is None:
        return False
    view = a.assign(a.choice([f"{x}[..., 1:]", f"{x}[1:]", f"{x}.view(-1)", f"{x}.detach()", f"{x}.data", f"{x}.t()",
                              f"{x}[::2]", f"{x}.detach()[1:]"]), a.exact(x))  # fmt: skip
    if view is None or not a.run(f"{view}.requires_grad_()"):
        return False
    return a.assign(a.choice([f"{view}[::2]", f"{view}[..., 1:]", f"{view} * 2", f"{view}.view(-1)", f"{view}.detach()",
                              f"({view} * {view})[0]"]), a.exact(x)) is not None  # fmt: skip


def unwatched_view(a: Author) -> bool:
    """A view that is taken where nothing is differentiated, and written to later, as its base may be."""
    x = a.pick(lambda t, m: t.is_floating_point() and t.ndim > 0 and may_be_written(a, t))
    if x is None:
        return False
    part = a.choice(["[1:]", "[::2]", "[..., :1]", ".view(-1)", ".t()", "[0]", ".unsqueeze(0)"])
    mode = a.choice(["tg.no_grad()", "tg.set_grad_enabled(False)", "tg.enable_grad()"])
    view = a.new_name("t")
    if not a.run(f"with {mode}:\n    {view} = {x}{part}") or not good(a.env.get(view)):
        return False
    a.made[view] = Made(a.made[x].exact)
    written = a.choice([view, x])
    a.run(_write_text(a, a.choice(["number", "part"]), written, written)[0])  # both keep exact numbers exact
    return True


def bound_again(a: Author) -> bool:
    """A variable of the step that is bound to another tensor, of the same memory or not."""
    x, y = a.pick(lambda t, m: not m.fixed), a.pick()
    if x is None or y is None or a.made[x].fixed:
        return False
    if not a.run(f"{x} = {a.choice([y, f'{y}[:1]' if a[y].ndim else y, f'{y} * 1', f'{x}[...]'])}"):
        return False
    a.made[x].exact = a.made[x].exact and a.made[y].exact
    return True


def sliced(a: Author) -> bool:
    """Two parts of one tensor, which may overlap."""
    x = a.pick(lambda t, m: t.ndim > 0 and t.shape[0] > 1)
    if x is None:
        return False
    n = a[x].shape[0]
    ends = [a.rng.randrange(n) for _ in range(2)]
    parts = [a.assign(f"{x}[{k}:{k + a.rng.randrange(1, n + 1)}]", a.exact(x)) for k in ends]
    return None not in parts


def inner_gradient(a: Author) -> bool:
    """`autograd.grad` of something in the middle, to go on with."""
    y = a.pick(lambda t, m: t.requires_grad and not t.is_leaf)
    x = a.pick(lambda t, m: t.requires_grad and t.is_floating_point())
    if y is None or x is None:
        return False
    create = a.choice(["create_graph=True", "retain_graph=True"])
    return a.assign(f"tg.autograd.grad(({y} * {y}).sum(), {x}, {create})[0]") is not None


def own_function(a: Author) -> bool:
    x = a.floating()
    return bool(x and a.functions) and a.assign(f"{a.choice(a.functions)}({x})") is not None


def micro_batches(a: Author) -> bool:
    """Several backward passes that add up in the parameters' gradients."""
    x = a.floating(1)
    w = a.pick(lambda t, m: m.fixed and t.is_leaf and t.requires_grad)
    if x is None or w is None:
        return False
    return a.run(f"for part in {x}.detach().chunk(2):\n    (part * {w}).tanh().mean().backward()")


# ------------------------------------------------------------------------------------------------------------- blocks


@contextmanager
def draft(a: Author) -> Iterator[list[str]]:
    """Statements that are written inside are taken back; the list gets their lines."""
    lines, units, made = a.lines, a.units, copy.deepcopy(a.made)
    a.lines, a.units, a.indent = [], list(units), a.indent + 1
    drafted: list[str] = []
    try:
        yield drafted
    finally:
        drafted += [line[4 * (a.indent - 1) :] for line in a.lines]
        a.lines, a.units, a.made, a.indent = lines, units, made, a.indent - 1
        a.again()


def block(header: str, context: Callable[[], Any] = nullcontext) -> Callable[[Author], bool]:
    """A few statements under `header`."""

    def write(a: Author) -> bool:
        with draft(a) as lines, context():
            some_statements(a, a.choice([1, 2, 3]))
            made = copy.deepcopy(a.made)
        if not lines or not a.run("\n".join([header, *lines])):
            return False
        a.made = {name: m for name, m in made.items() if good(a.env.get(name))}
        return True

    return write


def helper(a: Author) -> bool:
    """A function of one or two tensors, called twice if it can be."""
    name, first = a.new_name("f"), a.pick()
    if first is None:
        return False
    with draft(a) as lines:
        a.env["p"], a.made["p"] = a[first], copy.copy(a.made[first])
        some_statements(a, 3)
        new = [n for n in a.made if n not in ("p",) and n in "".join(lines + a.lines) and a.made[n].uses == 0]
        result = a.choice(new) if new else "p"
        exact = a.made[result].exact
    if any(re.match(rf" +(\w+ [-+*]= |(\w+, )*({'|'.join(['0', *a.cells])})(, \w+)* = )", line) for line in lines):
        return False  # names of the function around would become its own
    text = "\n".join([f"def {name}(p):", *lines, f"    return {result}"])
    if a.chance(0.4):
        text += f"\n{name} = compile({name})"
    if not a.run(text):
        return False
    done = a.assign(f"{name}({first})", exact) is not None
    other = a.pick(lambda t, m: t.shape == a[first].shape and t.dtype is a[first].dtype and t.is_floating_point())
    if other is not None and other != first and a.chance(0.5):
        a.assign(f"{name}({other})")
    return done


STATEMENTS: list[tuple[int, Callable[[Author], bool]]] = [
    (60, compute),
    (14, write_in_place),
    (10, call_module),
    (2, hook),
    (2, rebind),
    (2, own_leaf),
    (2, unwatched_view),
    (2, bound_again),
    (2, sliced),
    (2, inner_gradient),
    (2, own_function),
    (1, micro_batches),
]
BLOCKS: list[tuple[int, Callable[[Author], bool]]] = [
    (3, block("with tg.no_grad():", tg.no_grad)),
    (1, block("with tg.set_grad_enabled(False):", tg.no_grad)),
    (1, block("for _ in range(2):")),
    (1, block("if True:")),
    (1, block("try:\n    pass\nfinally:")),
    (2, helper),
]


def some_statements(a: Author, count: int, statements: list[tuple[int, Callable[[Author], bool]]] = STATEMENTS) -> None:
    """`count` statements that work."""
    weights, writers = zip(*statements, strict=True)
    tries = 0
    while count > 0 and tries < 60:
        count -= a.rng.choices(writers, weights)[0](a)
        tries += 1


def body(a: Author, count: int, broken: bool) -> None:
    """The middle of a step. Unless it may be `broken`, what makes a later backward() fail is taken back."""
    everything = [*STATEMENTS, *BLOCKS, *(LOOKING if a.looks else []), *(NUMBERS if a.numbers else []),
                  *(FACTS if a.facts else [])]  # fmt: skip
    while count > 0:
        lines, units, made = list(a.lines), list(a.units), copy.deepcopy(a.made)
        some_statements(a, 1, everything)
        count -= 1
        if not broken and a.units != units and not can_go_back(a):
            a.lines, a.units, a.made = lines, units, made
            a.again()


def can_go_back(a: Author) -> bool:
    """Whether derivatives of everything can be computed."""
    ends = [a[n] for n in a.names(lambda t, m: t.requires_grad and not t.is_leaf)]
    leaves = [a[n] for n in a.names(lambda t, m: t.requires_grad and t.is_leaf)]
    if not ends or not leaves:
        return True
    try:
        with tg.enable_grad():
            tg.autograd.grad(
                [e.as_subclass(tg.Tensor).sum() for e in ends], leaves, retain_graph=True, allow_unused=True
            )
    except RuntimeError:
        return False
    return True
