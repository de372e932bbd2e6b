"""Write docs/pytorch.md and public_names.py:  python -m tests.names [--store]

From the root of the repository, with tracegrad importable. --store lists PyTorch's names anew, which needs PyTorch.
"""

from __future__ import annotations

import argparse

from . import exports
from .store import store
from .table import DOCUMENT, text


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.names", description=__doc__)
    parser.add_argument("--store", action="store_true", help="list PyTorch's names anew")
    if parser.parse_args().store:
        store()
    DOCUMENT.write_text(text(), encoding="utf-8")
    exports.FILE.write_text(exports.text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
