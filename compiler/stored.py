"""Programs by recorded graph: what the cache knows of a graph, so that a second process skips all stages.

A record names the C of the program, which lies in the cache beside its library, and holds the program's interface. Its
key says everything that the stages depend on: the graph, and which compiler, versions and settings make a program of
it. A hit is therefore the very program that a miss would make; what is in doubt is a miss.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from ..ops.types import get_default_dtype
from ..runtime import records
from ..runtime.build import Built
from ..runtime.cache import hash_of
from ..runtime.errors import RuntimeFault
from ..runtime.own_source import source_hash, source_hash_at_first
from ..runtime.toolchain import require_compiler
from .graph import Graph
from .graph_key import NoKey, graph_key
from .interface import Interface

#: Variables by which numpy, which folds constants, is told how to compute.
VARIABLES = ("NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "OPENBLAS_CORETYPE")


class Kept:
    """What the cache knows of a recorded graph that is to be compiled with `flags`: `interface` is None for nothing.

    Of a graph for all sizes it may know that the stages refuse it, in `refusal`, or no more than the interface.
    """

    def __init__(
        self, graph: Graph, flags: Sequence[str], for_all_sizes: bool = False, memory_limit: int | None = None
    ) -> None:
        self.graph = graph
        self._flags = flags
        self._asked = {"sizes": "all" if for_all_sizes else "one", "memory limit": str(memory_limit)}
        self._graph_key = _key_of(graph)
        self._key = self._key_by(source_hash_at_first())
        self._texts: tuple[records.Text, ...] = ()
        self.interface: Interface | None = None
        record: Any = None if self._key is None else records.find(self._key)
        self.refusal = _refusal_in(record)
        with suppress(TypeError, ValueError, KeyError):
            self._texts = tuple(records.Text(*text) for text in record["texts"])
            self.interface = Interface.read(record["interface"])

    @property
    def key(self) -> str | None:
        """Under which the cache knows it, or will; None if it never does."""
        return self._key

    def texts(self) -> tuple[str, ...]:
        """The C as it is compiled; nothing if it is not there, or no longer."""
        found = [text.read() for text in self._texts] if self.interface is not None else []
        texts = tuple(text for text in found if text is not None)
        return texts if len(texts) == len(found) else ()

    def keep(self, built: Built, interface: Interface) -> None:
        """Know it from now on."""
        texts = None if self._texts else records.texts_of(built)
        if texts and self._keep({"texts": [astuple(text) for text in texts], "interface": interface.written()}):
            self._texts, self.interface = tuple(texts), interface

    def keep_interface(self, interface: Interface) -> None:
        """Know what the stages have found, also if its C is never built by itself: as a part of other programs."""
        if self._keep({"texts": [], "interface": interface.written()}):
            self.interface = interface

    def keep_refusal(self, reason: str) -> None:
        """Know that the stages refuse the graph."""
        self._keep({"refusal": reason})

    def _keep(self, record: dict[str, Any]) -> bool:
        """False, and nothing is kept, if something has changed since that the program depends on."""
        if self._key is None or self._key != self._key_by(source_hash()):
            return False
        records.keep(self._key, record)
        return True

    def _key_by(self, source: str | None) -> str | None:
        if self._graph_key is None:
            return None
        try:
            facts = _surroundings(source)
        except (NoKey, RuntimeFault):
            return None
        return hash_of({"graph": self._graph_key, "flags": " ".join(self._flags), **self._asked, **facts})


def _refusal_in(record: Any) -> str | None:
    refusal = record.get("refusal") if isinstance(record, dict) else None
    return refusal if isinstance(refusal, str) else None


def _key_of(graph: Graph) -> str | None:
    try:
        return graph_key(graph)
    except NoKey:
        return None


def _surroundings(source: str | None) -> dict[str, str]:
    """What else decides which program a graph becomes. NoKey if some of it cannot be known."""
    compiler = require_compiler()
    facts = {
        "source": source,
        "templates": _template_library(),
        "python": sys.version,
        "numpy": f"{np.__version__} {np.__file__}",
        "variables": repr([os.environ.get(name) for name in VARIABLES]),
        "default type": get_default_dtype().name,
        "compiler": compiler.identity,
        "instruction set": compiler.instruction_set,
    }
    known = {name: fact for name, fact in facts.items() if fact is not None}
    if len(known) < len(facts):
        raise NoKey("it is not known which compiler this is")
    return known


@lru_cache(maxsize=1)
def _template_library() -> str | None:
    """What the file system says of the library that reads the templates, as the C compiler is known, too."""
    spec = importlib.util.find_spec("jinja2")
    with suppress(OSError):
        folders = [Path(folder) for folder in (spec.submodule_search_locations if spec else None) or ()]
        files = sorted(path for folder in folders for path in folder.glob("*.py"))
        status: list[tuple[Any, ...]] = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in files]
        return repr(status) if status else None
    return None
