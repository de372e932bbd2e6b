"""Classes are changed in processes that have forgotten what they would do at their end."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import atexit, gc, os
import tracegrad as tg

child = os.fork()
if not child:
    atexit._clear()  # as multiprocessing does in Python 3.13
    gc.collect()
    spare = [bytes(100) for _ in range(1000)]
    tg.nn.Linear.more = lambda self: 3
    step = tg.compile(lambda x: x * tg.nn.Linear(1, 1).more())
    os._exit(0 if step(tg.ones(1)).item() == step(tg.ones(1)).item() == 3.0 else 1)
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork()")
def test_a_forked_process_may_change_them():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=100)
    assert done.stdout == "0\n", done.stderr
