"""Store the arguments of PyTorch's functions in C (needs PyTorch):  python -m tests.names.arguments

The file is ``pytorch_arguments.json``: by the name in ``torch``, for each overload the names of its arguments.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import torch

from .store import NAMES

ARGUMENTS = Path(__file__).with_name("pytorch_arguments.json")
#: What factories take besides, which is looked at elsewhere; overloads with `names` and `out` are passed over.
OF_FACTORIES = frozenset("dtype layout device pin_memory memory_format generator".split())


def main() -> int:
    names = json.loads(NAMES.read_text())["torch"]
    found = {name: overloads for name in names if (overloads := _overloads(name))}
    ARGUMENTS.write_text(json.dumps(found, indent=0) + "\n")
    return 0


def _overloads(name: str) -> list[str]:
    packet = None if inspect.isfunction(getattr(torch, name)) else getattr(torch.ops.aten, name, None)
    found = []
    for overload in packet.overloads() if packet else ():
        arguments = [a.name for a in getattr(packet, overload)._schema.arguments]
        if not {"names", "dimname", "out", "out0"} & {*arguments, overload}:
            found.append(" ".join("input" if a == "self" else a for a in arguments if a not in OF_FACTORIES))
    return sorted(set(found))


if __name__ == "__main__":
    raise SystemExit(main())
