"""Text of users on its way into C comments."""

from __future__ import annotations

import re


def sanitised(text: str) -> str:
    """`text` on one line, without anything that could end a comment or begin another."""
    plain = re.sub(r"[^\x20-\x7e∂]+", "?", text).rstrip("\\")
    return plain.replace("*/", "* /").replace("/*", "/ *")
