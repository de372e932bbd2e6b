"""The package's own files: what stands beside it in a checkout (tests, environments, builds) is not part of it."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {"tests", "examples", "benchmarks", "benchmarks-cache", "docs", "build", "dist"}


def own(entry):
    """Whether something at the root of the checkout belongs to the package."""
    return entry.name not in OUTSIDE and not entry.name.startswith(".") and not entry.name.endswith(".egg-info")


def trees_with(*words, files=None):
    """(path, syntax tree) of the package's files, or of `files`, that have one of the words: to parse all takes a
    second, and to walk through all trees another one."""
    for path in package_files() if files is None else files:
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path, ast.parse(text)


def package_files(suffix=".py", root=ROOT):
    """Paths of the package's files whose names end so, sorted."""
    for entry in sorted(root.iterdir()):
        if own(entry):
            yield from [entry] * (entry.is_file() and entry.suffix == suffix)
            yield from sorted(entry.rglob("*" + suffix))
