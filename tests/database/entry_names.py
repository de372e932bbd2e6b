"""Store whose entries the database's are (needs PyTorch):  python -m tests.database.entry_names

The file is ``entry_names.json``: for each entry that is asked the function's name and its aliases, all as they are
called behind ``torch.``; `names.table` looks there for what it says of a name.
"""

from __future__ import annotations

import json
from pathlib import Path

from .judging import entries

STORED = Path(__file__).with_name("entry_names.json")


def main() -> int:
    found = {op.formatted_name: [op.name, *(alias.name for alias in op.aliases)] for op in entries()}
    STORED.write_text(json.dumps(found, indent=0) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
