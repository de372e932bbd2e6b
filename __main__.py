"""``python -m tracegrad``: the commands of ``commandline``."""

from __future__ import annotations

import sys

from .commandline import main

if __name__ == "__main__":
    sys.exit(main())
