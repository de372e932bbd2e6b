"""What the programs print under PyTorch:  python tests/shim/expected.py   (needs PyTorch; no test runs it)"""

import json
import os
import subprocess
import sys
from pathlib import Path

PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))
EXPECTED = Path(__file__).with_name("expected.json")


def main():
    found = {}
    for program in PROGRAMS:
        done = subprocess.run(
            [sys.executable, program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        found[program.stem] = done.stdout
    EXPECTED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
