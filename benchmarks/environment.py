"""What a measuring process fixes before any library is imported: threads, CPUs, cache folders."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

THREAD_COUNTS = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "TRACEGRAD_NUM_THREADS",
)
WIDE = "+avx512"
MKL_SHIM = b"int mkl_serv_intel_cpu_true(void){return 1;}"


def force_widest_blas():
    """Starts this process again with MKL and OpenBLAS told to use AVX-512.

    On AMD CPUs they choose AVX2 kernels; PEER+avx512 shows each peer at its strongest.
    """
    if os.environ.get("BENCHMARKS_WIDE"):
        return
    shim = os.path.join(tempfile.mkdtemp(prefix="benchmarks-shim-"), "shim.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", shim], input=MKL_SHIM, check=True)
    os.environ.update(BENCHMARKS_WIDE="1", LD_PRELOAD=shim, OPENBLAS_CORETYPE="SkylakeX")
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def pin(threads):
    """One thread gets one CPU: the one that BENCHMARKS_CPU names, or the first."""
    first = int(os.environ.get("BENCHMARKS_CPU", "0"))
    os.sched_setaffinity(0, {first} if threads == 1 else set(range(threads)))


def use_one_thread():
    """Starts this process again with one thread for each library; the processor time of idle threads counts, too."""
    if any(os.environ.get(name) != "1" for name in THREAD_COUNTS):
        os.environ.update(dict.fromkeys(THREAD_COUNTS, "1"))
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


def set_up(peer, threads, cache):
    """Pins the process and sets the variables by which the libraries learn of threads and caches.

    numpy, which this package itself imports, reads its variables when it is loaded: the process starts once more.
    """
    pin(threads)
    if os.environ.get("BENCHMARKS_READY"):
        return
    env = {name: str(threads) for name in THREAD_COUNTS}
    env.update(
        XDG_CACHE_HOME=cache,
        TRACEGRAD_CACHE_DIR=str(Path(cache, "tracegrad")),
        TORCHINDUCTOR_CACHE_DIR=str(Path(cache, "inductor")),
        TRITON_CACHE_DIR=str(Path(cache, "triton")),
        PYTENSOR_FLAGS=f"base_compiledir={cache}/pytensor,floatX=float32",
        CACHEDB=str(Path(cache, "tinygrad.db")),
        JAX_PLATFORMS="cpu",
        DEV="CPU",  # tinygrad's
        CPU="1",
        CPU_COUNT=str(threads),
        THREADS="0" if threads == 1 else "1",
    )
    if threads == 1:
        env.update(XLA_FLAGS="--xla_cpu_multi_thread_eigen=false", NPROC="1")
    if peer == "torch-compile-cpp":
        env["TORCHINDUCTOR_CPP_WRAPPER"] = "1"
    if peer == "tracegrad-clang":
        env["CC"] = "clang"
    if peer == "tinygrad-beam":
        env["BEAM"] = "2"
    os.environ.update(env, BENCHMARKS_READY="1")
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
