"""``torch.utils.hooks``: what registering a hook returns."""

from __future__ import annotations

from typing import Any

from ...tape.handles import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook"]


def unserializable_hook(f: Any) -> Any:
    """Mark a hook of a tensor that is not saved with it."""
    f.__torch_unserializable__ = True
    return f
