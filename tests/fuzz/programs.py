"""Whole programs: what is set up, the step, how it is called, and what is looked at afterwards."""

from __future__ import annotations

import re

import tracegrad as tg

from .author import HEADER, Author
from .facts import add_facts
from .further_layers import add_layer
from .outside import (
    BATCHES,
    NUMBERS,
    PLAIN_FORM,
    add_generator,
    add_numbers,
    add_optimizer,
    afterwards,
    between,
    called,
    compiled,
    looked_at,
    other_function,
    owned,
    verified,
)
from .packing import packed
from .statements import body

AUGMENTED = re.compile(r"^ +(\w+) [-+*]= ")
ASSIGNED = re.compile(r"^ +(\w+(?:, \w+)*) [-+*]?= ")


def generate(seed: int, sizes: tuple[int, ...] = (1, 2, 3, 4), attempt: int = 0) -> str:
    """The text of program number `seed`. Later attempts leave out what made an earlier one fail in eager mode."""
    a = Author(seed, sizes)
    parts = Parts(a, varying=a.chance(0.4) and attempt == 0, broken=a.chance(0.06))
    a.indent = 1
    setup(a, parts)
    a.indent = 0
    arguments(a, parts)
    taken, a.lines = a.lines[parts.after_setup :], a.lines[: parts.after_setup]
    a.indent = 2
    parts.written = len(a.lines)
    step(a, parts)
    return assembled(a, parts, taken)


class Parts:
    """What the sections of one program know of each other."""

    def __init__(self, a: Author, varying: bool, broken: bool) -> None:
        self.varying, self.broken = varying, broken
        self.batch = a.choice(BATCHES) if varying and a.chance(0.7) else ()  # all arguments' rows at each call
        self.trains = a.chance(0.75)  # backward() inside of the step
        self.after_setup = self.written = 0
        self.parameters: list[str] = []
        self.buffers: list[str] = []
        self.modules: list[str] = []
        self.arguments: list[str] = []
        self.changing: list[str] = []  # assignments of other numbers, before each call
        self.cells: list[str] = []  # variables among them
        self.outcomes: list[str] = []  # what to look at after each call besides
        self.optimizer = self.scheduler = self.steps_inside = self.shared = self.generator = self.other = False
        self.settings = self.returned = self.closure = ""


# -------------------------------------------------------------------------------------------------------------- setup


def setup(a: Author, parts: Parts) -> None:
    for _ in range(a.choice([0, 1, 1, 2, 2, 3])):
        name = a.assign(f"(tg.randn({a.shape()}, dtype={a.dtype()}) * 0.6).requires_grad_()", letter="w", fixed=True)
        if name:
            parts.parameters.append(name)
    for _ in range(a.choice([0, 0, 1, 2])):
        add_buffer(a, parts)
    for _ in range(a.choice([0, 0, 1, 1, 2])):
        add_module(a, parts)
    if parts.parameters and a.chance(0.2):
        frozen = a.choice(parts.parameters)
        a.run(f"{frozen}.requires_grad_(False)")
    if parts.parameters and a.chance(0.15):
        add_outer_hook(a, a.choice(parts.parameters))
    share_weights(a, parts)
    add_optimizer(a, parts)
    add_numbers(a, parts)
    add_generator(a, parts)
    add_facts(a, parts)
    if a.chance(0.08):
        a.run(CUBE)
        a.functions.append("Cube.apply")
    if a.looks:
        a.run("seen, counts = [], {'n': 0}")
    parts.after_setup = len(a.lines)


CUBE = """
class Cube(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x * 0.1

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x * x * 0.3
"""[1:-1]


def add_buffer(a: Author, parts: Parts) -> None:
    shape, dtype = a.shape(), a.dtype()
    exact = a.chance(0.5)
    text = a.choice([f"tg.zeros({shape}, dtype={dtype})", f"tg.ones({shape}, dtype={dtype})"]) if exact else None
    name = a.assign(text or f"tg.randn({shape}, dtype={dtype})", exact, letter="b", fixed=True)
    if name is None:
        return
    parts.buffers.append(name)
    if shape and a.chance(0.3):
        view = a.assign(a.choice([f"{name}[0]", f"{name}[1:]", f"{name}.t()", f"{name}[::2]", f"{name}.view(-1)",
                                  f"{name}.detach()"]), exact, letter="b", fixed=True)  # fmt: skip
        if view:
            parts.buffers.append(view)


def add_module(a: Author, parts: Parts) -> None:
    n, k = a.choice([e for e in a.extents if e] or [2]), a.choice([1, 2, 3])
    cast = ".double()" if a.double else ""
    dtype = tg.float64 if a.double else tg.float32
    text, ndim = a.choice([
        (f"nn.Linear({n}, {k})", 1), (f"nn.Linear({n}, {k}, bias=False)", 1),
        (f"nn.Sequential(nn.Linear({n}, {k}), nn.Tanh(), nn.Linear({k}, {n}))", 1),
        (f"nn.LayerNorm({n}, eps=0.1)", 1), (f"nn.BatchNorm1d({n}, eps=0.1)", 2), (f"nn.RMSNorm({n}, eps=0.1)", 1),
        (f"nn.Sequential(nn.Linear({n}, {k}), nn.Dropout(0.5), nn.Softplus())", 1), (f"nn.Embedding({n}, {k})", 0),
        (f"nn.Sequential(nn.Linear({n}, {n}), nn.LayerNorm({n}, eps=0.1), nn.GELU())", 1), ("nn.Dropout(0.4)", 0),
        (f"nn.Sequential(nn.BatchNorm1d({n}, eps=0.1), nn.Sigmoid())", 2), (f"nn.PReLU({n})", 2),
        (f"nn.BatchNorm1d({n}, eps=0.1, affine=False, momentum=None)", 2),
        (f"nn.Sequential(*[nn.Linear({n}, {n})] * 2)", 1), (f"nn.EmbeddingBag({n}, {k})", 2),
    ])  # fmt: skip
    if a.chance(0.5):
        text, ndim = add_layer(a, n, k), 2
    name = a.new_name("m")
    if a.run(f"{name} = {text}{cast}"):
        parts.modules.append(name)
        a.modules.append((name, n, ndim, tg.int64 if "nn.Embedding" in text else dtype))


def share_weights(a: Author, parts: Parts) -> None:
    """A module's parameter as a variable, or as another module's."""
    linear = [m for m in parts.modules if hasattr(a[m], "weight") and hasattr(a[m], "in_features")]
    if not linear or not a.chance(0.2):
        return
    m = a.choice(linear)
    other = a.choice([n for n in linear if a[n].weight.shape == a[m].weight.shape])
    if other != m:
        parts.shared = a.run(f"{other}.weight = {m}.weight")
    elif name := a.assign(f"{m}.weight", letter="w", fixed=True):
        parts.parameters.append(name)
        parts.shared = True


def add_outer_hook(a: Author, name: str) -> None:
    a.run(a.choice([
        f"{name}.register_hook(lambda g: g * 0.5)",
        f"{name}.register_post_accumulate_grad_hook(lambda p: p.grad.mul_(0.5))",
        f"{name}.register_hook(lambda g: g.clamp(-0.3171, 0.2713))",
    ]))  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- arguments


def arguments(a: Author, parts: Parts) -> None:
    if parts.batch:
        a.run(f"rows = {parts.batch}[i]")
    for _ in range(a.choice([1, 1, 2, 2, 3])):
        text, exact = a.choice([exact_floats, floats, integers, booleans, exact_floats, floats])(a, parts)
        if "Tagged" in a.env and a.chance(0.4):
            text = a.choice([f"({text}).as_subclass(Tagged)", f"({text}).as_subclass(Tagged if i % 2 else tg.Tensor)"])
        name = a.assign(text, exact, letter="x", fixed=True)
        if name:
            parts.arguments.append(name)
    if parts.arguments and a.chance(0.15):
        part_of_the_same(a, parts)
    if a.chance(0.12):
        name = a.new_name("k")
        a.run(f"{name} = {a.choice(NUMBERS)}")
        a.numbers.append(name)
        parts.arguments.append(name)


def part_of_the_same(a: Author, parts: Parts) -> None:
    """Another argument that shows a part of the first one's memory: two slices of one data tensor."""
    first = parts.arguments[0]
    if a[first].ndim:
        text = a.choice(
            [f"{first}[1:]", f"{first}[:2]", f"{first}[i % 2:]", f"{first}.view_as({first})", f"{first}[::2]"]
        )
        if name := a.assign(text, a.exact(first), letter="x", fixed=True):
            parts.arguments.append(name)


def _size(a: Author, parts: Parts) -> str:
    shape = [str(n) for n in a.shape()]
    if parts.batch and shape and a.chance(0.85):
        shape[0] = "rows"
    elif parts.varying and shape:
        shape[0] = f"{shape[0]} if i % 3 != 2 else {a.choice([1, 2, 3])}"
    return f"({', '.join(shape)}{',' if len(shape) == 1 else ''})"


def exact_floats(a: Author, parts: Parts) -> tuple[str, bool]:
    return f"(tg.randint(-8, 9, {_size(a, parts)}) / 8).to({a.dtype()})", True


def floats(a: Author, parts: Parts) -> tuple[str, bool]:
    text = f"tg.randn({_size(a, parts)}, dtype={a.dtype()})"
    return text + a.choice(["", "", "", ".t()", "[::2]", "[..., 1:]"]), False


def integers(a: Author, parts: Parts) -> tuple[str, bool]:
    return f"tg.randint(0, 4, {_size(a, parts)})", True


def booleans(a: Author, parts: Parts) -> tuple[str, bool]:
    return f"tg.rand({_size(a, parts)}) < 0.5", True


# --------------------------------------------------------------------------------------------------------------- step


def step(a: Author, parts: Parts) -> None:
    """The body of the compiled function, and what it returns."""
    if parts.trains and a.chance(0.6):
        forget_gradients(a, parts)
    body(a, a.choice([3, 5, 7, 9, 12]), parts.broken)
    if parts.trains:
        train(a, parts)
    parts.returned = returned(a)


def loss_of(a: Author) -> str | None:
    """A number that depends on several of the tensors so far."""
    names = a.names(lambda t, m: t.requires_grad and t.is_floating_point())
    if not names:
        return None
    unused = [n for n in names if not a.made[n].uses] or names
    chosen = {a.choice(unused) for _ in range(4)}
    forms = ["({x} * {x}).mean()", "{x}.mean()", "{x}.sum() * 0.3", "{x}.tanh().mean()", "({x} - 0.5).square().mean()"]
    return a.assign(" + ".join(a.choice(forms).replace("{x}", n) for n in sorted(chosen)), letter="loss")


def forget_gradients(a: Author, parts: Parts) -> None:
    ways = [f"{p}.grad = None" for p in parts.parameters] + [f"{m}.zero_grad()" for m in parts.modules]
    if parts.optimizer:
        ways += ["opt.zero_grad()"] * 4 + ["opt.zero_grad(set_to_none=False)"] * 2
    ways += [f"if {p}.grad is not None:\n    {p}.grad.zero_()" for p in parts.parameters]
    if ways:
        a.run(a.choice(ways))


def train(a: Author, parts: Parts) -> None:
    if parts.optimizer and not parts.closure and a.chance(0.06) and by_closure(a, parts):
        return
    loss = loss_of(a)
    if loss is None:
        return
    a.made.pop(loss)
    leaves = [p for p in parts.parameters if a[p].requires_grad]
    if leaves and a.chance(0.25):
        penalty(a, loss, a.choice(leaves))
    times = a.choice([1, 1, 1, 2])
    for left in reversed(range(times)):
        a.run(f"{loss}.backward({'retain_graph=True' if left else ''})")
        if left and a.chance(0.3):
            forget_gradients(a, parts)
    after_backward(a, parts, leaves)
    if a.chance(0.5):
        a.made[loss] = a.made.get(loss) or type(next(iter(a.made.values())))(False)


def by_closure(a: Author, parts: Parts) -> bool:
    """A step of the optimizer that computes the loss itself."""
    leaves = [p for p in parts.parameters if a[p].requires_grad]
    if not leaves:
        return False
    value = " + ".join(f"({p} * {a.number()} - 0.25).square().mean()" for p in leaves)
    name = a.new_name("closure")
    lines = [
        f"def {name}():",
        "    opt.zero_grad()",
        f"    value = {value}",
        "    value.backward()",
        "    return value",
    ]
    return a.run("\n".join(lines)) and a.assign(f"opt.step({name}).detach()", letter="loss") is not None


def penalty(a: Author, loss: str, leaf: str) -> None:
    """A second derivative in the loss."""
    a.run(f"g, = tg.autograd.grad({loss}, {leaf}, create_graph=True, allow_unused=True)")
    a.run(f"if g is not None:\n    {loss} = {loss} + (g * g).sum() * 0.1")


def after_backward(a: Author, parts: Parts, leaves: list[str]) -> None:
    if a.chance(0.25):
        a.run(a.choice([f"n = nn.utils.clip_grad_norm_({owned(parts)}, 0.37)",
                        f"nn.utils.clip_grad_value_({owned(parts)}, 0.2317)"]))  # fmt: skip
    if parts.optimizer and a.chance(0.85):
        if a.numbers and a.chance(0.15):
            a.run(f"opt.param_groups[0]['lr'] = 0.05 * abs({a.choice(a.numbers)})")
        a.run(f"opt.step({parts.closure})")
        if parts.scheduler and a.chance(0.2):
            parts.steps_inside = a.run("plan.step()")
    elif leaves:
        p = a.choice(leaves)
        a.run(a.choice([
            f"with tg.no_grad():\n    if {p}.grad is not None:\n        {p} -= 0.1 * {p}.grad",
            f"if {p}.grad is not None:\n    {p}.data.sub_({p}.grad, alpha=0.1)",
            f"with tg.no_grad():\n    if {p}.grad is not None:\n        {p}.add_({p}.grad, alpha=-0.1)\n        {p}.grad.zero_()",
        ]))  # fmt: skip
    if a.chance(0.2):
        forget_gradients(a, parts)
    if a.chance(0.2):
        body(a, 2, broken=True)


def returned(a: Author) -> str:
    """The result: tensors in some structure."""
    names = list(a.made)
    names += [n for n in names if not a.made[n].uses] * 4
    chosen = [a.choice(names) for _ in range(a.choice([1, 1, 2, 3, 4]))] if names else []
    chosen = [n + (".detach()" if a.chance(0.2) else "") for n in chosen]
    if len(chosen) == 1:
        return chosen[0] if a.chance(0.8) else f"[{chosen[0]}]"
    if len(chosen) > 1 and a.chance(0.3):
        return "{" + ", ".join(f"{k!r}: {n}" for k, n in zip("abcd", chosen, strict=False)) + "}"
    return f"({', '.join(chosen)})" if chosen else "None"


# ----------------------------------------------------------------------------------------------------- the whole text


def bound_by(line: str) -> list[str]:
    """The variables that a line gives other values."""
    found = ASSIGNED.match(line)
    return found[1].split(", ") if found else []


def assembled(a: Author, parts: Parts, taken: list[str]) -> str:
    setup_lines, step_lines = a.lines[: parts.written], a.lines[parts.written :]
    names, unpacking, given = packed(a.seed, parts.arguments)
    step_lines = [*("        " + line for line in unpacking), *step_lines]
    looks_back = verified(a, given)
    call = [*between(a, parts), *taken, *looks_back]
    made = compiled(a, bool(looks_back))
    rebound = sorted(
        {name for line in step_lines for name in AUGMENTED.findall(line)} & set(a.made) - set(parts.arguments)
    )
    fixed = [name for name in rebound if a.made[name].fixed]
    if fixed := sorted({*fixed, *(name for line in step_lines for name in bound_by(line) if name in parts.cells)}):
        step_lines = [f"        nonlocal {', '.join(fixed)}", *step_lines]
    if parts.cells:
        call.insert(0, f"nonlocal {', '.join(parts.cells)}")
    return "\n".join([
        f'"""Program {a.seed}."""', "", HEADER, *([f"CALLS = {len(parts.batch)}"] if parts.batch else []),
        "", "def make(compile):", *setup_lines, "",
        f"    def step({names}):", *step_lines, f"        return {parts.returned}", "",
        *("    " + line for line in made), "", *other_function(a, parts), "    def call(i):",
        *("        " + line for line in call),
        *("        " + line for line in called(a, given, made == [PLAIN_FORM] and not unpacking)), *("        " + line for line in afterwards(a, parts)),
        f"        return result, ({''.join(n + ', ' for n in parts.arguments)})", "",
        "    def state():", f"        return {looked_at(a, parts)}", "", "    return call, state", "",
    ])  # fmt: skip
