"""What all tests ask of C: no warnings. A local name that hides another one is a warning, whoever has named them."""

import shutil

WARNINGS = (
    "-Wall", "-Wextra", "-Wshadow", "-Werror",
    "-Wno-pass-failed",  # where clang finds no vectors for a loop, it is slower, not wrong; gcc has no such warning
)  # fmt: skip
COMPILERS = tuple(name for name in ("gcc", "clang") if shutil.which(name))
