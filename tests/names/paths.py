"""Store PyTorch's module paths and what each of them names (needs PyTorch):  python -m tests.names.paths

The file is ``shim/paths.json``: for each path the names in it, ordered by the place that has the same object, so that
what is one object in PyTorch is one here: ``torch.nn.modules.conv.Conv1d`` is ``torch.nn.Conv1d``. Beside it,
``shim/class_paths.json`` holds what classes give as their ``__module__`` and ``__qualname__``, and
``shim/library_names.json`` what each module has imported for itself of Python's library and of types for annotations.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import subprocess
import sys
import types
import warnings
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

PATHS = Path(__file__).parents[2] / "shim" / "paths.json"
CLASS_PATHS = PATHS.with_name("class_paths.json")
LIBRARY_NAMES = PATHS.with_name("library_names.json")

#: Trees of PyTorch's whose modules are not walked: the shim says of each what to use instead.
LEFT_OUT = (
    "torch.ao", "torch.contrib", "torch.distributed.*", "torch.export", "torch.fx", "torch.mps.*", "torch.mtia*",
    "torch.nativert", "torch.numa", "torch.onnx.*", "torch.package", "torch.quantization", "torch.xpu.*",
    "torch.masked.*", "torch.nn.intrinsic", "torch.nn.qat", "torch.nn.quant*", "torch.utils.benchmark.*",
    "torch.utils.hipify", "torch.utils.data.datapipes", "torch.utils.jit", "torch.utils.viz", "torch.utils.bottleneck",
    "torch.utils.model_dump", "torch.backends.xeon", "torch.monitor", "torch.distributions.constraint_registry_",
    "torch.jit.*", "torch.nested.*", "torch.testing.*", "torch.utils.mobile*", "torch.utils.serialization",
    "torch.backends.python_native", "torch.library",
)  # fmt: skip
#: Paths with an underscore that programs and packages import.
PRIVATE = (
    "torch._C", "torch._C._nn", "torch._utils", "torch._tensor", "torch._tensor_str", "torch._jit_internal",
    "torch._VF", "torch.__config__", "torch.__future__", "torch._linalg_utils", "torch._lowrank", "torch._lobpcg",
    "torch._weights_only_unpickler", "torch._dynamo", "torch._dynamo.config", "torch._inductor",
    "torch._inductor.config", "torch._vmap_internals", "torch._functorch", "torch.optim._functional",
    "torch.optim._adafactor", "torch.optim._muon", "torch.nn._reduction", "torch.utils.data._utils",
    "torch.utils.data._utils.collate", "torch.utils.data._utils.worker", "torch.utils.data._utils.fetch",
    "torch.utils.data._utils.pin_memory", "torch.utils.tensorboard", "torch.utils.tensorboard.writer",
    "torch.utils.tensorboard.summary", "torch.utils._pytree", "torch.nn.utils._named_member_accessor",
    "torch.autograd.variable", "torch._classes", "torch.testing._comparison", "torch.nn.modules._functions",
    "torch.nn.parallel._functions", "torch.fx", "torch.onnx", "torch.distributed", "torch.package",
)  # fmt: skip
#: Modules of Python's library that show what others define.
PUBLIC_HOMES = (
    "typing", "collections", "collections.abc", "functools", "operator", "threading", "io", "os.path",
)  # fmt: skip
#: PyTorch's modules of types for annotations, which others import from there.
ALIASES = ("torch.types", "torch.nn.common_types")
#: Names with two underscores that programs ask for.
SPECIAL = frozenset({"__version__", "__config__", "__future__"})
#: The places that are preferred as the one where an object lives.
FIRST = (
    "torch", "torch.nn", "torch.overrides", "torch.nn.functional", "torch.optim", "torch.optim.lr_scheduler",
    "torch.utils.data", "torch.distributions", "torch.autograd", "torch.autograd.functional", "torch.amp",
    "torch.nn.utils", "torch.nn.utils.rnn", "torch.nn.init", "torch.fft", "torch.linalg", "torch.special", "torch.func",
    "torch.cuda", "torch.jit", "torch.multiprocessing", "torch.utils._pytree", "torch.distributions.utils",
)  # fmt: skip


def store() -> None:
    """Write the table."""
    modules = dict(_modules())
    homes = _homes(modules)
    table = {path: _entry(path, module, homes) for path, module in sorted(modules.items())}
    PATHS.write_text(json.dumps(table, separators=(",", ":")).replace('},"torch', '},\n"torch') + "\n")
    library = {path: found for path, entry in table.items() if (found := library_names(modules[path], entry))}
    LIBRARY_NAMES.write_text(json.dumps(library, separators=(",", ":")).replace('},"torch', '},\n"torch') + "\n")
    classes = _classes(modules, table)
    loaded = "import sys, torch; print(*(name for name in sys.modules if name.partition('.')[0] == 'torch'))"
    imported = set(subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True).stdout.split())
    found = {"imported": " ".join(path for path in classes if path in imported), "classes": classes}
    CLASS_PATHS.write_text(json.dumps(found, separators=(",", ":")).replace('},"torch', '},\n"torch') + "\n")


def _classes(modules: dict[str, types.ModuleType], table: dict[str, Any]) -> dict[str, dict[str, str]]:
    """By the module that classes are of: the places where they are found, with their names there."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    seen: set[int] = set()
    order = sorted(modules, key=lambda path: (FIRST.index(path) if path in FIRST else len(FIRST), path))
    places = [(path, name) for path in order for name in table[path].get("", "").split()]
    of_their_own = [(p, n) for p, n in places if getattr(getattr(modules[p], n, None), "__module__", None) == p]
    for path, name in [*of_their_own, *places]:
        kind = getattr(modules[path], name, None)
        is_torchs = isinstance(kind, type) and str(kind.__module__).partition(".")[0] == "torch"
        if is_torchs and kind.__module__ in modules and id(kind) not in seen:
            seen.add(id(kind))
            shown = "" if kind.__qualname__ == name else f"={kind.__qualname__}"
            found[kind.__module__][path].append(f"{name}{shown}")
    return {path: {place: " ".join(sorted(n)) for place, n in found[path].items()} for path in sorted(found)}


def library_names(module: types.ModuleType, entry: dict[str, Any]) -> dict[str, str]:
    """What a module has imported besides its `entry`, by where it is: whole modules of the library under ``""``."""
    found: dict[str, list[str]] = defaultdict(list)
    listed = {name for of in entry.values() if isinstance(of, str) for name in of.split()}
    for name, value in sorted(vars(module).items()):
        if name in listed:
            continue
        home = _home_of_module(name, value) if isinstance(value, types.ModuleType) else _home_of_name(name, value)
        if home is not None and home != module.__name__:
            found[home].append(name)
    return {home: " ".join(names) for home, names in sorted(found.items())}


def _home_of_module(name: str, module: types.ModuleType) -> str | None:
    return "" if module.__name__ == name and name in sys.stdlib_module_names and name[:1] != "_" else None


def _home_of_name(name: str, value: Any) -> str | None:
    """The public module that has the object under this name, if it is of Python's library or a type of PyTorch's."""
    home = str(getattr(value, "__module__", None))
    if name[:2] == "__" or home == "builtins" or home.partition(".")[0] not in sys.stdlib_module_names:
        return None
    candidates = ALIASES if name[:1] == "_" else (*PUBLIC_HOMES, home, home.lstrip("_"), *ALIASES)
    there = (c for c in candidates if c[:1] != "_" and getattr(sys.modules.get(c), name, None) is value)
    return next(there, None)


def _modules() -> Iterator[tuple[str, types.ModuleType]]:
    torch = importlib.import_module("torch")
    yield "torch", torch
    found = dict.fromkeys([*_walk(torch), *PRIVATE, "torch.ops"])
    for path in found:
        try:
            yield path, importlib.import_module(path)
        except Exception as error:
            print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)


def _walk(package: types.ModuleType) -> Iterator[str]:
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        last = found.name.rpartition(".")[2]
        if last.startswith("_") or any(fnmatchcase(found.name, pattern) for pattern in LEFT_OUT):
            continue
        yield found.name
        if found.ispkg:
            yield from _walk(importlib.import_module(found.name))


def _homes(modules: dict[str, types.ModuleType]) -> dict[tuple[int, str], str]:
    """By object and name: the place where it lives."""
    order = [*FIRST, *sorted(modules, key=lambda path: (path.count("."), path))]
    homes: dict[tuple[int, str], str] = {}
    for path in order:
        for name, value in vars(modules[path]).items():
            written = str(getattr(value, "__module__", None))  # where a name with an underscore lives
            is_there = name[:1] == "_" and getattr(modules.get(written), name, None) is value
            homes.setdefault((id(value), name), written if is_there else path)
    return homes


def _entry(path: str, module: types.ModuleType, homes: dict[tuple[int, str], str]) -> dict[str, Any]:
    offered = set(getattr(module, "__all__", ()))
    names: dict[str, list[str]] = defaultdict(list)
    modules: dict[str, str] = {}
    settings = set(vars(type(module)) if type(module) is not types.ModuleType else ())
    if isinstance(getattr(module, "m", None), types.ModuleType):  # one that PyTorch has put another one before
        inner, module = module, module.m
        vars(module).update({name: getattr(inner, name) for name in settings if name[:1] != "_"})
    for name in sorted({*dir(module), *offered, *settings}):
        value = getattr(module, name, None)
        if (name.startswith("__") and name not in SPECIAL) or not (name in offered or _is_torchs(name, value)):
            continue
        if isinstance(value, types.ModuleType) and value.__name__.partition(".")[0] == "torch":
            modules[name] = value.__name__
        else:
            plain = value is None or isinstance(value, (bool, int, float, str))
            home = path if plain else homes.get((id(value), name), path)
            names["" if home == path else home].append(name)
    entry: dict[str, Any] = {home: " ".join(sorted(of)) for home, of in sorted(names.items())}
    if modules:
        entry["modules"] = modules
    if hasattr(module, "__path__"):
        entry["package"] = 1
    if hasattr(module, "__all__"):
        entry["all"] = " ".join(n for n in module.__all__ if n not in _public(entry)) or 1
    return entry


def _public(entry: dict[str, Any]) -> set[str]:
    return {n for key, of in entry.items() if isinstance(of, str) for n in of.split() if n[:1] != "_"}


def _is_torchs(name: str, value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] == "torch"
    owner = getattr(value, "__module__", None) or getattr(type(value), "__module__", None) or ""
    if isinstance(value, (types.BuiltinFunctionType, types.BuiltinMethodType)):
        return True
    if owner == "builtins":  # plain values
        return isinstance(value, (bool, int, float, str, type(None), tuple, list, dict))
    if owner.partition(".")[0] in ("typing", "typing_extensions", "collections", "functools"):
        return "torch" in repr(value)
    return owner.partition(".")[0] == "torch"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    store()
