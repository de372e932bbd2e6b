"""Public functions and methods on tensors of twenty elements, where overhead alone decides, with PyTorch beside them.

    python -m benchmarks.small [--rounds 15] [--only "torch.gather,Tensor.m*"] [--above 3] [--json FILE]

The calls are found: each public function of ``torch``, ``torch.Tensor`` and ``torch.nn.functional`` is called with the
lists of arguments below until both libraries take one and give tensors; operators, and reads and writes through
indices, are added. A row is a call: microseconds of PyTorch and of tracegrad without a gradient, where one is recorded,
and with the backward pass, of this thread's processor time. Rows in which tracegrad takes more than ``--above`` times
as long are printed, the worst last.
"""

import argparse
import importlib
import json
import os
import time
import warnings
from fnmatch import fnmatchcase

BUDGET = 0.002  # seconds for a round

MODES = ("plain", "recorded", "backward")
#: Expressions of a first argument and of those after it, in the order in which they are tried.
FIRST = ("x", "square", "x.sigmoid()", "(x, y)", "image", "x[0]", "series", "long", "mask", "x.log_softmax(-1)")
REST = (
    "", "y", "y, y", "1", "0", "-1", "0, 1", "0, index", "0, index, y", "mask", "mask, 0.0", "mask, y", "y.t()",
    "square", "long", "2, 1", "5, 4", "(5, 4)", "(4, 5)", "(20,)", "labels", "weight", "weight, None", "(4,)",
    "3.0, 4.0", "-1, 1", "0.5", "0, 0.5", "flags", "y, y, 0.5", "y.t(), y", "c", "2.0", "lib.float64", "0, labels",
    "0, labels, y[:3]", "0, labels, 1.0", "0, 1, 0", "0, 0, 2", "([0],)", "(0,)", "labels, weight",
)  # fmt: skip
INDEXED = (
    "x[1]", "x[-1]", "x[1:3]", "x[..., -1]", "x[:, 1]", "x[:, 1:3]", "x[None]", "x[:, None]", "x[mask]", "x[labels]",
    "x[index]", "x[[0, 2]]", "x[labels, labels]", "x[:, labels]", "x[rows, columns]", "x[x > 0.5]", "x[0, 1]",
    "x[::2]", "x[..., None]", "x[flags]", "x[0:2, labels]", "x[[0, 1], [1, 2]]", "x[~mask]", "x[range4, argmax]",
)  # fmt: skip
WRITTEN = (
    "z[1] = c", "z[..., -1] = d", "z[:, 1] = d", "z[1:3] = 0.0", "z[mask] = 0.0", "z[labels] = w", "z[0, 1] = 3.0",
    "z[z > 0.5] = 0.0", "z[flags] = 0.0", "z[[0, 2]] = 1.0", "z[:, labels] = 0.0", "z[rows, columns] = 1.0",
    "z[mask] = picked", "z[:] = y", "z[1] += c", "z[:, 0] *= 2.0", "z[mask] += 1.0", "z[..., 0] = 0.0",
    "z[:, 1:3] = y[:, 1:3]", "z[0] = z[1]", "z[labels, labels] = 0.0", "z[1] = x[2]", "z[mask] = x[mask]",
    "z[0, 1] = scalar", "z += y", "z *= 0.5", "z[rows, columns] = d[:3]", "z[:, 2] = x[:, 1]",
)  # fmt: skip
OPERATORS = (
    "x + y", "x * 2.0", "1.0 - x", "x / y", "x ** 2", "x ** 0.5", "2.0 ** x", "-x", "x == y", "x > 0", "x <= y",
    "x != 0", "mask & mask", "mask | mask", "~mask", "x @ y.t()", "x % 2.0", "x // 2.0", "long + 1", "long % 3",
    "long // 2", "long == 1", "long * x", "x + scalar", "x * mask", "abs(x)", "x < scalar", "(x > 0.5).float()",
    "(x > y).sum()", "(long == long).sum().item()", "x.max(1)[1]", "x + long", "x.double() + x", "mask.float() * x",
    "x == 0",
)  # fmt: skip
LEFT_OUT = (
    "_*", "set_*", "use_*", "*save*", "*load*", "compile", "seed", "get_*", "is_*", "share_memory*", "register*",
    "wait", "requires_grad*", "backward", "from_*", "manual_seed", "retain_grad", "numpy", "*quantize*", "typename",
    "has_*", "*mkldnn*", "import_ir*", "parse_*", "fork", "resize*", "vitals*", "unify_*", "merge_*", "read_*",
    "sym_*", "*miopen*", "*cudnn*", "*nested*", "*sparse*", "clear_*", "prepare_*", "storage*", "untyped_storage",
    "data_ptr", "module_load", "cuda", "xpu", "ipu", "mtia", "pin_memory", "dequantize", "rename*", "refine*",
    "align*", "unflatten_*",
)  # fmt: skip


def operands(lib, tracked):
    """What calls name: ``x [4, 5]`` and others; the first five require a gradient where `tracked`."""
    lib.manual_seed(0)
    x, square = lib.rand(4, 5) + 0.1, lib.rand(4, 4) + 4 * lib.eye(4)
    y, mask = lib.rand(4, 5) + 0.1, lib.tensor([[True, False, True, False, False]] * 4)
    leaves = {"x": x, "square": square, "image": lib.rand(1, 2, 4, 4), "series": lib.rand(1, 2, 6)}
    if tracked:
        leaves = {name: leaf.requires_grad_() for name, leaf in leaves.items()}
    return leaves | {
        "lib": lib, "F": lib.nn.functional, "y": y, "c": lib.rand(5), "d": lib.rand(4), "mask": mask, "picked": y[mask],
        "weight": lib.rand(3, 5), "w": lib.rand(3, 5), "scalar": lib.tensor(0.5),
        "index": lib.tensor([[0, 1, 2, 3, 0]]),
        "labels": lib.tensor([2, 0, 1]), "long": lib.arange(20).reshape(4, 5), "rows": lib.tensor([0, 1, 3]),
        "columns": lib.tensor([4, 0, 2]), "flags": lib.tensor([True, False, True, False]), "range4": lib.arange(4),
        "argmax": lib.tensor([1, 0, 4, 2]),
    }  # fmt: skip


def candidates(lib):
    """Name -> texts of which the first that is taken is its call."""
    found = {text: [text] for text in OPERATORS + INDEXED + WRITTEN}
    for title, path, place in (("torch", "lib", lib), ("F", "F", lib.nn.functional), ("Tensor", "", lib.Tensor)):
        for name in dir(place):
            value = getattr(place, name, None)
            if callable(value) and not isinstance(value, type) and not any(fnmatchcase(name, out) for out in LEFT_OUT):
                found[f"{title}.{name}"] = [_call(path, name, first, rest) for first in FIRST for rest in REST]
    return found


def _call(path, name, first, rest):
    if path:
        return f"{path}.{name}({first}{', ' if rest else ''}{rest})"
    return f"({first}).{'clone().' if name.endswith('_') else ''}{name}({rest})"


def made(lib, text, mode):
    """A function without arguments: the call in a mode. None where there is nothing to differentiate."""
    names = operands(lib, mode != "plain")
    lines, end = [f"r = {text}"], "r"
    if text in WRITTEN:
        names["z"] = names["x"].clone()
        lines, end = ([text] if mode == "plain" else ["z = x.clone()", text]), "z"
    if mode == "backward":
        code = compile("\n".join(lines), "call", "exec")
        exec(code, names)
        result, several = names[end], not isinstance(names[end], lib.Tensor)
        first = result[0] if several else result
        if not first.requires_grad:
            return None
        names |= {"grad": lib.autograd.grad, "g": lib.ones_like(first)}
        names["leaves"] = [names[name] for name in ("x", "square", "image", "series") if name in code.co_names]
        lines.append(f"return grad({end}{'[0]' if several else ''}, leaves, g, allow_unused=True)")
    exec("\n    ".join(["def call():", *(["global z"] if mode == "plain" else []), *lines]), names)
    return names["call"]


def _is_taken(lib, text):
    """Whether a call runs, and gives tensors."""
    try:
        names = operands(lib, False) | {"z": lib.rand(4, 5)}
        exec(text if text in WRITTEN else f"r = {text}", names)
        result = names.get("r", names["z"])
        parts = result if isinstance(result, (tuple, list)) else [result]
        return bool(parts) and all(isinstance(part, lib.Tensor) for part in parts) or text in OPERATORS
    except Exception:  # noqa: BLE001 - of whatever kind: the next list of arguments is tried
        return False


def functions(libs, text):
    """Mode -> one function for each library, for the modes that a call has."""
    found = {}
    for mode in MODES:
        try:
            pair = [made(lib, text, mode) for lib in libs]
            for function in pair:
                if function is not None:
                    function()
        except Exception:  # noqa: BLE001 - no derivative
            continue
        if None not in pair:
            found[mode] = pair
    return found


def measure(pair, rounds):
    """Microseconds of one call of each function, the best of `rounds` rounds in turn."""
    calls = [max(1, int(BUDGET / max(_round_of(f, 3), 1e-7))) for f in pair]
    times = [[_round_of(f, n) for f, n in zip(pair, calls, strict=True)] for _ in range(rounds)]
    return [1e6 * min(column) for column in zip(*times, strict=True)]


def _round_of(function, calls):
    start = time.thread_time()
    for _ in range(calls):
        function()
    return (time.thread_time() - start) / calls


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.small", description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="*", help="patterns of names, separated by commas")
    parser.add_argument("--above", type=float, default=3.0, help="the ratio from which a row is printed")
    parser.add_argument("--json", help="a file for all rows")
    args = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.simplefilter("ignore")
    libs = [importlib.import_module(name) for name in ("torch", "tracegrad")]
    libs[0].set_num_threads(1)
    rows = {}
    for name, texts in candidates(libs[0]).items():
        if any(fnmatchcase(name, pattern) or name == pattern for pattern in args.only.split(",")):
            text = next((text for text in texts if all(_is_taken(lib, text) for lib in libs)), None)
            if text is not None:
                pairs = functions(libs, text)
                rows[name] = {"call": text} | {mode: measure(pair, args.rounds) for mode, pair in pairs.items()}
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=0)
    show(rows, args.above)


def worst(row):
    return max(own / peer for mode, (peer, own) in ((m, row[m]) for m in MODES if m in row))


def _times(pair):
    return f"{pair[0]:8.1f}{pair[1]:8.1f}{pair[1] / pair[0]:6.1f}" if pair else " " * 22


def show(rows, above):
    rows = {name: row for name, row in rows.items() if len(row) > 1}
    print(f"{'':44}" + "".join(f"{mode:>22}" for mode in MODES))
    for name, row in sorted(rows.items(), key=lambda item: worst(item[1])):
        if worst(row) > above:
            print(f"{row['call'][:44]:44}{''.join(_times(row.get(mode)) for mode in MODES)}  {name}")
    print(f"{sum(worst(row) > above for row in rows.values())} of {len(rows)} calls are above {above}")


if __name__ == "__main__":
    main()
