"""What PyTorch's operator database has found, counted by category and mode, and what differs with a reason each."""

from __future__ import annotations

import json
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

DATABASE = Path(__file__).resolve().parents[1] / "database"
DIFFERENCES = "differences.json"
MODES = "function method alias inplace out gradient second forward compiled errors".split()
TITLES = {"function": "values", "gradient": "first", "second": "second"}
CATEGORIES = {
    "nn_functional_": "nn.functional",
    "linalg_": "linalg",
    "fft_": "fft",
    "special_": "special",
    "signal_": "signal",
}

Outcomes = dict[str, dict[str, str]]

#: Differences that were found otherwise, with reasons.
BESIDE = (
    "* gradients of functions of conjugates are no conjugated views themselves (`x.grad.is_conj()` is False): the "
    "numbers are the same, and `numpy()` takes them where PyTorch's has to be resolved first.",
    "* `set_` of a conjugate makes it a plain view of the source; files hold a conjugate's numbers, without a bit.",
    "* `__module__` of functions: the module of this package that has the function, also under the name torch. "
    "PyTorch's own is as often a private one (`torch._C._nn`), and pickles find functions by it without the shim.",
    "* `func.jvp` differentiates twice; the method `jvp` of an `autograd.Function` is called in the levels of "
    "`autograd.forward_ad`, and by what computes with them: `gradcheck(check_forward_ad=True)` and "
    '`autograd.functional.jacobian(strategy="forward-mode")`.',
    "* of equal elements `sort`, `argsort`, `topk` and `kthvalue` show the first first, `mode` the last; PyTorch's "
    "order is what its sorts leave (more than 16 elements without `stable`, `topk`). In `mode` each NaN counts "
    "for itself, behind all numbers; PyTorch's sort leaves them where they are.",
    "* of an expanded tensor the parts that show no element twice can be written, as in PyTorch, and what fills or "
    "goes through indices takes all of it: of several values for an element the last stays. PyTorch's gradients of "
    "what goes through indices there fail in the backward pass; tracegrad gives them.",
    "* of a zero and a negative zero `maximum`, `minimum`, `clamp` by tensors and folds (`amax`, `max`) give the last; "
    "PyTorch gives the first or the last, by where an element stands in a vector of its kernels: `maximum(-0., 0.)` "
    "of 17 elements is 0. sixteen times and -0. once. `relu6`, `hardtanh` and `clamp` by numbers keep -0. in both; "
    "`relu` gives 0., PyTorch -0.",
    "* `round(x, decimals=0)` of integers is x; PyTorch has no kernel for it (NotImplementedError) unless `decimals` "
    "is left out.",
    "* `func.vmap` calls a function that looks at numbers (`if x.sum() > 0`, `item()`) for each slice, with a warning; "
    "PyTorch refuses it.",
    "* results of `func.jacfwd` and `func.hessian` lie row by row, PyTorch's with the axes of the argument first.",
    "* views that overlap otherwise (`unfold`, `as_strided`) read all their elements before the first is written: "
    "`x.unfold(0, 3, 1).add_(1)` adds 1 to each element, in PyTorch as often as it is shown.",
)


def category(name: str) -> str:
    """The module of an entry."""
    return next((title for prefix, title in CATEGORIES.items() if name.startswith(prefix)), "torch")


def counts(outcomes: Outcomes) -> list[str]:
    """The lines of the section."""
    lines = ["", "## PyTorch's operator database", "", _HEAD, "", _row("", [TITLES.get(m, m) for m in MODES])]
    lines.append("|---" * (len(MODES) + 1) + "|")
    right, asked = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for name, of in outcomes.items():
        for mode, outcome in of.items():
            for key in ((category(name), mode), ("all", mode)):
                asked[key] += 1
                right[key] += outcome.startswith("right")
    for title in ["torch", *CATEGORIES.values(), "all"]:
        cells = [f"{right[title, m]} of {asked[title, m]}" if asked[title, m] else "" for m in MODES]
        lines.append(_row(title, cells))
    return [
        *lines,
        "",
        "What differs:",
        "",
        *_differences(reasons()),
        "",
        "What no entry of the database asks, and differs:",
        "",
        *BESIDE,
        "",
        "What is not asked:",
        "",
        *_left_out(),
        *class_counts(),
        *trajectories(),
    ]


_HEAD = "Entries that are right in all dtypes and samples that were asked, of those that have the mode."


def _row(title: str, cells: list[str]) -> str:
    return f"| {' | '.join([title, *cells])} |"


def reasons(folder: str = "") -> Outcomes:
    """By entry and mode, why it is not right; `folder` is that of modules or optimizers."""
    found: Outcomes = json.loads((DATABASE / folder / DIFFERENCES).read_text(encoding="utf-8"))
    return found


def _differences(listed: Outcomes) -> list[str]:
    lines = []
    for name, of in listed.items():
        by_reason: dict[str, list[str]] = {}
        for mode, reason in of.items():
            by_reason.setdefault(reason, []).append(TITLES.get(mode, mode))
        lines += [f"* `{name}` ({', '.join(modes)}): {reason}." for reason, modes in by_reason.items()]
    return lines


#: The databases of classes: title, folder, the modes, what is asked.
CLASSES = (
    (
        "modules",
        "initial state train eval gradient compiled errors".split(),
        """Up to 24 samples of each entry, spread evenly (two compiled; of `CrossEntropyLoss` in float16 all).
Built with the same arguments after the same seed: the numbers drawn, keys, `repr` (*initial*); PyTorch's state loaded,
and back (*state*); results and buffers in training and in evaluation, of float64, float32 and what else an entry has;
gradients of inputs and parameters in float64; compiled calls with `backward` in both modes; exceptions with the words
that the database asks for. Left out: samples with `LinearCrossEntropyOptions`, new in 2.13 and a prototype.""",
    ),
    (
        "optimizers",
        "values complex sparse state schedules compiled errors".split(),
        """Every configuration of the database with every implementation (`foreach`, `fused`, `differentiable`).
Six steps of a small network in float64 (L-BFGS two, each of up to twenty iterations), with one group and with two:
losses, parameters and state. The same with complex parameters, with sparse gradients, with a state that PyTorch's
optimizer has saved and the other way, with the database's schedules, compiled, and what is refused.""",
    ),
)


def class_counts() -> list[str]:
    """The lines of the sections about modules and optimizers."""
    lines = []
    for title, modes, text in CLASSES:
        outcomes: Outcomes = json.loads((DATABASE / title / "outcomes.json").read_text(encoding="utf-8"))
        lines += ["", f"### {title.capitalize()}", "", text, "", _row("", modes), "|---" * (len(modes) + 1) + "|"]
        of = {mode: [entry[mode] for entry in outcomes.values() if mode in entry] for mode in modes}
        cells = [f"{sum(o.startswith('right') for o in of[m])} of {len(of[m])}" for m in modes]
        lines += [_row("entries that are right", cells), "", "What differs:", "", *_differences(reasons(title))]
    return lines


_TRAJECTORIES = """Two hundred steps in float64 from the same numbers and seeds in both libraries
(`python -m tests.database.trajectories`): each configuration of the database of optimizers with each implementation,
and a net with each recurrent, attention, convolution and norm layer, in training and in evaluation. The largest
differences of losses, parameters and the last output, relative to the largest number beside it where that is above one;
L-BFGS begins anew every 25 steps, because it enlarges roundings."""


def trajectories() -> list[str]:
    """The lines of the section: a row for each optimizer, and for each kind of layers."""
    figures = json.loads((DATABASE / "trajectories.json").read_text(encoding="utf-8"))
    kinds = _kinds_of_layers()
    rows: dict[str, list[list[Any]]] = {}
    for name, found in figures.items():
        layer, _, mode = name.partition(" (")
        rows.setdefault(f"{kinds[layer]}, {mode.rstrip(')')}" if mode else f"`{layer}`", []).append(found)
    lines = ["", "### Trajectories", "", _TRAJECTORIES, "", _row("", ["trajectories", "eager", "compiled", "reason"])]
    lines.append("|---|---|---|---|---|")
    for title, found in sorted(rows.items(), key=lambda row: row[0][0] != "`"):  # optimizers first
        largest = [max((row[column] for row in found), key=float) for column in (1, 2)]
        lines.append(_row(title, [str(sum(row[0] for row in found)), *largest, *{row[3] for row in found}]))
    return lines


def _kinds_of_layers() -> dict[str, str]:
    """By layer of `layer_trajectories`, the title of its kind."""
    scope = runpy.run_path(str(DATABASE.parent / "expected" / "layer_trajectories.py"))
    titles = {"OTHERS": "other layers"}
    kinds = ("RECURRENT", "CELLS", "ATTENTION", "CONVOLUTION", "NORMS", "OTHERS")
    return {layer: titles.get(kind, kind.lower()) for kind in kinds for layer in scope[kind]}


def _left_out() -> list[str]:
    scope: dict[str, Any] = runpy.run_path(str(DATABASE / "out_of_scope.py"))
    by_reason: dict[str, list[str]] = {}
    for listed in ("OUT_OF_SCOPE", "VARIANTS_OUT", "DTYPES_OUT"):
        for name, reason in scope[listed].items():
            by_reason.setdefault(reason, []).append(f"`{name}`")
    return [f"* {', '.join(names)}: {reason}." for reason, names in by_reason.items()]
