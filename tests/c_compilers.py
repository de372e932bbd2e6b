"""What all tests ask of C: no warnings. A local name that hides another one is a warning, whoever has named them."""

import shutil

WARNINGS = (
    "-Wall", "-Wextra", "-Wshadow", "-Werror",
    "-Wno-pass-failed",  # where clang finds no vectors for a loop, it is slower, not wrong; gcc has no such warning
    # A program for all sizes copies n0 - 1 numbers: gcc warns of what that is for n0 = 0, a size that is never passed.
    "-Wno-stringop-overflow", "-Wno-array-bounds", "-Wno-unknown-warning-option",
)  # fmt: skip
COMPILERS = tuple(name for name in ("gcc", "clang") if shutil.which(name))
