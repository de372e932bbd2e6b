"""Which parameters PyTorch's functions in C take as truth values, integers and numbers alone.

``python tests/expected/scalar_parameters.py`` writes scalar_parameters.json with PyTorch: by path, the parameters whose
type is the same in all overloads.
"""

import inspect
import json
import re
from pathlib import Path

KINDS = {"bool": "bool", "int": "int", "float": "float", "Scalar": "Number"}
#: Where functions with a prefix in their schemas are.
MODULES = {"linalg": "linalg_", "fft": "fft_", "special": "special_"}


def of_schemas(torch):
    """By a function's name in schemas: by parameter the kinds that overloads give it."""
    kinds = {}
    for schema in torch._C._jit_get_all_schemas():
        found = re.match(r"aten::(\w+)(?:\.(\w+))?\((.*?)\) ->", str(schema))
        if found is None or "out" in (found[2] or "") or "Tensor" not in found[3]:
            continue
        for parameter in found[3].split(", "):
            kind, _, name = parameter.partition(" ")
            kinds.setdefault(found[1], {}).setdefault(name.partition("=")[0], set()).add(kind)
    return kinds


def of(torch, module, prefix, kinds):
    place = getattr(torch, module) if module else torch
    for name in dir(place):
        function = getattr(place, name)
        if name.startswith("_") or inspect.isfunction(function) or not callable(function):
            continue
        same = {p: next(iter(found)) for p, found in kinds.get(prefix + name, {}).items() if len(found) == 1}
        single = {p: KINDS[kind] for p, kind in sorted(same.items()) if kind in KINDS}
        if single:
            yield f"{module}.{name}" if module else name, single


if __name__ == "__main__":
    import torch

    kinds = of_schemas(torch)
    table = {}
    for module, prefix in {"": "", "Tensor": "", **MODULES}.items():
        table.update(of(torch, module, prefix, kinds))
    text = json.dumps(table, indent=None, separators=(",", ":")).replace('},"', '},\n"')
    Path(__file__).with_suffix(".json").write_text(text + "\n")
