"""Random programs in which derivatives stop (`stopping_programs.py`), run eagerly, compiled and in ``tg.deferred()``.

What is compared is what a caller finds when it differentiates what it is given: values, flags, gradients, their
gradients, and exceptions. In the folder tests, ``python -m compiled.gradients.stopping FIRST LAST`` prints what differs
in the programs of these seeds.
"""

from __future__ import annotations

import linecache
import sys
from collections import Counter
from typing import Any

import numpy as np
from compiled.gradients.stopping_programs import Writer, names_of, program, quiet

import tracegrad as tg
from tracegrad.compiler.errors import CaptureError

__all__ = ["SERVED", "WAYS", "judged", "program", "run", "verdicts"]

CALLS = 4
REFUSING = "has been written to through .data: in eager mode"  # gradients of what is written to past the versions
WAYS = {"compiled": tg.compile, "deferred": lambda step: tg.deferred()(step)}
SERVED: Counter[str] = Counter()  # calls, by how they were served


def noted(tensor: Any) -> Any:
    """What is there to be found of a tensor, without writing to it."""
    if not isinstance(tensor, tg.Tensor):
        return type(tensor).__name__
    try:
        without = tensor.grad_fn is None  # asked first: views take notice of writes to their bases then
        facts = [tensor.requires_grad, tensor.is_leaf, without, tensor.is_inference()]
    except RuntimeError as error:
        facts = [kind_of(error)]
    return [*facts, np.asarray(tensor.detach().tolist())]


class Kind(str):
    """The class of an exception, which is what is compared; shown with its words."""

    words = ""

    def __repr__(self) -> str:
        return f"{str(self)}({self.words})"


def kind_of(error: Any) -> Kind:
    kind = Kind(type(error).__name__)
    kind.words = str(error)[:300]
    return kind


def attempted(function: Any, *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except CaptureError:
        raise
    except Exception as error:
        if REFUSING in str(error):
            raise CaptureError(str(error)) from error
        return error


def derivatives(results: list[Any], leaves: list[Any]) -> list[Any]:
    """What the caller gets who differentiates each result twice, once by `grad` and once more by ``backward()``."""
    found: list[Any] = []
    asked = [t for t in leaves if t.requires_grad]
    for n, result in enumerate(results):
        if not (isinstance(result, tg.Tensor) and result.requires_grad):
            continue
        loss = attempted(lambda r=result: (r * r).sum() + r.sum())
        if isinstance(loss, Exception):
            found.append((n, "loss", kind_of(loss)))
            continue
        first = attempted(tg.autograd.grad, loss, asked, create_graph=True, allow_unused=True)
        if isinstance(first, Exception):
            found.append((n, "first", kind_of(first)))
            continue
        found.append((n, "first", [noted(g) for g in first]))
        again = [(g * g).sum() for g in first if g is not None and g.requires_grad]
        if again:
            second = attempted(tg.autograd.grad, sum(again), asked, allow_unused=True, retain_graph=True)
            found.append(
                (n, "second", kind_of(second) if isinstance(second, Exception) else [noted(g) for g in second])
            )
    losses = [attempted(lambda r=r: (r * 3).sum()) for r in results if isinstance(r, tg.Tensor) and r.requires_grad]
    losses = [loss for loss in losses if not isinstance(loss, Exception)]
    if losses:
        error = attempted(sum(losses).backward)
        found.append(("backward", kind_of(error)))
    return found


def run(text: str, compile: Any) -> list[Any]:
    """A note of all that a caller finds, call by call."""
    with quiet():
        return _run(text, compile)


def _run(text: str, compile: Any) -> list[Any]:
    env = loaded(text)
    made = attempted(env["make"], compile)
    if isinstance(made, Exception):
        return [kind_of(made)]
    compiled, call, after, outside = made
    notes: list[Any] = []
    for i in range(CALLS):
        outcome = attempted(call, i)
        SERVED[getattr(compiled, "way", "")] += 1
        if isinstance(outcome, Exception):
            notes.append([f"call {i}", kind_of(outcome), [noted(t) for t in outside]])
            continue
        results, arguments = list(outcome[0]), outcome[1]
        note = [f"call {i}", [noted(r) for r in results], [noted(t) for t in [*outside, *arguments]]]
        note.append([[noted(getattr(t, "_grad", None)), derivatives([t._grad], outside)] for t in outside if i % 2])
        if i >= 2:
            note.append(["after", kind_of(attempted(after, results)), [noted(r) for r in results]])
        note.append(derivatives(results, [*outside, *arguments]))
        note.append([noted(t._grad) for t in [*outside, *arguments]])
        if i % 2:
            for t in outside:
                t.grad = None
        notes.append(note)
    return notes


def loaded(text: str) -> dict[str, Any]:
    name = f"stopping_{abs(hash(text))}"
    module = type(sys)(name)
    vars(module).update(names_of())
    linecache.cache[f"<{name}>"] = (len(text), None, text.splitlines(keepends=True), f"<{name}>")
    sys.modules[name] = module
    exec(compile(text, f"<{name}>", "exec"), vars(module))
    return vars(module)


def difference(own: Any, eager: Any, path: str = "") -> str:
    """Where two notes differ, "" where they do not."""
    if isinstance(own, (list, tuple)) and isinstance(eager, (list, tuple)):
        if len(own) != len(eager):
            return f"{path}: {own!r} instead of {eager!r}"
        return next(
            (d for n, (a, b) in enumerate(zip(own, eager, strict=True)) if (d := difference(a, b, f"{path}.{n}"))), ""
        )
    if isinstance(own, np.ndarray) and isinstance(eager, np.ndarray):
        if own.shape == eager.shape and np.allclose(own, eager, rtol=1e-9, atol=1e-11, equal_nan=True):
            return ""
        return f"{path}: {own.tolist()} instead of {eager.tolist()}"
    return "" if type(own) is type(eager) and own == eager else f"{path}: {own!r} instead of {eager!r}"


def judged(text: str, compile: Any, eager: list[Any]) -> str:
    """Where a run differs from the eager one: nowhere (an empty text), or it was "refused"."""
    try:
        return difference(run(text, compile), eager)
    except CaptureError:
        return "refused"


def verdicts(seed: int) -> tuple[str, dict[str, str]]:
    text = Writer(seed).program()
    eager = run(text, lambda step: step)
    return text, {way: judged(text, compile, eager) for way, compile in WAYS.items()}


def main(first: int, last: int) -> None:
    counts: Counter[str] = Counter()
    for seed in range(first, last):
        try:
            text, found = verdicts(seed)
        except Exception as error:
            print(f"seed {seed}: generator or run failed {error!r}")
            counts["broken"] += 1
            continue
        for way, what in found.items():
            counts[f"{way} {'different' if what not in ('', 'refused') else what or 'same'}"] += 1
            if what not in ("", "refused"):
                print(f"===== seed {seed} {way}: {what[:600]}\n{text[text.index('def make') :]}", flush=True)
    print(dict(counts), dict(SERVED))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
