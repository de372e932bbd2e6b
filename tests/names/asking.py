"""The calls of samples.txt asked of PyTorch and of tracegrad:  python -m tests.names.asking [PATH ...]

From the root of the repository; needs PyTorch. Stores the outcomes of these paths ("torch.nn.Flatten"), or of all.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch

import tracegrad as tg
from tracegrad.compiler import pipeline

from .calls import Sample, run, samples

OUTCOMES = Path(__file__).with_name("outcomes.json")
#: As those of the database: sums are added in another order, and functions rounded otherwise, in the last digits.
RELATIVE, ABSOLUTE = 1e-9, 1e-10
ROUNDED = {"float32": 1e-5, "complex64": 1e-5, "float16": 1e-3}


def asked(sample: Sample) -> dict[str, str]:
    """The outcomes by mode, as those of the database: function, compiled, gradient, second.

    A derivative that PyTorch does not have (the result requires none) is not asked.
    """
    found, length = {}, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for order, mode in enumerate(("function", "gradient", "second")):
            expected, refused = attempted(torch, sample, order)
            if refused or (order and len(expected[0]) == length):
                break
            length = len(expected[0])
            got, error = attempted(tg, sample, order)
            found[mode] = error or difference(expected, got) or "right"
            if found[mode] != "right":
                return found
            if order < 2:
                found["compiled"] = compiled(sample, order, got)
    return found


def attempted(library: Any, sample: Sample, order: int, wrap: Any = None) -> tuple[list[Any], str]:
    """The results of the calls, and what was raised."""
    try:
        found = run(library, sample, order, *[wrap] * (wrap is not None))
    except Exception as error:
        return [], f"{type(error).__name__}: {str(error).partition(chr(10))[0][:200]}"
    return [[x.detach().resolve_conj().numpy(force=True) for x in call] for call in found], ""


def compiled(sample: Sample, order: int, eager: list[Any]) -> str:
    """Whether the compiled step gives what the eager one does, and how it is served."""
    steps = []

    def wrap(step: Any) -> Any:
        steps.append(tg.compile(step))
        return steps[0]

    got, error = attempted(tg, sample, order, wrap)
    return error or difference(eager, got) or f"right: {steps[0].way}"


def difference(expected: list[Any], got: list[Any]) -> str:
    """What differs first between the arrays of two runs."""
    types = {array.dtype.name for call in expected for array in call}
    relative = max(
        (ROUNDED.get(name, RELATIVE) for name in types), default=RELATIVE
    )  # a derivative is as exact as its result
    for number, (there, here) in enumerate(zip(expected, got, strict=True)):
        if len(there) != len(here):
            return f"{len(here)} results, not {len(there)}"
        for one, other in zip(there, here, strict=True):
            if one.dtype != other.dtype or one.shape != other.shape:
                return f"{other.dtype}{list(other.shape)}, not {one.dtype}{list(one.shape)}"
            scale = np.abs(one[np.isfinite(one)]).max(initial=0.0) if one.dtype.kind in "fc" else 0.0
            if not np.allclose(other, one, relative, ABSOLUTE + relative * scale, equal_nan=True):
                return f"other numbers in call {number + 1}"
    return ""


def main() -> int:
    """Write the outcomes, print what is not right."""
    paths = sys.argv[1:]
    # What the C compiler's optimiser makes of a program is not asked here, and takes most of the time.
    pipeline.FLAGS = tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS)
    stored = json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}
    found = {sample.path: stored.get(sample.path, {}) for sample in samples()}
    for sample in samples():
        if not paths or sample.path in paths:
            found[sample.path] = asked(sample)
            wrong = {mode: outcome for mode, outcome in found[sample.path].items() if not outcome.startswith("right")}
            print(*(f"{sample.path} {mode}: {outcome}\n" for mode, outcome in wrong.items()), end="", flush=True)
            OUTCOMES.write_text(json.dumps(found, indent=0) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
