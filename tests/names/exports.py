"""``public_names.py``: the list of what is public, for ``from tracegrad import *`` and for editors."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from types import ModuleType

import tracegrad as tg

FILE = Path(tg.__file__).with_name("public_names.py")
#: What the face of the package imports for its own use.
OWN = frozenset(
    "annotations sys FunctionType SimpleNamespace checked aliases watch_classes watch_modules methods public_names "
    "DisableTorchFunctionSubclass disabled_torch_function is_disabled Any TYPE_CHECKING".split()
)
HEAD = '''"""The public names of the package, for ``import *`` and for editors; written by `python -m tests.names`."""

# ruff: noqa: F822 (they are the package's)

'''


def names() -> list[str]:
    """All public names: functions, classes, constants, and the modules that the package's face imports."""
    bound = _bound_in_the_face()
    found = {n for n, value in vars(tg).items() if not isinstance(value, ModuleType) or n in bound}
    return sorted(n for n in found if not n.startswith("_") and n not in OWN)


def text() -> str:
    """The whole file."""
    listed = textwrap.fill(", ".join(f'"{name}"' for name in names()), 110, break_on_hyphens=False)
    return f"{HEAD}# fmt: off\n__all__ = [\n{textwrap.indent(listed, '    ')},\n]\n"


def _bound_in_the_face() -> set[str]:
    tree = ast.parse(Path(tg.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names}
