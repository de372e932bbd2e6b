"""How rendered C becomes a loaded program.

Read in this order: `toolchain` finds the C compiler and says which flags it may be given (`named`: what CC may hold;
`processes`: how it is run), `cache` keeps what was built (`files`: safely; `eviction`: not too much), `build` turns
units of C into one shared library (`libraries`: is it whole?), `program` loads the library and calls it
(`float_environment`: and computes as before), `provide` does all of that and decides what happens if it fails. `errors`
is what all of them raise.
`include/` holds the C headers that are not generated.

Nothing is imported here: only `program` needs cffi, and only once something is loaded.
"""
