"""A call of samples.txt with either library: its result, its derivatives, and the same compiled. No word of PyTorch."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

SAMPLES = Path(__file__).with_name("samples.txt")
CALLS = 4  # of a compiled function: one is recorded, or two where the second differs, and the others are replayed


@dataclass(frozen=True)
class Sample:
    """``place.name``, what is made before, and the call."""

    place: str
    name: str
    made: str
    call: str

    @property
    def path(self) -> str:
        return f"{self.place}.{self.name}"


def samples() -> Iterator[Sample]:
    """All samples, in order."""
    place = ""
    for line in SAMPLES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            place = line[1:-1]
        elif line and not line.startswith("#"):
            name, _, call = line.partition(": ")
            made, _, call = call.rpartition("; ")
            yield Sample(place, name, made, call)


#: What a call names, made of ``x``; only what it names, so that nothing else is computed.
OPERANDS = {
    "p": "x.exp()",
    "image": "x[:, None]",
    "volume": "x[None, None]",
    "m": "x[0, :, :3]",
    "r": "x[0]",
    "v": "x[0, 0]",
    "n": "x.new_tensor([2, 0, 1]).long()",
}


def start(library: Any) -> Any:
    """The operand ``x [2, 3, 4]`` of a call, a leaf."""
    numbers = np.sin(np.arange(24) ** 2 * 0.37 + 0.4).reshape(2, 3, 4)
    return library.from_numpy(numbers).requires_grad_()


def function_of(library: Any, sample: Sample) -> Callable[[Any], Any]:
    """``f(x)``, whose object `it` is made anew with PyTorch's draws."""
    scope = {
        "torch": library, "F": library.nn.functional, "nn": library.nn, "D": library.distributions,
        "rnn": library.nn.utils.rnn, "S": library.optim.lr_scheduler, "AF": library.autograd.functional,
        "clipped": clipped, "hooked": hooked, "with_gradient": with_gradient,
        "planned": lambda schedule: planned(library, schedule),
    }  # fmt: skip
    library.manual_seed(3)
    scope["it"] = eval(sample.made, scope) if sample.made else None
    named = [f"    {name} = {text}" for name, text in OPERANDS.items() if re.search(rf"\b{name}\b", sample.call)]
    exec("\n".join(["def function(x):", *named, f"    return {sample.call}"]), scope)
    function: Callable[[Any], Any] = scope["function"]
    return function


def step_of(library: Any, function: Callable[[Any], Any], order: int) -> Callable[[Any], Any]:
    """``step(x)``: the results as a list, and the derivatives of their sum by ``x`` up to `order`."""

    def step(x: Any) -> Any:
        results = tensors_of(library, function(x))
        found, ends = list(results), [y for y in results if y.requires_grad and not y.is_complex()]
        for left in reversed(range(order)):
            if not ends:
                break
            total = sum((y * y.detach().cos()).sum() for y in ends)
            (gradient,) = library.autograd.grad(total, x, create_graph=left > 0, allow_unused=True)
            if gradient is None:
                break
            found.append(gradient)
            ends = [gradient] if gradient.requires_grad else []
        return found

    return step


def tensors_of(library: Any, value: Any) -> list[Any]:
    """The tensors of a result, in order; numbers as tensors."""
    if isinstance(value, library.Tensor):
        return [value]
    if isinstance(value, (bool, int, float)):
        return [library.tensor(value)]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else []
    return [x for part in parts for x in tensors_of(library, part)]


def run(library: Any, sample: Sample, order: int, wrap: Callable[[Any], Any] = lambda step: step) -> list[Any]:
    """The results of some calls of a step, each with its seed."""
    step = wrap(step_of(library, function_of(library, sample), order))
    found = []
    for call in range(CALLS):
        library.manual_seed(call)
        found.append(step(start(library)))
    return found


# -------------------------------------------------------------------------------------------- what calls name besides


def with_gradient(x: Any) -> Any:
    """A leaf with a gradient."""
    leaf = (x.detach() * 1).requires_grad_()
    (leaf * x.detach()).sum().backward()
    return leaf


def clipped(leaf: Any, clip: Callable[[Any], Any]) -> Any:
    """The gradient after `clip`."""
    clip(leaf)
    return leaf.grad


def hooked(x: Any, hook: Callable[[Any], Any]) -> Any:
    """``x`` with a hook of its gradient."""
    x.register_hook(hook)
    return x


def planned(library: Any, schedule: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A step of training with a schedule's step: parameters, learning rate."""
    w = library.nn.Parameter(library.ones(4, dtype=library.float64))
    optimizer = library.optim.SGD([w], lr=0.05, momentum=0.9)
    plan = schedule(optimizer)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        (w * x.detach()).square().sum().backward()
        optimizer.step()
        plan.step()
        return w.detach() * 1, plan.get_last_lr()

    return step
