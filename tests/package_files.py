"""The package's own files: what stands beside it in a checkout (tests, environments, builds) is not part of it."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {"tests", "examples", "benchmarks", "benchmarks-cache", "docs", "build", "dist"}


def own(entry):
    """Whether something at the root of the checkout belongs to the package."""
    return entry.name not in OUTSIDE and not entry.name.startswith(".") and not entry.name.endswith(".egg-info")


def package_files(suffix=".py", root=ROOT):
    """Paths of the package's files whose names end so, sorted."""
    for entry in sorted(root.iterdir()):
        if own(entry):
            yield from [entry] * (entry.is_file() and entry.suffix == suffix)
            yield from sorted(entry.rglob("*" + suffix))
