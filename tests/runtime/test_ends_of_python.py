"""Objects that are there until Python ends, when the modules have lost their names: nothing is said about them."""

import os
import subprocess
import sys

import pytest

KEPT = {
    "a mode of autograd": "tg.no_grad()",
    "a mode of inference": "tg.inference_mode()",
    "a decorated function": "tg.no_grad()(lambda x: x)",
    "a mode that is on": "entered(tg.no_grad())",
    "shared memory": "tg.ones(3).share_memory_()",
    "an iterator of workers": "iter(tg.utils.data.DataLoader([1, 2], num_workers=1))",
}
PROGRAM = """
import sys
import tracegrad as tg

def entered(mode):
    mode.__enter__()
    return mode

kept = {what}
for name in [name for name in sys.modules if name.startswith("tracegrad")]:
    vars(sys.modules[name]).update(dict.fromkeys(("switches", "_set", "os", "sys")))
del kept
"""


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("what", KEPT)
def test_nothing_is_said_at_the_end(what):
    """The program takes the names away itself: when Python does so depends on what else is there."""
    program = PROGRAM.format(what=KEPT[what])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100, env=os.environ)
    assert done.returncode == 0 and not done.stderr
