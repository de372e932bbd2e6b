"""Where derivatives stop, and where they go on, is the same for a caller who differentiates what a call returns, whether
it is eager, compiled or deferred: kinds that were different once, and random programs (`stopping.py`)."""

import pytest
from compiled.gradients import stopping

NOTHING_BUT_BASES = "no_grad(lambda: (b * 1).requires_grad_()[:1])"

# The step's body, the argument x0, what is captured, what is done with the results (then by `stopping` twice more).
KINDS = {
    "the rest of what was computed without": ("with tg.no_grad():\n    t = w * 3\nt[0].mul_(w.sum())\nreturn t,", "b", {}, "pass"),
    "the rest of what was detached": ("t = (w * 3).detach()\nt[0] = w[0] * 2\nreturn t * 1, t[1:]", "b", {}, "pass"),
    "overwritten places": ("t = w * 3\nt[0] = 0.5\nt[..., 1:] = (w[..., 1:] * 2).detach()\nreturn t,", "b", {}, "pass"),
    "places overwritten with what is untracked": ("t = x0 * 1\nwith tg.no_grad():\n    u = w * 2\nt[:1] = u[:1]\nreturn t * w,", "w", {}, "pass"),
    "untracked memory that a history was written to": ("t = b * 1\nd = t.detach()\nd[0].mul_(v.sum())\nreturn t * w, d", "b", {}, "pass"),
    "views of views without a history": ("with tg.no_grad():\n    t = w[:1]\nreturn t[0][1:] * w[0, 0],", "b", {}, "pass"),
    "views of a view of what has a history": ("t = w * 2\nwith tg.no_grad():\n    u = t[:1]\nreturn u[0] * t,", "b", {}, "pass"),
    "a captured view without a history": ("return c0[0] * w,", "b", {"c0": "no_grad(lambda: w[:1])"}, "pass"),
    "nothing to differentiate for": ("return x0 / 2,", NOTHING_BUT_BASES, {}, "pass"),
    "a result of several that leads nowhere": ("return x0 * 2, w * 2", NOTHING_BUT_BASES, {}, "pass"),
    "nothing behind a sum": ("t = w + 0\nwith tg.no_grad():\n    u = t.view(-1)\nreturn u.reshape(-1).sum() * 2,", "b", {}, "pass"),
    "gradients with a history": ("(w * w * x0).sum().backward(create_graph=True)\nreturn x0 * 2,", "b", {}, "pass"),
    "gradients made in inference mode": ("with tg.inference_mode():\n    w.grad = w.detach().clone()\nreturn w * 2,", "b", {}, "pass"),
    "a view of a leaf": ("return w[:1], w.t()[0]", "w", {}, "results[0].detach().mul_(2)"),
    "a view of an argument": ("return x0[:1], x0.view(-1)", "(w * 2)", {}, "results[0].mul_(v.sum())"),
    "a view of a captured view": ("return c0.transpose(0, -1),", "w", {"c0": "w.detach()[1:]"}, "results[0].mul_(v.sum())"),
    "a view whose history leads through another": ("return c0.as_strided((2,), (1,)),", "w", {"c0": "w.unbind(0)[0]"}, "pass"),
    "a view of a leaf that the call makes": ("t = c0.detach().requires_grad_()\nwith tg.no_grad():\n    u = t.reshape(-1)\nreturn u,", "b", {"c0": "w.detach()[1:]"}, "pass"),
    "a view without a history that was written to": ("with tg.no_grad():\n    t = x0 * 2\n    u = t.view_as(t)\nt[0].mul_(v.sum())\nreturn u,", "b", {}, "pass"),
    "an ambiguous argument": ("with tg.no_grad():\n    x0.add_(0.7)\nreturn x0,", NOTHING_BUT_BASES, {}, "pass"),
    "a write that nobody counts": ("x0.data.zero_()\nreturn x0 * 1,", "no_grad(lambda: w[:1])", {}, "pass"),
    "a captured tensor gets a history": ("return b * b,", "w", {}, "b.mul_(v.sum())"),
    "a captured view gets a history": ("return c0 * c0, c0.requires_grad", "w", {"c0": "b[:1]"}, "b.mul_(v.sum())"),
    "a flag alone": ("return w * (2 if b.requires_grad else 3),", "w", {}, "b.mul_(v.sum())"),
    "a captured tensor loses its history": ("return c0 * w,", "b", {"c0": "w * 2"}, "c0.detach_()"),
    "an alias is turned": ("c0.unsqueeze_(0)\nreturn w * 2,", "w", {"c0": "w.data"}, "pass"),
    "an alias gets a history": ("c0.mul_(v.sum())\nreturn (w * 2).detach(),", "w", {"c0": "b.detach()", "c1": "b * 1"}, "pass"),
    "a result written to, and differentiated twice": ("t = F.relu(x0 - 0.4).unsqueeze(0)\nt.sqrt_()\nreturn t,", "(b * 1).requires_grad_()", {}, "pass"),
    "a view that was written to": ("x0[..., 0] = 0.7\nreturn F.relu(x0),", "(w + i)[..., 1:]", {}, "pass"),
    "an argument's gradient is retained": ("x0.retain_grad()\nreturn x0 * 2,", "w * 2", {}, "pass"),
    "a literal index, differentiated twice": ("t = x0 * 1\nt[[0]] = w[[1]] * 0.5\nreturn t * t,", "w * 2", {}, "pass"),
    "a version that no write counts": ("x0.chunk(2)[0].t_()\nreturn v,", NOTHING_BUT_BASES, {}, "pass"),
    "several results of one alias": ("t = x0.data\nreturn t.t(), t", "w * 2", {}, "results[1].mul_(v.sum())"),
    "an alias with another history": ("t = x0.detach()\nt[..., 0] = x0.mean()\nreturn t,", "w", {}, "pass"),
    "stacked views without a history": ("return tg.stack([c0, c0.detach()])[0],", "b", {"c0": "no_grad(lambda: w[:1])"}, "pass"),
}  # fmt: skip
FIRST_SEEDS = range(0, 400, 10)


@pytest.mark.long(fast=23, by_size=True)
@pytest.mark.parametrize("way", stopping.WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind, way):
    body, argument, captured, after = KINDS[kind]
    text = stopping.program(body, {"x0": argument}, captured, after)
    eager = stopping.run(text, lambda step: step)
    assert not any(isinstance(note, str) for note in eager), "it is no program"
    found = stopping.judged(text, stopping.WAYS[way], eager)
    assert found == "", found


@pytest.mark.long(every=17)
@pytest.mark.parametrize("first", FIRST_SEEDS)
def test_random_programs(first):
    """Ten programs at a time. Few are refused by a message of their own, and many calls are replayed."""
    refused, before = 0, stopping.SERVED["replay"]
    for seed in range(first, first + 10):
        text, found = stopping.verdicts(seed)
        for way, what in found.items():
            assert what in ("", "refused"), f"seed {seed} {way}: {what}\n{text[text.index('def make') :]}"
            refused += what == "refused"
    assert refused <= 2
    assert stopping.SERVED["replay"] > before


def test_what_the_comparison_notices():
    """Of a function that is another one where it is compiled: one fact of its result each."""
    program = stopping.program("t = w * x0\nreturn {} if OTHER else t,", {"x0": "b"}, {}).replace(
        "OTHER", "compile is not same"
    )
    program = program.replace("\ndef make(compile):", "\ndef same(step):\n    return step\n\n\ndef make(compile):")
    eager = stopping.run(program.replace("{}", "t").replace("compile is not same", "False"), lambda step: step)
    for text in [
        "t.detach()",
        "t * 1.0000001",
        "t.detach().requires_grad_()",
        "t + w * 0.1 - (w * 0.1).detach()",
        "(t, t)[{}]",
    ]:
        found = stopping.judged(program.replace("{}", text), stopping.WAYS["compiled"], eager)
        assert found not in ("", "refused"), text
