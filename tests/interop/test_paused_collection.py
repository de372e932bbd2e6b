"""Python's garbage collector around an import of the package: as the program has it, before and after."""

import subprocess
import sys

import pytest

#: Python 3.12 begins with frozen objects.
ASKED = "print(gc.isenabled(), gc.get_threshold(), frozen // 2 <= gc.get_freeze_count() <= frozen)"
PROGRAMS = {
    "usual": ("", "import tracegrad", "True (700, 10, 10) True"),
    "disabled": ("gc.disable()", "import tracegrad", "False (700, 10, 10) True"),
    "frozen": ("gc.freeze()", "import tracegrad", "True (700, 10, 10) True"),
    "other thresholds": ("gc.set_threshold(500, 5, 5)", "import tracegrad", "True (500, 5, 5) True"),
    "failing": (
        "import sys; sys.modules['cffi'] = sys.modules['numpy'] = None",
        "try: import tracegrad\nexcept ImportError: pass",
        "True (700, 10, 10) True",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_collections_are_as_before(name):
    before, imported, expected = PROGRAMS[name]
    usual = "gc.set_threshold(700, 10, 10)"  # whatever this Python begins with
    program = "\n".join(["import gc", usual, before, "frozen = gc.get_freeze_count()", imported, ASKED])
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == expected, ran.stderr


def test_no_collection_while_importing():
    program = "import gc, numpy\nfrom numpy import random\nseen = []\n"
    program += "gc.callbacks.append(lambda when, _: seen.append(when))\nimport tracegrad\nprint(len(seen))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 10  # of the hundreds: those before the package's first line, and behind its last one
