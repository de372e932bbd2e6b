"""Makes this folder's helpers (`harness`, `sample_graphs`) importable whatever pytest's import mode is."""

import sys
from pathlib import Path

from hypothesis.internal.conjecture import providers

sys.path.insert(0, str(Path(__file__).parent))

# Hypothesis draws some numbers from the constants of the code that is tested, and reads each module that has been
# imported for them, in each process: in a fresh clone a fifth of collecting. What is drawn here are graphs and texts.
if hasattr(providers, "_get_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants
