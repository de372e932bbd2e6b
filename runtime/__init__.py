"""How rendered C becomes a loaded program.

Read in this order: `toolchain` finds the C compiler and says which flags it may be given, `cache` keeps what was
built, `build` turns units of C into one shared library, `program` loads the library and calls it. `errors` is what all
of them raise.
`include/` holds the C headers that are not generated.

Nothing is imported here: only `program` needs cffi, and only once something is loaded.
"""
