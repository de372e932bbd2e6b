"""Makes the helper modules of this folder and of the compiler's tests importable whatever pytest's import mode is."""

import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "compiler")]
