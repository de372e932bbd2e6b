"""What a test may change of its process, which later tests of the same worker would meet."""

import gc
import os
import signal
import sys
import threading
import warnings

import numpy as np

import tracegrad
from tracegrad.compiled.common import collection
from tracegrad.ops.types import defaults
from tracegrad.tape.grad_mode import switches
from tracegrad.tape.saved import packing
from tracegrad.tensors.autocasting import state as autocast
from tracegrad.tensors.overriding import is_disabled

SIGNALS = (signal.SIGINT, signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD)
VARIABLES = ("CC", "HOME", "PATH", "PYTHONPATH")  # and those of the library


def state():
    """Name -> value: modes of the thread, settings of the library, of Python and of the process."""
    return dict(
        autocast=(autocast.modes, autocast.nesting),
        gradients=(switches.enabled, *switches.both, switches.in_transform),
        saved_hooks=packing.hooks,
        torch_functions=is_disabled(),
        default_dtype=defaults.dtype,
        default_device=str(tracegrad.get_default_device()),
        threads=tracegrad.get_num_threads(),
        deterministic=tracegrad.get_deterministic_debug_mode(),
        warn_always=tracegrad.is_warn_always_enabled(),
        products=tracegrad.get_float32_matmul_precision(),
        collections=(gc.isenabled(), gc.get_threshold(), collection.listening()),
        switch_interval=sys.getswitchinterval(),
        recursion=sys.getrecursionlimit(),
        profilers=(sys.getprofile(), sys.gettrace()),
        hooks=(sys.excepthook, sys.unraisablehook, threading.excepthook, threading.Thread.start),
        show_warning=warnings.showwarning,
        numpy_errors=np.geterr(),
        folder=os.getcwd(),
        program=(sys.modules["__main__"], sys.argv),
        signals=[signal.getsignal(number) for number in SIGNALS],
        timer=signal.getitimer(signal.ITIMER_REAL)[1],
        environment={n: text for n, text in os.environ.items() if n in VARIABLES or n.startswith("TRACEGRAD_")},
    )
