"""What a CPU build of PyTorch answers to programs that talk to devices:  python tests/expected/device_talk.py

From the root of the repository; needs PyTorch. Each line of device_expressions.txt is evaluated with the package under
the name ``torch``, one after the other: some set what others ask for. What is stored is the value's text, or the
error's class and first words, and the classes of the warnings.
"""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

EXPRESSIONS = Path(__file__).with_name("device_expressions.txt")
STORED = Path(__file__).with_suffix(".json")


def expressions() -> list[str]:
    """All of them, in their order."""
    return EXPRESSIONS.read_text(encoding="utf-8").splitlines()


def names(package: Any) -> dict[str, Any]:
    """What expressions may name."""
    package.manual_seed(0)
    m = package.nn.Linear(2, 2)
    return {
        "torch": package, "x": package.ones(2), "m": m, "a": package.eye(2), "nan": float("nan"),
        "f": lambda *args: args, "o": package.optim.SGD(m.parameters(), lr=0.1), "d": list(range(5)),
    }  # fmt: skip


def plain(text: str) -> str:
    """Without what may differ: the package's name and path, addresses, the number of blanks."""
    text = re.sub(r" at 0x[0-9a-f]+| from '[^']*'", "", text)
    text = re.sub(r"\b(torch|tracegrad)(\.[a-z_A-Z0-9]+)*\.(?=[A-Za-z_])", "", text)
    return re.sub(r"\s+", " ", text)


def answer(expression: str, package: Any) -> list[Any]:
    """What an expression gives: ["value", its text, warnings] or ["error", its class, its words, warnings]."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = ["value", plain(repr(eval(expression, names(package))))[:200]]
        except Exception as error:
            found = ["error", type(error).__name__, plain(str(error))[:200]]
    return [*found, sorted({warning.category.__name__ for warning in heard})]


def store(package: Any) -> None:
    """Write what `package` answers."""
    found = {expression: answer(expression, package) for expression in expressions()}
    lines = [f"{json.dumps(expression)}: {json.dumps(told)}" for expression, told in found.items()]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    import torch
    import torch.utils.benchmark
    import torch.utils.model_zoo

    store(torch)
