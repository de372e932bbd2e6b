"""Makes `_abi.py`: run `python -m tracegrad.runtime._make_abi` after a change of the signature.

cffi parses a declaration in about 45 ms at every start; the file that it emits here is imported in 2 ms and needs no
parser.
"""

from pathlib import Path

import cffi

DECLARATIONS = """
int tracegrad_step(void *const *slots);
extern const void *tracegrad_threads;
void tracegrad_pool_run(void);
void tracegrad_pool_counts(long *counts);
void *calloc(size_t count, size_t size);
int fegetenv(void *environment);
int fesetenv(const void *environment);
int feholdexcept(void *environment);
"""


def emit(path: Path) -> None:
    """Write the out-of-line ABI-mode declarations to `path`."""
    ffi = cffi.FFI()
    ffi.set_source("_abi", None)
    ffi.cdef(DECLARATIONS)
    ffi.emit_python_code(str(path))


if __name__ == "__main__":
    emit(Path(__file__).with_name("_abi.py"))
