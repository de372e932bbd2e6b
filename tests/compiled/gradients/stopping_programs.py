"""Writes random programs in which derivatives stop: at ``detach()``, in ``no_grad()``, at views without a history, at
places that are overwritten."""

from __future__ import annotations

import contextlib
import random
import textwrap
import warnings
from typing import Any

import numpy as np

import tracegrad as tg

# What a statement computes: {x} and {y} are tensors of two axes or fewer, {s} a tensor made to have no axis.
COMPUTED = """
{x} * 2|{x} * {s}|{x} + {s}|{x} / 2|-{x}|{x}.sin()|{x} * {x}|{x}.exp()|{x} ** 3|{x}.clone()|{x}.tanh() * {s}|{x} * 1|{x} + 0
{x} * {x}.detach()|{x} + {x}.detach()|tg.where({x} > 0.35, {x}, {s})|{x}.sum(-1, keepdim=True) * {x}|{x}.reshape(-1).sum()
tg.cat([{x}.reshape(-1), {s}.reshape(1)])|{x}.reshape(-1).cumsum(0)|F.softplus({x} - 0.4)|{x}.log1p()
tg.stack([{x}, {x}.detach()])[0]|{x}.detach() * {s}|{x}.sigmoid()|tg.lerp({x}, {x} * {s}, 0.3)|{x}.sqrt()
"""
STOPPED = """
{x}.detach()|{x}.detach()|{x}.data|{x}.detach().requires_grad_()|{x}.detach().clone().requires_grad_()|{x}.detach()[:1]
{x}[:1].detach()|{x}.detach().view(-1)[1:]|{x}.clone().detach()|({x} * 2).detach()|{x}.view(-1).detach()
"""
VIEWS = """
{x}[:1]|{x}[1:]|{x}[..., 1:]|{x}[..., ::2]|{x}.view(-1)|{x}.reshape(-1)|{x}.t()|{x}.mT|{x}.unsqueeze(0)|{x}[0]|{x}[-1]
{x}.unbind(0)[0]|{x}.chunk(2)[0]|{x}.squeeze()|{x}.view_as({x})|{x}[...]|{x}.expand_as({x})|{x}.transpose(0, -1)
{x}.diagonal()|{x}.narrow(0, 0, 1)|{x}.flatten()|{x}.as_strided((2,), (1,))|{x}.split(1)[-1]
"""
WRITES = """
{x}.mul_(2)|{x}.mul_({s})|{x}.add_({s})|{x}.zero_()|{x}.copy_({s})|{x}.sin_()|{x}[:1] = {s}|{x}[:1].mul_({s})|{x}[0] = 0.5
{x}[..., 1:].add_({s})|{x}[..., 0] = {s}|{x}.view(-1)[1:] = {s}|{x}.view(-1)[:2].mul_(2)|{x}.t()[:1].copy_({s})|{x}.fill_(0.5)
{x}[...] = {s}|{x}.detach().mul_({s}.detach())|{x}.data.mul_(2)|{x}.detach()[:1].zero_()|{x}[-1].copy_({x}[0] * {s})
{x}.masked_fill_({x} > 0.4, 0.25)|{x}.diagonal().zero_()|{x}[0].unsqueeze(0).mul_({s})|{x}[[0]] = 0.5|{x}.mul_({x})|{x}.sqrt_()
"""
SWITCHED = """
{x}.requires_grad_()|{x}.detach_()|{x}.retain_grad()|{x}.t_()|{x}.unsqueeze_(0)|{x}.requires_grad_(False)|{x}.requires_grad = True
"""
BLOCKS = """
with tg.no_grad():|with tg.no_grad():|with tg.no_grad():|with tg.set_grad_enabled(False):|with tg.enable_grad():
with tg.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):|with tg.inference_mode():
with tg.autograd.graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
with tg.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t * 1):
with tg.autograd.graph.save_on_cpu():
"""
CALLED = """
Doubled.apply({x})|Squared.apply({x})|Viewed.apply({x})|Both.apply({x})[0]|Both.apply({x})[1]|Written.apply({x} * 1)|Stopped.apply({x})
checkpoint(lambda p: p.sin() * p, {x}, use_reentrant=False)|checkpoint(lambda p: p.exp() * {s}, {x}, use_reentrant=True)
checkpoint(lambda p: (p * p).detach() * p, {x}, use_reentrant=False)|tg.cond(flag, lambda p: p * 2, lambda p: p.detach() * 3, {x})
unrecorded({x})|keeps_a_part({x})|kept(lambda: {x} * {s})
"""
GRADIENTS = """
tg.autograd.grad({l}, {w}, create_graph=True)[0]|tg.autograd.grad({l}, {w}, create_graph=True)[0]
tg.autograd.grad({l}, {w}, retain_graph=True)[0]|tg.autograd.grad({l}, {w})[0]
tg.autograd.grad({l}, {w}, create_graph=True, allow_unused=True, materialize_grads=True)[0]
"""
BACKWARD = """
{l}.backward()|{l}.backward(retain_graph=True)|{l}.backward(create_graph=True)|{l}.backward(create_graph=True, inputs=[{w}])
{w}.grad = None|{w}.grad = {x}.detach().clone() if {x}.shape == {w}.shape else None|if {w}.grad is not None: {w}.grad = {w}.grad.detach()
if {w}.grad is not None: {w}.grad.mul_(2)|if {w}.grad is not None: {w}.grad.zero_()|if {w}.grad is not None: {w}.grad = {w}.grad * 2
"""

HEADER = """
class Doubled(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Squared(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 * x


class Viewed(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g * 3


class Both(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        other = x * 3
        ctx.mark_non_differentiable(other)
        return x * 2, other

    @staticmethod
    def backward(ctx, g, unused):
        return g * 2


class Written(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return g * 2


class Stopped(tg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sin()

    @staticmethod
    def backward(ctx, g):
        return None


@tg.no_grad()
def unrecorded(x):
    return x * 2


def keeps_a_part(x):
    out = x * 1
    with tg.no_grad():
        part = out.view(-1)[:1]
    return out * part


def kept(compute):
    with tg.autograd.graph.saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
        return compute()
"""
OUTSIDE = {
    "w": "(tg.arange(6.0).double().reshape(2, 3) * 0.1 + 0.3).requires_grad_()",
    "v": "(tg.arange(6.0).double().reshape(2, 3) * 0.05 + 0.4).requires_grad_()",
    "b": "tg.arange(6.0).double().reshape(2, 3) * 0.07 + 0.2",
    "flag": "tg.tensor(True)",
}
# Captured tensors that show memory of others, or have a history.
CAPTURED = [
    "w.detach()", "w[:1]", "w.view(-1)", "w.detach()[1:]", "b.view(-1)[1:]", "b[:1]", "w * 2", "(w * 2)[:1]", "w.data",
    "no_grad(lambda: w[:1])", "no_grad(lambda: w.view(-1))", "no_grad(lambda: b[:1])", "w.t()", "(w * v).detach()",
    "b.detach()", "no_grad(lambda: (w * 2)[:1])", "no_grad(lambda: w * 2)", "w.unbind(0)[0]",
]  # fmt: skip
ARGUMENTS = [
    "(b + 0.1 * i)", "(b * 1 + 0.1 * i).requires_grad_()", "(w * (1 + 0.1 * i))", "w.detach()", "(b + 0.1 * i)[:1]",
    "(b + 0.1 * i).requires_grad_()[:1]", "w[:1]", "w", "(w + i)[..., 1:]", "no_grad(lambda: (w * (i + 1))[:1])",
    "(w * v + 0.1 * i).detach()[:1]", "no_grad(lambda: w[1:])", "b", "(b + 0.1 * i).view(-1)",
    "no_grad(lambda: (b * 1).requires_grad_()[:1])", "(w * v).t()", "(b * v).requires_grad_()",
]  # fmt: skip
AFTER = """
{r}.mul_(2)|{r}.detach().mul_(2)|{r}.view(-1)[:1].mul_(v.view(-1)[:1])|{r}.mul_(v.sum())|{r}.requires_grad_()
b.mul_(v.sum())|b[:1].copy_(v[:1])|{c}.mul_(2)|{c}.mul_(v.sum())|{c}[:1].add_(v.sum())|{c}.detach_()|{c}.requires_grad_()|b.requires_grad_()
{r}.zero_()|{r}.data.mul_(2)|{r}.retain_grad()
"""


def options(text: str) -> list[str]:
    return [option for line in text.strip().splitlines() for option in line.split("|")]


def no_grad(compute: Any) -> Any:
    with tg.no_grad():
        return compute()


def names_of() -> dict[str, Any]:
    env: dict[str, Any] = {
        "tg": tg,
        "F": tg.nn.functional,
        "no_grad": no_grad,
        "checkpoint": tg.utils.checkpoint.checkpoint,
    }
    return env


class Writer:
    """Writes one program, statement by statement; those that raise in eager mode are left out, but for a few."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.lines: list[str] = []
        self.count = 0
        self.names = ["w", "v", "b"]
        self.env = names_of()
        exec(HEADER, self.env)
        self.captured = [self.rng.choice(CAPTURED) for _ in range(self.rng.choice([0, 0, 1, 1, 2]))]
        self.arguments = [self.rng.choice(ARGUMENTS) for _ in range(self.rng.choice([1, 1, 2]))]
        for name, text in (*OUTSIDE.items(), *self.of_outside()):
            self.env[name] = eval(text, self.env | {"i": 0})
        self.names += [name for name, _ in self.of_outside()] * 2

    def of_outside(self) -> list[tuple[str, str]]:
        captured = [(f"c{n}", text) for n, text in enumerate(self.captured)]
        return [*captured, *((f"x{n}", text) for n, text in enumerate(self.arguments))]

    def pick(self) -> str:
        last = self.rng.choice([1, 2, 2, 6, 6, len(self.names)])  # what has just been made, mostly
        return self.rng.choice(self.names[-last:])

    def filled(self, template: str) -> str:
        picked = self.pick()
        number = self.rng.choice(
            ["0.7", f"{self.pick()}.sum()", f"{self.pick()}.mean()", f"{self.pick()}.reshape(-1)[0]"]
        )
        loss = self.rng.choice(
            ["({x} * {x}).sum()", "{x}.sum()", "({x} * {x} * {x}).sum()", "{x}.exp().sum()"]
        ).replace("{x}", self.pick())
        text = template.replace("{x}", picked).replace("{s}", f"({number})").replace("{l}", loss)
        return text.replace("{w}", self.rng.choice(["w", "w", "v", *self.names]))

    def expression(self) -> str:
        kinds, weights = [COMPUTED, STOPPED, VIEWS, CALLED, GRADIENTS], [8, 4, 6, 2, 2]
        return self.filled(self.rng.choice(options(self.rng.choices(kinds, weights)[0])))

    def statement(self) -> str:
        kinds = ["computed", "write", "switched", "backward"]
        kind = self.rng.choices(kinds, [10, 4, 1, 1])[0]
        if kind == "computed":
            return f"{self.new_name()} = {self.expression()}"
        texts = {"write": WRITES, "switched": SWITCHED, "backward": BACKWARD}[kind]
        return self.filled(self.rng.choice(options(texts)))

    def new_name(self) -> str:
        self.count += 1
        return f"t{self.count}"

    def add(self) -> bool:
        text = self.statement()
        lines = [text]
        if self.rng.random() < 0.3:
            more = [self.statement() for _ in range(self.rng.choice([0, 0, 1]))]
            lines = [self.rng.choice(options(BLOCKS)), *(f"    {line}" for line in (text, *more))]
        if not self.tried("\n".join(lines)):
            return False
        self.lines += lines
        self.names += [n for n in self.env if n.startswith("t") and n[1:].isdigit() and n not in self.names]
        self.names = [n for n in self.names if fits(self.env[n])]
        return True

    def tried(self, text: str) -> bool:
        """Whether the whole program still runs with `text` at its end; there is no way to take a statement back."""
        env = dict(self.env)
        for name, expression in (*OUTSIDE.items(), *self.of_outside()):
            env[name] = eval(expression, env | {"i": 0})
        try:
            with quiet():
                exec("\n".join([*self.lines, text]), env)
        except Exception:
            return False
        if any(not small(env[n]) for n in env if n in self.names or (n.startswith("t") and n[1:].isdigit())):
            return False
        self.env = env
        return True

    def program(self) -> str:
        wanted, left = self.rng.choice([3, 4, 5, 7, 9]), 60
        while wanted and left:
            left -= 1
            wanted -= self.add()
        if self.rng.random() < 0.05:
            self.lines.append(self.statement())
        rest = self.names[3:]
        fresh = [n for n in rest if n.startswith("t")] or rest
        chosen = [
            self.rng.choice(fresh if self.rng.random() < 0.8 else self.names)
            for _ in range(self.rng.choice([1, 1, 2, 3]))
        ]
        if "w.grad" in "".join(self.lines) or ".backward(" in "".join(self.lines):
            chosen += ["w.grad"] if self.rng.random() < 0.3 else []
        return self.assembled(chosen)

    def assembled(self, returned: list[str]) -> str:
        captured = {f"c{n}": text for n, text in enumerate(self.captured)}
        arguments = {f"x{n}": text for n, text in enumerate(self.arguments)}
        after = "pass"
        if self.rng.random() < 0.4:
            r = f"results[{self.rng.randrange(len(returned))}]"
            after = self.rng.choice(options(AFTER)).replace("{r}", r)
            after = after.replace("{c}", self.rng.choice(["b", *captured]))
        body = "\n".join([*self.lines, f"return {', '.join(returned)},"])
        return program(body, arguments, captured, after)


def program(body: str, arguments: dict[str, str], captured: dict[str, str], after: str = "pass") -> str:
    """The text of a program whose step has this `body`; `after` is done with its results in the later calls."""
    names = ", ".join(arguments)
    return "\n".join([
        HEADER, "", "def make(compile):", *(f"    {n} = {text}" for n, text in (OUTSIDE | captured).items()), "",
        f"    def step({names}):", textwrap.indent(body, " " * 8), "", "    compiled = compile(step)", "",
        "    def call(i):", *(f"        {n} = {text}" for n, text in arguments.items()),
        f"        return compiled({names}), [{names}]", "",
        "    def after(results):", f"        {after}", "",
        f"    return compiled, call, after, [w, v, b, {', '.join(captured)}]", "",
    ])  # fmt: skip


@contextlib.contextmanager
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def fits(tensor: Any) -> bool:
    return isinstance(tensor, tg.Tensor) and tensor.ndim < 4


def small(tensor: Any) -> bool:
    """Whether a later call will be compared sharply."""
    if not isinstance(tensor, tg.Tensor) or not tensor.numel():
        return True
    numbers = np.asarray(tensor.detach().tolist(), np.float64)
    return bool(np.isfinite(numbers).all() and np.abs(numbers).max() < 1e3)
