"""PyTorch's losses in the example programs: python tests/expected/examples.py writes examples.json beside this file.

An example becomes a PyTorch program by its imports alone.
"""

import contextlib
import io
import json
import sys
import types
import zlib
from pathlib import Path
from pydoc_data.topics import topics

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
STORED = Path(__file__).with_suffix(".json")
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if "runner.main(" in path.read_text(encoding="utf-8"))
STEPS = 10

#: The text that some examples read comes with Python and is another one in each version.
TEXT = zlib.crc32("".join(topics.values()).encode())


class Enough(Exception):
    """Training may stop."""


class Losses(list):
    """What `train` reports to: it ends training after some losses."""

    def __init__(self, wanted=STEPS):
        super().__init__()
        self.wanted = wanted

    def __call__(self, loss):
        self.append(loss)
        if len(self) == self.wanted:
            raise Enough


def load(name, library="tracegrad"):
    """The example as a module that imports `library`."""
    path = EXAMPLES / f"{name}.py"
    text = path.read_text(encoding="utf-8")
    if library != "tracegrad":
        text = text.replace("import tracegrad as torch", f"import {library}").replace(
            "from tracegrad", f"from {library}"
        )
    module = types.ModuleType(f"{library}_{name}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    if str(EXAMPLES) not in sys.path:
        sys.path.append(str(EXAMPLES))  # where the runner is
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def losses_of(module, compiled=False, steps=STEPS):
    """The first losses of an example that would run for `STEPS` steps: schedules depend on the whole number."""
    losses = Losses(steps)
    with contextlib.suppress(Enough), contextlib.redirect_stdout(io.StringIO()):
        module.train(STEPS, compiled, losses)
    return list(losses)


if __name__ == "__main__":
    found = {name: losses_of(load(name, "torch")) for name in NAMES}
    STORED.write_text(json.dumps({"text": TEXT, "losses": found}).replace("], ", "],\n") + "\n", encoding="utf-8")
