"""Makes this folder's helper modules, samples and sweep, importable whatever pytest's import mode is."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
