"""Each change of a fact beside each way to depend on it: small programs, one for each pair (facts.py, objects.py)."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from .author import HEADER
from .expressions import options
from .facts import KINDS
from .objects import Kind
from .programs import bound_by

SETUP = "w = (tg.arange(6.0).reshape(2, 3) * 0.3 - 0.5).requires_grad_()\nopt = tg.optim.SGD([w], lr=0.1, momentum=0.9)"
SHAPE = "(2, 3)"


def pairs(kind: Kind) -> Iterator[tuple[str, str, str]]:
    """What happens before a call, what the step does, and what it returns."""
    for before in kind.before.split("|"):
        for read in (*options(kind.reads), *kind.steps):
            yield before, "", read
        for write in options(kind.writes) if kind.writes else []:
            yield before, write, options(kind.reads)[0]


def program(kind: Kind, before: str, write: str, read: str, trains: bool) -> str:
    """The text, as running.py takes it. The step does what it does to the fact in the middle of a training step."""
    step = ["y = x * w", *write.replace("{y}", "y").split("\n"), *binding(read, "z").split("\n")]
    if trains:
        step += ["opt.zero_grad()", "loss = (z * z).sum() * 0.01 + y.mean()", "loss.backward()", "opt.step()"]
    step = [line for line in step if line]
    bound = sorted({name for line in step for name in bound_by(f" {line}") if name in kind.cells})
    step = [f"nonlocal {', '.join(bound)}"] * bool(bound) + step
    call = [f"nonlocal {', '.join(kind.cells)}"] * bool(kind.cells) + before.split("\n")
    return "\n".join([
        HEADER, "def make(compile):", *_indented(1, SETUP, kind.setup.replace("{s}", SHAPE)),
        "    def step(x):", *_indented(2, *step, "return z" if not trains else "return z.detach(), loss.item()"),
        "    compiled_step = compile(step)",
        "    def call(i):", *_indented(2, *call, "return compiled_step(tg.ones(2, 3) * (0.5 + i % 2))"),
        "    def state():", f"        return [w, opt.state_dict(), ({kind.outcome or 'None'},)]", "    return call, state", "",
    ])  # fmt: skip


def binding(read: str, name: str) -> str:
    """The statement that gives `name` what a fact's expression is, or what its statement binds."""
    statement = read if "{t}" in read else f"{{t}} = {read}"
    return statement.replace("{t}", name).replace("{y}", "y")


def _indented(depth: int, *texts: str) -> list[str]:
    return [line for text in texts for line in textwrap.indent(text, "    " * depth).split("\n")]


def all_programs() -> Iterator[tuple[str, str]]:
    """Each with a name that says which it is."""
    for name, kind in KINDS.items():
        for number, pair in enumerate(pairs(kind)):
            yield f"{name} {number}", program(kind, *pair, trains=number % 3 == 0)
