"""What is written into the dicts of this package's modules past their methods: ``vars(F)["linear"] = f``.

Layers call what is in these modules, so that any step may depend on it. What is set is counted
(`tracing/watched_modules.py`); of other writes CPython tells by the version of the dict, a word of memory.
"""

from __future__ import annotations

import functools

import numpy as np

from ...runtime import references
from ...tracing.watched_modules import replacements


class LibraryModules:
    """The modules that programs know, as they were when somebody last looked: ``memory[places]`` was `expected`."""

    def __init__(self) -> None:
        known = replacements.public if references.modules_have_versions else []
        self.places = np.array([references.place_of_version(vars(module)) for module in known], np.intp)
        self.expected = b""

    def agree(self, expected: bytes) -> bool:
        """True if nothing was written since the words were `expected`."""
        return not len(self.places) or bool(references.memory[self.places].tobytes() == expected)

    def look(self) -> bool:
        """Look again, and count what was written without being counted; True if there was nothing of the kind."""
        if self.agree(self.expected):
            return True
        words = references.memory[self.places].tobytes()  # before the look: what is written meanwhile is noticed
        is_heard_of = not replacements.look()
        self.expected = words
        return is_heard_of


@functools.lru_cache(maxsize=1)
def library_modules() -> LibraryModules:
    """Those of this process; the package has been imported when somebody asks first."""
    return LibraryModules()
