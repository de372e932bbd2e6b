"""What PyTorch's files name where they hold a function: module and name, and what of it.

python tests/expected/function_names.py from the root of the repository; needs PyTorch.
"""

from __future__ import annotations

import json
import pickle
import pickletools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_suffix(".json")
PLACES = (
    "torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft", "torch.func", "torch.nn.utils",
    "torch.nn.utils.rnn", "torch.nn.utils.parametrize", "torch.nn.utils.prune", "torch.nn.init", "torch.autograd",
    "torch.utils.data", "torch.utils.checkpoint", "torch.random",
)  # fmt: skip


def functions(package: Any) -> Iterator[tuple[str, Any]]:
    """Each public function of `PLACES`, by its path."""
    for place in PLACES:
        module = package
        for part in place.split(".")[1:]:
            module = getattr(module, part)
        for name, found in sorted(vars(module).items()):
            if not name.startswith("_") and callable(found) and not isinstance(found, type):
                yield f"{place}.{name}", found


def store(package: Any) -> None:
    """Write what pickles of functions of `package` name."""
    found = {}
    for path, function in functions(package):
        try:
            opcodes = [(op.name, arg) for op, arg, _ in pickletools.genops(pickle.dumps(function, 2))]
        except (pickle.PicklingError, AttributeError, TypeError, RuntimeError):
            continue
        names = [arg.split(" ") for op, arg in opcodes if op == "GLOBAL"]
        if names[0][-1] == "getattr" and names[1][0] == "torch._C":
            found[path] = [*names[1], *(arg for op, arg in opcodes if op == "BINUNICODE")]
        elif len(names) == 1 and names[0][0].startswith("torch"):
            found[path] = names[0]
    lines = [f"{json.dumps(path)}: {json.dumps(names)}" for path, names in found.items()]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    import torch
    import torch.nn.utils.prune
    import torch.utils.checkpoint

    store(torch)
